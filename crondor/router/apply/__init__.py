"""What a route makes of a job."""
