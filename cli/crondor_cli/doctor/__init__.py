"""`crondor doctor`: what is installed here, and whether a live schedd can be worked with."""
