"""Which job goes on which route, and why not."""
