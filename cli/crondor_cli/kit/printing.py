"""Print findings: text, JSON, SARIF, GitHub Actions commands, and counts by rule."""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

import click

from crondor.diagnostics import Severity, Source, Span, printable, render
from crondor.lint import CheckReport, Cured, Finding, Fix
from crondor.lint.baseline import KnownFinding
from crondor.lint.report import address_of, finding_data, page_of
from crondor.submit.edits import TextEdit, changed
from crondor_cli.kit.command import installed_version
from crondor_cli.kit.findings import BaselineOptions, ChosenReports, Result, report_fixed, with_baseline, write_baseline
from crondor_cli.kit.options import format_option, gathered, options_of
from crondor_cli.kit.screen import (
    SCREEN,
    coloured,
    echo_lines,
    emit,
    say,
    screen_columns,
    usage,
    whole,
    without_commands,
)
from crondor_cli.kit.tables import echo_json, plural

if TYPE_CHECKING:
    from crondor_cli.kit import results

_MOST = 12  # lines shown of one fix
_HEAD = 2  # lines at the start of a unified diff


def _change_lines(fix: Fix) -> list[str]:
    """Return the lines of a fix as in a diff, ``-`` for removed and ``+`` for added ones; a long one is cut."""
    if not fix.edits:
        return []
    source = fix.edits[0].span.source
    lines = [line for edits in _neighbours(source, fix.edits) for line in _diff(source, edits)]
    more = len(lines) - _MOST
    return lines if more <= 0 else [*lines[:_MOST], f"({more} more lines: --fix shows them)"]


def _neighbours(source: Source, edits: tuple[TextEdit, ...]) -> Iterator[list[TextEdit]]:
    """Yield the edits that share lines, in the order of the text."""
    group: list[TextEdit] = []
    end = -1
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: (edit.span.start, edit.span.end)):
        if group and edit.span.start > end:
            yield group
            group = []
        group.append(edit)
        end = max(end if len(group) > 1 else 0, _line_end(source, edit.span.end))
    yield group


def _diff(source: Source, edits: list[TextEdit]) -> Iterator[str]:
    start = source.text.rfind("\n", 0, edits[0].span.start) + 1
    end = _line_end(source, max(edit.span.end for edit in edits))
    piece = Source(source.text[start:end], source.name)
    moved = [TextEdit(piece.span(e.span.start - start, e.span.end - start), e.text) for e in edits]
    before, after = (list(io.StringIO(text, newline="\n")) for text in (piece.text, changed(piece, moved).text))
    for line in list(unified_diff(before, after, n=0))[_HEAD:]:
        if not line.startswith("@@"):
            yield f"{line[0]} {printable(line[1:].rstrip(chr(10)).rstrip(chr(13)).expandtabs())}"


def _line_end(source: Source, at: int) -> int:
    found = source.text.find("\n", at)
    return len(source.text) if found < 0 else found + 1


@dataclass(frozen=True)
class RuleCount:
    """The findings of one rule: their number, in how many files, and how many `--fix` fixes."""

    code: str
    count: int
    files: int
    fixable: int


def _counted(findings: Iterable[Finding]) -> list[RuleCount]:
    """Count findings by rule, the most frequent first."""
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.diagnostic.code, []).append(finding)
    rows = [
        RuleCount(
            code,
            len(found),
            len({each.diagnostic.span and each.diagnostic.span.source.name for each in found}),
            sum(each.fix is not None and each.fix.safe for each in found),
        )
        for code, found in by_code.items()
    ]
    return sorted(rows, key=lambda row: (-row.count, row.code))


def _print_json(result: ChosenReports) -> None:
    """Print one object with the files in order."""
    counted = Counter(finding.diagnostic.severity for finding in result.all_findings)
    data: results.Findings = {
        "files": [
            {
                "name": report.source.name,
                "findings": [finding_data(finding) for finding in result.findings(report)],
                "silenced": len(report.silenced),
                "baseline": result.quiet(report),
            }
            for report in result.reports
        ],
        "summary": {
            "error": counted[Severity.ERROR],
            "warning": counted[Severity.WARNING],
            "note": counted[Severity.NOTE],
        },
    }
    echo_json(data)


_GITHUB_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def _print_github(result: ChosenReports) -> None:
    """Print a line for each finding."""
    for finding in result.all_findings:
        emit(_line(finding, result), nl=True)


def _print_job_summary(result: ChosenReports, rows: Sequence[RuleCount]) -> None:
    """Print the counts as Markdown, for the page of a job ($GITHUB_STEP_SUMMARY)."""
    files = len(result.reports)
    if not rows:
        say(f"crondor checked {plural(files, 'file')} and found nothing.")
        return
    total = sum(row.count for row in rows)
    say(f"crondor checked {plural(files, 'file')}: {plural(total, 'finding')}.\n")
    say("| findings | in files | rule | level | what | fixable with --fix |\n|---:|---:|---|---|---|---:|", fits=False)
    for row in rows:
        rule = result.rules[row.code]
        title = rule.title.replace("*", "\\*").replace("|", "\\|")
        cells = (row.count, row.files, f"{row.code} {rule.name}", rule.severity.value, title, row.fixable)
        say(f"| {' | '.join(map(str, cells))} |", fits=False)


