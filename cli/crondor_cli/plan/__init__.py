"""crondor plan and crondor apply."""
