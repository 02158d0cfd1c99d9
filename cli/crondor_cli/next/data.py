"""Previews for programs: JSON, CSV and bare epoch seconds; `crondor config schema next` has the JSON keys."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from itertools import chain

from crondor.diagnostics import Diagnostic
from crondor.schedule import JobSchedule
from crondor.spec import FIELDS, Dialect
from crondor.words import describe
from crondor_cli.common.data import diagnostic_data, iso, moments
from crondor_cli.common.output import echo_lines
from crondor_cli.common.preview import Preview
from crondor_cli.common.rows import RunSide
from crondor_cli.common.streaming import echo_csv, echo_json

CSV_COLUMNS = (
    *("name", "line", "number", "time", "local"),
    *("match_opens", "last_start", "schedd_time", "retry", "differs"),
)
_SCHEDULE_KEYS = ("schedule", "deferral_time", "window", "prep_time", "schedd_interval", "universe")


def print_json(previews: list[Preview], warnings: list[Diagnostic]) -> None:
    """Print one object with the jobs in file order."""
    echo_json({"jobs": map(_job, previews), "diagnostics": [diagnostic_data(w) for w in warnings]})


def print_csv(previews: list[Preview], _: list[Diagnostic]) -> None:
    """Print a line for each run; times are epoch seconds beside the local time."""
    echo_csv(chain((CSV_COLUMNS,), *map(_lines, previews)))


def print_epochs(previews: list[Preview], _: list[Diagnostic]) -> None:
    """Print the epoch seconds of each run, a line each."""
    echo_lines(str(row.run.time) for preview in previews for row in preview.rows if row.run is not None)


def _lines(preview: Preview) -> Iterator[tuple[object, ...]]:
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


def _job(preview: Preview) -> dict[str, object]:
    job, schedule = preview.job, preview.schedule
    data: dict[str, object] = {
        "name": job.name,
        "line": job.line,
        "count": job.count,
        "zone": job.clock.zone_name,
        "now": job.clock.now,
        "submitted": job.submitted,
        "queued": job.state and job.state.data,
        "dialect": None if preview.is_compared else preview.dialect.value,
    }
    data |= _schedule(schedule) if schedule is not None else dict.fromkeys(_SCHEDULE_KEYS)
    data["leaves"] = bool(preview.leaving)
    data["runs"] = (
        {"number": row.number, **_sides(preview, row.run, row.schedd), "differs": row.differs} for row in preview.rows
    )
    excluded = preview.excluded
    data["kept_out"] = {"count": len(excluded), "first": excluded[0]} if excluded else None
    data["differences"] = [
        {"code": reason.code, "reason": reason.why, "write": reason.write, "is_clause": reason.is_clause}
        for reason in preview.reasons
    ]
    fault = preview.schedd_fault
    data["schedd_fault"] = fault and {
        "message": fault.diagnostics[0].message,
        "hold_reason": preview.hold_reason,
    }
    data["diagnostics"] = [diagnostic_data(finding) for finding in preview.findings]
    return data


def _schedule(schedule: JobSchedule) -> dict[str, object]:
    spec = schedule.spec
    fields = spec and {f.name: text for f, text in zip(FIELDS, spec.canonical, strict=True)}
    return {
        "schedule": spec and {"words": describe(spec), "canonical": str(spec), "fields": fields},
        "deferral_time": schedule.time
        if isinstance(schedule.time, int) or schedule.time is None
        else str(schedule.time),
        "window": schedule.window if isinstance(schedule.window, int) else str(schedule.window),
        "prep_time": schedule.prep_time if isinstance(schedule.prep_time, int) else str(schedule.prep_time),
        "schedd_interval": schedule.schedd_interval,
        "universe": schedule.universe.name.lower(),
    }


def _sides(preview: Preview, run: RunSide | None, schedd: RunSide | None) -> dict[str, object]:
    zone = preview.job.clock.zone
    if not preview.is_compared:
        return {preview.dialect.value: _run(run, zone)}
    return {Dialect.MANUAL.value: _run(run, zone), Dialect.HTCONDOR.value: _run(schedd, zone)}


def _run(run: RunSide | None, zone: tzinfo) -> dict[str, object] | None:
    if run is None:
        return None
    data = moments(run.deferral, zone)
    data["skipped"] = None if run.mark is None or not run.mark.skipped else [w.isoformat() for w in run.mark.skipped]
    data["pass"] = None if run.mark is None else run.mark.pass_ or None
    if run.answer is not None:
        data |= {"retry": run.is_retry, "computed": run.answer.computed}
    return data
