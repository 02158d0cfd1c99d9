"""The findings of a check: selection, baseline, rules, and fixes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import partial
from typing import Any, NamedTuple, TypeVar

import click

from crondor.codes import CODES
from crondor.diagnostics import CrondorError, Severity, Source, printable, similar
from crondor.lint import RULES, CheckReport, CheckSettings, Finding, Rule, page, select
from crondor.lint.baseline import Baseline, InvalidBaseline, NameOf, read_baseline
from crondor.lint.fixing import Cured
from crondor.lint.report import SITE_CODE, NodeText, codes_by_name, page_of
from crondor.macro import source_from_bytes
from crondor.submit import SubmitFile, SubmitHost
from crondor_cli.kit.files import STDIN, diff_of, file_problem, open_given, replace_file, write_file, write_source
from crondor_cli.kit.options import Surroundings, completing, completing_list, gathered, is_typed, options_of
from crondor_cli.kit.schedules import read_description
from crondor_cli.kit.screen import emit, in_order, reads_commands, say, shown, usage
from crondor_cli.kit.tables import plural


@dataclass(frozen=True, eq=False)
class ChosenReports:
    """The reports in the order of the files, and the selection from them.

    ``unread`` has the reason for each unreadable file; ``new`` removes findings in the baseline.
    """

    reports: tuple[CheckReport, ...]
    chosen: tuple[str, ...]
    ignored: tuple[str, ...]
    strict: bool
    unread: tuple[str, ...] = ()
    new: Callable[[Iterable[Finding]], list[Finding]] | None = None

    @property
    def rules(self) -> Mapping[str, Rule[Any]]:
        """The rules by code."""
        return RULES

    def findings(self, report: CheckReport) -> tuple[Finding, ...]:
        """Return the findings of a report after --select, --ignore and --baseline."""
        return self.choose(report.findings)

    def quiet(self, report: CheckReport) -> int:
        """Return the number of findings of a report in the baseline."""
        return len(self._selected(report.findings)) - len(self.findings(report))

    def choose(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Remove the findings excluded by --select and --ignore, and those in the baseline."""
        selected = self._selected(findings)
        return selected if self.new is None else tuple(self.new(selected))

    def _selected(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        return tuple(select(findings, self.chosen, self.ignored))

    @property
    def all_findings(self) -> Iterator[Finding]:
        """The findings of all files; those about a file included by several only once."""
        seen = set()
        for report in self.reports:
            for finding in self.findings(report):
                span = finding.diagnostic.span
                key = (finding.diagnostic.code, finding.diagnostic.message, span and (span.source.name, span.start))
                if span is None or span.source.name == STDIN or key not in seen:
                    seen.add(key)
                    yield finding

    @property
    def status(self) -> int:
        """The exit status."""
        if self.unread:
            return 2
        counted = set(Severity) if self.strict else {Severity.ERROR, Severity.WARNING}
        return int(any(finding.diagnostic.severity in counted for finding in self.all_findings))


def list_rules(rules: Mapping[str, Rule[Any]] = RULES) -> None:
    """Print code, severity, name and title of every rule."""
    wide, width = max(map(len, rules)), max(len(rule.name) for rule in rules.values())
    for code, rule in sorted(rules.items()):
        say(f"{code:<{wide}}  {rule.severity.value:<7}  {rule.name:<{width}}  {rule.title}")


def explain_rule(asked: str, rules: Mapping[str, Rule[Any]] = RULES) -> None:
    """Print the page of a rule by its code, its name or a code of its faults. Raises UsageError for an unknown rule."""
    asked = asked.strip()
    known = {**codes_by_name(), **{rule.name: code for code, rule in rules.items()}}
    wanted = known.get(asked.lower()) or CODES.get(asked.lower(), asked.upper())
    if wanted not in known.values():
        names = [*known.values(), *known]
        close = similar(asked, names) or similar(asked.upper(), names)
        hint = f"did you mean {close[0]}?" if close else "--rules lists them"
        raise usage(f"there is no rule {printable(asked)}: {hint}")
    say((page_of(rules[wanted]) if wanted in rules else page(wanted)).rstrip("\n"))


def codes_of(given: Iterable[str], rules: Iterable[str]) -> tuple[str, ...]:
    """Return the codes of comma-separated lists in capitals; raise a usage error for a prefix of no rule.

    A code that is not crondor's own may be that of a rule on another host.
    """
    known_codes = tuple(rules)
    codes = tuple(code.strip().upper() for text in given for code in text.split(",") if code.strip())
    for code in codes:
        if not any(known.startswith(code) for known in known_codes) and not SITE_CODE.fullmatch(code):
            raise usage(f"no rule has a code that begins with {printable(code)}: --rules lists them")
    return codes


class BaselineOptions(NamedTuple):
    """The baseline file, and whether to write it."""

    path: str | None
    update: bool


def _baseline(baseline_path: str | None, update_baseline: bool) -> BaselineOptions:
    if update_baseline and baseline_path is None:
        raise usage("--update-baseline needs --baseline FILE")
    if update_baseline and not is_typed("baseline_path"):
        raise usage("--update-baseline needs --baseline on the command line: a setting cannot choose a file to write")
    return BaselineOptions(baseline_path, update_baseline)


baseline_options = gathered(
    "baseline",
    _baseline,
    click.option("--baseline", "baseline_path", metavar="FILE", help="Report only findings that are not in this file."),
    click.option("--update-baseline", is_flag=True, help="Write the present findings to --baseline FILE."),
)
"""--baseline and --update-baseline, as one argument ``baseline``."""


def choosing_options(
    codes: Callable[[click.Context], Iterable[str]],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add --select and --ignore, with completion of the codes."""
    complete = completing_list(codes)
    return options_of(
        click.option(
            "--select",
            multiple=True,
            metavar="CODES",
            shell_complete=complete,
            help="Only rules whose code begins with one of these (comma-separated).",
        ),
        click.option(
            "--ignore",
            multiple=True,
            metavar="CODES",
            shell_complete=complete,
            help="Skip rules whose code begins like this.",
        ),
    )


def reporting_options(
    codes: Callable[[click.Context], Iterable[str]],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add --explain and --rules, --statistics, --baseline and --strict."""
    return options_of(
        click.option("--explain", metavar="CODE", shell_complete=completing(codes), help="Explain a rule."),
        click.option("--rules", is_flag=True, help="List the rules."),
        click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of showing them."),
        baseline_options,
        click.option("--strict", is_flag=True, help="Exit with 1 for notes as well."),
    )


Result = TypeVar("Result", bound=ChosenReports)
_MAX_BYTES = 64 * 1024 * 1024


def with_baseline(result: Result, options: BaselineOptions) -> Result:
    """Return a result without the findings in the baseline. Raises UsageError for an unreadable file."""
    if options.path is None or options.update:
        return result
    data = _read(options.path)
    if data is None:
        raise usage(f"there is no baseline '{printable(options.path)}': create it with --update-baseline")
    known, name_of = _parsed(data, options.path), _names_below(options.path)
    gone = known.gone(Baseline.of(result.all_findings, name_of), _looked_at(result, name_of))
    if gone:
        verb = "is" if gone == 1 else "are"
        message = f"{plural(gone, 'finding')} of {printable(options.path)} {verb} gone"
        say(f"{message}: --update-baseline removes them", err=True)
    return replace(result, new=partial(known.new, name_of=name_of))


def write_baseline(result: ChosenReports, options: BaselineOptions) -> int:
    """Write the baseline, preserving entries of files that were not checked; return the exit status.

    Raises UsageError for another kind of file, or one that cannot be written.
    """
    path = options.path or ""
    name_of = _names_below(path)
    found = Baseline.of(result.all_findings, name_of)
    before = _read(path)
    looked_at = _looked_at(result, name_of)
    if before is not None:
        old = _parsed(before, path)
        folder = os.path.dirname(path)
        found = old.updated(found, lambda name: name not in looked_at and os.path.exists(os.path.join(folder, name)))
    after = found.text().encode("ascii")
    if before is None:
        write_file(path, after)
    elif before != after:
        replace_file(path, before, after, "in the meantime; nothing was written")
    files = plural(len(found.files - {""}), "file")
    say(f"{printable(path)}: {plural(found.total, 'finding')} of {files} recorded")
    return 2 if result.unread else 0


def _looked_at(result: ChosenReports, name_of: NameOf) -> set[str]:
    """Return the files whose findings are complete, including included files."""
    sources = (source for report in result.reports for source in (report.source, *report.included))
    return {name_of(source.name) for source in sources}


def _names_below(path: str) -> NameOf:
    """Return a function for a file's name relative to the folder of the baseline."""
    folder = os.path.dirname(os.path.abspath(path))

    def name_of(name: str) -> str:
        if name == STDIN or "\0" in name:
            return name
        try:
            return os.path.relpath(os.path.abspath(name), folder).replace(os.sep, "/")
        except ValueError:  # on another drive, on Windows
            return name

    return name_of


def _read(path: str) -> bytes | None:
    """Return the bytes of a file, None if it is missing. Raises UsageError."""
    try:
        with open_given(path) as file:
            return file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise file_problem("read", path, error) from None


def _parsed(data: bytes, path: str) -> Baseline:
    """Return the baseline in some bytes. Raises UsageError with the place of a fault."""
    try:
        return read_baseline(source_from_bytes(data, path, _MAX_BYTES))
    except CrondorError as error:
        what = error.diagnostics[0]
        place = printable(what.span.location if isinstance(error, InvalidBaseline) and what.span else path)
        raise usage(f"{place}: {printable(what.message)}") from None


def read_checked(
    source: Source, settings: CheckSettings, surroundings: Surroundings, host: SubmitHost, node: NodeText | None = None
) -> SubmitFile:
    """Read a description, with the files below its folder and its surroundings, or a node's. Raises CrondorError."""
    path = "-" if source.name == STDIN else source.name
    zone = settings.zone if isinstance(settings.zone, tzinfo) else None
    variables = () if node is None else node.variables
    if node is not None:
        surroundings = surroundings._replace(files=node.files)
    return read_description(source, path, surroundings, settings.now, zone, host=host, variables=variables)


def report_fixed(result: ChosenReports, cures: Iterable[tuple[CheckReport, Cured]], *, write: bool) -> int:
    """Show or make all changes; return the exit status: 1 if one is shown, or errors or warnings remain afterwards."""
    changed = 0
    left: list[Cured] = []
    failed: list[click.UsageError] = []
    for report, cured in cures:
        if cured.report.source.text != report.source.text:
            try:
                _show_or_write(report.source, cured, write=write)
                changed += 1
            except click.UsageError as problem:
                failed.append(problem)
                left.append(Cured(report, ()))
                continue
        left.append(cured)
    status = _end(result, left, changed, write=write)
    for error in failed:
        say(f"Error: {error.message}", err=True)
    return 2 if failed else status


def _show_or_write(before: Source, cured: Cured, *, write: bool) -> None:
    """Show or make the changes of a file. Raises UsageError if it cannot be written."""
    if write:
        write_source(before, cured.report.source)
        say(f"{printable(before.name)}: {', '.join(cured.titles)}")
        return
    diff = diff_of(before, cured.report.source)
    if reads_commands():
        say(diff, nl=False, fits=False)
    else:
        emit(diff.encode("utf-8", "surrogateescape"))


def _end(result: ChosenReports, left: list[Cured], changed: int, *, write: bool) -> int:
    """Print the remaining findings, and why fixes were skipped; return the exit status."""
    after = replace(result, reports=tuple(cured.report for cured in left))
    reasons = {
        (each.diagnostic.code, each.diagnostic.span): f"    = not fixed: {each.fix.title}: {each.reason}"
        for cured in left
        for each in cured.left
    }
    urls = {finding.diagnostic: finding.url for finding in after.all_findings}
    for each in in_order(urls):
        say(shown(each, sys.stderr), err=True)
        if urls[each]:
            say(f"    = see: {urls[each]}", err=True)
        if (each.code, each.span) in reasons:
            say(printable(reasons[each.code, each.span]), err=True)
    if not write and changed:
        say(f"{plural(changed, 'file')} would change; --write changes {'it' if changed == 1 else 'them'}", err=True)
        return 2 if result.unread else 1
    if write:
        left_over = sum(1 for _ in after.all_findings)
        files = f"{changed} file{'' if changed == 1 else 's'}"
        say(f"{files} changed, {left_over} finding{'' if left_over == 1 else 's'} left", err=True)
    return after.status
