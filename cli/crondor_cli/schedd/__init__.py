"""crondor schedd, and crondor advertise."""
