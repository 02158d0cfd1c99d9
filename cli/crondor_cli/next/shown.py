"""Runs as text, JSON, CSV and bare epoch seconds (`crondor config schema next`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import tzinfo
from itertools import chain
from typing import TYPE_CHECKING

from crondor.algebra import Untranslatable, portable
from crondor.codes import INVALID_CRON_SETTINGS
from crondor.diagnostics import Diagnostic, printable, shortened
from crondor.preview.jobs import Clock, JobState
from crondor.preview.runs import Preview, RunRow, RunSide
from crondor.schedule import ExpressionText, JobSchedule
from crondor.spec import CronSpec, Dialect
from crondor.times import MOST_EXCLUDED
from crondor.words import describe, steps_beyond
from crondor_cli.kit.screen import columns_of_rows, echo_lines, prose, screen_columns, tinted, whole
from crondor_cli.kit.tables import diagnostic_data, echo_csv, echo_json, iso, moments, reason_data, reason_lines
from crondor_cli.kit.times import ClockFace, local_text, retries_text, zone_text

if TYPE_CHECKING:
    from crondor_cli.next import results

_SAME = "the same"
_LONGEST_REASON = 300  # characters of a HoldReason


def print_runs(previews: list[Preview], warnings: list[Diagnostic], form: str) -> None:
    """Print the runs of all jobs in file order: as a table, a JSON object, CSV, or epoch seconds, one per line."""
    if form == "table":
        echo_lines(_lines(previews))
    elif form == "json":
        coming: results.Coming = {"jobs": map(_job, previews), "diagnostics": [diagnostic_data(w) for w in warnings]}
        echo_json(coming)
    elif form == "csv":
        echo_csv(chain((CSV_COLUMNS,), *map(_csv_lines, previews)))
    else:
        echo_lines(str(row.run.time) for preview in previews for row in preview.rows if row.run is not None)


CSV_COLUMNS = (
    *("name", "line", "number", "time", "local"),
    *("match_opens", "last_start", "schedd_time", "retry", "differs"),
)


def _csv_lines(preview: Preview) -> Iterator[tuple[object, ...]]:
    zone = preview.job.clock.zone
    for row in preview.rows:
        run = row.run.deferral if row.run else None
        theirs = row.schedd
        retry = any(side is not None and side.is_retry for side in (row.run, theirs))
        yield (
            preview.job.name,
            preview.job.line or "",
            row.number,
            *((run.time, iso(run.time, zone), run.match_opens, run.last_start) if run else ("",) * 4),
            theirs.time if theirs else "",
            str(retry).lower(),
            str(row.differs).lower(),
        )


def _job(preview: Preview) -> results.Job:
    job, fault, excluded = preview.job, preview.schedd_fault, preview.excluded
    return {
        "name": job.name,
        "line": job.line,
        "count": job.count,
        "zone": job.clock.zone_name,
        "now": job.clock.now,
        "submitted": job.submitted,
        "queued": None if job.state is None else _queued(job.state),
        "dialect": None if preview.is_compared else preview.dialect.value,
        **_terms(preview.schedule),
        "leaves": bool(preview.leaving),
        "runs": (_row(preview, row) for row in preview.rows),
        "kept_out": {"count": len(excluded), "first": excluded[0]} if excluded else None,
        "differences": list(map(reason_data, preview.reasons)),
        "schedd_fault": None
        if fault is None
        else {"message": fault.diagnostics[0].message, "hold_reason": preview.hold_reason},
        "diagnostics": list(map(diagnostic_data, preview.findings)),
    }


def _queued(state: JobState) -> results.Queued:
    queued = state.queued
    status = None if queued.status is None else queued.status.name.lower()
    is_held = status == "held"
    return {
        "job": queued.id,
        "owner": queued.string("Owner"),
        "cmd": queued.string("Cmd"),
        "state": status,
        "hold_reason": queued.string("HoldReason") if is_held else None,
        "hold_reason_code": queued.integer("HoldReasonCode") if is_held else None,
        "deferral_time": queued.present,
        "leaves": queued.leaves,
    }


def _terms(schedule: JobSchedule | None) -> results.Terms:
    if schedule is None:
        return {
            "schedule": None,
            "deferral_time": None,
            "window": None,
            "prep_time": None,
            "schedd_interval": None,
            "universe": None,
        }
    return {
        "schedule": None if schedule.spec is None else _schedule(schedule.spec),
        "deferral_time": None if schedule.time is None else _written(schedule.time),
        "window": _written(schedule.window),
        "prep_time": _written(schedule.prep_time),
        "schedd_interval": schedule.schedd_interval,
        "universe": schedule.universe.name.lower(),
    }


def _schedule(spec: CronSpec) -> results.Schedule:
    minute, hour, day, month, weekday = spec.canonical
    fields: results.Fields = {
        "minute": minute,
        "hour": hour,
        "day_of_month": day,
        "month": month,
        "day_of_week": weekday,
    }
    return {"words": describe(spec), "canonical": str(spec), "fields": fields}


def _written(value: int | ExpressionText) -> int | str:
    return value if isinstance(value, int) else str(value)


def _row(preview: Preview, row: RunRow) -> results.Run:
    zone, run = preview.job.clock.zone, row.run
    if preview.is_compared:
        manual, schedd = run and _run(run, zone), row.schedd and _schedd_run(row.schedd, zone)
        return {"number": row.number, "manual": manual, "htcondor": schedd, "differs": row.differs}
    if preview.dialect is Dialect.MANUAL:
        return {"number": row.number, "manual": run and _run(run, zone), "differs": row.differs}
    if preview.dialect is Dialect.UNIX:
        return {"number": row.number, "unix": run and _run(run, zone), "differs": row.differs}
    return {"number": row.number, "htcondor": run and _schedd_run(run, zone), "differs": row.differs}


def _run(run: RunSide, zone: tzinfo) -> results.RunStart:
    return {**_start(run, zone), "pass": None if run.mark is None else run.mark.pass_ or None}


def _schedd_run(run: RunSide, zone: tzinfo) -> results.ScheddStart:
    answer = run.answer
    computed = None if answer is None else answer.computed
    data: results.ScheddStart = {**_start(run, zone), "pass": None, "retry": run.is_retry, "computed": computed}
    if answer is None:
        del data["retry"], data["computed"]
    return data


def _start(run: RunSide, zone: tzinfo) -> results.ReadStart:
    skipped = None if run.mark is None else [wall.isoformat() for wall in run.mark.skipped] or None
    return {**moments(run.deferral, zone), "skipped": skipped}


def _lines(previews: list[Preview]) -> Iterator[str]:
    """Yield the blocks of the table, separated by empty lines; rows where the real schedd differs are coloured."""
    between: list[str] = []
    for preview in previews:
        if preview.rows or (preview.schedule is not None and preview.schedule.is_deferred):
            yield from between
            for line in _block(_job(preview), preview):
                yield tinted(line, colour="yellow") if line.startswith("  !") else line
            between = [""]


def _block(row: results.Job, preview: Preview) -> Iterator[str]:
    state, fault = preview.job.state, row["schedd_fault"]
    jobs = "" if row["count"] == 1 else f" ({row['count']} jobs)"
    where = row["name"] if row["line"] is None else f"{row['name']}:{row['line']}"
    yield state.title if state is not None else printable(where) + jobs
    yield from _facts(row, preview)
    if preview.rows:
        yield ""
        yield from _table(preview)
    elif not preview.failed and not (state and state.is_halted):
        yield from ("", "  no run in this time")
    if preview.differs or fault is not None:
        is_accepted = fault is None and preview.schedule is None
        yield from ("", *_fault(fault, preview), *reason_lines(() if is_accepted else row["differences"]))
    if row["kept_out"] is not None:
        yield from ("", *_excluded(row["kept_out"], preview))
    if row["leaves"]:
        yield from ("", *_wrapped(f"{preview.leaving[0].upper()}{preview.leaving[1:]}."))


def _facts(row: results.Job, preview: Preview) -> Iterator[str]:
    state, schedule, clock = preview.job.state, preview.schedule, preview.job.clock
    if schedule is not None and schedule.spec is not None:
        yield f"  schedule   {describe(schedule.spec)}"
        for name, text in _spellings(schedule.spec):
            yield whole(f"  {name:<10} {text}")
        for remark in steps_beyond(schedule.spec):
            yield f"  step       {printable(remark)}"
    elif row["deferral_time"] is not None:
        yield f"  schedule   once, deferral_time = {printable(shortened(str(row['deferral_time'])))}"
    if state is not None and row["queued"] is not None:
        for words in _state_words(row["queued"], state, clock):
            yield f"  state      {printable(words)}"
    if row["submitted"] is not None:
        yield f"  submitted  {local_text(row['submitted'], clock.zone)} assumed (QDate)"
    yield f"  zone       {zone_text(clock)}"
    if schedule is not None:
        first = next((each.run.deferral for each in preview.rows if each.run is not None), None)
        window = _length(row["window"], None if first is None else first.window)
        prep_time = _length(row["prep_time"], None if first is None else first.prep_time)
        interval = f"SCHEDD_INTERVAL {row['schedd_interval']} s"
        yield f"  timing     window {window}, prep time {prep_time}, {interval}, {row['universe']} universe"


def _state_words(row: results.Queued, state: JobState, clock: Clock) -> Iterator[str]:
    """Yield sentences about the job's present state, and what it waits for."""
    queued, status = state.queued, row["state"]
    time = queued.integer("DeferralTime")
    if status == "held":
        code = "" if row["hold_reason_code"] is None else f" (code {row['hold_reason_code']})"
        yield f"held{code}: {shortened(row['hold_reason'] or 'no HoldReason', _LONGEST_REASON)}"
        yield "does not run, and gets no new time, until it is released"
    elif state.is_halted:
        yield f"{status}: it does not run again"
    elif status in {"running", "suspended"} and time is not None and time > clock.now:
        paused = "" if status == "running" else ", suspended"
        yield f"matched{paused}: waits on its machine for {local_text(time, clock.zone)}"
    elif status is not None and status != "idle":
        word = status.replace("_", " ")
        yield f"{word}: the next time is computed when the run ends" if queued.is_crontab else word
    elif queued.is_crontab:
        yield _idle_words(row["deferral_time"], clock.now)
    if not state.is_halted and queued.is_crontab and row["leaves"]:
        yield "leaves the queue when a run ends: on_exit_remove is not false"


