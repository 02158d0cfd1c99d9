"""crondor agenda."""
