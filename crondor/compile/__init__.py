"""Schedules of any kind as sets of instants: the languages that people write them in, and the algebra of such sets."""
