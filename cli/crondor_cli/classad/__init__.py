"""crondor classad."""
