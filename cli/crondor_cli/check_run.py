"""One run of `crondor check`: the settings, the files, and what was found in each."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import NamedTuple

import click

from crondor.check import RULES, Finding, Report, Settings, check, select
from crondor.check.rules.reading import unreadable_file
from crondor.diagnostics import CrondorError, Severity, printable
from crondor.source import Source
from crondor_cli.check_files import find
from crondor_cli.jobs import read_source
from crondor_cli.options import clock_of

_MANY = 100  # files, from which on a person wants to see progress


class Options(NamedTuple):
    """What the command line says; empty or None where it says nothing."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    allow_dirs: tuple[str, ...]
    tz: str | None
    schedd_interval: int | None
    strict: bool | None


@dataclass(frozen=True)
class Result:
    """The reports in the order of the files, the findings that were chosen of each, and how to check again."""

    reports: tuple[Report, ...]
    settings: Settings
    chosen: tuple[str, ...]
    ignored: tuple[str, ...]
    strict: bool

    def findings(self, report: Report) -> tuple[Finding, ...]:
        """Return the findings of a report that --select and --ignore leave."""
        return self.choose(report.findings)

    def choose(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Leave out the findings that --select and --ignore do not want."""
        return tuple(select(findings, self.chosen, self.ignored))

    @property
    def all_findings(self) -> Iterator[Finding]:
        """The findings of all files."""
        return (finding for report in self.reports for finding in self.findings(report))

    @property
    def status(self) -> int:
        """The exit status."""
        counted = set(Severity) if self.strict else {Severity.ERROR, Severity.WARNING}
        return int(any(finding.diagnostic.severity in counted for finding in self.all_findings))


def run(names: tuple[str, ...], given: Options, now: str | None, *, use_config: bool) -> Result:
    """Check the files. Raises UsageError for options, settings and files that cannot be used."""
    chosen, ignored, settings, strict = _settle(given, now, use_config=use_config)
    paths = find(names)
    with _progress(paths) as shown:
        reports = tuple(_check(path, settings) for path in shown)
    return Result(reports, settings, chosen, ignored, strict)


def _settle(
    given: Options, now: str | None, *, use_config: bool
) -> tuple[tuple[str, ...], tuple[str, ...], Settings, bool]:
    """Put together what the command line and pyproject.toml say."""
    config = None
    if use_config:
        from crondor_cli.check_config import find_config  # noqa: PLC0415 - not for --no-config

        config = find_config(os.getcwd())
    chosen = _codes(given.select or (config.select if config else ()))
    ignored = _codes((*given.ignore, *(config.ignore if config else ())))
    clock = clock_of(now, given.tz or (config.tz if config else None))
    interval = next((x for x in (given.schedd_interval, config and config.schedd_interval) if x is not None), 300)
    strict = given.strict if given.strict is not None else bool(config and config.strict)
    return chosen, ignored, Settings(clock.now, clock.zone, schedd_interval=interval), strict


def _codes(given: Iterable[str]) -> tuple[str, ...]:
    """Return the codes of comma-separated lists in capitals; one that no rule begins with is a usage error."""
    codes = tuple(code.strip().upper() for text in given for code in text.split(",") if code.strip())
    for code in codes:
        if not any(known.startswith(code) for known in RULES):
            message = f"no rule has a code that begins with {printable(code)}: --rules lists them"
            raise click.UsageError(message, click.get_current_context(silent=True))
    return codes


def _check(path: str, settings: Settings) -> Report:
    """Check one file; one that is no text is a finding like any other."""
    try:
        source = read_source(path)
    except CrondorError as error:
        empty = Source("", path)
        return Report(empty, tuple(unreadable_file.findings(error)))
    return check(source, settings)


def _progress(paths: list[str]) -> AbstractContextManager[Iterable[str]]:
    if len(paths) < _MANY or not sys.stderr.isatty():
        return nullcontext(paths)
    return click.progressbar(paths, label="Checking", file=sys.stderr)
