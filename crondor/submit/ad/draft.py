"""A job ad in the making: the commands of one job, how their values are read, and their faults.

HTCondor: SubmitHash::AssignJobExpr, SubmitHash::AssignJobString, SubmitHash::AssignJobVal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

from crondor.classad import ClassAdSyntaxError, Context, EvaluationFailed, Expression, Value, lower
from crondor.classad.ad import ClassAd
from crondor.classad.tree import Literal, Node, bare
from crondor.diagnostics import Diagnostic, Source, Span, shortened
from crondor.job.attributes import boolean_of, string_of
from crondor.job.expressions import NEW_JOB
from crondor.macro.evaluated import as_boolean, as_integer
from crondor.submit.facts import SubmitHost, full_path

_SPACE: Final = " \t\n\v\f\r"
_AMOUNT: Final = re.compile(
    r"[ \t\n\v\f\r]*([+-]?[0-9]+)?(\.[0-9]*)?[ \t\n\v\f\r]*(?:(?P<unit>[kKmMgGtT])[bB]?)?[ \t\n\v\f\r]*"
)
_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://.", re.DOTALL)
_UNITS: Final = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_LARGEST: Final = 2**63 - 1
_LONGEST_VALUE: Final = 40  # digits of a number shown in a message

KIB: Final = 1 << 10
MIB: Final = 1 << 20


class Amount(NamedTuple):
    """A number of KiB or MiB, whether a unit was written, and the text after a comma."""

    value: int
    has_unit: bool
    rest: str


def parse(text: str, name: str = "") -> Expression:
    """Read an expression by the rules of job attributes (ParseClassAdRvalExpr).

    Raises ClassAdSyntaxError, whose span is in a source ``name`` with the text.
    """
    return Expression.parse(Source(text, name), old=True)


def literal(node: Node) -> Literal | None:
    """Return a literal, also one in parentheses (ExprTreeIsLiteral); None for anything else."""
    inner = bare(node)
    return inner if isinstance(inner, Literal) else None


def literal_number(expression: Expression) -> float | int | None:
    """Return the value of a literal number or truth value, None for anything else (ExprTreeIsLiteralNumber)."""
    found = literal(expression.tree)
    return found.value if found is not None and isinstance(found.value, (int, float)) else None


def amount(text: str, base: int, *, in_list: bool = False) -> Amount | None:
    """Return an amount in units of ``base`` bytes, rounded up; None if it is an expression.

    ``in_list``: more may follow a comma. The unit is K, M, G or T, with or without a B; a number without a unit is in
    units of ``base``.

    HTCondor: parse_int64_bytes.
    """
    match = _AMOUNT.match(text)
    if match is None or (match[1] is None and match[2] is None):
        return None
    rest = text[match.end() :]
    if rest and not (in_list and rest[0] == ","):
        return None
    unit = match["unit"]
    number = _cut(match[1] or "0") + float("0" + (match[2] or "")[:4].ljust(2, "0"))
    product = number * (_UNITS[unit.lower()] if unit else base) + base - 1
    whole = int(product) if abs(product) <= _LARGEST else -_LARGEST - 1
    value = abs(whole) // base
    return Amount(value if whole >= 0 else -value, unit is not None, rest[1:])


def without_quotes(text: str) -> str:
    """Return a text without blanks and without the double quotes around it (trim_and_strip_quotes)."""
    text = text.strip(_SPACE)
    return (
        text[1:-1] if text.startswith('"') and text.endswith('"') else text
    )  # a single quote character leaves nothing


def is_url(text: str) -> bool:
    """Return whether a text is an address with a scheme (IsUrl)."""
    return _URL.match(text) is not None


def transfer_method(text: str) -> str | None:
    """Return the last part of the scheme of an address, None if there is none: chtc+https gives https (getURLType)."""
    url = _URL.match(text)
    return re.split(r"[+.-]", url[1])[-1] if url is not None else None


def words(text: str, separators: str = ", \t\r\n") -> list[str]:
    """Return the items of a list, without blanks around them and without empty ones."""
    pieces = re.split(f"[{re.escape(separators)}]", text)
    return [piece for piece in (item.strip(_SPACE) for item in pieces) if piece]


def _cut(digits: str) -> int:
    """Return an integer, clamped to 64 bits like strtol."""
    number = int(digits) if len(digits) <= _LONGEST_VALUE else (-1 if digits[0] == "-" else 1) << 64
    return max(-_LARGEST - 1, min(number, _LARGEST))


# Knobs with a default (param_info.in); all others are empty unless the configuration sets them.
_DEFAULTS: Final = {
    "job_default_requestcpus": "1",
    "job_default_requestdisk": "MAX({1024, (TransferInputSizeMB+1) * 1.25}) * 1024",
    "job_default_requestmemory": "128",
    "job_default_lease_duration": "2400",
    "default_job_max_retries": "2",
    "nice_user_accounting_group_name": "nice-user",
    "container_shared_fs": "/cvmfs",
}


class SubmitKnobs:
    """The configuration: macros by name without case, expanded."""

    def __init__(self, config: Mapping[str, str]) -> None:
        self._set = {name.lower(): text.strip() for name, text in config.items()}

    @property
    def all(self) -> tuple[tuple[str, str], ...]:
        """What the configuration sets, by lower-case name."""
        return tuple(self._set.items())

    def get(self, name: str) -> str | None:
        """Return the text of a macro, None if it is empty or not set."""
        key = name.lower()
        return self._set.get(key, _DEFAULTS.get(key, "")) or None

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a macro as a truth value; the default if it is not set or not one."""
        text = self.get(name)
        found = None if text is None else as_boolean(text)
        return default if found is None else found

    def number(self, name: str) -> int:
        """Return a macro that has a default as an integer; the default if it is not one."""
        found = as_integer(self.get(name) or "")
        return int(_DEFAULTS[name.lower()]) if found is None else found

    def attributes(self) -> tuple[str, ...]:
        """Return the attributes that SUBMIT_ATTRS and similar knobs put into every job; some begin with + or MY."""
        lists = (self.get(name) or "" for name in ("SUBMIT_ATTRS", "SUBMIT_EXPRS", "SYSTEM_SUBMIT_ATTRS"))
        found = {name.lower(): name for text in lists for name in words(text)}
        return tuple(found[key] for key in sorted(found))


