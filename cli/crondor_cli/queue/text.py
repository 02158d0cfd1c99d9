"""Queues as tables for people, and as JSON; `crondor config schema queue status` and its like have the keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import tzinfo

from crondor.deferral import Deferral
from crondor.diagnostics import Diagnostic, printable
from crondor.schedd.cron_tabs import CronEdit
from crondor.schedd.status import ScheduledJob, ScheduledState
from crondor_cli.common.columns import cell, print_rows
from crondor_cli.common.data import diagnostic_data, iso, moments
from crondor_cli.common.options import Clock
from crondor_cli.common.output import say
from crondor_cli.common.queue_reading import QueueReading
from crondor_cli.common.streaming import echo_json
from crondor_cli.times.text import local_text, relative

_STATES = {
    ScheduledState.RUNNING.value: "green",
    ScheduledState.WAITING.value: "cyan",
    ScheduledState.SUSPENDED.value: "yellow",
    ScheduledState.UNKNOWN.value: "yellow",
    ScheduledState.HELD.value: "red",
}
_LATE = "the log shows DeferralTime late; a time that is not in it yet is computed from the schedule"


def print_status(looks: Iterable[ScheduledJob], read: QueueReading) -> None:
    """Print a row for each job, and its trouble below it."""
    found, clock = read.found, read.clock
    rows = []
    for look in looks:
        rows.append([look.id, cell(look.queued.string("Owner")), _state(look, clock), *_moments(look.next, clock)])
        rows += [[_trouble(trouble)] for trouble in look.trouble]
    if not rows:
        say(f"no job with a schedule, of {found.total}")
        return
    print_rows(["job", "owner", "state", "next start", "from now", "match opens", "last start"], rows, _STATES)
    if not found.sees_deferral_time:
        say(f"note: {_LATE}")


def _state(look: ScheduledJob, clock: Clock) -> str:
    if look.state is ScheduledState.WAITING and look.deferral_time is not None:
        return f"waiting (starts {relative(look.deferral_time - clock.now)})"
    return look.state.value


def _moments(found: Deferral | None, clock: Clock) -> list[str]:
    if found is None:
        return ["-", "-", "-", "-"]
    return [
        local_text(found.time, clock.zone),
        relative(found.time - clock.now),
        _clock(found.match_opens, found.time, clock.zone),
        _clock(found.last_start, found.time, clock.zone),
    ]


def _clock(moment: int, time: int, zone: tzinfo) -> str:
    """Return a moment as briefly as it can be said beside another: without the date where it is the same."""
    full, beside = local_text(moment, zone), local_text(time, zone)
    same = full[:14] == beside[:14] and full[-5:] == beside[-5:] and not full.startswith("epoch")
    return full[15:-6] if same else full


def _trouble(trouble: Diagnostic) -> str:
    hint = f"; {trouble.help}" if trouble.help else ""
    return printable(f"{trouble.severity.value}: {trouble.message}{hint} [{trouble.code}]")


def status_data(looks: Iterable[ScheduledJob], read: QueueReading) -> None:
    """Print the jobs as JSON."""
    found = read.found
    echo_json(
        {
            **read.head,
            "sees_deferral_time": found.sees_deferral_time,
            "job_count": found.total,
            "jobs": (_job(look, read.clock.zone) for look in looks),
            "diagnostics": _findings(read),
        }
    )


def _findings(read: QueueReading) -> Iterator[dict[str, object]]:
    return map(diagnostic_data, read.found.findings)


def _job(look: ScheduledJob, zone: tzinfo) -> dict[str, object]:
    queued, schedule = look.queued, look.schedule
    return {
        "job": queued.id,
        "owner": queued.string("Owner"),
        "cmd": queued.string("Cmd"),
        "state": look.state.value,
        "canonical": str(schedule.spec) if schedule is not None and schedule.spec is not None else None,
        "deferral_time": look.deferral_time,
        "next": None if look.next is None else moments(look.next, zone),
        "trouble": [diagnostic_data(trouble) for trouble in look.trouble],
    }


def print_edits(edits: list[tuple[CronEdit, int | None]], clock: Clock, *, applied: bool) -> None:
    """Print a row for each edit with the DeferralTime that was there."""
    if not edits:
        say("nothing to do: every crontab job has its time")
        return
    rows = []
    for edit, before in edits:
        was = "-" if before is None else local_text(before, clock.zone)
        new = "held (code 25)" if edit.time is None else local_text(edit.time, clock.zone)
        rows.append([str(edit.job), was, new, edit.why.value])
        rows += [[printable(edit.hold)]] if edit.hold is not None else []
    print_rows(["job", "was", "DeferralTime", "because"], rows)
    say("written" if applied else "nothing is written: --apply writes it")


def edits_data(edits: list[tuple[CronEdit, int | None]], read: QueueReading, *, applied: bool) -> None:
    """Print the edits as JSON."""
    rows = (
        {
            "job": str(edit.job),
            "before": before,
            "time": edit.time,
            "local": None if edit.time is None else iso(edit.time, read.clock.zone),
            "hold_reason": edit.hold,
            "reason": edit.why.value,
        }
        for edit, before in edits
    )
    echo_json({**read.head, "applied": applied, "edits": rows, "diagnostics": _findings(read)})
