"""`crondor config`: the settings, and where each comes from."""
