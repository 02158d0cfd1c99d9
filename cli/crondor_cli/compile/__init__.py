"""`crondor compile`: convert any schedule to lines for a submit file, with proof."""
