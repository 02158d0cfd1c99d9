"""crondor import and export."""
