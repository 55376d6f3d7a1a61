"""Tests of triggers, conditions, claims and runs."""
