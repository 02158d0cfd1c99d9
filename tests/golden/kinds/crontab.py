"""The crontab kinds: the schedd's engine, seven Unix engines (read as UNIX and as MANUAL), and odd specs."""

from collections import Counter
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import NamedTuple

from crondor.recurrence import NeverRuns, Recurrence, ScheddHangs
from crondor.spec import CronSpec, Dialect, InvalidSpec
from crondor.zones import UnknownZone, load_zone
from tests.golden.kinds.case import (
    Case,
    Difference,
    Malformed,
    NotApplicable,
    Replay,
    check_fields,
    compare,
    integer,
    items,
    mapping,
    one_of,
    optional_text,
    shown,
    text,
    texts,
)

_FIELDS = {"minute": "minute", "hour": "hour", "dom": "day_of_month", "month": "month", "dow": "day_of_week"}
_RUNS = 5
_REFUSED_BY = 8  # engines
_ENGINES = frozenset({"cron-parser.js", "croner.js", "croniter", "cronsim", "robfig", "supercronic"})
_IN_UTC = frozenset({"cronie"})  # it knows no other zone
_ODD_ENGINES = _ENGINES | _IN_UTC | {"apscheduler3", "celery", "cron-converter", "cron.js", "crontab"}
_AT_TIMES = frozenset({"htcondor"})  # it takes five fields, and hangs on what never comes
_NEVER = "Z"  # what odd-specs records for a run that does not come

_OUTCOMES: Mapping[str, tuple[str, ...]] = {"runs": ("runs",), "invalid": ("stage", "error"), "hang": ()}
_STAGES = ("validate", "init")

_VERDICTS = ("unanimous", "majority", "contested")
_DAY_FIELDS = ("dom", "dow")
_GATE_TAGS = {f"{tag}-{field}" for tag in ("star-step", "star-in-list", "explicit-full") for field in _DAY_FIELDS}
_TAGS = _GATE_TAGS | {"step-phase", "dom-or-dow", "dow-7", "tz", "htcondor-day0-bug"}


def _replay_htcondor(case: Case) -> list[Difference]:
    """Compare the outcome, and what belongs to it: five answers, or the stage and the error text, or the hang."""
    expected_fields = [field for fields in _OUTCOMES.values() for field in fields]
    record = case.record(["tz", *_FIELDS, "after", "outcome"], expected_fields)
    outcome = one_of(record, "outcome", _OUTCOMES)
    belonging = _OUTCOMES[outcome]
    check_fields([field for field in record if field in expected_fields], belonging)
    expected: dict[str, object] = {"outcome": outcome}
    if outcome == "runs":
        expected["runs"] = [_answer(run, f"runs[{n}]") for n, run in enumerate(items(record, "runs", {_RUNS}))]
    elif outcome == "invalid":
        expected |= {"stage": one_of(record, "stage", _STAGES), "error": text(record, "error")}
    zone = _zone(record)
    after = integer(record["after"], "after")
    given = {ours: optional_text(record, theirs) for theirs, ours in _FIELDS.items()}
    return compare("", expected, _schedd(given, zone, after))


def _answer(run: object, field: str) -> object:
    if not isinstance(run, dict):
        return integer(run, field)
    try:
        check_fields(run, ("past", "retry_at"))
    except Malformed as error:
        raise Malformed(f"{field}.{error.difference.field}", "past and retry_at are expected") from error
    return {name: integer(value, f"{field}.{name}") for name, value in run.items()}


def _schedd(given: Mapping[str, str | None], zone: str, after: int) -> dict[str, object]:
    """Return what crondor says in the HTCONDOR dialect, in the words of the recording."""
    try:
        spec = CronSpec(**given, dialect=Dialect.HTCONDOR)
    except InvalidSpec as error:
        return {"outcome": "invalid", "stage": error.stage, "error": error.error}
    try:
        chain = Recurrence(spec, zone).upcoming(after)
    except ScheddHangs:
        return {"outcome": "hang"}
    runs: list[object] = []
    for answer in islice(chain, _RUNS):
        computed = getattr(answer, "computed", None)
        runs.append(int(answer) if computed is None else {"past": computed, "retry_at": int(answer)})
    return {"outcome": "runs", "runs": runs}


