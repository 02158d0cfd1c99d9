"""One run of `crondor route check`: the files, the table they make, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from crondor.classad.scope import Context
from crondor.lint import CheckReport, Rule
from crondor.lint.fixing import Cured, without_fixes
from crondor.lint.routes import ROUTE_RULES, CheckedRoutes, check_routes, fixed_routes, refused_routes
from crondor.source import Source
from crondor_cli.common.findings.result import ChosenReports
from crondor_cli.common.findings.rules import codes_of
from crondor_cli.common.fixed_files import report_fixed
from crondor_cli.kit.configs import ConfigReader
from crondor_cli.kit.options import ConfigFiles, clock_of


class RouteCheckOptions(NamedTuple):
    """What the command line says."""

    allow_dirs: tuple[str, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    strict: bool
    tries_fixes: bool = True  # so that those are shown and counted that --fix makes


@dataclass(frozen=True, kw_only=True)
class RouteCheckResult(ChosenReports):
    """What was found by the rules about routes.

    ``named`` are the texts of the files that were named, ``again`` checks others in their place; None where one of them
    is no text.
    """

    named: tuple[Source, ...] = ()
    again: Callable[[Sequence[Source]], CheckedRoutes] | None = None

    @property
    def rules(self) -> Mapping[str, Rule[Any]]:
        """The rules by code."""
        return ROUTE_RULES


def run(config: ConfigFiles, given: RouteCheckOptions, now: str | None, tz: str | None) -> RouteCheckResult:
    """Check the files together; one that is no text is a finding like any other, and the others are checked.

    Raises UsageError for options that cannot be used, and for a file that cannot be read.
    """
    select, ignore = codes_of(given.select, ROUTE_RULES), codes_of(given.ignore, ROUTE_RULES)
    clock = clock_of(now, tz)
    context = Context(now=clock.now, zone=clock.zone)
    reader = ConfigReader(config, given.allow_dirs, context)
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
        configuration = ConfigReader(config, given.allow_dirs, context).read(zip(paths, sources, strict=True))
        others = [each for each in configuration.sources if each not in sources] if configuration.is_followed else []
        return check_routes(configuration, [*others, *sources])

    reports = (*broken, *(again(named).reports if texts else ()))
    is_whole = bool(texts) and not broken and is_fixable(config)
    reports = tuple(each if is_whole and each.source in named else _without_fixes(each) for each in reports)
    result = RouteCheckResult(reports, select, ignore, given.strict, named=named, again=again if is_whole else None)
    return replace(result, reports=tuple(_offered(result))) if given.tries_fixes else result


def _offered(result: RouteCheckResult) -> Iterator[CheckReport]:
    """Yield the reports with the fixes alone that --fix makes."""
    has_fixes = any(each.fix is not None for report in result.reports for each in report.findings)
    left = {report.source: cured.left for report, cured in _cured(result)} if has_fixes else {}
    return (without_fixes(report, left.get(report.source, ())) for report in result.reports)


def is_fixable(config: ConfigFiles) -> bool:
    """Say whether the files are those that the command line names, and not what is deployed in a tree or on a host."""
    return bool(config.paths) and config.tree is None


def _without_fixes(report: CheckReport) -> CheckReport:
    """Return the report of a file that is not changed."""
    return report._replace(findings=tuple(each._replace(fix=None) for each in report.findings))


def fix_files(result: RouteCheckResult, *, write: bool) -> int:
    """Show or make the changes of the files that were named; return the exit status."""
    return report_fixed(result, _cured(result), write=write)


def _cured(result: RouteCheckResult) -> Iterator[tuple[CheckReport, Cured]]:
    """Yield each report with what its fixes make of it."""
    cured: dict[Source, Cured] = {}
    if result.again is not None:
        cured = dict(zip(result.named, fixed_routes(result.named, result.again, result.choose), strict=True))
    return ((report, cured.get(report.source, Cured(report, ()))) for report in result.reports)
