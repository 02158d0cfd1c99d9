"""The options that several commands share, and the clock and zone they stand for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import tzinfo
from typing import NamedTuple, TypeVar

import click

from crondor.diagnostics import CrondorError
from crondor.spec import FIELDS, Dialect
from crondor.zones import Policy

_Function = TypeVar("_Function", bound=Callable[..., None])


class Clock(NamedTuple):
    """The time the command takes for now (epoch seconds), and the zone it shows and reads times in."""

    now: int
    zone_name: str
    zone: tzinfo

    def read(self, text: str | None, option: str) -> int:
        """Return a typed time as epoch seconds, ``now`` for None; a bad one is a usage error."""
        if text is None:
            return self.now
        from crondor_cli.times import parse_time  # noqa: PLC0415 - only where a time is typed

        try:
            return parse_time(text, self.now, self.zone, label=option)
        except CrondorError as error:
            raise UsageProblem(error) from None


class UsageProblem(click.ClickException):
    """A value on the command line that cannot be read; carries the diagnostics to show."""

    exit_code = 2

    def __init__(self, error: CrondorError) -> None:
        """Keep the error."""
        super().__init__(str(error))
        self.error = error

    def show(self, file: object = None) -> None:  # noqa: ARG002 - click's signature
        """Write the diagnostics to stderr."""
        from crondor_cli.show import show_error  # noqa: PLC0415 - the import goes the other way at start

        show_error(self.error)


def clock_of(now: str | None, tz: str | None) -> Clock:
    """Return the clock for --now and --tz; a bad value is a usage error."""
    from crondor_cli.local_zone import find_zone, local_zone  # noqa: PLC0415 - zones are slow to import

    try:
        name, zone = (tz, find_zone(tz)) if tz is not None else local_zone(os.environ)
    except CrondorError as error:
        raise UsageProblem(error) from None
    clock = Clock(int(time.time()), name, zone)
    return Clock(clock.read(now, "--now"), name, zone)


def spec_options(function: _Function) -> _Function:
    """Add the ways to name a schedule: a submit file, a crontab line, or single fields."""
    for field in reversed(FIELDS):
        option = f"--{field.name.replace('_', '-')}"
        help_text = f"{field.command} without a file: {field.low}-{field.high}."
        function = click.option(option, field.name, metavar="FIELD", help=help_text)(function)
    function = click.option("--crontab", metavar="LINE", help='A crontab line, such as "30 2 * * *".')(function)
    return click.option("--spec", metavar="FILE", help="A submit file; - reads standard input.")(function)


def clock_options(function: _Function) -> _Function:
    """Add --now and --tz."""
    function = click.option("--tz", metavar="ZONE", help="The submit host's time zone (default: this host's).")(
        function
    )
    return click.option("--now", metavar="TIME", help="The time to take for now (default: the clock).")(function)


def reading_options(*, htcondor: bool) -> Callable[[_Function], _Function]:
    """Add --dialect and --policy; ``htcondor`` says whether the schedd's dialect is offered."""
    dialects = [dialect.value for dialect in Dialect if htcondor or dialect is not Dialect.HTCONDOR]

    def add(function: _Function) -> _Function:
        policies = click.Choice([policy.value for policy in Policy])
        function = click.option(
            "--policy",
            type=policies,
            help="Runs in hours that a clock change skips or repeats (default: compatible; unix: debian).",
        )(function)
        return click.option("--dialect", type=click.Choice(dialects), help="Read the fields in this way only.")(
            function
        )

    return add
