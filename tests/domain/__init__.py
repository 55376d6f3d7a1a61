"""Tests of facts, states and decisions."""
