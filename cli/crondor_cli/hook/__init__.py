"""crondor hook."""
