"""`crondor at`: a time in words as a deferral_time, and a deferral_time as a time."""

from __future__ import annotations

import click

from crondor_cli.common.command import Command
from crondor_cli.common.options import clock_of, clock_options
from crondor_cli.common.output import say
from crondor_cli.times.text import local_text, relative

EXAMPLE = "crondor at 'tomorrow 6:30'"

EPILOG = """\b
Examples:
  crondor at 'tomorrow 6:30'               deferral_time = 1795264200
  crondor at '2026-12-24 18:00' --tz Europe/Berlin
  crondor at 1795264200                    the time, as a clock shows it
  crondor at 'next monday 06:00' --quiet   the bare number, for scripts

Exit status: 0 fine, 2 a time that cannot be read."""


@click.command(
    "at", cls=Command, example=EXAMPLE, epilog=EPILOG, short_help="A time in words as deferral_time, and back."
)
@click.argument("time", nargs=-1, required=True, metavar="TIME")
@clock_options
@click.option("-q", "--quiet", is_flag=True, help="Print the bare number of epoch seconds.")
def command(time: tuple[str, ...], now: str | None, tz: str | None, quiet: bool) -> None:
    """Print TIME as a line for a submit file, or an epoch number as a time.

    TIME is `tomorrow 6:30`, `next monday 06:00`, `in 3 hours`, a date such as `2026-12-24 18:00`, or epoch seconds.
    """
    clock = clock_of(now, tz)
    text = " ".join(time)
    epoch = clock.read(text, "TIME")
    shown = f"{local_text(epoch, clock.zone)} {clock.zone_name}, {relative(epoch - clock.now)}"
    if quiet:
        say(epoch)
    elif text.strip().isdecimal():
        say(shown)
    else:
        say(f"# {shown}\ndeferral_time = {epoch}", fits=False)
