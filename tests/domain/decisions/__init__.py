"""Tests of what the embedded services decide."""
