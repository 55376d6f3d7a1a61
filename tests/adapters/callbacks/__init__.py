"""Tests of what providers report, provider by provider."""
