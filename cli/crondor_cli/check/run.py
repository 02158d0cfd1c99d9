"""One run of `crondor check`: the settings, the files, and what was found in each."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import tzinfo

import click

from crondor._named_tuple import NamedTuple
from crondor.check import RULES, CheckReport, CheckSettings, check_submit, refused
from crondor.diagnostics import CrondorError
from crondor.knowledge.releases import NEWEST, Release
from crondor.macro import not_utf8, source_in_bytes
from crondor.source import Source
from crondor.submit import SubmitFile, read_submit
from crondor_cli.common.findings.result import STDIN, ChosenReports
from crondor_cli.common.findings.rules import codes_of
from crondor_cli.common.jobs import files_of, read_bytes
from crondor_cli.common.options import Surroundings, clock_of

_AROUND_BAR = 32  # columns of the label, the number and the time left
_MANY = 100  # files, from which on a person wants to see progress


class CheckOptions(NamedTuple):
    """What the command line and the settings say."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    surroundings: Surroundings
    tz: str | None
    schedd_interval: int
    strict: bool
    target: Release | None = None


@dataclass(frozen=True, kw_only=True)
class CheckResult(ChosenReports):
    """What was found, and how to check again; ``latin`` has the names of the files that are not UTF-8."""

    settings: CheckSettings
    surroundings: Surroundings
    latin: set[str] = field(default_factory=set)

    def read(self, source: Source) -> SubmitFile:
        """Read one of the descriptions once more, changed perhaps. Raises CrondorError."""
        said = not_utf8(source) if source.name in self.latin else None
        if said is None:
            return _read(source, self.settings, self.surroundings)
        try:
            file = _read(source, self.settings, self.surroundings)
        except CrondorError as error:
            error.diagnostics = (said, *error.diagnostics)
            raise
        file.warnings = (said, *file.warnings)
        return file

    def encoding(self, name: str) -> str:
        """Return the encoding of a file that was read."""
        return "latin-1" if name in self.latin else "utf-8"


def run(paths: tuple[str, ...], given: CheckOptions, now: str | None) -> CheckResult:
    """Check the files; those that cannot be read are left out.

    Raises UsageError for options and settings that cannot be used, and where no file can be read.
    """
    result = _settle(given, now)
    reports: list[CheckReport] = []
    unread: list[click.UsageError] = []
    with _progress(paths) as shown:
        for path in shown:
            checked = _check(path, result)
            if isinstance(checked, CheckReport):
                reports.append(checked)
            else:
                unread.append(checked)
    if not reports:
        raise unread[0]
    return replace(result, reports=tuple(reports), unread=tuple(error.message for error in unread))


def _settle(given: CheckOptions, now: str | None) -> CheckResult:
    """Put together what the options say, before anything is checked."""
    clock = clock_of(now, given.tz)
    return CheckResult(
        (),
        codes_of(given.select, RULES),
        codes_of(given.ignore, RULES),
        given.strict,
        settings=CheckSettings(
            clock.now, clock.zone, schedd_interval=given.schedd_interval, target=given.target or NEWEST
        ),
        surroundings=given.surroundings,
    )


def _check(path: str, result: CheckResult) -> CheckReport | click.UsageError:
    """Check one file, or say why it cannot be read; one that is no text is a finding like any other."""
    name = STDIN if path == "-" else path
    try:
        source, encoding = source_in_bytes(read_bytes(path), name)
    except CrondorError as error:
        return refused(path, error, result.settings)
    except click.UsageError as error:
        return error
    if encoding != "utf-8":
        result.latin.add(name)
    return check_submit(source, result.settings, result.read)


def _read(source: Source, settings: CheckSettings, surroundings: Surroundings) -> SubmitFile:
    path = "-" if source.name == STDIN else source.name
    zone = settings.zone if isinstance(settings.zone, tzinfo) else None
    allow_dirs, seed, environ = surroundings
    return read_submit(
        source, files=files_of(path, allow_dirs), environ=environ, now=settings.now, zone=zone, seed=seed
    )


@contextmanager
def _progress(paths: tuple[str, ...]) -> Iterator[Iterable[str]]:
    if len(paths) < _MANY or not sys.stderr.isatty():
        yield paths
        return
    room = os.get_terminal_size(sys.stderr.fileno()).columns - _AROUND_BAR
    bar = click.progressbar(paths, label="Checking", file=sys.stderr, width=min(36, max(1, room)))
    with ExitStack() as stack:
        stack.push(bar)  # before it is drawn: Ctrl-C while it is must not leave the terminal without a cursor
        yield bar.__enter__()
