"""Tests of the command, called in this process, and as a real one where signals and pipes matter."""
