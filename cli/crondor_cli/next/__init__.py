"""crondor next, prev and at."""
