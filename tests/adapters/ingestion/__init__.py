"""Tests of what comes in from outside."""
