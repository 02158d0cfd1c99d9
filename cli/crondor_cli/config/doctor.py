"""`crondor config doctor`: what is installed here, and whether a live schedd can be worked with."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from importlib import metadata
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from crondor.diagnostics import Diagnostic, Severity
from crondor.schedd.live import Access, Connection, Offset, connection_of
from crondor_cli.kit.command import Command
from crondor_cli.kit.configs import ConfigReader
from crondor_cli.kit.options import (
    Clock,
    ConfigFiles,
    QueueOptions,
    clock_of,
    format_option,
    interval_option,
    live_options,
    now_options,
)
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.queues import live_of
from crondor_cli.kit.screen import show
from crondor_cli.kit.settings import home_path
from crondor_cli.kit.tables import diagnostic_data, echo_json, plural, print_rows

if TYPE_CHECKING:
    from crondor_cli.config import results

_REQUIREMENT: Final = re.compile(r"(?P<name>[A-Za-z0-9._-]+).*;.*\bextra == ['\"](?P<extra>[\w-]+)['\"]")
_USERS: Final = ("plot", "htcondor", "watch", "ics", "lsp", "holidays", "monitor")


class Extra(NamedTuple):
    """A package that an extra of ours brings, and its version where it is installed."""

    extra: str
    package: str
    version: str | None


class Installed(NamedTuple):
    """The versions; ``crondor`` is None in a checkout that is not installed."""

    crondor: str | None
    python: str
    executable: str
    extras: tuple[Extra, ...]

    def findings(self) -> Iterator[Diagnostic]:
        """Yield what a service's user would stumble over."""
        home = home_path(sys.prefix)
        if home is not None:
            message = f"this Python environment is in a home folder ({home}), which the user of a service cannot read"
            hint = "for a service make the environment below /opt or /usr/local: python3 -m venv /opt/crondor"
            yield Diagnostic("doctor-home", message, Severity.NOTE, help=hint)


def installed() -> Installed:
    """Look at this Python's packages; nothing of them is imported."""
    try:
        own = metadata.distribution("crondor")
    except metadata.PackageNotFoundError:
        version, requires = None, []
    else:
        version, requires = own.version, own.requires or []
    found = (_REQUIREMENT.fullmatch(line) for line in requires)
    extras = [
        Extra(each["extra"], each["name"], _version(each["name"]))
        for each in found
        if each is not None and each["extra"] in _USERS
    ]
    return Installed(version, ".".join(map(str, sys.version_info[:3])), sys.executable, tuple(extras))


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


EXAMPLE = "crondor config doctor"

EPILOG = """\b
Examples:
  crondor config doctor
  crondor config doctor --live
  crondor config doctor --pool cm.example.org --name ap1.example.org

With --live the schedd is asked for READ and WRITE access, as condor_ping asks, and for its SCHEDD_INTERVAL, time zone
and clock. Nothing is written, and no job is touched.

Exit status: 0 all is well, 1 something is not, 2 wrong usage."""

_READABLE, _UNREADABLE, _UNSEEN = "readable", "not readable", "not seen from here"


@click.command("doctor", cls=Command, example=EXAMPLE, epilog=EPILOG)
@live_options
@interval_option
@now_options
@format_option("table", "json")
def command(asked: QueueOptions, schedd_interval: int, now: str | None, tz: str | None, format_: str) -> None:
    """Show what crondor finds on this host, and with --live whether it can work with a schedd."""
    clock = clock_of(now, tz)
    here = installed()
    connection = _connection(asked, clock, lambda: clock_of(now, tz).now)
    log = "" if connection is None else _access_to(connection.log)
    findings = [*here.findings(), *_findings(connection, schedd_interval, log)]
    if format_ == "json":
        data: results.DoctorResult = {
            "crondor": here.crondor,
            "python": here.python,
            "executable": here.executable,
            "zone": clock.zone_name,
            "configuration": _configuration(),
            "packages": [{"extra": e.extra, "package": e.package, "version": e.version} for e in here.extras],
            "live": None if connection is None else _live_data(connection),
            "diagnostics": [diagnostic_data(each) for each in findings],
        }
        echo_json(data)
    else:
        rows = [*_here_rows(here, clock), *(() if connection is None else _live_rows(connection, schedd_interval, log))]
        print_rows(["what", "found"], rows)
    show(findings)
    if any(each.severity is not Severity.NOTE for each in findings):
        raise click.exceptions.Exit(1)


