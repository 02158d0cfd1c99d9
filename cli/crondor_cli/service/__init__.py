"""`crondor service`: units of systemd for the commands that run for months."""
