"""A job's ad as HTCondor's daemons see it: its attributes, its status, its policy."""
