"""How scenario files are read, and how what happened is compared with what they expect."""
