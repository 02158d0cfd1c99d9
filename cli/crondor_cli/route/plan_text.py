"""A plan of runs on routes: a table for people, routed ads, lines that cure, and data for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo

from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, Order
from crondor.deferral import LATEST
from crondor.diagnostics import Diagnostic, printable, shortened
from crondor.router.match.reasons import JobVerdict
from crondor.router_bridge import CopySchedule, Plannable, PlannedOutcome, PlannedRun, RoutePlan, is_cured
from crondor_cli.common.data import diagnostic_data
from crondor_cli.common.options import Clock
from crondor_cli.times.text import ClockFace, local_text

_WIDEST = 24  # columns for a route's name
_LONGEST = 160  # characters of a reason; whoever wants all of it asks for JSON
_SAME_WEEK = 6 * 86_400
_NOT_ASKED = "no route is asked: the job runs already, or its last match is past at the router's next poll"
_CONDUCTS = {
    CopySchedule.AT_ONCE: "the copy runs when it is matched, or when the site takes it, whatever the time is",
    CopySchedule.WAITS: "the copy runs once, at the time of the run",
    CopySchedule.WAITS_THERE: "the copy runs once, at the time of the run, in the remote queue",
    CopySchedule.SCHEDULES_ITSELF: "the copy has the Cron attributes, and the schedd that has it computes its times",
    CopySchedule.SCHEDULES_ITSELF_THERE: "the copy has the Cron attributes, and the remote schedd computes its times",
    CopySchedule.TOO_LATE: "the copy's DeferralTime and window are past, and it never runs",
    CopySchedule.NEVER_MATCHES: "the copy's Requirements ask for a time that it lacks, and it stays idle",
    CopySchedule.NEVER_RUNS: "nothing runs a copy with such a schedule in its universe",
}
_OUTCOMES = {
    PlannedOutcome.BY_COPY: "the copy that was taken before runs by itself",
    PlannedOutcome.LOCAL: "no route takes the job in time, it is the local pool's",
    PlannedOutcome.EDITED: "the route changes the job, which stays here",
    PlannedOutcome.FAILED: "a route takes the job and cannot make the copy",
    PlannedOutcome.BUSY: "the run before has not ended, and a missed time is not made up",
    PlannedOutcome.STUCK: "the job is in the hands of a copy that never ends, or never runs",
    PlannedOutcome.GONE: "the job has left its queue, so there is nothing to run",
}
_NO_MORE = (PlannedOutcome.BUSY, PlannedOutcome.STUCK, PlannedOutcome.GONE)


def ads_of(jobs: Iterable[Plannable]) -> list[ClassAd]:
    """Return the ads among what is planned."""
    return [each for each in jobs if isinstance(each, ClassAd)]


def table(made: RoutePlan, clock: Clock, runs: Iterable[PlannedRun], _: dict[Diagnostic, None]) -> Iterator[str]:
    """Yield how the router takes jobs, a line for each run, and what there was in all."""
    width = min(_WIDEST, max(5, *(len(route.name) for route in made.table.routes), 0))
    yield _manner(made)
    face = ClockFace(clock.zone)
    counts: Counter[PlannedOutcome] = Counter()
    conducts: dict[CopySchedule, None] = {}
    last: dict[str, PlannedOutcome] = {}
    same: Counter[str] = Counter()
    reasons: dict[str, list[str]] = {}
    for run in runs:
        if not counts:
            head = ("JOB", "RUN", "ROUTE", "TAKEN", "STARTS", "JOBS", "IDLE")
            yield _line(width, *head, "WHAT BECOMES OF IT")
        counts[run.outcome] += 1
        if run.outcome is PlannedOutcome.ROUTED and run.conduct is not None:
            conducts[run.conduct] = None
        was, last[run.job.id] = last.get(run.job.id), run.outcome
        if run.outcome in _NO_MORE and was is run.outcome:
            same[run.job.id] += 1
            continue
        yield _row(run, face, clock.zone, width)
        told = run.why()
        lines = list(_why(told)) if told is not None else [_NOT_ASKED] if run.outcome is PlannedOutcome.LOCAL else []
        if lines != reasons.get(run.job.id, []):
            yield from (f"  {line}" for line in lines)
            reasons[run.job.id] = lines
    for job, count in same.items():
        yield f"{printable(job)}: {count:,} more run{'' if count == 1 else 's'} like the last one"
    yield _summary(made, counts)
    yield from _legend(counts, conducts)


def _manner(made: RoutePlan) -> str:
    if made.options.at_gate:
        return "A router that waits: it takes a job for one run, when the gate of that opens."
    period = made.table.settings.polling_period
    return f"HTCondor's job router: it takes a job whole, at its next poll (every {period} s) after it is idle."


def _row(run: PlannedRun, face: ClockFace, zone: tzinfo, width: int) -> str:
    room = run.room
    return _line(
        width,
        run.job.id,
        face.text(run.run.time),
        "-" if run.route is None else run.route.name,
        _beside(run.taken, run, zone),
        _beside(run.starts, run, zone) or ("never" if run.conduct is not None else ""),
        "" if room is None else _of(room.jobs, room.max_jobs),
        "" if room is None else _of(room.idle, room.max_idle_jobs),
        run.conduct.value if run.outcome is PlannedOutcome.ROUTED and run.conduct is not None else run.outcome.value,
    )


def _line(width: int, *cells: str) -> str:
    job, run, route, taken, starts, jobs, idle, what = map(printable, cells)
    row = f"{job:<8} {run:<26} {route:<{width}} {taken:<12} {starts:<12} {jobs:<7} {idle:<6} {what}"
    return row.rstrip()


def _of(count: int, most: int) -> str:
    return str(count) if most < 0 else f"{count}/{most}"


def _beside(epoch: int | None, run: PlannedRun, zone: tzinfo) -> str:
    """Return a moment as briefly as it can be said beside the run's own time."""
    if epoch is None:
        return ""
    time = run.run.time
    if not 0 <= epoch <= LATEST:
        return local_text(epoch, zone)
    if abs(epoch - time) > _SAME_WEEK:
        return f"{datetime.fromtimestamp(epoch, zone):%Y-%m-%d}"
    moment, beside = datetime.fromtimestamp(epoch, zone), datetime.fromtimestamp(time, zone)
    clock = f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
    return clock if moment.date() == beside.date() else f"{local_text(epoch, zone)[:3]} {clock}"


