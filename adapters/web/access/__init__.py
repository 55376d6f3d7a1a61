"""Who calls, and what they may do: tokens of programs, users and their sessions."""
