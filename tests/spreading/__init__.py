"""Other minutes for the jobs of a pool."""
