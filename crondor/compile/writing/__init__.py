"""A schedule as HTCondor can hold it: cron fields for a superset, and a clause that only the wanted times pass."""
