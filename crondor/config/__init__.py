"""HTCondor's configuration language: knobs by name, with where each was set."""
