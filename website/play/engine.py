"""What the playground asks: the library and the command itself, in one process; text in, plain values out.

It runs in the browser under pyodide, and in the tests without one. The clock is an argument here as everywhere.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from crondor.classad import read_ads
from crondor.compile.meaning import WrittenSchedule, read_schedule
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span
from crondor.knowledge.kinds import FileKind, recognised
from crondor.lint import CheckSettings, check_submit, finding_data
from crondor.recurrence import Recurrence, never_reason
from crondor.spec import FIELDS, CronSpec, InvalidSpec
from crondor.submit.edits import apply
from crondor_cli.main import main

Answer = dict[str, Any]

# What the command takes as a number of seconds, and runs of a year lie within.
_EARLIEST, _LATEST = (int(datetime(year, 1, 2, tzinfo=timezone.utc).timestamp()) for year in (1974, 2199))
LIMIT = 200_000  # characters of a text; a page that was led here by a link shall not hang
RUNS = 8
_LONGEST = 31_622_400  # seconds, as of crondor compile
_FIELD_LINE = re.compile(r"^\s*(?:\+?cron_?|--)?(minute|hour|day_?of_?month|month|day_?of_?week)s?\s*=", re.IGNORECASE)
_TIMING_LINE = re.compile(r"^\s*(?:cron|deferral)_?(window|prep)(?:_?time)?\s*=(.*)$", re.IGNORECASE | re.MULTILINE)
_NAMES = ("cron_minute", "cron_hour", "cron_day_of_month", "cron_month", "cron_day_of_week")
_SAID = ("rejected: ", "no job is routed; ")  # by a finding, and by the list of routes
_OF_AN_AD = re.compile(
    r"^(?P<severity>warning): jobs\.ads:(?P<line>\d+): (?P<message>.*) \[(?P<code>.*)\]\n", re.MULTILINE
)
_NO_REGEXP = (
    "This asks for a regular expression. HTCondor's own engine for them, PCRE2, does not run in a browser: "
    "install crondor for this one."
)


def answer(question: str) -> str:
    """Return the answer to a question, both as JSON; whatever goes wrong is an answer, too."""
    asked = json.loads(question)
    try:
        _expect_sizes(asked)
        return json.dumps(_QUESTIONS[asked.pop("kind")](**asked))
    except _Refused as why:
        return json.dumps({"refused": str(why)})
    except ZoneInfoNotFoundError:
        return json.dumps({"refused": f"There is no zone {asked['zone']}: write an IANA name such as Europe/Berlin."})
    except ModuleNotFoundError as missing:
        if missing.name != "pcre2":
            raise
        return json.dumps({"refused": _NO_REGEXP})
    except CrondorError as error:
        return json.dumps({"findings": [_diagnostic(each) for each in error.diagnostics], "refused": str(error)})


class _Refused(Exception):
    """What is asked cannot be answered, and why."""


def _expect_sizes(asked: Answer) -> None:
    if any(len(str(value)) > LIMIT for value in asked.values()):
        raise _Refused(f"A text here can have at most {LIMIT:,} characters.")
    if not _EARLIEST <= asked["now"] < _LATEST:
        raise _Refused("The time under From must be in the years 1974 to 2198.")


# The command


def command(*arguments: str, files: Mapping[str, str] | None = None) -> tuple[str, str, int]:
    """Run a command line in a folder that has only some files: what it prints, its errors, and its exit status."""
    out, err = io.StringIO(), io.StringIO()
    before, here = sys.argv, Path.cwd()
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (files or {}).items():
            (Path(folder) / name).write_text(text, encoding="utf-8", newline="")
        try:
            os.chdir(folder)
            sys.argv = ["crondor", "--no-config", "--color=never", *arguments]
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 0
        finally:
            os.chdir(here)
            sys.argv = before
    return out.getvalue(), err.getvalue(), status


def _json(*arguments: str, files: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401 - the command's schema says
    out, err, _ = command(*arguments, "--format", "json", files=files)
    if "No module named 'pcre2'" in err:
        raise ModuleNotFoundError(name="pcre2")
    return json.loads(out) if out.lstrip().startswith(("{", "[")) else {"errors": err}


# Schedules


def schedule(*, text: str, zone: str, now: int, year: int = 0, window: str = "", prep: str = "") -> Answer:
    """Return all about a schedule: a crontab line, lines of cron fields, or any text that crondor reads."""
    text = text.strip()
    if not text:
        return {"refused": "Nothing is written yet."}
    is_fields = any(_FIELD_LINE.match(line) for line in text.splitlines())
    beside = {name.lower(): value for name, value in _TIMING_LINE.findall(text)} if is_fields else {}
    timing = _timing(window or beside.get("window", ""), prep or beside.get("prep", ""))
    shown_year = year or datetime.fromtimestamp(now, ZoneInfo(zone)).year
    if is_fields:
        return _cron(_values_of_fields(text), zone, now, shown_year, timing)
    try:
        CronSpec.from_line(text)
    except InvalidSpec as error:
        try:
            written = read_schedule(text, zone=zone)
        except CrondorError as other:
            return _no_schedule(text, error, other, _at(zone, now))
        if written.spec is None:
            return _any_language(written, zone, now, shown_year)
        notes = [_diagnostic(each) | {"severity": "note"} for each in error.diagnostics if _is_like_cron(text)]
        found = _cron(written.spec.canonical, zone, now, shown_year, timing)
        return {**found, "findings": notes, "rewritten": found["line"]}
    return _cron(text.split(), zone, now, shown_year, timing)


def _timing(window: str, prep: str) -> tuple[str, str]:
    """Return both without blanks around them, or refuse what is not a number of seconds."""
    for name, value in (("window", window.strip()), ("prep time", prep.strip())):
        if value and not (re.fullmatch(r"[0-9]{1,8}", value) and int(value) <= _LONGEST):
            raise _Refused(f"The {name} must be a number of seconds up to {_LONGEST:,}, not {value}.")
    return window.strip(), prep.strip()


def _no_schedule(text: str, error: InvalidSpec, other: CrondorError, at: tuple[str, ...]) -> Answer:
    """Return what is wrong with a text: as a crontab line if it looks like one, else as a schedule in words."""
    is_cron = _is_like_cron(text)
    found: CrondorError = error if is_cron else other
    return {
        "findings": [_diagnostic(each) for each in found.diagnostics],
        "schedd": _job(_json("next", "--crontab", text, *at)) if is_cron else None,
        "refused": "This is not a schedule yet.",
    }


def _is_like_cron(text: str) -> bool:
    words = text.split()
    return len(words) == len(FIELDS) and sum(not set(each).isdisjoint("*0123456789") for each in words) > 1


def _values_of_fields(text: str) -> list[str]:
    """Return the five values that lines such as ``cron_hour = 6`` give, as they are written."""
    given = dict.fromkeys(("minute", "hour", "dayofmonth", "month", "dayofweek"), "*")
    for line in text.splitlines():
        name, _, value = line.partition("=")
        key = re.sub(r"[\s_+-]|^\s*\+?cron", "", name.lower()).removeprefix("cron")
        given |= {key.rstrip("s"): value.strip() or "*"} if key.rstrip("s") in given else {}
    return [*given.values()]


def _at(zone: str, now: int) -> tuple[str, ...]:
    return ("--tz", zone, "--now", str(now))


def _job(data: Answer) -> Answer | None:
    jobs = data.get("jobs") or []
    return jobs[0] if jobs else None


def _cron(fields: Sequence[str], zone: str, now: int, year: int, timing: tuple[str, str]) -> Answer:
    given = zip((*_NAMES, "cron_window", "cron_prep_time"), (*fields, *timing), strict=True)
    submit = {"job.sub": "".join(f"{name} = {value}\n" for name, value in given if value) + "queue\n"}
    out = _json("next", "job.sub", "-n", str(RUNS), *_at(zone, now), files=submit)
    job = _job(out)
    line = " ".join("".join(value.split()) for value in fields)
    found: Answer = {"kind": "cron", "line": line, "next": job, "findings": [], "window": timing[0], "prep": timing[1]}
    if job is None:
        return {**found, "refused": str(out.get("errors", ""))}
    try:
        minute, hour, day, month, weekday = fields
        spec = CronSpec(minute=minute, hour=hour, day_of_month=day, month=month, day_of_week=weekday)
    except InvalidSpec as error:
        return {
            **found,
            "findings": [_diagnostic(each) for each in error.diagnostics],
            "refused": "HTCondor's manual does not allow this.",
        }
    explained = _job(_json("explain", "job.sub", *_at(zone, now), files=submit)) or {}
    reasons = (explained.get("schedd") or {}).get("differences", [])  # of the schedule, whichever runs are shown
    found |= {
        "explain": explained,
        "differences": reasons + [each for each in job["differences"] if each not in reasons],
    }
    runs = Recurrence(spec, zone)
    if never_reason(spec):
        return {**found, "year": None}

    def count(edges: list[int]) -> list[int]:
        return [runs.count(start - 1, end - 1) for start, end in pairwise(edges)]

    return {**found, "year": _year(count, zone, year)}


def _any_language(written: WrittenSchedule, zone: str, now: int, year: int) -> Answer:
    runs: list[int] = []
    at = now
    while len(runs) < RUNS and (time := written.next(at)) is not None:
        runs.append(time)
        at = time
    return {
        "kind": "schedule",
        "words": written.words,
        "times": runs,
        "until": written.until,
        "until_reason": written.until_reason,
        "year": _year(_count_by_walking(written.between), zone, year),
        "findings": [_diagnostic(each) for each in written.warnings],
    }


def compiled(*, text: str, zone: str, now: int, window: str = "", prep: str = "") -> Answer:
    """Return the lines of a submit file for a schedule in any language, as the command prints them.

    If HTCondor cannot express it, they are those of the nearest schedule, with the reason.
    """
    options = zip(("--window", "--prep-time"), _timing(window, prep), strict=True)
    line = ("compile", *(f"{name}={value}" for name, value in options if value), *_at(zone, now), "--format", "submit")
    out, reason, status = command(*line, "--", text)
    if status == 0 and out:
        return {"submit": out}
    out, err, status = command(*line, "--approximate", "--", text)
    return {"submit": out, "reason": reason} if status == 0 and out else {"errors": err}


def _year(count: Callable[[list[int]], list[int]], zone: str, year: int) -> Answer:
    """Return how many runs each day of a year has, of a clock in the zone; ``count`` counts between edges of days."""
    own = ZoneInfo(zone)
    days = [date(year, 1, 1) + timedelta(day) for day in range(367)]
    edges = [int(datetime(day.year, day.month, day.day, tzinfo=own).timestamp()) for day in days]
    length = (date(year + 1, 1, 1) - days[0]).days
    return {"year": year, "first_weekday": days[0].weekday(), "days": count(edges[: length + 1])}


def _count_by_walking(between: Callable[[int, int], Iterable[int]]) -> Callable[[list[int]], list[int]]:
    def count(edges: list[int]) -> list[int]:
        found = [0] * (len(edges) - 1)
        day = 0
        for time in between(edges[0] - 1, edges[-1] - 1):
            while time >= edges[day + 1]:
                day += 1
            found[day] += 1
        return found

    return count


def _diagnostic(each: Diagnostic) -> Answer:
    return {
        "code": each.code,
        "severity": each.severity.value,
        "message": each.message,
        "help": each.help,
        "text": each.span.text if each.span is not None else None,
        "place": each.span and _place(each.span),
    }


def _place(span: Span) -> Answer:
    """Return where a piece stands: its line, its column, and what a browser counts."""
    return {"line": span.line, "column": span.column, **_offsets(span.source.text, span)}


def _offsets(text: str, span: Span) -> dict[str, int]:
    """Return where a piece stands in UTF-16 units, in which a browser counts."""
    return {
        name: len(text[: getattr(span, name)].encode("utf-16-le", "surrogatepass")) // 2 for name in ("start", "end")
    }


# Submit files


def submit(*, text: str, zone: str, now: int) -> Answer:
    """Return the findings of a submit file, and the coming runs of its jobs."""
    findings = _findings_of(text, zone, now)
    out = _json("next", "job.sub", "-n", str(RUNS), *_at(zone, now), files={"job.sub": text})
    said = filter(None, (_begins("job.sub", each) for each in findings))
    return {
        "findings": findings,
        "jobs": (out.get("jobs") or [])[:20],
        "errors": _unsaid(out.get("errors", ""), (*said,)),
    }


def _findings_of(text: str, zone: str, now: int) -> list[Answer]:
    findings = []
    for each in check_submit(Source(text, "job.sub"), CheckSettings(now=now, zone=zone)).findings:
        data: Answer = dict(finding_data(each))
        data["place"] = each.diagnostic.span and _place(each.diagnostic.span)
        data["fix"] = each.fix and {"title": each.fix.title, "safe": each.fix.safe}
        findings.append(data)
    return findings


def fix(*, text: str, zone: str, now: int, index: int) -> Answer:
    """Return a submit file's text after the fix of one finding."""
    source = Source(text, "job.sub")
    finding = check_submit(source, CheckSettings(now=now, zone=zone)).findings[index]
    return {"text": text if finding.fix is None else apply(source, finding.fix.edits)}


