"""Crontab and deferral-time scheduling of HTCondor jobs."""
