"""A schedule in HTCondor's terms: cron fields for a superset, and a clause that only the wanted times pass."""
