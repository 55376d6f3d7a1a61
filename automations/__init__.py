"""What the system does by itself: triggers, conditions, claims and the running of actions."""
