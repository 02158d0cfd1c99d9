"""crondor queue, and crondor queue advertise."""
