"""One run of `crondor check`: the settings, the files, and what was found in each."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import click

from crondor.diagnostics import CrondorError
from crondor.knowledge.kinds import FileKind
from crondor.knowledge.releases import NEWEST, Release
from crondor.lint import RULES, CheckReport, CheckSettings, check_submit, refused
from crondor.lint.submit import offered
from crondor.source import Source
from crondor.submit import SubmitFile
from crondor_cli.common.checked_files import read_checked
from crondor_cli.common.findings.result import ChosenReports
from crondor_cli.common.findings.rules import codes_of
from crondor_cli.kit.files import read_source
from crondor_cli.kit.options import ConfigFiles, Surroundings, clock_of, interval_of
from crondor_cli.kit.parallel import of_many
from crondor_cli.kit.pool_config import read_pool
from crondor_cli.kit.progress import PROGRESS

LEAST: Final = 60
"""Files from which on several processes check them, of 3 ms each."""

_TOGETHER: Final = 8  # files that a process is given


class CheckOptions(NamedTuple):
    """What the command line and the settings say."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    surroundings: Surroundings
    tz: str | None
    schedd_interval: int
    strict: bool
    no_files: bool
    target: Release | None = None
    pool_config: ConfigFiles | None = None
    tries_fixes: bool = True  # so that those are shown and counted that --fix makes


@dataclass(frozen=True, eq=False, kw_only=True)
class CheckResult(ChosenReports):
    """What was found, and how to check again."""

    settings: CheckSettings
    surroundings: Surroundings
    tries_fixes: bool = True

    def read(self, source: Source) -> SubmitFile:
        """Read one of the descriptions once more, changed perhaps. Raises CrondorError."""
        return read_checked(source, self.settings, self.surroundings)


def run(paths: tuple[str, ...], given: CheckOptions, now: str | None, jobs: int | None = 1) -> CheckResult:
    """Check the files, by so many processes; those that cannot be read are left out.

    Raises UsageError for options and settings that cannot be used, and where no file can be read.
    """
    result = _settle(given, now, paths)
    reports: list[CheckReport] = []
    unread: list[click.UsageError] = []
    all_checked = of_many(
        lambda path: _check(path, result), paths, jobs, least=LEAST, together=_TOGETHER, is_own=_is_typed
    )
    with closing(all_checked):
        for checked in PROGRESS.counted(all_checked, "checking", "files", len(paths)):
            if isinstance(checked, CheckReport):
                reports.append(checked)
            else:
                unread.append(checked)
    if not reports:
        raise unread[0]
    return replace(result, reports=tuple(reports), unread=tuple(error.message for error in unread))


def _is_typed(path: str) -> bool:
    """Say whether a path is standard input, which is this process's."""
    return path == "-"


def _settle(given: CheckOptions, now: str | None, paths: tuple[str, ...]) -> CheckResult:
    """Put together what the options say, before anything is checked."""
    clock = clock_of(now, given.tz)
    access_point = None
    if given.pool_config is not None:
        access_point = read_pool(given.pool_config, given.surroundings.allow_dirs, clock, given.target, beside=paths)
    return CheckResult(
        (),
        codes_of(given.select, RULES),
        codes_of(given.ignore, RULES),
        given.strict,
        settings=CheckSettings(
            clock.now,
            clock.zone,
            schedd_interval=interval_of(given.schedd_interval, access_point),
            files=not given.no_files,
            access_point=access_point,
            target=given.target or NEWEST,
        ),
        surroundings=given.surroundings,
        tries_fixes=given.tries_fixes,
    )


def _check(path: str, result: CheckResult) -> CheckReport | click.UsageError:
    """Check one file, or say why it cannot be read; one that is no text is a finding like any other."""
    try:
        source = read_source(path, FileKind.SUBMIT)
    except CrondorError as error:
        return refused(path, error, result.settings)
    except click.UsageError as error:
        return error
    report = check_submit(source, result.settings, result.read)
    if not result.tries_fixes or not any(each.fix is not None for each in report.findings):
        return report
    return offered(report, result.settings, result.choose, result.read)
