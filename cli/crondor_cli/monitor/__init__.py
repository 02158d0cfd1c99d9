"""crondor monitor."""
