"""Measurements, run by hand: they print and judge nothing."""
