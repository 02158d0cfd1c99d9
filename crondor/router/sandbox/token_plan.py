"""The tokens that a configuration asks for: JOB_ROUTER_CREATE_IDTOKEN_NAMES and the knobs that it names.

HTCondor: JobRouter::config.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from crondor.classad import ClassAdSyntaxError, Expression, lower
from crondor.classad.ad import ClassAd
from crondor.config import Configuration, InvalidConfig
from crondor.diagnostics import Diagnostic, Severity, has_error
from crondor.job.attributes import exact_integer, string
from crondor.source import Source, Span

NAMES: Final = "JOB_ROUTER_CREATE_IDTOKEN_NAMES"
TOKEN: Final = "JOB_ROUTER_CREATE_IDTOKEN_"  # noqa: S105 - the beginning of a knob's name
REFRESH: Final = "JOB_ROUTER_IDTOKEN_REFRESH"
DIRECTORY: Final = "SEC_TOKEN_DIRECTORY"

_TEXTS: Final = ("sub", "kid", "scope", "dir", "filename", "file", "owner", "ntdomain")
_LINE: Final = re.compile(r"[ \t]*([A-Za-z_][A-Za-z0-9_.]*)[ \t]*=(?![=?!])[ \t]*").match
_MOST: Final = 1000


class TokenSpec(NamedTuple):
    """One token: what is to be in it, and the file that it goes to.

    ``lifetime`` is in seconds, negative: it does not end. ``scopes`` empty: all that its subject may do. ``owner`` is
    the account that gets the file; empty: it stays the router's.
    """

    name: str
    subject: str
    key: str
    lifetime: int
    scopes: tuple[str, ...]
    path: str
    owner: str = ""


@dataclass(frozen=True)
class TokenPlan:
    """The tokens of a configuration, how often they are made anew (seconds; 0: never), and what is wrong."""

    tokens: tuple[TokenSpec, ...] = ()
    refresh: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()


def read_tokens(configuration: Configuration) -> TokenPlan:
    """Read the tokens of a configuration; one with a fault is left out, as HTCondor does, and its faults are errors.

    Where HTCondor passes over a ``lifetime`` or ``scope`` of the wrong type, and makes a token without end or without
    limits, this is a fault. The file is called ``filename``, as in HTCondor's source, or ``file``, as in its manual.
    """
    found: list[Diagnostic] = []
    try:
        names = tuple(dict.fromkeys(configuration.names(NAMES)))
        refresh = configuration.integer(REFRESH, 0)
        directory = configuration.string(DIRECTORY) or ""
    except InvalidConfig as error:
        return TokenPlan(diagnostics=error.diagnostics)
    tokens: dict[str, TokenSpec] = {}
    for name in names[:_MOST]:
        if name.upper() == "NAMES":
            continue
        reader = _Reader(configuration, name)
        spec = reader.spec(directory)
        if spec is not None and any(other.path == spec.path for other in tokens.values()):
            reader.fault(f"another token has the file {spec.path} already", hint="give it a filename of its own")
            spec = None
        if spec is not None:
            tokens[name] = spec
        found += reader.found
    return TokenPlan(tuple(tokens.values()), max(0, refresh), tuple(found))


class _Reader:
    """One knob."""

    def __init__(self, configuration: Configuration, name: str) -> None:
        self.name = name
        self.knob = TOKEN + name
        self.found: list[Diagnostic] = []
        found = configuration.find(self.knob)
        self._place = None if found is None else found.span
        self._lines = () if found is None else found.lines()
        try:
            self._text = configuration.string(self.knob) or ""
        except InvalidConfig as error:
            self.found += error.diagnostics
            self._text = ""
        self._source = Source(self._text, self.knob)
        self._pieces: dict[str, Span] = {}

    def fault(self, message: str, name: str = "", hint: str | None = None, severity: Severity = Severity.ERROR) -> None:
        """Note what is wrong with an attribute, or with the whole."""
        span = self._pieces.get(name, self._place or self._source.span())
        self.found.append(Diagnostic("id-token", f"{self.knob}: {message}", severity, span, hint))

    def spec(self, directory: str) -> TokenSpec | None:
        """Return the token, None where a fault is in the way."""
        if not self._text.strip():
            if not self.found:
                self.fault("it is listed, and nothing says what is in it", hint='write sub = "..." and so on')
            return None
        ad = self._ad()
        texts = {name: self._string(ad, name) for name in _TEXTS}
        lifetime = self._lifetime(ad)
        file = texts["filename"] or texts["file"] or self.name
        if "/" in file or file in (".", "..") or "\0" in file:
            self.fault(f"{file!r} is no name of a file", "filename" if texts["filename"] else "file", "use dir as well")
        folder = texts["dir"] or directory
        if not folder.startswith("/"):
            what = f"{folder!r} is no full path" if folder else "no folder is given"
            self.fault(what, "dir", f"write dir, or set {DIRECTORY}")
        if has_error(self.found):
            return None
        scopes = tuple(texts["scope"].replace(",", " ").split())
        path = f"{folder.rstrip('/')}/{file}"
        return TokenSpec(self.name, texts["sub"] or self.name, texts["kid"], lifetime, scopes, path, texts["owner"])

    def _ad(self) -> ClassAd:
        ad = ClassAd()
        for number, line in enumerate(self._text.split("\n")):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            found = _LINE(line)
            if found is None:
                self._pieces[""] = self._span(number, line, 0, len(line))
                self.fault("this line is no attribute", "", 'write name = value, as in sub = "alice"')
                continue
            value = line[found.end() :].rstrip(" \t\r")
            piece = self._span(number, line, found.end(), found.end() + len(value))
            self._pieces[lower(found[1])] = piece
            if lower(found[1]) not in (*_TEXTS, "lifetime"):
                self.fault(f"HTCondor does not look at {found[1]}", lower(found[1]), severity=Severity.WARNING)
            try:
                ad[found[1]] = Expression.parse(Source(value, self.knob), old=True)
            except ClassAdSyntaxError as error:
                self.found += [
                    replace(each.relocated(piece), message=f"{self.knob}: {each.message}") for each in error.diagnostics
                ]
        return ad

    def _string(self, ad: ClassAd, name: str) -> str:
        value = string(ad, name)
        if value is not None or name not in ad:
            return value or ""
        self.fault(f"{name} is no string", name, f'write {name} = "..."')
        return ""

    def _lifetime(self, ad: ClassAd) -> int:
        value = exact_integer(ad, "lifetime")  # HTCondor cuts a real, which nobody means
        if value is not None or "lifetime" not in ad:
            return -1 if value is None else value
        self.fault("lifetime is no integer", "lifetime", "write it in seconds, without quotes")
        return -1

    def _span(self, number: int, line: str, start: int, end: int) -> Span:
        """Return the place of a piece of a line; of the whole line or knob where the file says something else."""
        if number < len(self._lines):
            written = self._lines[number]
            return written.span(start, end) if written.text == line else written.span()
        return self._source.span() if self._place is None else self._place
