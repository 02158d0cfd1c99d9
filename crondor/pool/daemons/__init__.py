"""The schedd, the negotiator and the starters, and what each knows of a job."""
