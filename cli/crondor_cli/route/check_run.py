"""One run of `crondor route check`: the files, the table they make, and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from crondor.check import CheckReport, Rule
from crondor.classad.scope import Context
from crondor.router.rules import RULES, check_routes, page
from crondor.router.rules.engine import refused
from crondor.source import Source
from crondor_cli.common.config_files import ConfigReader
from crondor_cli.common.config_options import ConfigFiles
from crondor_cli.common.findings.result import ChosenReports
from crondor_cli.common.findings.rules import codes_of
from crondor_cli.common.options import clock_of


class RouteCheckOptions(NamedTuple):
    """What the command line says."""

    allow_dirs: tuple[str, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    strict: bool


@dataclass(frozen=True)
class RouteCheckResult(ChosenReports):
    """What was found by the rules about routes."""

    @property
    def rules(self) -> Mapping[str, Rule[Any]]:
        """The rules by code."""
        return RULES

    def page(self, code: str) -> str:
        """Return the page of a rule."""
        return page(code)


def run(config: ConfigFiles, given: RouteCheckOptions, now: str | None, tz: str | None) -> RouteCheckResult:
    """Check the files together; one that is no text is a finding like any other, and the others are checked.

    Raises UsageError for options that cannot be used, and for a file that cannot be read.
    """
    select, ignore = codes_of(given.select, RULES), codes_of(given.ignore, RULES)
    clock = clock_of(now, tz)
    context = Context(now=clock.now, zone=clock.zone)
    reader = ConfigReader(config, given.allow_dirs, context)
    texts: list[tuple[str, Source]] = []
    broken: list[CheckReport] = []
    for path, read in reader.tried():
        if isinstance(read, Source):
            texts.append((path, read))
        else:
            broken.append(refused(path, read.diagnostics))
    reports: tuple[CheckReport, ...] = tuple(broken)
    if texts:
        configuration = reader.read(texts)
        named = [source for _, source in texts]
        others = [each for each in configuration.sources if each not in named] if configuration.is_followed else []
        reports += check_routes(configuration, [*others, *named]).reports
    return RouteCheckResult(reports, select, ignore, given.strict)
