"""`crondor compile`: any schedule as lines for a submit file, proven."""
