"""What the submit description, configuration and transform languages share: lines, macros, conditions, files.

``conditions`` has if and endif, ``files`` the files a text may name, ``functions`` what $INT() and its like give: they
are modules to import where they are needed, since a plain file needs none of them.
"""

from crondor.macro.around import Around
from crondor.macro.errors import Budget, MacroError
from crondor.macro.expand import Lookup, expand, expand_defined, expand_self
from crondor.macro.lines import BLANKS, LineReader, LogicalLine
from crondor.macro.text import MAX_BYTES, InvalidText, source_from_bytes

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
