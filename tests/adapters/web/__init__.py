"""Tests of what is reached over HTTP."""
