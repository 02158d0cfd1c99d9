"""crondor run."""
