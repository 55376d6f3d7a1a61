"""JSON over HTTP: the routes of version 1."""
