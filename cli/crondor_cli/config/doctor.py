"""`crondor config doctor`: show what is installed, and whether a live schedd can be used."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from importlib import metadata
from typing import TYPE_CHECKING, Final

import click

from crondor.diagnostics import Diagnostic, Severity
from crondor.schedd.live import Connection, connection_of
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command, installed_version
from crondor_cli.kit.configs import ConfigReader
from crondor_cli.kit.options import Clock, ConfigFiles, QueueOptions, clock_of
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.queues import live_of
from crondor_cli.kit.screen import show
from crondor_cli.kit.settings import home_path
from crondor_cli.kit.tables import diagnostic_data, echo_json, plural, print_rows

if TYPE_CHECKING:
    from crondor_cli.config import results

_REQUIREMENT: Final = re.compile(r"(?P<name>[A-Za-z0-9._-]+).*;.*\bextra == ['\"](?P<extra>[\w-]+)['\"]")
_USERS: Final = ("plot", "htcondor", "watch", "ics", "lsp", "holidays", "mcp", "monitor")


def _result(connection: Connection | None, clock: Clock, findings: list[Diagnostic]) -> results.DoctorResult:
    """Return the result; no package is imported."""
    try:
        own = metadata.distribution("crondor")
    except metadata.PackageNotFoundError:
        version, requires = None, []
    else:
        version, requires = own.version, own.requires or []
    needed = [found for line in requires if (found := _REQUIREMENT.fullmatch(line)) and found["extra"] in _USERS]
    return {
        "crondor": version,
        "python": ".".join(map(str, sys.version_info[:3])),
        "executable": sys.executable,
        "zone": clock.zone_name,
        "configuration": _configuration(),
        "packages": [
            {"extra": each["extra"], "package": each["name"], "version": installed_version(each["name"])}
            for each in needed
        ],
        "live": None if connection is None else _live(connection),
        "diagnostics": [diagnostic_data(each) for each in findings],
    }


def _live(connection: Connection) -> results.Live:
    return {
        "bindings": connection.bindings or None,
        "schedd": connection.name or None,
        "machine": connection.machine or None,
        "address": connection.address or None,
        "release": connection.release or None,
        "access": [
            {"level": e.level, "allowed": e.fault is None, "user": e.user or None, "methods": e.methods or None}
            for e in connection.access
        ],
        "schedd_interval": connection.interval,
        "seconds_ahead": connection.ahead,
        "offsets": [{"time": e.time, "theirs": e.theirs, "ours": e.ours} for e in connection.offsets],
        "log": connection.log or None,
    }


EPILOG = """\b
Examples:
  crondor config doctor
  crondor config doctor --live
  crondor config doctor --pool cm.example.org --name ap1.example.org

With --live it tests READ and WRITE access to the schedd, as condor_ping does, and its SCHEDD_INTERVAL, time zone and
clock. Nothing is changed.

