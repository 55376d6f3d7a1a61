"""The tests of Semel: a mirror of the source, and what needs the whole of it."""
