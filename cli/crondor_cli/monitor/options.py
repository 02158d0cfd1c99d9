"""Options of crondor monitor: commands, addresses, metrics, and the files of alerts."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Final
from urllib.parse import urlsplit

import click

from crondor.diagnostics import printable
from crondor.monitor.metrics import LOOPBACK, Address, Metrics
from crondor.monitor.notices import Notice
from crondor_cli.kit.files import file_problem, write_file
from crondor_cli.kit.options import refuse_existing
from crondor_cli.kit.screen import say, usage

_ADDRESS: Final = re.compile(r"(?:(?P<host>[^:\[\]]*):|\[(?P<six>[0-9A-Fa-f:.]+)\]:)?(?P<port>[0-9]{1,5})\Z").match


def read_address(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Address | None:
    """Read HOST:PORT, [HOST]:PORT of IPv6, or PORT alone, which means this machine only. Raises BadParameter."""
    if value is None:
        return None
    found = _ADDRESS(value)
    if found is None or not int(found["port"]) < 1 << 16:
        raise click.BadParameter(f"'{printable(value)}' is neither HOST:PORT, like {LOOPBACK}:9811, nor PORT")
    return Address(found["six"] or found["host"] or LOOPBACK, int(found["port"]))


RULES: Final = "crondor.rules.yml"
DASHBOARD: Final = "crondor-dashboard.json"


def write_alerts(folder: str, *, force: bool) -> None:
    """Write both files into a folder, and print their paths. Raises UsageError for existing files, CrondorError."""
    ours = files("crondor_cli.monitor")
    paths = {os.path.join(folder, name): ours.joinpath(name).read_bytes() for name in (RULES, DASHBOARD)}
    if not force:
        refuse_existing(paths)
    for path, data in paths.items():
        try:
            os.makedirs(folder, exist_ok=True)
        except (OSError, ValueError) as error:
            raise file_problem("write", folder, error) from None
        write_file(path, data)
        say(f"written: {path}")


def made_metrics(routers: Iterable[str]) -> Metrics:
    """Return metrics without a look. Raises UsageError if the extra ``monitor`` is missing."""
    try:
        return Metrics(routers)
    except ImportError:
        message = "--metrics needs prometheus-client and waitress: pip install '.[monitor]' in a clone of crondor"
        raise usage(message) from None


def read_notices(
    _context: click.Context, _parameter: click.Parameter, value: Sequence[tuple[str, str]]
) -> tuple[Notice, ...]:
    """Read the commands of --on. Raises BadParameter for an invalid command line."""
    return tuple(Notice(verdict, _words(text)) for verdict, text in value)


def _words(text: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise click.BadParameter(f"'{printable(text)}' is not a command line: {error}") from None
    if not words or any("\0" in word for word in words):
        raise click.BadParameter("give a command, like 'mail -s missed root'")
    return words


def read_url(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Read an http or https URL. Raises BadParameter."""
    if value is None:
        return None
    try:
        parts = urlsplit(value)
        is_one = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_one = False
    if not is_one or not value.isprintable() or " " in value:
        raise click.BadParameter(f"'{printable(value)}' is not a URL that begins with http:// or https://")
    return value
