"""Unix crontabs: read, carried over to HTCondor and back, and runs as events of a calendar."""