def _why(told: JobVerdict) -> Iterator[str]:
    """Yield why no route took the job."""
    if told.missed:
        yield f"not a candidate: {_short(told.missed[0].reason)}"
        return
    for verdict in told.verdicts:
        reason = "" if verdict.reason is None else f": {_short(verdict.reason)}"
        yield f"{printable(verdict.route.name)}: {verdict.outcome.value}{reason}"


def _short(reason: str) -> str:
    shown = printable(reason)
    return shortened(shown, _LONGEST)


def _summary(made: RoutePlan, counts: Counter[PlannedOutcome]) -> str:
    if not counts:
        is_planned = any(job.schedule is not None for job in made.jobs)
        return "no run in this time" if is_planned else "no job with a schedule that can be planned"
    total = counts.total()
    parts = ", ".join(f"{counts[each]:,} {each.value}" for each in PlannedOutcome if counts[each])
    return f"{total:,} run{'' if total == 1 else 's'}: {parts}"


def _legend(counts: Counter[PlannedOutcome], conducts: Iterable[CopySchedule]) -> Iterator[str]:
    """Yield what the words of the last column mean, as far as they were used."""
    for conduct in conducts:
        yield f"  {conduct.value}: {_CONDUCTS[conduct]}"
    yield from (f"  {each.value}: {_OUTCOMES[each]}" for each in _OUTCOMES if counts[each])
    if conducts:
        yield "  JOBS, IDLE: the route's jobs then, with this one, and its idle ones, of MaxJobs and MaxIdleJobs"


