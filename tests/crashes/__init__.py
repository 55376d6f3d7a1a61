"""Processes killed at a point, started again, and compared with an undisturbed run."""
