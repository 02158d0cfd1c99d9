"""Values of an ad that nobody has promised: what is missing, of another type or no expression at all is None."""

from __future__ import annotations

from crondor.classad import Context, Value, print_value
from crondor.classad.ad import ClassAd
from crondor.classad.values import ERROR, UNDEFINED
from crondor.diagnostics import printable
from crondor.job import attributes


class AdValues:
    """Reads attributes of one ad, in one context."""

    __slots__ = ("_context", "ad")

    def __init__(self, ad: ClassAd, context: Context) -> None:
        """Take the ad, and the context of its expressions."""
        self.ad = ad
        self._context = context

    def value(self, name: str) -> Value | None:
        """Return a value, None where there is none."""
        found = attributes.value(self.ad, name, self._context)
        return None if found is UNDEFINED or found is ERROR else found

    def number(self, name: str) -> int | float | None:
        """Return a number of which sums and dates can be made."""
        return attributes.finite(self.ad, name, self._context)

    def integer(self, name: str) -> int | None:
        """Return such a number without its fraction."""
        found = self.number(name)
        return None if found is None else int(found)

    def string(self, name: str) -> str | None:
        """Return a string as it is."""
        return attributes.string(self.ad, name, self._context)

    def text(self, name: str) -> str | None:
        """Return a value as text that a terminal may show, a string without quotes."""
        found = self.value(name)
        if found is None:
            return None
        return printable(found if isinstance(found, str) else print_value(found))

    def is_true(self, name: str) -> bool:
        """Whether a value is true."""
        return attributes.boolean(self.ad, name, self._context) is True
