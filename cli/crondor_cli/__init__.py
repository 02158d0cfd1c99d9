"""The crondor command line."""

import gc

# New objects between two looks for garbage: most are of modules, and looking while they load takes 2 to 5 ms of each.
gc.set_threshold(50_000)