def _line(finding: Finding, result: ChosenReports) -> str:
    diagnostic = finding.diagnostic
    properties = {"title": f"{diagnostic.code} {result.rules[diagnostic.code].name}"}
    span = diagnostic.span
    if span is not None:
        end_line, end_column = span.source.position(span.end)
        properties |= {"file": span.source.name, "line": str(span.line), "endLine": str(end_line)}
        if end_line == span.line:  # GitHub takes columns within one line only
            properties |= {"col": str(span.column), "endColumn": str(end_column)}
    text = diagnostic.message + (f"\nhelp: {diagnostic.help}" if diagnostic.help else "")
    text += f"\nsee: {finding.url}" if finding.url else ""
    return github_line(_GITHUB_LEVELS[diagnostic.severity], properties, text)


def github_line(level: str, properties: Mapping[str, str], text: str) -> str:
    """Return a workflow command with a text and its properties: title, file, line."""
    escaped = {name: _data(value).replace(":", "%3A").replace(",", "%2C") for name, value in properties.items()}
    said = ",".join(f"{name}={value}" for name, value in escaped.items())
    return f"::{level} {said}::{_data(text)}"


def _data(text: str) -> str:
    """Escape a message for the runner, so that it contains no control characters and no commands."""
    text = without_commands("".join(c if c in "\r\n" else printable(c) for c in text))
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_SARIF_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def _print_sarif(result: ChosenReports) -> None:
    """Print one log with one run; only rules with findings are described."""
    findings = list(result.all_findings)
    codes = sorted({finding.diagnostic.code for finding in findings})
    driver: dict[str, object] = {"name": "crondor", "rules": [_rule(code, result) for code in codes]}
    version = installed_version()
    if version is not None:
        driver["version"] = version
    said = [{"level": "error", "message": {"text": printable(reason)}} for reason in result.unread]
    seen: Counter[str] = Counter()
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not said, **({"toolExecutionNotifications": said} if said else {})}],
        "columnKind": "unicodeCodePoints",
        "results": [{**_result(finding, codes), "partialFingerprints": _same(finding, seen)} for finding in findings],
    }
    echo_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(code: str, result: ChosenReports) -> dict[str, object]:
    rule = result.rules[code]
    text = page_of(rule)
    return {
        "id": code,
        "name": rule.name,
        "shortDescription": {"text": rule.title},
        "helpUri": address_of(rule),
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.severity]},
    }


def _same(finding: Finding, seen: Counter[str]) -> dict[str, str]:
    """Return a fingerprint that survives moved lines; equal findings are numbered."""
    mark = KnownFinding.of(finding, lambda name: name.removeprefix("./")).fingerprint
    seen[mark] += 1
    return {"crondor/v1": f"{mark}:{seen[mark]}"}


def _result(finding: Finding, codes: list[str]) -> dict[str, object]:
    diagnostic = finding.diagnostic
    text = diagnostic.message + (f"\n{diagnostic.help}" if diagnostic.help else "")
    result: dict[str, object] = {
        "ruleId": diagnostic.code,
        "ruleIndex": codes.index(diagnostic.code),
        "level": _SARIF_LEVELS[diagnostic.severity],
        "message": {"text": text},
    }
    if diagnostic.span is not None:
        location = {"artifactLocation": _artifact(diagnostic.span), "region": _region(diagnostic.span)}
        result["locations"] = [{"physicalLocation": location}]
    if finding.fix is not None:
        replacements = [
            {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}} for edit in finding.fix.edits
        ]
        # All edits of a fix are in the checked file, although the finding may be in an included one.
        change = {"artifactLocation": _artifact(finding.fix.edits[0].span), "replacements": replacements}
        result["fixes"] = [{"description": {"text": finding.fix.title}, "artifactChanges": [change]}]
    return result


def _artifact(span: Span) -> dict[str, str]:
    """Return the URI of a file: absolute for an absolute name, else relative to the source root."""
    name = span.source.name.replace("\\", "/")
    if name.startswith("/"):
        return {"uri": f"file://{quote(name, errors='replace')}"}
    if name[1:3] == ":/":
        return {"uri": f"file:///{quote(name, safe='/:', errors='replace')}"}
    while name.startswith("./"):
        name = name[2:]
    return {"uri": quote(name, errors="replace"), "uriBaseId": "%SRCROOT%"}


def _region(span: Span) -> dict[str, int]:
    end_line, end_column = span.source.position(span.end)
    return {"startLine": span.line, "startColumn": span.column, "endLine": end_line, "endColumn": end_column}


def _print_counts(result: ChosenReports, rows: Iterable[RuleCount]) -> None:
    """Print one object with the rules with findings, by code, and their counts."""
    data: list[results.Statistic] = [
        {
            "code": row.code,
            "name": result.rules[row.code].name,
            "severity": result.rules[row.code].severity.value,
            "count": row.count,
            "files": row.files,
            "fixable": row.fixable,
        }
        for row in rows
    ]
    statistics: results.Statistics = {"files": len(result.reports), "statistics": data}
    echo_json(statistics)