def _idle_words(present: int | None, now: int) -> str:
    if present is None:
        return "idle, without a DeferralTime: the schedd computes one in its next pass"
    if present > now:
        return "idle; the first time below is the DeferralTime that the schedd has computed"
    return "idle; its DeferralTime is past, and the schedd computes another when the window is"


def _spellings(spec: CronSpec) -> list[tuple[str, str]]:
    """Return the canonical line, and the portable one if it differs."""
    text = str(spec)
    found = [("canonical", text)]
    if spec.dialect is not Dialect.HTCONDOR and ("/" in text or "-31" in text):
        with suppress(Untranslatable):
            spelled = " ".join(part or "*" for part in portable(CronSpec.from_line(text, dialect=spec.dialect)).given)
            found += [("portable", spelled)] if spelled != text else []
    return found


def _length(written: int | str | None, value: int | None) -> str:
    """Return a number of seconds; for an expression also its value for the first run."""
    if isinstance(written, int):
        return f"{written} s"
    text = printable(shortened(written or ""))
    return text if value is None else f"{text} = {value} s"


def _table(preview: Preview) -> Iterator[str]:
    refused = preview.schedule is None  # then only the schedd's side exists
    both = preview.differs and not refused
    size = len(str(preview.rows.shown))
    head = ["  " + "#".rjust(size + 1), "real schedd" if refused else "local time"]
    head += ["from now", "match opens", "last start", *(["real schedd"] if both else [])]
    rows = _row_cells(preview, size, refused=refused, both=both)
    return columns_of_rows(head, rows, screen_columns(sys.stdout), plain={"", "-", _SAME})


