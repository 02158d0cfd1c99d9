"""Schedules of any language on the command line: --schedule TEXT, in a zone of its own with --zone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

import click

from crondor.diagnostics import CrondorError
from crondor.macro.files import Files
from crondor.zones import Policy
from crondor_cli.common.completion import complete_zone
from crondor_cli.common.options import Clock, UsageProblem
from crondor_cli.times.zone import find_zone

if TYPE_CHECKING:
    from crondor.compile.text import WrittenSchedule

_Function = TypeVar("_Function", bound=Callable[..., None])


def schedule_text_option(function: _Function) -> _Function:
    """Add --schedule TEXT, as ``schedule``, and --zone ZONE, as ``own_zone``."""
    help_text = "Whose clock --schedule means (default: that of --tz)."
    function = click.option("--zone", "own_zone", metavar="ZONE", shell_complete=complete_zone, help=help_text)(
        function
    )
    help_text = 'A schedule in any language, such as "every 2 hours".'
    return click.option("--schedule", metavar="TEXT", help=help_text)(function)


def read_asked(
    text: str, own_zone: str | None, clock: Clock, policy: Policy | None = None, allow_dirs: Iterable[str] = ()
) -> WrittenSchedule:
    """Return the schedule of --schedule; .ics files are those below this folder and --allow-dir.

    Raises UsageProblem for a zone that is none, CrondorError for a text that is no schedule.
    """
    from crondor.compile.text import read_schedule  # noqa: PLC0415 - 15 ms, and few commands are asked in words

    try:
        zone = clock.zone_name if own_zone is None else find_zone(own_zone, label="--zone").key
    except CrondorError as error:
        raise UsageProblem(error) from None
    files = Files((".", *allow_dirs), base=".")
    return read_schedule(text, zone=zone, files=files, policy=policy or Policy.COMPATIBLE, label="--schedule")


def check_alone(schedule: str | None, own_zone: str | None, others: Mapping[str, object]) -> bool:
    """Say whether --schedule is what is asked about; ``others`` are the options that then have no place.

    Raises UsageError for one of them, and for --zone without a schedule.
    """
    context = click.get_current_context(silent=True)
    if schedule is None:
        if own_zone is not None:
            raise click.UsageError("--zone goes with --schedule; the submit host's zone is --tz", context)
        return False
    given = [name for name, value in others.items() if value not in {None, (), False}]
    if given:
        raise click.UsageError(f"--schedule says all of the schedule: leave out {', '.join(given)}", context)
    return True


def without_fields(paths: Iterable[str], crontab: str | None, fields: Mapping[str, str | None]) -> dict[str, object]:
    """Return the ways to name schedules that a command has beside --schedule, as ``check_alone`` takes them."""
    singles = {f"--{name.replace('_', '-')}": value for name, value in fields.items()}
    return {"FILES": tuple(paths), "--crontab": crontab, **singles}
