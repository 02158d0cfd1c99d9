"""crondor route."""