# Routes


def route(*, config: str, jobs: str, zone: str, now: int) -> Answer:
    """Return which route takes each job, why the others do not, what is wrong, and what changes in the copies."""
    is_submit = recognised(jobs) is FileKind.SUBMIT
    name = "job.sub" if is_submit else "jobs.ads"
    files = {"routes.conf": config, name: jobs}
    common = ("--config", "routes.conf", name, *_at(zone, now))
    owner = ("--job-owner", "alice")
    explained = _json("route", "explain", *common, *owner, files=files)
    checked = _json("route", "check", "--config", "routes.conf", *_at(zone, now), files=files)
    findings = [each for file in checked.get("files", []) for each in file["findings"]]
    for each in findings:
        each["place"] = each["place"] and {**each["place"], **_span_of(config, each["place"])}
    applied, errors, _ = command("route", "apply", *common, *owner, "--format", "json", files=files)
    copies = json.loads(applied) if applied.startswith("[") else []
    if is_submit:
        of_jobs = [each for each in _findings_of(jobs, zone, now) if each["severity"] == Severity.ERROR]
    else:
        faults: list[Diagnostic] = []
        deque(read_ads(jobs, report=faults.append), maxlen=0)
        of_jobs = [_diagnostic(each) for each in faults]
    of_jobs += [_of_line(jobs, each) for each in _OF_AN_AD.finditer(errors)]
    said = [_begins("routes.conf", each) for each in findings] + [_begins(name, each) for each in of_jobs]
    left = _unsaid(_OF_AN_AD.sub("", explained.get("errors") or errors), tuple(filter(None, said)))
    return {**explained, "findings": findings, "of_jobs": of_jobs, "copies": copies, "errors": left}


