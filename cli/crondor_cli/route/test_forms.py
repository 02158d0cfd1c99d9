"""How expectations were met: for people, as JSON, as JUnit XML, and for GitHub Actions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from crondor.diagnostics import printable
from crondor.router.compare import Unmet
from crondor_cli.common.columns import plural
from crondor_cli.common.findings.github import github_line
from crondor_cli.route.expectation_files import PlacedExpectation


class Tried(NamedTuple):
    """An expectation of a file, and what is not as it says."""

    file: str
    test: PlacedExpectation
    unmet: tuple[Unmet, ...]

    @property
    def said(self) -> list[str]:
        """What is not as expected, a sentence each."""
        return [f"{each.what}: expected {each.expected}, found {each.found}" for each in self.unmet]


def text(tried: list[Tried], *, quiet: bool = False) -> Iterator[str]:
    """Yield a block for each test that fails, and how many there are."""
    failed = [each for each in tried if each.unmet]
    for each in failed:
        yield printable(f"{each.file}:{each.test.span.line}: FAILED {each.test.expectation.name}")
        yield from (printable(f"  {said}") for said in each.said)
    if not quiet:
        verdict = f"{plural(len(failed), 'test')} failed, " if failed else ""
        yield f"{verdict}{plural(len(tried) - len(failed), 'test')} passed"


def data(tried: list[Tried], *, quiet: bool = False) -> Iterator[str]:  # noqa: ARG001 - as the others
    """Yield one object; `crondor config schema route test` has the keys."""
    found = {
        "passed": sum(not each.unmet for each in tried),
        "failed": sum(bool(each.unmet) for each in tried),
        "tests": [
            {
                "file": each.file,
                "line": each.test.span.line,
                "name": each.test.expectation.name,
                "route": each.test.expectation.route,
                "passed": not each.unmet,
                "unmet": [one._asdict() for one in each.unmet],
            }
            for each in tried
        ],
    }
    yield json.dumps(found, indent=2)


def junit(tried: list[Tried], *, quiet: bool = False) -> Iterator[str]:  # noqa: ARG001
    """Yield JUnit XML: a suite for each file."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    failures = sum(bool(each.unmet) for each in tried)
    yield f'<testsuites name="crondor route test" tests="{len(tried)}" failures="{failures}" errors="0">'
    for file in dict.fromkeys(each.file for each in tried):
        of_file = [each for each in tried if each.file == file]
        failures = sum(bool(each.unmet) for each in of_file)
        yield (f'  <testsuite name="{_xml(file)}" tests="{len(of_file)}" failures="{failures}" errors="0" skipped="0">')
        for each in of_file:
            case = (
                f'    <testcase classname="{_xml(file)}" name="{_xml(each.test.expectation.name)}"'
                f' file="{_xml(file)}" line="{each.test.span.line}"'
            )
            if each.unmet:
                yield f"{case}>"
                yield f'      <failure message="{_xml(each.said[0])}">{_xml(chr(10).join(each.said))}</failure>'
                yield "    </testcase>"
            else:
                yield f"{case}/>"
        yield "  </testsuite>"
    yield "</testsuites>"


def github(tried: list[Tried], *, quiet: bool = False) -> Iterator[str]:  # noqa: ARG001
    """Yield a workflow command for each test that fails, which GitHub shows beside the line."""
    for each in tried:
        if each.unmet:
            properties = {
                "title": f"route test: {each.test.expectation.name}",
                "file": each.file,
                "line": str(each.test.span.line),
            }
            yield github_line("error", properties, "\n".join(each.said))


def _xml(value: str) -> str:
    """Return a text that XML may have, in an element or an attribute."""
    shown = "".join(sign if sign == "\n" else printable(sign) for sign in value)
    return escape(shown).replace("\n", "&#10;")
