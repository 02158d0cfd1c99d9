"""crondor explain."""