_LONGEST: Final = 200  # characters of a value in a message
_CLOCK: Final = re.compile(r"(?i)\b(?:time|interval|currenttime|daytime|abstime|formattime)[ \t]*\(")


@dataclass
class ClusterAd:
    """What the first job of a cluster decides for all: its ad, under those of the others, and its universe.

    ``file`` is the name of the submit file. ``forced`` are commands that the universe sets, whatever the file says.
    ``now`` is the time of submission in epoch seconds and ``environ`` the submitter's variables, None if unknown.
    ``used`` collects the names that condor_submit looked up and found, in any job.
    """

    ad: ClassAd = field(default_factory=ClassAd)
    number: int = 1
    file: str = ""
    universe: int = 0
    is_docker: bool = False
    is_container: bool = False
    grid_type: str = ""
    vm_type: str = ""
    forced: dict[str, str] = field(default_factory=dict)
    corrected_lease: bool = False
    now: int | None = None
    environ: Mapping[str, str] | None = None
    used: set[str] = field(default_factory=set)

    @cached_property
    def new_job(self) -> ClassAd:
        """Return the attributes of any job, with the time of submission if it is known."""
        moment = {} if self.now is None else {"QDate": self.now, "EnteredCurrentStatus": self.now}
        return ClassAd({**NEW_JOB, **moment})


