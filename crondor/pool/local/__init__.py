"""A pool on the real clock: jobs of a queue that run on this machine."""