def _begins(name: str, finding: Answer) -> str:
    """Return how the command's line about a finding begins; empty if it has no place."""
    return f"{name}:{finding['place']['line']}:{finding['place']['column']}: " if finding["place"] else ""


def _unsaid(errors: str, said: tuple[str, ...]) -> str:
    """Return what the command reports beside the findings, which the page shows where they stand."""
    left = []
    is_left = True
    for line in errors.splitlines():
        if not line.startswith(" "):
            is_left = not line.startswith((*said, *_SAID))
        left += [line] * is_left
    return "\n".join(left)


def _of_line(text: str, found: re.Match[str]) -> Answer:
    """Return the finding of what the command says of a line without a column."""
    line = int(found["line"])
    end_column = len(text.split("\n")[line - 1]) + 1
    place = {"line": line, "column": 1, "end_line": line, "end_column": end_column}
    return {**found.groupdict(), "help": None, "place": {**place, **_span_of(text, place)}}


def _span_of(text: str, place: Answer) -> dict[str, int]:
    """Return where a place stands in UTF-16 units."""
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    at = [starts[place[f"{end}line"] - 1] + place[f"{end}column"] - 1 for end in ("", "end_")]
    return _offsets(text, Span(Source(text), *at))


_QUESTIONS: dict[str, Callable[..., Answer]] = {
    "schedule": schedule,
    "compile": compiled,
    "submit": submit,
    "fix": fix,
    "route": route,
}
