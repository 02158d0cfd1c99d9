"""Work that a startd fetches by hooks: the slot's side, and crondor as a source of such work."""
