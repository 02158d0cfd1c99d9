"""Regular expressions that are compiled when they are first asked for: to compile 50 takes 4 ms of a short command.

A rule looks for what most texts do not have, and most of its expressions are never used. Modules that a short command
imports take ``regex`` from here in place of ``re.compile``; what is given to a function of ``re`` itself, or is used
in every run, is compiled there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from re import compile as regex
else:
    import re

    class regex:  # noqa: N801 - it stands for a function
        """A compiled expression, once something of it is asked for; its methods are those of that one from then on."""

        __slots__ = ("_given", "findall", "finditer", "fullmatch", "match", "pattern", "search", "sub")

        def __init__(self, text: str, flags: int = 0) -> None:
            """Take what ``re.compile`` takes. What is wrong with it is said when it is used."""
            self._given = text, flags

        def __getattr__(self, name: str) -> object:
            found = getattr(re.compile(*self._given), name)
            if name in regex.__slots__:
                setattr(self, name, found)
            return found


__all__ = ["regex"]
