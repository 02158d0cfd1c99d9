"""A pool on a virtual clock, and what became of the runs."""
