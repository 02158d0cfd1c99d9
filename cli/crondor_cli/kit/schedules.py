"""The schedules that a command line names, from wherever they are, and one in words with --schedule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import click

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.macro.files import Files
from crondor.preview.jobs import Clock, Job
from crondor.zones import Policy
from crondor_cli.kit.jobs import ScheduleRequest
from crondor_cli.kit.options import UsageProblem, complete_zone, options_of
from crondor_cli.kit.screen import usage
from crondor_cli.kit.tables import instant
from crondor_cli.kit.times import find_zone, local_text

if TYPE_CHECKING:
    from crondor.compile.meaning import WrittenSchedule
    from crondor_cli.kit import results


Schedules: TypeAlias = "tuple[list[Job], list[Diagnostic]]"


def read_schedules(request: ScheduleRequest) -> Schedules:
    """Return the jobs and the warnings about their files.

    Raises CrondorError, and UsageError for a bad request and for a file that cannot be read.
    """
    request.check()
    if not request.ads:
        return request.jobs()
    from crondor_cli.kit.queues import jobs_of_ads  # noqa: PLC0415 - ads need the engine, which takes 26 ms

    jobs: list[Job] = []
    findings: list[Diagnostic] = []
    for path in request.ads:
        found, said = jobs_of_ads(path, request)
        jobs += found
        findings += said
    return jobs, findings


schedule_text_option = options_of(
    click.option("--schedule", metavar="TEXT", help='A schedule in any language, such as "every 2 hours".'),
    click.option(
        "--zone",
        "own_zone",
        metavar="ZONE",
        shell_complete=complete_zone,
        help="The time zone of --schedule (default: that of --tz).",
    ),
)
"""--schedule TEXT, as ``schedule``, and --zone ZONE, as ``own_zone``."""


def read_asked(
    text: str, own_zone: str | None, clock: Clock, policy: Policy | None = None, allow_dirs: Iterable[str] = ()
) -> WrittenSchedule:
    """Return the schedule of --schedule; .ics files are those below this folder and --allow-dir.

    Raises UsageProblem for a zone that is none, CrondorError for a text that is no schedule.
    """
    try:
        zone = clock.zone_name if own_zone is None else find_zone(own_zone, label="--zone").key
    except CrondorError as error:
        raise UsageProblem(error) from None
    files = Files((".", *allow_dirs), base=".")
    from crondor.compile.meaning import read_schedule  # noqa: PLC0415 - ten modules of languages, for --schedule alone

    return read_schedule(text, zone=zone, files=files, policy=policy or Policy.COMPATIBLE, label="--schedule")


def check_alone(schedule: str | None, own_zone: str | None, others: Mapping[str, object]) -> bool:
    """Say whether --schedule is what is asked about; ``others`` are the options that then have no place.

    Raises UsageError for one of them, and for --zone without a schedule.
    """
    if schedule is None:
        if own_zone is not None:
            raise usage("--zone needs --schedule; --tz is the submit host's zone")
        return False
    given = [name for name, value in others.items() if value not in {None, (), False}]
    if given:
        raise usage(f"--schedule says all of the schedule: leave out {', '.join(given)}")
    return True


def without_fields(paths: Iterable[str], crontab: str | None, fields: Mapping[str, str | None]) -> dict[str, object]:
    """Return the ways to name schedules that a command has beside --schedule, as ``check_alone`` takes them."""
    singles = {f"--{name.replace('_', '-')}": value for name, value in fields.items()}
    return {"FILES": tuple(paths), "--crontab": crontab, **singles}


def known_text(until: results.Known, clock: Clock) -> str:
    """Return up to when a schedule is known, and why no further."""
    return f"until {local_text(until['time'], clock.zone)}: {until['reason']}"


def asked_data(schedule: WrittenSchedule, clock: Clock) -> results.AskedSchedule:
    """Return what every command prints of a schedule as JSON."""
    return {
        "text": schedule.text,
        "words": schedule.words,
        "zone": schedule.zone.name,
        "until": None
        if schedule.until is None
        else {**instant(schedule.until, clock.zone), "reason": schedule.until_reason},
        "now": clock.now,
    }
