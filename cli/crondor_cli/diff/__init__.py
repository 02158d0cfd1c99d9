"""crondor diff."""
