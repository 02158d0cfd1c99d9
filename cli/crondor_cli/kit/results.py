"""JSON output of the commands: shared types, and the JSON Schema of any type.

A command's package has a module `results` with a TypedDict for each object that it prints: the annotation of a key
gives the type, the meaning and the unit of the value, and the possible values if they are few; a number is the length
of an array. mypy checks the code that prints against these types; `crondor config schema` and the reference pages are
generated from them.
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
    from typing_extensions import NotRequired as NotRequired  # noqa: PLC0414 - imported from here by other modules
else:  # Python 3.11 and later have it in typing

    class NotRequired:
        """A key that may be missing."""

        def __class_getitem__(cls, type_: object) -> object:
            """Return the type with a marker."""
            return Annotated[type_, cls]


RESULT = "result"  # the key of an array in an object
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
_AD = {
    "description": "A ClassAd: values by attribute; an expression that is not a literal is a string /Expr(...)/.",
    "type": "object",
    "additionalProperties": True,
}


def names(values: type[Enum], *more: str) -> tuple[str, ...]:
    """Return the names of an enumeration as in JSON, and more values."""
    return (*(each.name.lower() for each in values), *more)


class Result(NamedTuple):
    """The JSON output of a command: its title, and the type of the document, or of each line."""

    title: str
    type: Any


class Instant(TypedDict):
    """An instant."""

    time: Annotated[int, "epoch seconds (UTC)"]
    local: Annotated[str | None, "the same in the zone (ISO 8601 with offset); null outside the calendar"]


class Diagnostic(TypedDict):
    """A finding: the fault, its reason and its place."""

    code: Annotated[str, "stable: the rule's, as in `crondor check`; otherwise in kebab-case"]
    severity: Annotated[str, "its severity", Severity]
    message: Annotated[str, "the fault and its reason"]
    help: Annotated[str | None, "what to write instead"]
    fix: Annotated[str | None, "the replacement for `text`, if there is one right answer"]
    file: Annotated[str | None, "its place: a file or an option"]
    line: Annotated[int | None, "its line (from 1)"]
    column: Annotated[int | None, "its column (characters, from 1)"]
    text: Annotated[str | None, "the text concerned, at most 200 characters"]


class Part(TypedDict):
    """A part of an expression, with its value in ClassAd syntax."""

    expression: Annotated[str, "the part as HTCondor prints it"]
    value: Annotated[str | None, "its value; null: it has none, or was not evaluated"]
    reached: Annotated[bool, "whether it was evaluated"]
    parts: Annotated[Iterable[Part], "its own parts"]


class Known(Instant):
    """The time up to which a schedule is known, and the reason; null if it is known forever."""

    reason: Annotated[str, "the reason, in words"]


class JobHead(TypedDict):
    """Equal jobs, or one schedule from the command line."""

    name: Annotated[str, "the file, the crontab line, or `command line`"]
    line: Annotated[int | None, "the line of the queue statement (from 1); null without a file"]
    count: Annotated[int, "the number of equal jobs"]


class AskedSchedule(TypedDict):
    """The schedule of --schedule."""

    text: Annotated[str, "the schedule as written"]
    words: Annotated[str, "the schedule in words"]
    zone: Annotated[str, "the zone of the schedule (IANA name)"]
    until: Annotated[Known | None, "the time up to which it is known"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]


class Difference(TypedDict):
    """Why the real schedd reads a schedule differently."""

    code: Annotated[
        str,
        "`field`, `attribute`: read differently; `day-zero`: the day-0 defect; `clock-change`: near one; "
        "`accepted`: the manual rejects the schedule",
        ("field", "attribute", "day-zero", "clock-change", "accepted"),
    ]
    reason: Annotated[str, "the reason"]
    write: Annotated[str | None, "what to write instead; null if nothing helps"]
    is_clause: Annotated[bool, "whether to add `write` to requirements, not as a line of the submit file"]


class Start(TypedDict):
    """A start and its related times."""

    time: Annotated[int, "the start (epoch seconds)"]
    local: Annotated[str | None, "the same in the zone (ISO 8601 with offset); null outside the calendar"]
    nominal_match: Annotated[int, "time - prep_time: when the manual opens the gate (epoch seconds)"]
    match_opens: Annotated[int, "time - prep_time - SCHEDD_INTERVAL: the earliest match (epoch seconds)"]
    last_match: Annotated[int, "time + window - 1: the last second at which it can be matched (epoch seconds)"]
    last_start: Annotated[int, "time + window: the last second at which it can start (epoch seconds)"]


class QueueSource(TypedDict):
    """The source of the jobs, and the time."""

    source: Annotated[str, "the source of the ads", ("queue", "log", "live", "ads")]
    zone: Annotated[str, "the zone (IANA name)"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]


class QueueHead(QueueSource):
    """The source of the jobs, the time, and the dialect."""

    dialect: Annotated[str, "how Cron attributes were read", Dialect]


class Clause(TypedDict):
    """A clause that prevents a job from being a candidate for routing."""

    clause: Annotated[str, "the clause that does not hold", names(Clauses)]
    reason: Annotated[str, "why"]


class Verdict(TypedDict):
    """A route's verdict about a job."""

    route: Annotated[str, "the route"]
    outcome: Annotated[str, "the verdict", RouteOutcome]
    reason: Annotated[str | None, "the reason; null if there is none"]


