"""Which job goes to which route, and why not."""
