"""Dossiers at work."""
