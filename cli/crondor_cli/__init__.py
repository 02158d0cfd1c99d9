"""The crondor command line."""

import gc

# New objects between garbage collections: most belong to modules, and each collection while they load takes 2 to 5 ms.
gc.set_threshold(50_000)
