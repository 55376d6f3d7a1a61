"""Tests of deliveries, on both databases."""
