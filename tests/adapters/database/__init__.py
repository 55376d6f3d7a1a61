"""The log, the queue, and the transactions that hold them together, on both databases."""
