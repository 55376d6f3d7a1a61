"""Tables that can always be rebuilt from the log."""
