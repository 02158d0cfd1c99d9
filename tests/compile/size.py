"""How much the random trials try: little in the suite, much in `make fuzz`, which sets both variables."""

import os

COUNT = int(os.environ.get("CRONDOR_SCHEDULES", "0"))
"""Schedules of each kind, each in all zones; 0: a few, each in one zone."""

YEARS = float(os.environ.get("CRONDOR_YEARS", "10" if COUNT else "1.4"))
"""Years of them that are compared."""
