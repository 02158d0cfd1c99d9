"""What is shown of a due time beside its job: as a row of a table, as a line, as JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from crondor.diagnostics import Severity, printable
from crondor.monitor import DueRun, Look, Verdict
from crondor.schedd.status import ScheduledJob
from crondor_cli.common.columns import cell, plural, print_rows
from crondor_cli.common.data import diagnostic_data, moments
from crondor_cli.common.options import Clock
from crondor_cli.common.output import marked, say
from crondor_cli.times.text import local_text, relative

_COLOURS: Final = {
    Verdict.DUE.value: "cyan",
    Verdict.LATE.value: "yellow",
    Verdict.STARTED.value: "green",
    Verdict.MISSED.value: "red",
    Verdict.LOST.value: "red",
    Verdict.UNKNOWN.value: "yellow",
    Verdict.UNPLANNED.value: "yellow",
}
_VERDICT: Final = re.compile(rf"(?<= )(?:{'|'.join(_COLOURS)})(?=  due )")


class Row(NamedTuple):
    """A due time and its job; ``run`` None: no time of the job has come yet, or none ever will."""

    queue: str
    run: DueRun | None
    status: ScheduledJob | None

    @property
    def job(self) -> str | None:
        """The job's number."""
        return self.status.id if self.status is not None else None if self.run is None else self.run.job

    def string(self, name: str) -> str | None:
        """Return Owner or Cmd."""
        if self.status is not None:
            return self.status.queued.string(name)
        return None if self.run is None else {"Owner": self.run.owner, "Cmd": self.run.cmd}[name]

    @property
    def verdict(self) -> Verdict:
        """What has become of the time."""
        return Verdict.AHEAD if self.run is None else self.run.verdict

    @property
    def is_troubled(self) -> bool:
        """Whether something keeps the job from running, or will."""
        return self.status is not None and any(each.severity is not Severity.NOTE for each in self.status.trouble)


def all_rows(queue: str, look: Look, *, every: bool) -> Iterator[Row]:
    """Yield a row for each job with its last due time, or with ``every`` one for each due time of the look."""
    statuses = {standing.status.id: standing.status for standing in look.jobs}
    if every:
        yield from (Row(queue, run, statuses.get(run.job)) for run in look.runs)
    said = {run.job for run in look.runs} if every else set()
    for standing in look.jobs:
        if standing.status.id not in said:
            yield Row(queue, standing.latest, standing.status)
    if every:
        return
    for run in look.runs:  # those that have left and whose last due time was judged just now; starts that no time has
        if run.verdict is Verdict.UNPLANNED or (run.job not in statuses and run.is_final):
            yield Row(queue, run, statuses.get(run.job))


def print_table(rows: list[Row], clock: Clock, *, named: bool, every: bool) -> None:
    """Print a row for each, its cause and the job's trouble below it, and what they come to."""
    if not rows:
        say("no job with a schedule")
        return
    lines: list[list[str]] = []
    for row in rows:
        run, status = row.run, row.status
        due = "-" if run is None else local_text(run.run.time, clock.zone)
        coming = "-" if status is None or status.next is None else local_text(status.next.time, clock.zone)
        named_cells = [printable(row.queue)] if named else []
        cells = [row.job or "-", cell(row.string("Owner")), row.verdict.value, due, _started(run), coming]
        lines.append([*named_cells, *cells])
        if run is not None and run.cause is not None:
            lines.append([printable(f"{run.cause.value}: {run.why}")])
        if status is not None:
            lines += [
                [printable(f"{each.severity.value}: {each.message}")] for each in status.trouble if not _is_told(row)
            ]
    print_rows(
        [*(["schedd"] if named else []), "job", "owner", "verdict", "due", "started", "next start"], lines, _COLOURS
    )
    counts = Counter(row.verdict for row in rows)
    said = ", ".join(f"{counts[verdict]:,} {verdict.value}" for verdict in Verdict if counts[verdict])
    jobs = len({(row.queue, row.job) for row in rows})
    say(f"{plural(len(rows), 'due time') if every else plural(jobs, 'job')}: {said}")


def _is_told(row: Row) -> bool:
    """Say whether the cause has told already what the job's trouble is: that it is held."""
    return row.run is not None and row.run.code is not None


def _started(run: DueRun | None) -> str:
    if run is None or run.delay is None:
        return "-"
    return "on time" if run.delay <= 0 else f"{relative(-run.delay).removesuffix(' ago')} later"


def line(row: Row, clock: Clock, *, named: bool) -> str:
    """Return the news of a due time as one line of text."""
    run = row.run
    if run is None:
        return ""
    where = f"{row.queue} " if named else ""
    said = f"{local_text(clock.now, clock.zone)}  {where}{run.job} {run.verdict.value}"
    said += f"  due {local_text(run.run.time, clock.zone)}"
    if run.delay is not None:
        said += f", started {_started(run)}"
    if run.cause is not None:
        said += f"  ({run.cause.value}: {run.why})"
    return marked(printable(said), _VERDICT, _COLOURS)


def json_line(row: Row, clock: Clock) -> str:
    """Return the same for programs, with how the job stands."""
    run, status = row.run, row.status
    return json.dumps(
        {
            "now": clock.now,
            "schedd": row.queue,
            "job": row.job,
            "owner": row.string("Owner"),
            "cmd": row.string("Cmd"),
            "state": None if status is None else status.state.value,
            "verdict": row.verdict.value,
            "reason": None if run is None or run.cause is None else run.cause.value,
            "message": None if run is None or run.cause is None else run.why,
            "hold_reason_code": None if run is None else run.code,
            "due": None if run is None else moments(run.run, clock.zone),
            "started": None if run is None else run.started,
            "delay": None if run is None else run.delay,
            "is_final": run is not None and run.is_final,
            "next": None if status is None or status.next is None else moments(status.next, clock.zone),
            "trouble": [] if status is None else [diagnostic_data(each) for each in status.trouble],
        }
    )
