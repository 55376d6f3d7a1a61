"""Tests of the tables that are rebuilt from the log."""
