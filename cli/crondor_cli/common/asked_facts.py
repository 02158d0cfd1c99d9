"""What every command says of a schedule that it is asked about with --schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crondor_cli.common.data import iso
from crondor_cli.common.options import Clock
from crondor_cli.times.text import local_text

if TYPE_CHECKING:
    from crondor.compile.text import WrittenSchedule


def known_text(schedule: WrittenSchedule, clock: Clock) -> str:
    """Return up to when a schedule is known, and why no further; empty for one that is known for ever."""
    if schedule.until is None:
        return ""
    return f"until {local_text(schedule.until, clock.zone)}: {schedule.until_reason}"


def asked_data(schedule: WrittenSchedule, clock: Clock) -> dict[str, object]:
    """Return what every command prints of a schedule as JSON."""
    return {
        "text": schedule.text,
        "words": schedule.words,
        "zone": schedule.zone.name,
        "until": None
        if schedule.until is None
        else {"time": schedule.until, "local": iso(schedule.until, clock.zone), "reason": schedule.until_reason},
        "now": clock.now,
    }
