"""What the submit description, configuration and transform languages share: lines, macros, conditions, files.

``conditions`` has if and endif, ``files`` the files a text may name, ``functions`` what $INT() and its like give: they
are modules to import where they are needed, since a plain file needs none of them.
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
