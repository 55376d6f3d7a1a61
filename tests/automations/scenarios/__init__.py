"""Scenario files: how they are read, and how they are compared with what happened."""
