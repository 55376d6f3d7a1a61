"""The outside: database, services, ingestion, files, command line, clock, settings and wiring."""
