"""Scenario files, and the test that runs them all."""