class _UnixLine(NamedTuple):
    """A line of unix.jsonl, known to be in order."""

    given: dict[str, str]
    zone: str
    start: int
    expected: list[int]
    verdict: str
    tags: frozenset[str]


def _replay_unix(case: Case) -> list[Difference]:
    """Compare the five runs of a line on which all engines agree."""
    line = _unix_line(case)
    if line.verdict != "unanimous":
        raise NotApplicable(f"verdict {line.verdict}")
    return compare("expected", line.expected, _runs(line, Dialect.UNIX))


def _replay_manual(case: Case) -> list[Difference]:
    """Compare the five runs of a line that Unix cron and the manual must read alike (the safe gate)."""
    line = _unix_line(case)
    if line.zone != "UTC":
        raise NotApplicable("a zone other than UTC")
    if line.verdict != "unanimous":
        raise NotApplicable(f"verdict {line.verdict}")
    tags = sorted(line.tags & _GATE_TAGS)
    if tags:
        raise NotApplicable(f"tag {tags[0].rsplit('-', 1)[0]}")
    return compare("expected", line.expected, _runs(line, Dialect.MANUAL))


def _unix_line(case: Case) -> _UnixLine:
    judged = ["verdict", "verified_by", "disagree", "unsupported", "tags"]
    record = case.record([*_FIELDS, "tz", "start_epoch", "expected", *judged], ["suite_literal"])
    expected = [integer(run, f"expected[{n}]") for n, run in enumerate(items(record, "expected", {0, _RUNS}))]
    return _UnixLine(
        given={ours: text(record, theirs) for theirs, ours in _FIELDS.items()},
        zone=_zone(record),
        start=integer(record["start_epoch"], "start_epoch"),
        expected=expected,
        verdict=_verdict(record, expected),
        tags=_tags(record),
    )


def _verdict(record: Mapping[str, object], expected: list[int]) -> str:
    """Return the verdict, which must follow from who agrees: no line leaves the gate by a word."""
    verdict = one_of(record, "verdict", _VERDICTS)
    agreeing = set(texts(record, "verified_by"))
    disagreeing = mapping(record, "disagree")
    unsupported = mapping(record, "unsupported")
    if not agreeing:
        raise Malformed("verified_by", "at least one engine is expected")
    for engine in agreeing & {*disagreeing, *unsupported} | disagreeing.keys() & unsupported.keys():
        raise Malformed("verified_by", f"{engine} is counted twice")
    for engine, answer in disagreeing.items():
        if answer == expected:
            raise Malformed("disagree", f"{engine} says just what is expected")
    follows = "unanimous" if not disagreeing else "majority" if len(agreeing) > len(disagreeing) else "contested"
    if verdict != follows:
        count = f"{len(agreeing)} engines agree and {len(disagreeing)} do not"
        raise Malformed("verdict", f"{follows} is expected, not {verdict}: {count}")
    _check_asked("verified_by", agreeing | {*disagreeing, *unsupported}, _ENGINES, _IN_UTC, record["tz"] == "UTC")
    return verdict


def _check_asked(
    field: str, asked: Collection[str], always: AbstractSet[str], at_times: AbstractSet[str], is_time: bool
) -> None:
    """Raise Malformed unless all engines were asked that should have been, and no others."""
    expected = always | at_times if is_time else always
    if asked != expected:
        raise Malformed(field, f"an answer of each of {sorted(expected)} is expected, not of {sorted(asked)}")


def _tags(record: Mapping[str, object]) -> frozenset[str]:
    """Return the tags; one that takes the line out of a gate must be borne out by the line."""
    tags = texts(record, "tags")
    for tag in tags:
        if tag not in _TAGS:
            raise Malformed("tags", f"{shown(tag)} is no known tag")
        if tag in _GATE_TAGS and not _borne_out(tag, record):
            raise Malformed("tags", f"{tag} is not what the line says")
    if ("tz" in tags) is (record["tz"] == "UTC"):
        raise Malformed("tags", "tz is expected where the zone is not UTC, and only there")
    return frozenset(tags)