Exit status: 0 no fault, 1 a fault, 2 wrong usage."""

_READABLE, _UNREADABLE, _UNSEEN = "readable", "not readable", "not seen from here"


@click.command("doctor", cls=Command, example="crondor config doctor", epilog=EPILOG)
@opts.live_options
@opts.interval_option
@opts.now_options
@opts.format_option("table", "json")
def command(asked: QueueOptions, schedd_interval: int, now: str | None, tz: str | None, format_: str) -> None:
    """Show what crondor finds on this host, and with --live whether it can work with a schedd."""
    clock = clock_of(now, tz)
    connection = _connection(asked, clock, lambda: clock_of(now, tz).now)
    log = "" if connection is None else _access_to(connection.log)
    findings = list(_findings(connection, schedd_interval, log))
    data = _result(connection, clock, findings)
    if format_ == "json":
        echo_json(data)
    else:
        rows = list(_here_rows(data, is_given=clock.is_given))
        if connection is not None and connection.fault is not None:
            rows.append(["schedd", "does not answer"])
        elif data["live"] is not None:
            rows += _live_rows(data["live"], schedd_interval, log)
        print_rows(["what", "found"], rows)
    show(findings)
    if any(each.severity is not Severity.NOTE for each in findings):
        raise click.exceptions.Exit(1)


def _connection(asked: QueueOptions, clock: Clock, ticks: Callable[[], int]) -> Connection | None:
    """Query a schedd, if one is selected; ``ticks`` returns the time when it has answered."""
    if not asked.is_live:
        return None

    PROGRESS.begin("asking the schedd")
    with live_of(asked) as schedd:
        return connection_of(schedd, clock.zone, ticks)


def _access_to(path: str) -> str:
    """Return in one word whether this user may read a file, empty for no path."""
    if not path:
        return ""
    if not os.path.exists(path):
        return _UNSEEN
    return _READABLE if os.access(path, os.R_OK) else _UNREADABLE


def _findings(connection: Connection | None, interval: int, log: str) -> Iterator[Diagnostic]:
    home = home_path(sys.prefix)
    if home is not None:
        message = f"this Python environment is in a home folder ({home}), which the user of a service cannot read"
        hint = "for a service create the environment below /opt or /usr/local: python3 -m venv /opt/crondor"
        yield Diagnostic("doctor-home", message, Severity.NOTE, help=hint)
    if connection is None:
        return
    yield from connection.findings(interval)
    if log == _UNREADABLE:
        message = f"{connection.log} cannot be read by this user: only root and HTCondor's user can use --log FILE"
        yield Diagnostic("doctor-log", message, Severity.NOTE, help="use --live to query the schedd instead")


def _here_rows(data: results.DoctorResult, *, is_given: bool) -> Iterator[list[str]]:
    yield ["crondor", data["crondor"] or "not installed: run from a checkout"]
    yield ["Python", f"{data['python']} ({data['executable']})"]
    yield ["zone", f"{data['zone']}{' (--tz)' if is_given else ''}"]
    yield ["HTCondor's configuration", data["configuration"] or "not found"]
    for each in data["packages"]:
        said = each["version"] or f"not installed (in a clone: pip install '.[{each['extra']}]')"
        yield [f"{each['package']} [{each['extra']}]", said]


def _configuration() -> str | None:
    """Return the path of HTCondor's own configuration, as its programs find it; None if there is none."""
    try:
        return next((path for path, _ in ConfigReader(ConfigFiles(), (), None).tried()), "the environment's (ONLY_ENV)")
    except click.ClickException:
        return None


def _live_rows(live: results.Live, interval: int, log: str) -> Iterator[list[str]]:
    yield ["bindings", f"htcondor {live['bindings'] or ''}"]
    yield ["schedd", f"{live['schedd'] or ''}, HTCondor {live['release'] or ''}, {live['address'] or ''}"]
    for each in live["access"]:
        how = f" ({each['methods']})" if each["methods"] else ""
        user = f", as {each['user']}{how}" if each["user"] else ""
        yield [each["level"], f"{'yes' if each['allowed'] else 'no'}{user}"]
    if live["schedd_interval"] is not None:
        here = "" if live["schedd_interval"] == interval else f" (here {interval} s)"
        yield ["SCHEDD_INTERVAL", f"{live['schedd_interval']} s{here}"]
    offsets = ", ".join(map(_offset_text, live["offsets"]))
    if offsets:
        yield ["zone there", offsets]
    if (ahead := live["seconds_ahead"]) is not None:
        said = f"{plural(abs(ahead), 'second')} {'ahead' if ahead > 0 else 'behind'}" if ahead else "as here"
        yield ["clock there", said]
    if log:
        yield ["job_queue.log", f"{live['log'] or ''} ({log})"]


def _offset_text(offset: results.Offset) -> str:
    month = datetime.fromtimestamp(offset["time"], timezone.utc).strftime("%B")
    here = "" if offset["theirs"] == offset["ours"] else f" (here {_signed(offset['ours'])})"
    return f"{_signed(offset['theirs'])} in {month}{here}"


def _signed(minutes: int) -> str:
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}{rest:02}"
