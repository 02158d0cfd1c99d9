"""`crondor check`: find problems in submit files and DAGs before submission."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from typing import Any, Final, NamedTuple

import click

from crondor.diagnostics import CrondorError, Source
from crondor.knowledge.releases import NEWEST, Release
from crondor.lint import RULES, CheckReport, CheckSettings, Cured, Rule, check_submit, fixed, refused
from crondor.lint.dags import check_dag, fixed_dag
from crondor.lint.report import GROUP, NodeText
from crondor.lint.subject import SiteRules
from crondor.lint.submit import offered, rules_for
from crondor.macro.files import Files
from crondor.submit import SubmitFile, SubmitHost
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command, is_without_config
from crondor_cli.kit.files import (
    KINDS,
    STDIN,
    FoundPath,
    below,
    files_of,
    inside_of,
    is_dag,
    may_be_set,
    may_have_rules,
)
from crondor_cli.kit.findings import (
    ChosenReports,
    choosing_options,
    codes_of,
    explain_rule,
    list_rules,
    read_checked,
    reporting_options,
)
from crondor_cli.kit.options import ConfigFiles, ReleaseType, Surroundings, UsageProblem, clock_of, interval_of
from crondor_cli.kit.parallel import FileTask, of_files, sharing_options
from crondor_cli.kit.printing import Asked, conclude, report_options
from crondor_cli.kit.progress import PROGRESS, watch_option
from crondor_cli.kit.schedules import host_of

LEAST: Final = 60
"""The number of files from which several processes check them; each takes 3 ms."""

_TOGETHER: Final = 8  # files per task


class CheckOptions(NamedTuple):
    """The options of the command line and the settings."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    surroundings: Surroundings
    tz: str | None
    schedd_interval: int
    strict: bool
    no_files: bool
    target: Release | None = None
    pool_config: ConfigFiles | None = None
    now: str | None = None
    tries_fixes: bool = True  # so that only the fixes that --fix applies are shown and counted


@dataclass(frozen=True, eq=False, kw_only=True)
class CheckResult(ChosenReports):
    """The findings, and how to check again."""

    settings: CheckSettings
    surroundings: Surroundings
    host: SubmitHost
    tries_fixes: bool = True

    @property
    def rules(self) -> Mapping[str, Rule[Any]]:
        """The rules by code, with those of the site."""
        return rules_for(self.settings)

    def read(self, source: Source, node: NodeText | None = None) -> SubmitFile:
        """Read a description again, perhaps changed, or that of a DAG's node. Raises CrondorError."""
        return read_checked(source, self.settings, self.surroundings, self.host, node)

    def checked(self, source: Source) -> tuple[CheckReport, ...]:
        """Check a file by its kind: a DAG with the files of its nodes, or a submit file."""
        if is_dag(source):
            return check_dag(source, self.settings, self._files(source), self.read)
        return (check_submit(source, self.settings, self.read),)

    def fixed(self, report: CheckReport, unsafe: bool) -> Cured:
        """Fix what a report found, in its own text."""
        if report.is_dag:
            files = self._files(report.source)
            return fixed_dag(report, self.settings, self.choose, files, self.read, unsafe=unsafe)
        read = partial(self.read, node=report.node)
        return fixed(report, self.settings, self.choose, unsafe=unsafe, read=read)

    def _files(self, source: Source) -> Files:
        path = "-" if source.name == STDIN else source.name
        return self.surroundings.files or files_of(path, self.surroundings.allow_dirs)


def run(paths: tuple[str, ...], given: CheckOptions, jobs: int | None = 1) -> CheckResult:
    """Check the files, in a number of processes or by a cluster; unreadable files are skipped.

    Raises UsageError for invalid options and settings, and if no file can be read.
    """
    result = _settle(given, paths)
    reports: list[CheckReport] = []
    unread: list[click.UsageError] = []
    work = partial(_check, result)
    all_checked = of_files(work, paths, given.surroundings.allow_dirs, jobs, least=LEAST, together=_TOGETHER)
    with closing(all_checked):
        for checked in PROGRESS.counted(all_checked, "checking", "files", len(paths)):
            if isinstance(checked, tuple):
                reports += checked
            else:
                unread.append(checked)
    if not reports:
        raise unread[0]
    return replace(result, reports=tuple(reports), unread=tuple(error.message for error in unread))


def _settle(given: CheckOptions, paths: tuple[str, ...]) -> CheckResult:
    """Combine the options before the check."""
    clock = clock_of(given.now, given.tz)
    site = _site(given.target, may_have_rules())
    access_point = None
    if given.pool_config is not None:
        from crondor_cli.kit.pool_config import read_pool  # noqa: PLC0415 - 25 modules, and optional

        access_point = read_pool(given.pool_config, given.surroundings.allow_dirs, clock, given.target, beside=paths)
    settings = CheckSettings(
        clock.now,
        clock.zone,
        schedd_interval=interval_of(given.schedd_interval, access_point),
        files=not given.no_files,
        access_point=access_point,
        target=given.target or NEWEST,
        site=site,
    )
    rules = rules_for(settings)
    return CheckResult(
        (),
        codes_of(given.select, rules),
        codes_of(given.ignore, rules),
        given.strict,
        settings=settings,
        surroundings=given.surroundings,
        host=host_of(access_point),
        tries_fixes=given.tries_fixes,
    )


