"""The crondor command line."""
