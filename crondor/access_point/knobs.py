"""The knobs of a schedd: what is wrong with one of them is noted, and then it counts as not set."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from crondor._types import Made
from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.expression import Expression
from crondor.config import Configuration, InvalidConfig, Knob
from crondor.diagnostics import Diagnostic, Severity, similar
from crondor.source import Source, Span

_NAME = re.compile(r"[^, \t\r\n]+")
_LONGEST = 1 << 20  # characters of an expression that is read


class ScheddKnobs(Made):
    """A configuration as the schedd sees it, and what was found wrong on the way."""

    def __init__(self, configuration: Configuration) -> None:
        """Take the configuration."""
        self.configuration = replace(configuration, subsystem="SCHEDD")
        self.found: list[Diagnostic] = []

    def __repr__(self) -> str:
        """Return the configuration."""
        return f"ScheddKnobs({self.configuration!r})"

    def _made_of(self) -> tuple[object, ...]:
        return (self.configuration,)

    def place(self, name: str) -> Span | None:
        """Return where a knob's value stands in a file; None where it stands in none."""
        knob = self.knob(name)
        return None if knob is None else knob.span

    def knob(self, name: str) -> Knob | None:
        """Return a knob that somebody has set."""
        knob = self.configuration.find(name)
        return None if knob is None or knob.is_default else knob

    def string(self, name: str) -> str | None:
        """Return a knob's text with its macros replaced; None where that leaves nothing, or cannot be done."""
        try:
            return self.configuration.string(name)
        except InvalidConfig as error:
            self.found += error.diagnostics
            return None

    def boolean(self, name: str, *, default: bool) -> bool:
        """Return a truth value; the default where the text is none."""
        try:
            return self.configuration.boolean(name, default=default)
        except InvalidConfig as error:
            self.found += error.diagnostics
            return default

    def integer(self, name: str, default: int, least: int = -(1 << 31)) -> int:
        """Return an integer; the default where the text is none."""
        try:
            return self.configuration.integer(name, default, least)
        except InvalidConfig as error:
            self.found += error.diagnostics
            return default

    def expression(self, name: str, ignored: str, *, old: bool) -> Expression | None:
        """Return a knob's expression; None where it is not set, or does not read: then ``ignored`` says what happens.

        ``old`` is how HTCondor reads most knobs; without it only the beginning has to be an expression.
        """
        text = self.string(name)
        if text is None or len(text) > _LONGEST:
            return None
        try:
            return Expression.parse(Source(text, name), old=old, partial=not old, open_choice=old)
        except ClassAdSyntaxError as error:
            place = self.place(name)
            for fault in error.diagnostics:
                at = fault if place is None else fault.relocated(place)
                message = f"{name} is no expression, and {ignored}: {fault.message}"
                self.found.append(replace(at, kind="access-point", message=message, severity=Severity.WARNING))
            return None

    def names(self, name: str) -> Iterator[tuple[str, Span | None]]:
        """Yield the names of a list, each once, with their places in the file."""
        text = self.string(name)
        place = self.place(name)
        at = {} if place is None else {each[0]: place.part(*each.span()) for each in _NAME.finditer(place.text)}
        for word in dict.fromkeys(_NAME.findall(text or "")):
            yield word, at.get(word, place)

    def missing(self, prefix: str, name: str, place: Span | None) -> None:
        """Note that a list names a knob that there is not."""
        begin = prefix.lower()
        defined = {
            key[len(begin) :]: knob.name[len(begin) :]
            for key, knob in self.configuration.knobs.items()
            if key.startswith(begin)
        }
        near = similar(name.lower(), list(defined), 0.8)
        help_text = f"did you mean {defined[near[0]]}?" if near else "define it, or take it out of the list"
        self.warn(f"{prefix}{name} is not defined: the schedd passes over it", place, help_text)

    def warn(self, message: str, place: Span | None, help: str | None = None) -> None:  # noqa: A002 - Diagnostic's word
        """Note what the schedd passes over."""
        self.found.append(Diagnostic("access-point", message, Severity.WARNING, place, help))