def _connection(asked: QueueOptions, clock: Clock, ticks: Callable[[], int]) -> Connection | None:
    """Ask a schedd, where one is named; ``ticks`` gives the time when it has answered."""
    if not asked.is_live:
        return None

    PROGRESS.begin("asking the schedd")
    with live_of(asked) as schedd:
        return connection_of(schedd, clock.zone, ticks)


def _access_to(path: str) -> str:
    """Return in a word whether this user may read a file, empty for no path."""
    if not path:
        return ""
    if not os.path.exists(path):
        return _UNSEEN
    return _READABLE if os.access(path, os.R_OK) else _UNREADABLE


def _findings(connection: Connection | None, interval: int, log: str) -> Iterator[Diagnostic]:
    if connection is None:
        return
    yield from connection.findings(interval)
    if log == _UNREADABLE:
        message = f"{connection.log} cannot be read by this user: --log FILE is for root and the user of HTCondor"
        yield Diagnostic("doctor-log", message, Severity.NOTE, help="--live asks the schedd instead")


def _here_rows(here: Installed, clock: Clock) -> Iterator[list[str]]:
    yield ["crondor", here.crondor or "not installed: run from a checkout"]
    yield ["Python", f"{here.python} ({here.executable})"]
    yield ["zone", f"{clock.zone_name}{' (--tz)' if clock.is_given else ''}"]
    yield ["HTCondor's configuration", _configuration() or "none is found"]
    for each in here.extras:
        said = each.version or f"not installed (in a clone: pip install '.[{each.extra}]')"
        yield [f"{each.package} [{each.extra}]", said]


def _configuration() -> str | None:
    """Return the path of HTCondor's own configuration, as its programs look for it; None where there is none."""
    try:
        return next((path for path, _ in ConfigReader(ConfigFiles(), (), None).tried()), "the environment's (ONLY_ENV)")
    except click.ClickException:
        return None


def _live_rows(connection: Connection, interval: int, log: str) -> Iterator[list[str]]:
    if connection.fault is not None:
        yield ["schedd", "does not answer"]
        return
    yield ["bindings", f"htcondor {connection.bindings}"]
    yield ["schedd", f"{connection.name}, HTCondor {connection.release}, {connection.address}"]
    for each in connection.access:
        how = f", as {each.user}{f' ({each.methods})' if each.methods else ''}" if each.user else ""
        yield [each.level, f"{'yes' if each.fault is None else 'no'}{how}"]
    if connection.interval is not None:
        beside = "" if connection.interval == interval else f" (here {interval} s)"
        yield ["SCHEDD_INTERVAL", f"{connection.interval} s{beside}"]
    if connection.offsets:
        yield ["zone there", ", ".join(_offset_text(each) for each in connection.offsets)]
    if connection.ahead is not None:
        yield ["clock there", _ahead_text(connection.ahead)]
    if log:
        yield ["job_queue.log", f"{connection.log} ({log})"]


def _ahead_text(ahead: int) -> str:
    if not ahead:
        return "as here"
    return f"{plural(abs(ahead), 'second')} {'ahead' if ahead > 0 else 'behind'}"


def _offset_text(offset: Offset) -> str:
    month = datetime.fromtimestamp(offset.time, timezone.utc).strftime("%B")
    beside = "" if offset.theirs == offset.ours else f" (here {_signed(offset.ours)})"
    return f"{_signed(offset.theirs)} in {month}{beside}"


def _signed(minutes: int) -> str:
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}{rest:02}"


def _live_data(connection: Connection) -> results.Live:
    return {
        "bindings": connection.bindings or None,
        "schedd": connection.name or None,
        "machine": connection.machine or None,
        "address": connection.address or None,
        "release": connection.release or None,
        "access": [_access_data(each) for each in connection.access],
        "schedd_interval": connection.interval,
        "seconds_ahead": connection.ahead,
        "offsets": [{"time": o.time, "theirs": o.theirs, "ours": o.ours} for o in connection.offsets],
        "log": connection.log or None,
    }


def _access_data(access: Access) -> results.Access:
    allowed = access.fault is None
    return {"level": access.level, "allowed": allowed, "user": access.user or None, "methods": access.methods or None}
