"""Scenarios are played: on which clock, with which services, and what comes of it."""
