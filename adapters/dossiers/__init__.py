"""Dossiers at work: opened and closed by themselves, acted on by staff, and told as one document."""
