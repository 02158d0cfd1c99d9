"""A job's ad as HTCondor's daemons see it."""
