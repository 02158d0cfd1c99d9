"""HTCondor's configuration language: knobs by name, with the place of each.

``read_config(source)`` reads a file, a text or a mapping and returns a ``Configuration``: the value of each knob as
written, with macros replaced, or as a number, a truth value, an expression; and all faults at once. Nothing is
executed, and only files that the caller allows are opened.
"""

from crondor.config.deployed import find_host_config, read_host_config
from crondor.config.reader import Configuration, InvalidConfig, Knob, read_config

__all__ = ["Configuration", "InvalidConfig", "Knob", "find_host_config", "read_config", "read_host_config"]
