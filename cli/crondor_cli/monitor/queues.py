"""The due times of `crondor monitor` as a table, a line of text or a line of JSON; the queues that it watches."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, cast

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic, printable
from crondor.monitor import DueRun, Verdict
from crondor.monitor.queue_watch import job_filter
from crondor.monitor.watched import Row, Wanted, WatchedQueue
from crondor.schedd.live import schedds_of
from crondor_cli.kit.options import Clock, QueueOptions
from crondor_cli.kit.queues import live_of, opened, read_scheduled
from crondor_cli.kit.screen import marked, say, usage
from crondor_cli.kit.tables import cell, diagnostic_data, moments, plural, print_rows
from crondor_cli.kit.times import local_text, relative

if TYPE_CHECKING:
    from crondor_cli.monitor import results


def queues_of(
    wanted: Wanted, clock: Clock, now: Callable[[], int], stack: ExitStack, *, every: bool
) -> list[WatchedQueue]:
    """Return the selected queues: of ``every`` schedd in the collector, or one.

    ``now`` returns the time for queues that stay open. Raises CrondorError, and UsageError for conflicting options.
    """
    asked = cast("QueueOptions", wanted.asked)
    if not every:
        name = asked.name or ""

        def read() -> tuple[list[ClassAd], list[Diagnostic]]:
            found = read_scheduled(asked, wanted.chosen, clock._replace(now=now()))
            return found.ads, found.findings

        reads = read if asked.kind == "ads" else None
        only = job_filter(is_whole=wanted.chosen.constraint is not None, has_logs=bool(wanted.folders))
        return [WatchedQueue(name, wanted, clock, lambda: stack.enter_context(opened(asked, clock, now, only)), reads)]
    if asked.queue or asked.log or asked.ads or asked.name:
        message = "--all-schedds needs --pool: it asks the collector for its schedds"
        raise usage(message)

    found: list[WatchedQueue] = []
    for name in schedds_of(asked.pool):
        each = asked._replace(live=True, name=name)
        made = wanted._replace(asked=each)
        found.append(WatchedQueue(name, made, clock, lambda each=each: stack.enter_context(live_of(each))))  # type: ignore[misc]
    return found


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


def print_table(rows: list[Row], clock: Clock, *, named: bool, every: bool) -> None:
    """Print a row for each due time, with its cause and the job's trouble below, and a summary."""
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
        if status is not None and (run is None or run.code is None):  # a cause with a code includes the trouble
            lines += [[printable(f"{each.severity.value}: {each.message}")] for each in status.trouble]
    print_rows(
        [*(["schedd"] if named else []), "job", "owner", "verdict", "due", "started", "next start"], lines, _COLOURS
    )
    counts = Counter(row.verdict for row in rows)
    said = ", ".join(f"{counts[verdict]:,} {verdict.value}" for verdict in Verdict if counts[verdict])
    jobs = len({(row.queue, row.job) for row in rows})
    say(f"{plural(len(rows), 'due time') if every else plural(jobs, 'job')}: {said}")


def _started(run: DueRun | None) -> str:
    if run is None or run.delay is None:
        return "-"
    return "on time" if run.delay <= 0 else f"{relative(-run.delay).removesuffix(' ago')} later"


def line(row: Row, clock: Clock, *, named: bool) -> str:
    """Return the news of a due time as one line."""
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
    """Return the same as JSON, with the job's state."""
    run, status = row.run, row.status
    data: results.MonitorResult = {
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
    return json.dumps(data)