class Judged(TypedDict):
    """Whether a job can be routed, and each route's verdict."""

    missed: Annotated[Iterable[Clause], "the clauses that prevent it from being a candidate"]
    routes: Annotated[Iterable[Verdict], "each route's verdict"]


class CheckedFile(lint.ReportData):
    """A checked file."""

    baseline: Annotated[int, "the number of findings in `--baseline`"]


class Counted(TypedDict):
    """The number of findings by severity."""

    error: Annotated[int, "HTCondor refuses or holds the job, or it never runs"]
    warning: Annotated[int, "the effect is probably unwanted"]
    note: Annotated[int, "useful information"]


class Findings(TypedDict):
    """The findings in each file; without --statistics."""

    files: Annotated[Iterable[CheckedFile], "the files in order"]
    summary: Annotated[Counted, "the number of findings by severity"]


class Statistic(TypedDict):
    """The number of findings of a rule."""

    code: Annotated[str, "the rule: `CRN101`"]
    name: Annotated[str, "the rule's name"]
    severity: Annotated[str, "its severity", Severity]
    count: Annotated[int, "its findings"]
    files: Annotated[int, "the files with its findings"]
    fixable: Annotated[int, "the findings that `--fix` fixes"]


class Statistics(TypedDict):
    """The number of findings by rule; with --statistics."""

    files: Annotated[int, "the number of files checked"]
    statistics: Annotated[Iterable[Statistic], "the rules with findings, by code"]


class Acted(TypedDict):
    """The result of an action on jobs."""

    action: Annotated[str, "the action", ("hold", "release", "rm")]
    done: Annotated[int, "jobs changed"]
    already: Annotated[int, "jobs already in that state"]
    bad_status: Annotated[int, "jobs whose status does not allow it: not held, removed"]
    denied: Annotated[int, "jobs that the schedd refused to change: they belong to other users"]
    not_found: Annotated[int, "selected jobs and clusters that are missing"]
    diagnostics: Annotated[Iterable[Diagnostic], "the same in words"]


@cache
def results() -> Mapping[str, Result]:
    """Return the JSON outputs of the commands, by name with hyphens between words."""
    packages = [f"crondor_cli.{each.name}" for each in iter_modules(crondor_cli.__path__) if each.ispkg]
    own = [f"{each}.results" for each in packages if each != __package__ and find_spec(f"{each}.results")]
    return dict(sorted(item for each in own for item in import_module(each).RESULTS.items()))


def schema(name: str) -> dict[str, Any]:
    """Return a self-contained JSON Schema (draft 2020-12). Raises KeyError for an unknown name."""
    return _document(results()[name].type, results()[name].title)


def usual_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a command's usual document, the first of its types.

    It is that of an object: an array is its ``result``. Raises KeyError for an unknown name.
    """
    result = results()[name]
    usual = get_args(result.type)[0] if get_origin(result.type) in {Union, UnionType} else result.type
    found = _document(usual, result.title)
    if found.get("type") != "array":
        return found
    array = {key: found.pop(key) for key in ("type", "items")}
    return {**found, "type": "object", "properties": {RESULT: array}, "required": [RESULT]}


def _document(type_: Any, title: str) -> dict[str, Any]:  # noqa: ANN401 - a type, as typing has it
    needed: dict[str, Any] = {}
    document = _part(type_, needed)
    if set(document) == {"$ref"} and document["$ref"] not in str(needed):  # it is the document itself
        document = needed.pop(_name(type_))
    return {"$schema": DIALECT, "title": title, **document, "$defs": needed}


def shared() -> dict[str, Any]:
    """Return the definitions of the shared types, by name."""
    needed: dict[str, Any] = {"ad": _AD}
    for each in globals().values():
        if is_typeddict(each):
            _part(each, needed)
    return needed


def _name(shape: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", shape.__name__.removesuffix("Data")).lower()


def _part(hint: Any, needed: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - a type, as typing has it
    """Return the schema of a type; that of a TypedDict is added to ``needed``."""
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
    """Return the schema of a union; types with a name are alternatives."""
    if not any("$ref" in each or "anyOf" in each for each in parts):
        types = [name for each in parts for name in _as_list(each["type"])]
        return {key: value for each in parts for key, value in each.items()} | {"type": types}
    is_null = [each == {"type": "null"} for each in parts]
    return {"anyOf" if any(is_null) else "oneOf": parts}


def _as_list(types: Any) -> list[str]:  # noqa: ANN401 - "type" of a schema: one or several names
    return [types] if isinstance(types, str) else list(types)