def _borne_out(tag: str, record: Mapping[str, object]) -> bool:
    kind, _, field = tag.rpartition("-")
    written = text(record, field).split(",")
    starred = [item for item in written if item.startswith("*")]
    if kind == "star-step":
        return written[0].startswith("*/")
    return len(written) > 1 and bool(starred) if kind == "star-in-list" else not starred


def _runs(line: _UnixLine, dialect: Dialect) -> object:
    """Return what crondor says: five runs, none for a schedule that never fires, or why it refuses the spec."""
    try:
        spec = CronSpec(**line.given, dialect=dialect)
        return list(islice(Recurrence(spec, line.zone).upcoming(line.start), _RUNS))
    except NeverRuns:
        return []
    except InvalidSpec as error:
        return f"refused: {error.diagnostics[0].message}"


def _replay_odd(case: Case) -> list[Difference]:
    """Compare a refusal by eight or more engines, or the two instants on which most of all engines agree."""
    record = case.record(["spec", "tz", "start_epoch", "accepted_by", "rejected_by"])
    line, zone = text(record, "spec"), _zone(record)
    start = integer(record["start_epoch"], "start_epoch")
    accepted, rejected = mapping(record, "accepted_by"), mapping(record, "rejected_by")
    answers = Counter(_instants(accepted, engine) for engine in accepted)
    for engine in rejected:
        text({f"rejected_by.{engine}": rejected[engine]}, f"rejected_by.{engine}")
        if engine in accepted:
            raise Malformed("accepted_by", f"{engine} is in rejected_by as well")
    asked = accepted.keys() | rejected.keys()
    _check_asked("accepted_by", asked, _ODD_ENGINES, _AT_TIMES, not _AT_TIMES.isdisjoint(asked))
    if len(rejected) >= _REFUSED_BY:
        return compare("rejected_by", "refused", _two(line, zone, start, refusal="refused"))
    if rejected:
        raise NotApplicable("engines do not agree whether it is valid")
    if not answers:
        raise Malformed("accepted_by", "at least one engine is expected")
    ((majority, engines),) = answers.most_common(1)
    if 2 * engines <= len(accepted):
        raise NotApplicable("no majority among the engines")
    return compare("accepted_by", [*majority], _two(line, zone, start, never=[_NEVER]))


def _instants(accepted: Mapping[str, object], engine: str) -> tuple[object, ...]:
    """Return the two instants of an engine, or Z alone where there is none. Raises Malformed."""
    try:
        answer = items(accepted, engine, {1, 2})
        if answer == [_NEVER]:
            return (_NEVER,)
        first, second = items(accepted, engine, {2})
        return integer(first, f"{engine}[0]"), integer(second, f"{engine}[1]")
    except Malformed as error:
        field, reason = error.args
        raise Malformed(f"accepted_by.{field}", reason) from error


def _two(line: str, zone: str, start: int, *, refusal: object = None, never: object = None) -> object:
    """Return the two instants of MANUAL, or ``refusal`` or ``never``; without them, the error in words.

    A refusal is an error at the latest when asked for a time: a schedule that never fires is refused then.
    """
    try:
        return list(islice(Recurrence(CronSpec.from_line(line), zone).upcoming(start), 2))
    except NeverRuns as error:
        return never or refusal or error.diagnostics[0].message
    except InvalidSpec as error:
        return refusal or f"refused: {error.diagnostics[0].message}"


def _zone(record: Mapping[str, object]) -> str:
    name = text(record, "tz")
    try:
        load_zone(name)
    except UnknownZone as error:
        raise Malformed("tz", f"{shown(name)} is no time zone") from error
    return name


KINDS: Mapping[str, Replay] = {
    "crontab-htcondor": _replay_htcondor,
    "crontab-manual": _replay_manual,
    "crontab-unix": _replay_unix,
    "odd-specs": _replay_odd,
}
