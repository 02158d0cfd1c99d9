"""crondor preview."""
