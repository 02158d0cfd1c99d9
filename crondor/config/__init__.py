"""HTCondor's configuration language: knobs by name, with where each was set.

``read_config(source)`` reads a file, a text or a mapping and gives a ``Configuration``: the value of each knob as it
is written, with its macros replaced, or as a number, a truth value, an expression; and what is wrong, all at once.
Nothing is executed, and no file is opened that the caller does not allow.
"""

from crondor.config.deployed import find_host_config, read_host_config
from crondor.config.reader import Configuration, InvalidConfig, Knob, read_config

__all__ = ["Configuration", "InvalidConfig", "Knob", "find_host_config", "read_config", "read_host_config"]
