"""Tests of the outside: database, services, ingestion, files, command line, clock."""
