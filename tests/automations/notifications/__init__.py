"""Tests of what is decided about notifications, without any database."""
