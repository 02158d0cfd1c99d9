"""crondor simulate."""
