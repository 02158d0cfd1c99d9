"""What schedule stands on: the scheduling commands by name, and what they come to."""
