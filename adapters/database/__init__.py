"""One database, SQLite or PostgreSQL: the log, the queue, and the transactions that hold them together."""