def long(_: RoutePlan, __: Clock, runs: Iterable[PlannedRun], ___: dict[Diagnostic, None]) -> Iterator[str]:
    """Yield the routed ads, each followed by an empty line."""
    for run in runs:
        if run.routed is not None and run.routed.ad is not None:
            yield f"{run.routed.ad.print(Format.LONG, Order.NAME)}\n"


def cures(made: RoutePlan, _: Clock, runs: Iterable[PlannedRun], __: dict[Diagnostic, None]) -> Iterator[str]:
    """Yield the lines for the end of each route, and what the copies do without and with them."""
    known: set[tuple[str, str]] = set()
    for run in runs:
        found = made.cure(run)
        if found is None or run.route is None or run.conduct is None or (run.route.name, found.text) in known:
            continue
        known.add((run.route.name, found.text))
        name, was = printable(run.route.name), run.conduct.value
        if not found.text:
            yield f"# {name}: the copy of {printable(run.job.id)} {was}, there is nothing to take out"
            continue
        again = " again and again" if run.stays and not run.conduct.repeats and run.conduct.runs else ""
        now = f"{found.manner.conduct.value}, and runs once" if is_cured(found) else found.manner.conduct.value
        yield f"# {name}: the copy of {printable(run.job.id)} {was}{again}; with these lines it {now}"
        lines = found.text.split("\n")
        if any(line.startswith("SET Requirements") for line in lines):
            yield f"# (the Requirements are those of {printable(run.job.id)}: for other jobs write what they ask for)"
        yield from map(printable, lines)
    if not known:
        yield "# no job goes on a route"


def data(made: RoutePlan, _: Clock, runs: Iterable[PlannedRun], found: dict[Diagnostic, None]) -> Iterator[str]:
    """Yield one object, a line for each run; `crondor config schema route plan` has the keys."""
    head = {
        "at_gate": made.options.at_gate,
        "polling_period": made.table.settings.polling_period,
        "now": made.now,
        "until": made.until,
        "run_time": made.options.run_time,
        "queue_time": made.options.queue_time,
        "jobs": [{"job": job.id, "name": job.name, "is_planned": job.schedule is not None} for job in made.jobs],
        "rejected": [each.name for each in made.table.rejected],
    }
    yield json.dumps(head, indent=2)[:-2] + ',\n  "runs": ['
    before = ""
    for run in runs:
        if before:
            yield before
        before = f"    {json.dumps(_data(made, run))},"
    if before:
        yield before[:-1]
    diagnostics = json.dumps([diagnostic_data(each) for each in found], indent=2).replace("\n", "\n  ")
    yield f'  ],\n  "diagnostics": {diagnostics}\n}}'


def _data(made: RoutePlan, run: PlannedRun) -> dict[str, object]:
    told, cured = run.why(), made.cure(run)
    copy = None if run.routed is None else run.routed.ad
    return {
        "job": run.job.id,
        "number": run.number,
        "time": run.run.time,
        "match_opens": run.run.match_opens,
        "last_start": run.run.last_start,
        "outcome": run.outcome.value,
        "route": run.route and run.route.name,
        "taken": run.taken,
        "starts": run.starts,
        "ends": run.ends,
        "conduct": run.conduct and run.conduct.value,
        "room": run.room and run.room._asdict(),
        "missed": [] if told is None else [_clause(each.clause.name, each.reason) for each in told.missed],
        "routes": []
        if told is None
        else [{"route": v.route.name, "outcome": v.outcome.value, "reason": v.reason} for v in told.verdicts],
        "cure": cured and {"text": cured.text, "conduct": cured.manner.conduct.value},
        "codes": [each.code for each in run.findings],
        "ad": None if copy is None else json.loads(copy.print(Format.JSON, Order.NAME)),
    }


def _clause(name: str, reason: str) -> dict[str, str]:
    return {"clause": name.lower(), "reason": reason}
