"""Unix crontabs: read, converted to HTCondor and back; and runs as events of a calendar."""
