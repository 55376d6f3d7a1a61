"""Facts, states and decisions of Semel: no I/O, no clock, nothing of the other packages."""