def _row_cells(preview: Preview, size: int, *, refused: bool, both: bool) -> Iterator[list[str]]:
    clock = preview.job.clock
    face = ClockFace(clock.zone)
    for number, (row, last_retry) in enumerate(preview.rows.folded(), 1):
        _, run, schedd, _ = row
        differs = row.differs
        mark = f"  {'!' if differs else ' '}{number:>{size}}"
        cells = [mark, *_cells(schedd if refused else run, clock.now, face)]
        if both:
            cells.append(_schedd_cell(row, face) if differs or not row.compared else _SAME)
        yield cells
        side = schedd if run is None else run
        if last_retry is not None and side is not None:
            yield [retries_text(side.time, last_retry, clock.zone)]


def _cells(run: RunSide | None, now: int, face: ClockFace) -> list[str]:
    if run is None:
        return ["no run", "", "", ""]
    time, deferral = run.time, run.deferral
    return [
        face.text(time) if run.mark is None and run.answer is None else face.text(time) + run.remark,
        face.relative(time - now),
        face.beside(deferral.match_opens, time),
        face.beside(deferral.last_start, time),
    ]


def _schedd_cell(row: RunRow, face: ClockFace) -> str:
    if not row.compared:
        return "not reached"
    if row.schedd is None:
        return "no run"
    return face.text(row.schedd.time) + row.schedd.remark


def _fault(fault: results.ScheddFault | None, preview: Preview) -> list[str]:
    """Return the difference of the real schedd."""
    if fault is not None and fault["hold_reason"] is not None:
        held = printable(shortened(fault["hold_reason"]))
        return [f"  The real schedd holds this job (code {INVALID_CRON_SETTINGS}): {held}"]
    if fault is not None:
        return _wrapped(f"The real schedd does not run this job: {fault['message']}")
    if preview.schedule is None:
        return ["  The manual does not allow this. The real schedd (HTCondor 25.14) accepts it and runs it as shown."]
    return ["  ! The real schedd (HTCondor 25.14) differs:"]


def _excluded(row: results.KeptOut, preview: Preview) -> list[str]:
    job, schedule, count = preview.job, preview.schedule, row["count"]
    time = local_text(row["first"], job.clock.zone)
    why = "" if schedule is None else f" ({shortened(job.times(schedule).why_excluded(row['first']))})"
    if schedule is not None and schedule.recurrence is None:
        return _wrapped(f"Requirements exclude its time, {time}{why}: the job never matches, and does not run.")
    number = f"more than {MOST_EXCLUDED:,}" if count > MOST_EXCLUDED else str(count)
    times = f"one more time, {time}" if count == 1 else f"{number} more times, the first {time}"
    them = "it" if count == 1 else "them"
    return _wrapped(
        f"The real schedd computes {times}: requirements exclude {them}{why}, so the job does not match or run then."
    )


def _wrapped(text: str) -> list[str]:
    return prose(printable(text), screen_columns(sys.stdout), "  ", "    ")
