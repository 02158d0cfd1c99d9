"""The common parts of the submit, configuration and transform languages: lines, macros, conditions, files.

Import ``conditions`` (if and endif), ``files`` (the files a text may name) and ``functions`` ($INT() and others) where
needed: a plain file needs none of them.
"""

from crondor.macro.expand import Lookup, expand, expand_defined, expand_self
from crondor.macro.lines import (
    BLANKS,
    MAX_BYTES,
    Around,
    Budget,
    InvalidText,
    LineReader,
    LogicalLine,
    MacroError,
    source_from_bytes,
)

__all__ = [
    "BLANKS",
    "MAX_BYTES",
    "Around",
    "Budget",
    "InvalidText",
    "LineReader",
    "LogicalLine",
    "Lookup",
    "MacroError",
    "expand",
    "expand_defined",
    "expand_self",
    "source_from_bytes",
]
