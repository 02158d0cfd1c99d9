"""What the submit description, configuration and transform languages share: lines, macros, and reading their bytes."""

from crondor.macro.expand import Budget, Lookup, MacroError, expand, expand_self
from crondor.macro.lines import BLANKS, LineReader, LogicalLine
from crondor.macro.text import MAX_BYTES, InvalidText, source_from_bytes

__all__ = [
    "BLANKS",
    "MAX_BYTES",
    "Budget",
    "InvalidText",
    "LineReader",
    "LogicalLine",
    "Lookup",
    "MacroError",
    "expand",
    "expand_self",
    "source_from_bytes",
]