_FIXABLE = "[*]"  # marks findings that --fix fixes


def _print_text(result: ChosenReports, *, is_concise: bool) -> None:
    """Print each finding as a block with its line underlined, or as one line."""
    colour, columns = SCREEN.wants_colour(sys.stdout), screen_columns(sys.stdout)
    for finding in result.all_findings:
        fix = finding.fix
        head, *more = render(finding.diagnostic, columns).split("\n")
        if fix is not None:
            head += f" {_FIXABLE}" if fix.safe else ""
            more += [f"    = fix: {fix.title} ({'--fix' if fix.safe else '--fix --unsafe'})"]
        if finding.url:
            more += [f"    = see: {finding.url}"]
        text = head if is_concise else "\n".join([head, *more])
        say(coloured(text) if colour else text)
        if fix is not None and not is_concise:
            echo_lines(whole(f"        {line}") for line in _change_lines(fix))


def _print_rows(result: ChosenReports, rows: Sequence[RuleCount]) -> None:
    """Print the number of findings of each rule, one per line."""
    width = max((len(str(row.count)) for row in rows), default=1)
    for row in rows:
        rule = result.rules[row.code]
        mark = f" {_FIXABLE}" if row.fixable else ""
        say(f"{row.count:>{width}}  {row.code}  {rule.name}: {rule.title}{mark}")


def _summary(result: ChosenReports) -> str:
    """Return the last line of a report in text form."""
    findings = list(result.all_findings)
    count = Counter(finding.diagnostic.severity for finding in findings)
    cures = Counter(finding.fix.safe for finding in findings if finding.fix is not None)
    known = sum(map(result.quiet, result.reports))
    checked = plural(len(result.reports), "file")
    if not count:
        return f"{checked} checked: " + (f"no new findings; {known} in the baseline" if known else "nothing found")
    found = ", ".join(plural(count[severity], severity.value) for severity in Severity if count[severity])
    cured = f"; {_FIXABLE} {cures[True]} fixable with --fix" if cures[True] else ""
    more = (
        f"{',' if cured else ';'} {cures.total()} {'' if cured else 'fixable '}with --fix --unsafe"
        if cures[False]
        else ""
    )
    quiet = f"; {known} more in the baseline" if known else ""
    return f"{checked} checked: {found}{cured}{more}{quiet}"


_FORMS: Final[Mapping[str, Callable[[ChosenReports], None]]] = {
    "text": partial(_print_text, is_concise=False),
    "concise": partial(_print_text, is_concise=True),
    "json": _print_json,
    "sarif": _print_sarif,
    "github": _print_github,
}
_COUNTS: Final[Mapping[str, Callable[[ChosenReports, Sequence[RuleCount]], None]]] = {
    "text": _print_rows,
    "concise": _print_rows,
    "json": _print_counts,
    "github": _print_job_summary,
}


class Asked(NamedTuple):
    """What to do with the findings: print, count or fix them, or write the baseline."""

    baseline: BaselineOptions
    fix: bool
    write: bool
    statistics: bool
    quiet: bool
    format_: str

    def refuse(self, *, unsafe: bool = False, is_fixable: bool = True) -> None:
        """Raise UsageError for options that exclude or require each other."""
        reason = None
        if (self.write or unsafe) and not self.fix:
            reason = f"{'--write' if self.write else '--unsafe'} needs --fix"
        elif self.fix and self.baseline.update:
            reason = "--update-baseline and --fix exclude each other: run one after the other"
        elif self.fix and self.format_ != "text":
            reason = "--fix shows a diff, and no other --format"
        elif self.fix and not is_fixable:
            reason = "--fix changes the files that --config names"
        if reason is not None:
            raise usage(reason)


def conclude(result: Result, asked: Asked, cures: Callable[[Result], Iterable[tuple[CheckReport, Cured]]]) -> int:
    """Print, count or fix the findings; return the exit status.

    ``cures`` yields each report with its fixed text. Raises UsageError for an unusable baseline, and for --statistics
    in a format without counts.
    """
    if asked.baseline.path is not None:
        result = with_baseline(result, asked.baseline)
    status = result.status
    if asked.baseline.update:
        status = write_baseline(result, asked.baseline)
    elif asked.fix:
        status = report_fixed(result, cures(result), write=asked.write)
    else:
        if not asked.statistics:
            _FORMS[asked.format_](result)
        elif asked.format_ in _COUNTS:
            _COUNTS[asked.format_](result, _counted(result.all_findings))
        else:
            message = f"--statistics does not support --format {asked.format_}: use text, json or github"
            raise usage(message)
        if asked.format_ in {"text", "concise"} and not asked.quiet:
            say(_summary(result))
    for reason in result.unread:
        say(f"Error: {reason}", err=True)
    return status


report_options = options_of(
    click.option("-q", "--quiet", is_flag=True, help="Print the findings and no summary."),
    format_option("text", "concise", "json", "sarif", "github", text="How to print; concise: a line for each finding."),
    gathered("asked", Asked),
)
"""--quiet and --format, with --fix, --write, --statistics and --baseline as one argument ``asked``."""