class Draft:
    """One job's ad in the making, and all its faults; ``process``: ProcId; ``folder``: Iwd, empty if unknown."""

    def __init__(
        self,
        process: int,
        commands: Mapping[str, str],
        spans: Mapping[str, Span],
        spellings: Mapping[str, str],
        host: SubmitHost,
        knobs: SubmitKnobs,
        cluster: ClusterAd,
    ) -> None:
        """Start with the attributes of the cluster's first job.

        ``commands`` are lower-case names with expanded values; ``spellings`` has the case of names that become parts of
        attributes.
        """
        self.process = process
        self.folder = host.folder
        self.commands = {**commands, **cluster.forced} if cluster.forced else commands
        self.spans = spans
        self.spellings = spellings
        self.host = host
        self.knobs = knobs
        self.cluster = cluster
        self.ad = cluster.ad.copy()
        self.context = Context(now=cluster.now or 0)
        self.faults: list[Diagnostic] = []

    def command(self, *names: str) -> str | None:
        """Return the value of a command, None if it is empty; an assigned name hides those after it."""
        for name in names:
            if name in self.commands:
                self.cluster.used.add(name)
                return self.commands[name] or None
        return None

    def written(self, *names: str) -> str:
        """Return the first of some names that is assigned, "" if none is."""
        return next((name for name in names if name in self.commands), "")

    def flag(self, *names: str) -> bool | None:
        """Return a command that must be a boolean, None if it is not given."""
        text = self.command(*names)
        if text is None:
            return None
        found = as_boolean(text, self.context)
        if found is None:
            self.refuse(names, text, "must eval to a boolean", "write True or False")
        self._need_clock(names, text)
        return found

    def integer(self, *names: str, is_int: bool = False) -> int | None:
        """Return a command that must be an integer, with ``is_int`` of 32 bits; None if it is not given."""
        text = self.command(*names)
        if text is None:
            return None
        found = as_integer(text, self.context)
        self._need_clock(names, text)
        if found is None or (is_int and not -(2**31) <= found < 2**31 - 1):
            self.refuse(names, text, "must eval to an integer", "write an integer")
            return None
        return found

    def _need_clock(self, names: tuple[str, ...], text: str) -> None:
        if self.cluster.now is None and _CLOCK.search(text):
            message = f"{names[0]}={shown(text)} depends on the time of submission, which crondor does not know"
            self.fault("unknown-time", self.written(*names) or names[0], message, "write the value out")

    def refuse(self, names: tuple[str, ...], text: str, must: str, instead: str) -> None:
        """Add a fault for a value of the wrong type, in HTCondor's words; the first name is the one reported."""
        message = f"{names[0]}={shown(text)} is invalid, {must}."
        self.fault("submit-value", self.written(*names) or names[0], message, instead)

    def fault(self, code: str, name: str, message: str, instead: str | None = None) -> None:
        """Add a fault at the value of a command."""
        self.faults.append(Diagnostic(code, message, span=self.spans.get(name), help=instead))

    def set(self, attribute: str, value: str | float) -> None:
        """Set an attribute to a string, number or truth value."""
        self.ad.set(attribute, value)

    def expression(self, attribute: str, text: str, name: str = "") -> bool:
        """Set an attribute to an expression; ``name`` is the command to blame if it is invalid."""
        try:
            self.ad.set(attribute, parse(text, name))
        except ClassAdSyntaxError as error:
            message = f"Parse error in expression: {attribute} = {shown(text)}"
            for fault in error.diagnostics:
                place = self.spans.get(name)
                at = fault.relocated(place) if place is not None else replace(fault, span=None)
                instead = f"{fault.message}: write one complete ClassAd expression"
                self.faults.append(Diagnostic("submit-expression", message, span=at.span, help=instead))
            return False
        return True

    def copy_expression(self, attribute: str, *names: str) -> bool:
        """Set an attribute to the expression of a command; return False if the command is not given."""
        text = self.command(*names)
        if text is None:
            return False
        self.expression(attribute, text, self.written(*names))
        return True

    def string(self, attribute: str, *names: str) -> str | None:
        """Set an attribute to the text of a command, and return the text; None if the command is not given."""
        text = self.command(*names)
        if text is not None:
            self.set(attribute, text)
        return text

    def path(self, text: str) -> str:
        """Return the absolute path of a job's file, if its folder is known."""
        return full_path(text, self.folder)

    def spelled(self, name: str) -> str:
        """Return a lower-case name as it is written in the file."""
        return self.spellings.get(name, name)

    def has(self, *attributes: str) -> bool:
        """Return whether any of some attributes is set, even to undefined."""
        codes = self.ad.codes
        return any(lower(attribute) in codes for attribute in attributes)

    def value(self, attribute: str) -> Value | None:
        """Return the value of an attribute, None if it is not set or has none."""
        expression = self.ad.get(attribute)
        if expression is None:
            return None
        if literal(expression.tree) is not None:
            return expression.evaluate()
        try:
            return self.ad.copy().chain(self.cluster.new_job).value(attribute, None, self.context)
        except (EvaluationFailed, ClassAdSyntaxError):
            return None

    def text(self, attribute: str) -> str | None:
        """Return an attribute whose value is a string, None for any other."""
        return string_of(self.value(attribute))

    def holds(self, attribute: str) -> bool:
        """Return whether an attribute is true, or a nonzero number."""
        return boolean_of(self.value(attribute)) is True

    def named(self, *prefixes: str) -> list[str]:
        """Return the assigned names that begin with one of some prefixes, sorted; this does not mark them as used."""
        return sorted(name for name in self.commands if name.startswith(prefixes))


def shown(text: str) -> str:
    """Return a value shortened for messages."""
    return shortened(text, _LONGEST)