def _codes(context: click.Context) -> Iterable[str]:
    """Return the codes for completion; crondor's own if the rules of the site have faults."""
    with suppress(UsageProblem):
        return rules_for(CheckSettings(0, site=_site(None, may_be_set() and not is_without_config(context))))
    return RULES


def _site(target: Release | None, has_settings: bool) -> SiteRules | None:
    """Return the rules of the site. Raises UsageProblem."""
    if not has_settings and not metadata.entry_points(group=GROUP):
        return None
    from crondor_cli.kit.site_rules import read_site  # noqa: PLC0415 - 25 modules, and few sites have rules

    try:
        return read_site(target, has_settings=has_settings)
    except CrondorError as error:
        raise UsageProblem(error) from None


def _check(result: CheckResult, task: FileTask) -> tuple[CheckReport, ...] | click.UsageError:
    """Check one file, or return why it cannot be read; a file that is not text is a finding."""
    try:
        source = task.read(dags=True)
    except CrondorError as error:
        return (refused(task.path, error, result.settings),)
    except click.UsageError as error:
        return error
    result = replace(result, surroundings=result.surroundings._replace(files=task.files))
    reports = result.checked(source)
    if not result.tries_fixes or task.has_asked:
        return reports
    return tuple(offered(report, result.choose, result.fixed) for report in reports)


EXAMPLE = """\
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor check job.sub"""

EPILOG = """\b
Examples:
  crondor check job.sub
  crondor check week.dag
  crondor check --select CRN1,CRN2 --ignore CRN203 jobs/
  crondor check --pool-config 50-site.conf job.sub
  crondor check --fix job.sub
  crondor check --fix --write jobs/*.sub
  crondor check --format sarif jobs/ > crondor.sarif
  crondor check --explain CRN204
  crondor check --baseline crondor-baseline.json --update-baseline jobs/
  crondor check --baseline crondor-baseline.json jobs/
  crondor check --test-rules crondor.toml

A folder means all *.sub, *.submit and *.jdl files below it, without links that lead outside; - is standard input. Of a
DAG file (*.dag), the submit files of its nodes are checked with their VARS. No program of a file is run. Included
files are read only below the file's own folder and those of --allow-dir; other named files are looked up there, but not
opened.

A comment `# crondor: ignore[CRN204]` silences rules for the statement below it, `ignore-file[...]` for the whole file.
select, ignore, target, strict, no-files and baseline may be set in [check] of crondor.toml: see `crondor config`.
Rules of a site are tables [[check.rule]] there.

Exit status: 0 no findings or only notes, 1 an error or a warning (with --strict: a note), 2 wrong usage, or a file
that cannot be read."""


@click.command("check", cls=Command, example=EXAMPLE, epilog=EPILOG)
@watch_option(here=True)
@opts.submit_files()
@choosing_options(_codes)
@click.option(
    "--target",
    type=ReleaseType(),
    metavar="RELEASE",
    help="The release that the files are submitted to, as 24 or 24.3 (default: the newest).",
)
@click.option("--fix", "fix", is_flag=True, help="Show the changes that would fix the findings.")
@click.option("--write", is_flag=True, help="With --fix: change the files.")
@click.option("--unsafe", is_flag=True, help="With --fix: also changes that may change the meaning.")
@reporting_options(_codes)
@click.option("--test-rules", is_flag=True, help="Test this site's rules, or those in FILES.")
@click.option("--suggest-rules", is_flag=True, help="Print rules like the requirements of --pool-config.")
@click.option("--no-files", is_flag=True, help="Do not check that named files exist.")
@opts.file_options
@opts.now_options
@opts.interval_option
@opts.pool_config_options
@sharing_options
@report_options
@opts.gathered("given", CheckOptions)
def command(
    paths: tuple[str, ...],
    given: CheckOptions,
    asked: Asked,
    unsafe: bool,
    explain: str | None,
    rules: bool,
    test_rules: bool,
    suggest_rules: bool,
    jobs: int | None,
) -> None:
    """Find what condor_submit refuses or ignores, and what the schedd misreads, holds or never runs.

    Every finding has a code, a place, a reason and a correction. Without FILES, the files of this folder are checked.
    """
    if explain is not None or rules:
        known = rules_for(CheckSettings(0, site=_site(given.target, may_have_rules())))
        explain_rule(explain, known) if explain is not None else list_rules(known)
        return
    if test_rules or suggest_rules:
        from crondor_cli.check import site  # noqa: PLC0415 - as above

        settings = _settle(given, paths).settings
        tested = partial(site.test_rules, paths, settings, asked.format_)
        raise click.exceptions.Exit(tested() if test_rules else site.suggest_rules(settings.access_point))
    asked.refuse(unsafe=unsafe)
    result = run(paths or _here(), given._replace(tries_fixes=not asked.fix), jobs)

    def cured(result: CheckResult) -> Iterator[tuple[CheckReport, Cured]]:
        first = {report.source.name: report for report in reversed(result.reports)}  # several nodes may have one file
        for report in first.values():
            yield report, result.fixed(report, unsafe)

    raise click.exceptions.Exit(conclude(result, asked, cured))


def _here() -> tuple[str, ...]:
    """Return the submit files of this folder. Raises UsageError if there are none."""
    found = tuple(FoundPath.below(os.curdir, path.removeprefix("./")) for path in inside_of(below(os.curdir)))
    if not found:
        message = f"there is no {KINDS} in this folder: give files to check, a folder, or - for standard input"
        raise click.UsageError(message, click.get_current_context(silent=True))
    return found
