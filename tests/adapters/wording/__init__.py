"""Tests of what an operator and Semel itself have to say to people."""
