"""The crondor command line."""

import gc

# New objects between two looks for garbage: most are of modules, and looking while they load takes 2 ms of each start.
gc.set_threshold(20_000)
