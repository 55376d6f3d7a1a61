"""Semel over HTTP: `api` for programs, `console` for people, `access` for who may do what."""
