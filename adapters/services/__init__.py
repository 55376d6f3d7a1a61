"""The services that actions call: those embedded in Semel, which keep what they do in the same log."""
