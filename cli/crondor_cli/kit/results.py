"""What commands print as JSON: the types that several need, and the JSON Schema of any of them.

A command's package has a module `results` with a TypedDict for each object that it prints: the annotation of a key says
what type the value has, what it means and in which unit, and which values there are, if they are few; a number is the
length of an array. mypy holds the code that prints against these types; `crondor config schema` and the reference pages
are made of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    NamedTuple,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import crondor_cli
from crondor.diagnostics import Severity
from crondor.lint import report as lint
from crondor.router.match.reasons import RouteOutcome
from crondor.router.match.umbrella import Clause as Clauses
from crondor.spec import Dialect

if TYPE_CHECKING:
    from typing_extensions import NotRequired as NotRequired  # noqa: PLC0414 - the other modules take it from here
else:  # typing has it from Python 3.11 on

    class NotRequired:
        """A key that may be missing."""

        def __class_getitem__(cls, type_: object) -> object:
            """Return the type with a mark."""
            return Annotated[type_, cls]


DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
_AD = {
    "description": "A ClassAd: values by attribute; what is no literal is a string /Expr(...)/.",
    "type": "object",
    "additionalProperties": True,
}


def names(values: type[Enum], *more: str) -> tuple[str, ...]:
    """Return the names of an enumeration as JSON has them, and more values."""
    return (*(each.name.lower() for each in values), *more)


class Result(NamedTuple):
    """What a command prints as JSON: its title, and the type of the document, or of one line of many."""

    title: str
    type: Any


class Instant(TypedDict):
    """An instant."""

    time: Annotated[int, "epoch seconds (UTC)"]
    local: Annotated[str | None, "the same in the zone (ISO 8601 with offset); null beyond the calendar"]


class Diagnostic(TypedDict):
    """A finding: what is wrong, why, and where."""

    code: Annotated[str, "stable: that of the rule, as `crondor check` has it; else in kebab-case"]
    severity: Annotated[str, "how bad it is", Severity]
    message: Annotated[str, "what and why"]
    help: Annotated[str | None, "what to write instead"]
    fix: Annotated[str | None, "the text to put in place of `text`, where there is one right answer"]
    file: Annotated[str | None, "where it stands: a file or an option"]
    line: Annotated[int | None, "its line (from 1)"]
    column: Annotated[int | None, "its column (characters, from 1)"]
    text: Annotated[str | None, "the piece itself, 200 characters at most"]


class Part(TypedDict):
    """A part of an expression, with its value in ClassAd syntax."""

    expression: Annotated[str, "the part as HTCondor prints it"]
    value: Annotated[str | None, "its value; null: it has none, or was not reached"]
    reached: Annotated[bool, "false where evaluation does not come that far"]
    parts: Annotated[Iterable[Part], "its own parts"]


class Known(Instant):
    """Up to when a schedule is known, and why no further; null for one that is known for ever."""

    reason: Annotated[str, "what limits it, in words"]


class JobHead(TypedDict):
    """Equal jobs, or one schedule from the command line."""

    name: Annotated[str, "the file, the crontab line, or `command line`"]
    line: Annotated[int | None, "the line of the queue statement (from 1); null without a file"]
    count: Annotated[int, "how many equal jobs this stands for"]


class AskedSchedule(TypedDict):
    """The schedule of --schedule."""

    text: Annotated[str, "the schedule as it was written"]
    words: Annotated[str, "the schedule in words"]
    zone: Annotated[str, "the zone whose clock it means (IANA name)"]
    until: Annotated[Known | None, "up to when it is known"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]


class Difference(TypedDict):
    """Why the real schedd reads a schedule otherwise."""

    code: Annotated[
        str,
        "`field`, `attribute`: read otherwise; `day-zero`: the day-0 defect; `clock-change`: near one; "
        "`accepted`: the manual refuses the schedule",
        ("field", "attribute", "day-zero", "clock-change", "accepted"),
    ]
    reason: Annotated[str, "the reason"]
    write: Annotated[str | None, "what to write instead; null where nothing cures it"]
    is_clause: Annotated[bool, "whether `write` is to be added to requirements, and not a line of the submit file"]


class Start(TypedDict):
    """A start, and the moments around it."""

    time: Annotated[int, "the start (epoch seconds)"]
    local: Annotated[str | None, "the same in the zone (ISO 8601 with offset); null beyond the calendar"]
    nominal_match: Annotated[int, "time - prep_time: where the manual opens the gate (epoch seconds)"]
    match_opens: Annotated[int, "time - prep_time - SCHEDD_INTERVAL: from here the job may be matched (epoch seconds)"]
    last_match: Annotated[int, "time + window - 1: the last second at which it can be matched (epoch seconds)"]
    last_start: Annotated[int, "time + window: the last second at which it can start (epoch seconds)"]


class QueueSource(TypedDict):
    """Which jobs were read, and when."""

    source: Annotated[str, "where the ads come from", ("queue", "log", "live", "ads")]
    zone: Annotated[str, "the zone (IANA name)"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]


class QueueHead(QueueSource):
    """Which jobs were read, when, and how their schedules are read."""

    dialect: Annotated[str, "how Cron attributes were read", Dialect]


class Clause(TypedDict):
    """A clause that keeps a job from being a candidate for routing."""

    clause: Annotated[str, "the clause that does not hold", names(Clauses)]
    reason: Annotated[str, "why"]


class Verdict(TypedDict):
    """What a route says of a job."""

    route: Annotated[str, "the route"]
    outcome: Annotated[str, "what it says", RouteOutcome]
    reason: Annotated[str | None, "why; null where there is nothing more to say"]


class Judged(TypedDict):
    """Whether a job can be routed, and what each route says of it."""

    missed: Annotated[Iterable[Clause], "the clauses that keep it from being a candidate"]
    routes: Annotated[Iterable[Verdict], "what each route says of it"]


class CheckedFile(lint.ReportData):
    """A checked file."""

    baseline: Annotated[int, "how many `--baseline` knew already"]


class Counted(TypedDict):
    """How many findings of each severity."""

    error: Annotated[int, "what is refused, held, or never runs"]
    warning: Annotated[int, "what will surprise"]
    note: Annotated[int, "what is good to know"]


class Findings(TypedDict):
    """What was found in each file; without --statistics."""

    files: Annotated[Iterable[CheckedFile], "the files in the order named"]
    summary: Annotated[Counted, "how many findings of each severity"]


class Statistic(TypedDict):
    """How often a rule found something."""

    code: Annotated[str, "the rule: `CRN101`"]
    name: Annotated[str, "the rule's name"]
    severity: Annotated[str, "how bad it is", Severity]
    count: Annotated[int, "how often it did"]
    files: Annotated[int, "in how many files"]
    fixable: Annotated[int, "how many of them `--fix` cures"]


class Statistics(TypedDict):
    """How often each rule found something; with --statistics."""

    files: Annotated[int, "how many files were looked at"]
    statistics: Annotated[Iterable[Statistic], "the rules that found something, by code"]


class Acted(TypedDict):
    """What was done to jobs."""

    action: Annotated[str, "what was done", ("hold", "release", "rm")]
    done: Annotated[int, "to how many it was done"]
    already: Annotated[int, "how many were so already"]
    bad_status: Annotated[int, "to how many it cannot be done: not held, removed"]
    denied: Annotated[int, "how many the schedd refused: they are somebody else's"]
    not_found: Annotated[int, "how many jobs and clusters that were named are not there"]
    diagnostics: Annotated[Iterable[Diagnostic], "the same in words"]


@cache
def results() -> Mapping[str, Result]:
    """Return what the commands print, by name with hyphens between the words."""
    packages = [f"crondor_cli.{each.name}" for each in iter_modules(crondor_cli.__path__) if each.ispkg]
    own = [f"{each}.results" for each in packages if each != __package__ and find_spec(f"{each}.results")]
    return dict(sorted(item for each in own for item in import_module(each).RESULTS.items()))


def schema(name: str) -> dict[str, Any]:
    """Return a JSON Schema (draft 2020-12) that needs no other. Raises KeyError for a name that there is not."""
    result = results()[name]
    needed: dict[str, Any] = {}
    document = _part(result.type, needed)
    if set(document) == {"$ref"} and document["$ref"] not in str(needed):  # stands at the top itself
        document = needed.pop(_name(result.type))
    return {"$schema": DIALECT, "title": result.title, **document, "$defs": needed}


def shared() -> dict[str, Any]:
    """Return the definitions of the types that several commands need, by name."""
    needed: dict[str, Any] = {"ad": _AD}
    for each in globals().values():
        if is_typeddict(each):
            _part(each, needed)
    return needed


def _name(shape: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", shape.__name__.removesuffix("Data")).lower()


def _part(hint: Any, needed: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - a type, as typing has it
    """Return the schema of a type; that of a TypedDict is put among those needed."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _described(hint, needed)
    if is_typeddict(hint):
        if _name(hint) not in needed:
            needed[_name(hint)] = {}  # it may refer to itself
            needed[_name(hint)] = _object(hint, needed)
        return {"$ref": f"#/$defs/{_name(hint)}"}
    if origin in {Union, UnionType}:
        found = _either([_part(each, needed) for each in inner])
    elif origin is tuple:
        size = {"minItems": len(inner), "maxItems": len(inner)}
        found = {"type": "array", "items": _part(inner[0], needed), **size}
    elif origin is Iterable:
        found = {"type": "array", "items": _part(inner[0], needed)}
    elif hint == Mapping[str, object]:
        needed["ad"] = _AD
        found = {"$ref": "#/$defs/ad"}
    elif origin is Mapping:
        found = {"type": "object", "additionalProperties": _part(inner[1], needed)}
    else:
        found = {"type": _TYPES[hint]}
    return found


