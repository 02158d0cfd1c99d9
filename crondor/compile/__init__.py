"""Schedules of any kind as sets of instants: the languages they are written in, and the algebra of such sets."""
