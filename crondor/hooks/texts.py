"""Ads as hooks get and give them: a line ``Name = expression`` for each attribute."""

from __future__ import annotations

import re
from dataclasses import replace
from operator import itemgetter
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.formats.long_form import read_value
from crondor.classad.formats.pieces import ReadMode
from crondor.classad.limits import MAX_TEXT
from crondor.classad.printing import Format, Order
from crondor.classad.scope import Code
from crondor.classad.text import lower
from crondor.diagnostics import Diagnostic, Severity
from crondor.source import Source

_PRIVATE: Final = frozenset({"capability", "childclaimids", "claimid", "claimidlist", "claimids", "transferkey"})
_PRIVATE_PREFIX: Final = "_condor_priv"
_BLANKS: Final = " \t\r\f\v"
IS_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch
_MOST_FAULTS: Final = 20


class Output(NamedTuple):
    """What a hook printed, read as an ad; ``faults`` are the lines that are no attribute, the first of them.

    ``odd`` are warnings of names that no attribute should have, where they are taken.
    """

    ad: ClassAd
    faults: tuple[Diagnostic, ...]
    odd: tuple[Diagnostic, ...] = ()


def ad_text(ad: ClassAd) -> str:
    """Return an ad for standard input: a line each attribute, by the bytes of the names, without private ones.

    A line end inside a string, which HTCondor prints raw, becomes a blank: it would let the owner of a job write
    attributes of his own, and the end of the ad.
    """
    codes, names = ad.codes, ad.names
    shown = {key: name for key, name in names.items() if key not in _PRIVATE and not key.startswith(_PRIVATE_PREFIX)}
    ordered = sorted(shown.items(), key=itemgetter(1))
    made = ClassAd.of({key: codes[key] for key, _ in ordered}, dict(ordered))
    try:
        text = made.print(Format.LONG, Order.KEPT)
    except ClassAdSyntaxError:
        text = ""
    if text.count("\n") == len(made):
        return text
    return "".join(f"{_one_line(made, name)}\n" for name in made)


def _one_line(ad: ClassAd, name: str) -> str:
    try:
        one = ClassAd.of({lower(name): ad.code(name)}, {lower(name): name})
        text = one.print(Format.LONG)
    except ClassAdSyntaxError:  # an expression that HTCondor wrote and does not read
        text = f"{name} = {ad.text(name)}\n"
    return text.removesuffix("\n").replace("\n", " ")


def read_line(line: str) -> tuple[str, Code | str]:
    """Return name and expression of a line, as HTCondor's daemons take it apart.

    Raises ValueError with the reason; its second argument is the offset of the fault.
    """
    if "\0" in line:
        raise ValueError("a NUL character: HTCondor reads no further", line.index("\0"))
    if line.startswith("'"):
        raise ValueError("a quoted name is not read here", 0)
    before, sign, right = line.partition("=")
    name = before.rstrip(" ")
    if not sign:
        raise ValueError("this line has no =", 0)
    if not name:
        raise ValueError("an attribute needs a name before its =", 0)
    text = right.lstrip(" ")
    if len(text) > MAX_TEXT:
        raise ValueError(f"an expression has at most {MAX_TEXT} characters", 0)
    try:
        return name, read_value(text, ReadMode.DAEMON)
    except ClassAdSyntaxError as error:
        found = error.diagnostics[0]
        raise ValueError(found.message, len(line) - len(text) + (found.span.start if found.span else 0)) from None


def read_output(text: str, name: str, *, takes_odd_names: bool = False) -> Output:
    """Return the ad that a hook printed, and every line that is none of an ad; ``name`` is what messages call it.

    Blanks around lines and empty lines do not count. A name that no attribute can have is a fault, since the schedd
    refuses it later; ``takes_odd_names``: it is taken, as where no schedd sees it (startd, starter).
    """
    source = Source(text, name)
    ad = ClassAd()
    faults: list[Diagnostic] = []
    odd: list[Diagnostic] = []
    more = at = 0
    for line in text.split("\n"):
        stripped = line.strip(_BLANKS)
        if stripped:
            start = at + len(line) - len(line.lstrip(_BLANKS))
            fault = _add(ad, stripped, source, start, takes_odd_names=takes_odd_names)
            if fault is not None and takes_odd_names and fault.kind == "hook-name":
                odd += [replace(fault, severity=Severity.WARNING)] if len(odd) < _MOST_FAULTS else []
            elif fault is not None:
                more += len(faults) >= _MOST_FAULTS
                faults += [fault] if len(faults) < _MOST_FAULTS else []
        at += len(line) + 1
    if more:
        faults.append(Diagnostic("hook-output", f"{name}: {more} more lines are no attributes", Severity.NOTE))
    return Output(ad, tuple(faults), tuple(odd))


def _add(ad: ClassAd, line: str, source: Source, start: int, *, takes_odd_names: bool) -> Diagnostic | None:
    try:
        name, code = read_line(line)
    except ValueError as error:
        message, offset = error.args
        span = source.span(start + offset, start + len(line))
        return Diagnostic("hook-output", str(message), span=span, help="print lines of the form Name = expression")
    if IS_NAME(name) or takes_odd_names:
        ad.put(name, code)
    if IS_NAME(name):
        return None
    span = source.span(start, start + len(name))
    return Diagnostic("hook-name", "no attribute has this name", span=span, help="a name is letters, digits and _")