def _object(shape: type, needed: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(shape, include_extras=True)
    return {
        "description": (shape.__doc__ or "").partition("\n")[0],
        "type": "object",
        "properties": {key: _part(hint, needed) for key, hint in hints.items()},
        "required": [key for key, hint in hints.items() if NotRequired not in getattr(hint, "__metadata__", ())],
        "additionalProperties": False,
    }


def _described(hint: Any, needed: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - as above
    found = _part(hint.__origin__, needed)
    for mark in hint.__metadata__:
        if isinstance(mark, str):
            found = {"description": mark, **found} if mark else found
        elif isinstance(mark, int):
            found |= {"minItems": mark, "maxItems": mark}
        elif mark is not NotRequired:
            values = [each.value if isinstance(each, Enum) else each for each in mark]
            is_open = "null" in _as_list(found.pop("type", ()))
            found["enum"] = [*values, *([None] if is_open else [])]
    return found


def _either(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of one of some types; those with a name of their own are alternatives."""
    if not any("$ref" in each or "anyOf" in each for each in parts):
        types = [name for each in parts for name in _as_list(each["type"])]
        return {key: value for each in parts for key, value in each.items()} | {"type": types}
    is_null = [each == {"type": "null"} for each in parts]
    return {"anyOf" if any(is_null) else "oneOf": parts}


def _as_list(types: Any) -> list[str]:  # noqa: ANN401 - "type" of a schema: a name, or some
    return [types] if isinstance(types, str) else list(types)
