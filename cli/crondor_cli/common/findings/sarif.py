"""The findings of `crondor check` as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from importlib import metadata
from urllib.parse import quote

from crondor.diagnostics import Severity, Span, printable
from crondor.lint import Finding, address, page
from crondor.lint.baseline import KnownFinding
from crondor_cli.common.findings.result import ChosenReports
from crondor_cli.kit.tables import echo_json

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def print_sarif(result: ChosenReports) -> None:
    """Print one log with one run; only rules that found something are described in it."""
    findings = list(result.all_findings)
    codes = sorted({finding.diagnostic.code for finding in findings})
    driver: dict[str, object] = {"name": "crondor", "rules": [_rule(code, result) for code in codes]}
    with suppress(metadata.PackageNotFoundError):  # run from a checkout
        driver["version"] = metadata.version("crondor")
    seen: Counter[str] = Counter()
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(result)],
        "columnKind": "unicodeCodePoints",
        "results": [{**_result(finding, codes), "partialFingerprints": _same(finding, seen)} for finding in findings],
    }
    echo_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(code: str, result: ChosenReports) -> dict[str, object]:
    rule, text = result.rules[code], page(code)
    return {
        "id": code,
        "name": rule.name,
        "shortDescription": {"text": rule.title},
        "helpUri": address(code),
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _invocation(result: ChosenReports) -> dict[str, object]:
    """Say whether all files could be read, and of the others why not."""
    said = [{"level": "error", "message": {"text": printable(reason)}} for reason in result.unread]
    return {"executionSuccessful": not said, **({"toolExecutionNotifications": said} if said else {})}


def _same(finding: Finding, seen: Counter[str]) -> dict[str, str]:
    """Return what tells a finding again when its line has moved; of equal ones the how many-th it is."""
    mark = KnownFinding.of(finding, lambda name: name.removeprefix("./")).fingerprint
    seen[mark] += 1
    return {"crondor/v1": f"{mark}:{seen[mark]}"}


def _result(finding: Finding, codes: list[str]) -> dict[str, object]:
    diagnostic = finding.diagnostic
    text = diagnostic.message + (f"\n{diagnostic.help}" if diagnostic.help else "")
    result: dict[str, object] = {
        "ruleId": diagnostic.code,
        "ruleIndex": codes.index(diagnostic.code),
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": text},
    }
    if diagnostic.span is not None:
        location = {"artifactLocation": _artifact(diagnostic.span), "region": _region(diagnostic.span)}
        result["locations"] = [{"physicalLocation": location}]
    if finding.fix is not None:
        replacements = [
            {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}} for edit in finding.fix.edits
        ]
        # All edits of a fix are of the checked file, where the finding itself may be of one that it includes.
        change = {"artifactLocation": _artifact(finding.fix.edits[0].span), "replacements": replacements}
        result["fixes"] = [{"description": {"text": finding.fix.title}, "artifactChanges": [change]}]
    return result


def _artifact(span: Span) -> dict[str, str]:
    """Return the address of a file: an absolute one for an absolute name, else one below the root of the sources."""
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
