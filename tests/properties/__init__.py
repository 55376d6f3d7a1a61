"""What holds for any input, by Hypothesis."""
