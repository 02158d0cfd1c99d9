"""crondor check."""
