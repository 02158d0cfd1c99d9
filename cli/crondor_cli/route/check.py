"""`crondor route check`: check a job router's configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from crondor.classad.scope import Context
from crondor.diagnostics import Source
from crondor.lint import CheckReport, Rule
from crondor.lint.fixing import Cured, without_fixes
from crondor.lint.routes import ROUTE_RULES, CheckedRoutes, check_routes, fixed_routes, refused_routes
from crondor_cli.kit.ads import context_of
from crondor_cli.kit.configs import ConfigCommand, ConfigReader
from crondor_cli.kit.findings import (
    ChosenReports,
    choosing_options,
    codes_of,
    explain_rule,
    list_rules,
    reporting_options,
)
from crondor_cli.kit.options import ConfigFiles, clock_of, config_options, include_option, now_options
from crondor_cli.kit.printing import Asked, conclude, report_options


@dataclass(frozen=True, kw_only=True)
class RouteCheckResult(ChosenReports):
    """The findings of the rules about routes.

    ``named`` are the texts of the files given, ``again`` checks others in their place; None if one of them is not text.
    """

    named: tuple[Source, ...] = ()
    again: Callable[[Sequence[Source]], CheckedRoutes] | None = None

    @property
    def rules(self) -> Mapping[str, Rule[Any]]:
        """The rules by code."""
        return ROUTE_RULES


def _checked(
    config: ConfigFiles,
    allow_dirs: tuple[str, ...],
    context: Context,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    *,
    strict: bool,
) -> RouteCheckResult:
    """Check the files together; one that is not text is a finding. Raises UsageError for an unreadable file."""
    reader = ConfigReader(config, allow_dirs, context)
    texts: list[tuple[str, Source]] = []
    broken: list[CheckReport] = []
    for path, read in reader.tried():
        if isinstance(read, Source):
            texts.append((path, read))
        else:
            broken.append(refused_routes(path, read.diagnostics))
    named = tuple(source for _, source in texts)

    def again(sources: Sequence[Source]) -> CheckedRoutes:
        paths = (path for path, _ in texts)
        configuration = ConfigReader(config, allow_dirs, context).read(zip(paths, sources, strict=True))
        others = [each for each in configuration.sources if each not in sources] if configuration.is_followed else []
        return check_routes(configuration, [*others, *sources])

    reports = (*broken, *(again(named).reports if texts else ()))
    is_whole = bool(texts) and not broken and is_fixable(config)
    reports = tuple(
        report
        if is_whole and report.source in named
        else report._replace(findings=tuple(each._replace(fix=None) for each in report.findings))
        for report in reports
    )
    return RouteCheckResult(reports, select, ignore, strict, named=named, again=again if is_whole else None)


def _offered(result: RouteCheckResult) -> Iterator[CheckReport]:
    """Yield the reports with only the fixes that --fix applies."""
    has_fixes = any(each.fix is not None for report in result.reports for each in report.findings)
    left = {report.source: cured.left for report, cured in _cured(result)} if has_fixes else {}
    return (without_fixes(report, left.get(report.source, ())) for report in result.reports)


def is_fixable(config: ConfigFiles) -> bool:
    """Return whether the files are given on the command line, not deployed in a tree or on a host."""
    return bool(config.paths) and config.tree is None


def _cured(result: RouteCheckResult) -> Iterator[tuple[CheckReport, Cured]]:
    """Yield each report with its fixed text."""
    cured: dict[Source, Cured] = {}
    if result.again is not None:
        cured = dict(zip(result.named, fixed_routes(result.named, result.again, result.choose), strict=True))
    return ((report, cured.get(report.source, Cured(report, ()))) for report in result.reports)


EXAMPLE = """\
echo 'JOB_ROUTER_ROUTE_NAMES = A' > r.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS true' >> r.conf
crondor route check --config r.conf"""

EPILOG = """\b
Examples:
  crondor route check --config 50-routes.conf
  crondor route check --config 10-base.conf --config 50-routes.conf \\
      --ignore CRN644
  crondor route check --config 50-routes.conf --fix
  crondor route check --config 50-routes.conf --fix --write
  crondor route check --config 50-routes.conf --format sarif > crondor.sarif
  crondor route check --explain CRN621

Files are read in their order, later lines win. A file may include files below its own folder and those of
--allow-dir; no command in it is ever run.

A comment `# crondor: ignore[CRN632]` silences rules for the line below it, also inside a route; `ignore-file[...]`
for the whole file.

Exit status: 0 no findings or only notes, 1 an error or a warning (with --strict: a note), 2 wrong usage, or a file
that cannot be read."""


@click.command("check", example=EXAMPLE, cls=ConfigCommand, epilog=EPILOG)
@config_options
@include_option
@choosing_options(lambda _: ROUTE_RULES)
@click.option("--fix", "fix", is_flag=True, help="Show the changes that would fix the findings.")
@click.option("--write", is_flag=True, help="With --fix: change the files.")
@reporting_options(lambda _: ROUTE_RULES)
@report_options
@now_options
def command(
    config: ConfigFiles,
    allow_dirs: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    asked: Asked,
    explain: str | None,
    rules: bool,
    strict: bool,
    now: str | None,
    tz: str | None,
) -> None:
    """Report lines that HTCondor refuses, ignores or misreads.

    Every finding has a code, a place, a reason and a correction.
    """
    if explain is not None or rules:
        explain_rule(explain) if explain is not None else list_rules(ROUTE_RULES)
        return
    asked.refuse(is_fixable=is_fixable(config))
    chosen, ignored = codes_of(select, ROUTE_RULES), codes_of(ignore, ROUTE_RULES)
    result = _checked(config, allow_dirs, context_of(clock_of(now, tz)), chosen, ignored, strict=strict)
    if not asked.fix:  # those are shown and counted that --fix makes
        result = replace(result, reports=tuple(_offered(result)))
    raise click.exceptions.Exit(conclude(result, asked, _cured))
