"""A configuration as it was read: each knob's text and place, its values by type, and what was found wrong.

HTCondor: lookup_macro, param in src/condor_utils/condor_config.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from random import Random

from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.expression import Expression
from crondor.classad.scope import Context
from crondor.config.values import as_boolean, as_integer, as_real
from crondor.diagnostics import CrondorError, Diagnostic, has_error, shortened
from crondor.macro import Around, Budget, LineReader, LogicalLine, MacroError, expand
from crondor.source import Source, Span

VERSION = (25, 14, 0)
_INTEGER_LEAST, _INTEGER_MOST = -(1 << 31), (1 << 31) - 1
_NAMES = re.compile(r"[^, \t\r\n]+")


class InvalidConfig(CrondorError, ValueError):
    """A configuration, or a knob of it, that HTCondor does not take."""


@dataclass(frozen=True)
class Knob:
    """A name with a text, as it was set last.

    ``text`` is the value as it is written: macros are in it, but for the knob's own earlier text. ``span`` is where
    the value stands, ``name_span`` the name; None: it comes from a mapping or is a default. ``is_default``: nobody
    set it.
    """

    name: str
    text: str
    span: Span | None = None
    name_span: Span | None = None
    is_default: bool = False
    _begin: int = field(default=-1, repr=False, compare=False)  # of the first line in the source; -1: none stands there
    _skip: int = field(default=0, repr=False, compare=False)  # characters of that line before the value

    @property
    def source(self) -> Source:
        """The value as a text of its own, named like the knob."""
        return Source(self.text, self.name)

    def lines(self) -> tuple[LogicalLine, ...]:
        """Return the lines of the value as they stand in their file, none where the value stands nowhere as it is."""
        if self._begin < 0 or self.span is None:
            return ()
        reader = LineReader(self.span.source, self._begin)
        found: list[LogicalLine] = []
        while reader.at < self.span.end and (line := reader.statement()) is not None:
            found.append(line)
        if self._skip and found:
            found[0] = found[0].behind(self._skip)
        return tuple(found) if "\n".join(line.text for line in found) == self.text else ()

    def place(self) -> Span:
        """Return where the value stands, or the value itself where it stands nowhere."""
        return self.span if self.span is not None else self.source.span()


@dataclass(frozen=True, repr=False)
class Configuration:
    """Knobs by name; names have no case.

    A name is looked up as HTCondor does it for the daemon that ``subsystem`` names: with ``local_name`` and a dot
    before it, with the subsystem and a dot, and alone. ``knobs`` has what was set by lower-case name, ``defaults``
    what holds where nothing was. ``environ`` is what $ENV() sees, None: not known. ``diagnostics`` is what was found
    on reading; with an ERROR among them HTCondor does not start. ``is_followed``: what LOCAL_CONFIG_DIR and its kin
    name was looked for, and what of it is not read stands there.
    """

    knobs: Mapping[str, Knob] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: tuple[Source, ...] = ()
    environ: Mapping[str, str] | None = None
    context: Context = field(default_factory=Context)
    subsystem: str = "JOB_ROUTER"
    local_name: str = ""
    version: tuple[int, int, int] = VERSION
    is_followed: bool = False

    def __repr__(self) -> str:
        """Return the number of knobs, and where they come from."""
        names = ", ".join(each.name for each in self.sources[:3]) + (", ..." if len(self.sources) > 3 else "")
        return f"<Configuration of {len(self.knobs)} knobs{f' from {names}' if names else ''}>"

    @property
    def is_valid(self) -> bool:
        """Whether HTCondor would start with it."""
        return not has_error(self.diagnostics)

    def find(self, name: str) -> Knob | None:
        """Return a knob, a default too; None for a name that nothing is known of."""
        key = name.lower()
        for prefix in self._prefixes():
            knob = self.knobs.get(prefix + key)
            if knob is not None:
                return knob
        text = self.defaults.get(key)
        return None if text is None else Knob(name, text, is_default=True)

    def raw(self, name: str) -> str | None:
        """Return the text of a knob as it is written, None where it is not set or empty (param_unexpanded)."""
        knob = self.find(name)
        return knob.text or None if knob is not None else None

    def string(self, name: str, default: str | None = None) -> str | None:
        """Return the text of a knob with its macros replaced, the default where that leaves nothing (param).

        Raises InvalidConfig where the macros cannot be replaced.
        """
        knob = self.find(name)
        if knob is None:
            return default
        try:
            return self.expand(knob.text).strip() or default
        except MacroError as error:
            raise InvalidConfig(_moved(each, knob) for each in error.diagnostics) from None

    def integer(self, name: str, default: int = 0, least: int = _INTEGER_LEAST, most: int = _INTEGER_MOST) -> int:
        """Return a knob that is an integer, or an expression with an integer. Raises InvalidConfig."""
        text = self.string(name)
        if text is None:
            return default
        value = as_integer(text, self.context)
        if value is None or not least <= value <= most:
            what = "is no integer" if value is None else f"is not between {least} and {most}"
            raise self._refused(name, text, what, f"write an integer; without this line it is {default}")
        return value

    def real(self, name: str, default: float = 0.0, least: float = -inf, most: float = inf) -> float:
        """Return a knob that is a number, or an expression with a number. Raises InvalidConfig."""
        text = self.string(name)
        if text is None:
            return default
        value = as_real(text, self.context)
        if value is None or value < least or value > most:
            what = "is no number" if value is None else f"is not between {least:g} and {most:g}"
            raise self._refused(name, text, what, f"write a number; without this line it is {default:g}")
        return value

    def boolean(self, name: str, *, default: bool = False) -> bool:
        """Return a knob that is a truth value, or an expression with one. Raises InvalidConfig."""
        text = self.string(name)
        if text is None:
            return default
        value = as_boolean(text, self.context)
        if value is None:
            raise self._refused(
                name,
                text,
                "is not a valid boolean",
                f"write true or false; without this line it is {str(default).lower()}",
            )
        return value

    def expression(self, name: str, default: Expression | None = None) -> Expression | None:
        """Return a knob that is a ClassAd expression, the default where it is not set. Raises InvalidConfig."""
        text = self.string(name)
        if text is None:
            return default
        try:
            return Expression.parse(Source(text, name), old=True)
        except ClassAdSyntaxError as error:
            knob = self.find(name)
            if knob is None:
                raise
            raise InvalidConfig(_moved(each, knob, text) for each in error.diagnostics) from None

    def names(self, name: str) -> tuple[str, ...]:
        """Return a knob that is a list of names, separated by commas or blanks. Raises InvalidConfig."""
        return tuple(_NAMES.findall(self.string(name) or ""))

    def is_set(self, name: str) -> bool:
        """Whether somebody set a knob to more than nothing."""
        knob = self.find(name)
        return knob is not None and not knob.is_default and bool(knob.text)

    def lookup(self, key: str) -> str | None:
        """Return the text of a name in lower case, as macros ask for it."""
        knob = self.find(key)
        return None if knob is None else knob.text

    def expand(self, text: str) -> str:
        """Return a text with the knobs in it replaced. Raises MacroError."""
        return expand(text, self.lookup, Budget(), self.around()) if "$" in text else text

    def around(self) -> Around:
        """Return what functions in a text may see."""
        dice = Random(self.context.seed)  # noqa: S311 - a preview, no secret
        return Around(self.environ, dice, "", None, self.context.now, lambda _: None)

    def texts(self) -> dict[str, str]:
        """Return all knobs by lower-case name as the subsystem sees them, as they are written."""
        found = dict(self.defaults)
        prefixes = [prefix for prefix in self._prefixes() if prefix]
        found.update((key, knob.text) for key, knob in self.knobs.items())
        for prefix in reversed(prefixes):
            for key, knob in self.knobs.items():
                if key.startswith(prefix):
                    found[key[len(prefix) :]] = knob.text
        return found

    def _prefixes(self) -> Iterator[str]:
        for word in (self.local_name, self.subsystem):
            if word:
                yield f"{word.lower()}."
        yield ""

    def _refused(self, name: str, text: str, what: str, help: str) -> InvalidConfig:  # noqa: A002 - Diagnostic's word
        knob = self.find(name) or Knob(name, text)
        shown = shortened(text, 60)
        message = f"{name} in the condor configuration {what} ({shown})"
        return InvalidConfig(Diagnostic("knob-value", message, span=knob.place(), help=help))


def _moved(found: Diagnostic, knob: Knob, text: str | None = None) -> Diagnostic:
    """Return a finding about a knob's value at its place."""
    place = knob.place()
    if found.span is None or text is None or text != place.text:
        message = f"{knob.name}: {found.message}"
        return Diagnostic(found.kind, message, found.severity, place, found.help)
    return found.relocated(place)
