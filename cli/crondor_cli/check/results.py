"""What `crondor check` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor.diagnostics import Severity
from crondor_cli.kit.results import Place, Result


class Edit(TypedDict):
    """One of `edits`."""

    place: Annotated[Place, "what is replaced"]
    text: Annotated[str, "by what"]


class Fix(TypedDict):
    """The cure, where there is one."""

    title: Annotated[str, "what it does"]
    safe: Annotated[bool, "whether `--fix` makes it without `--unsafe`"]
    edits: Annotated[Iterable[Edit], "the changes; one that covers nothing inserts"]


class Finding(TypedDict):
    """One of `findings`."""

    code: Annotated[str, "the rule: `CRN101`"]
    name: Annotated[str, "the rule's name"]
    severity: Annotated[str, "how bad it is", Severity]
    message: Annotated[str, "what, and why"]
    help: Annotated[str | None, "what to write instead"]
    place: Annotated[Place | None, "where; the end of the file for something that it lacks"]
    fix: Annotated[Fix | None, "the cure, where there is one"]


class File(TypedDict):
    """One of `files`."""

    name: Annotated[str, "the path as named, or found below the directory named"]
    findings: Annotated[Iterable[Finding], "in the order of the lines"]
    silenced: Annotated[int, "how many a comment silenced"]
    baseline: Annotated[int, "how many `--baseline` knew already"]


class Counted(TypedDict):
    """How many findings of each severity."""

    error: Annotated[int, "what is refused, held, or never runs"]
    warning: Annotated[int, "what will surprise"]
    note: Annotated[int, "what is good to know"]


class Findings(TypedDict):
    """Without --statistics."""

    files: Annotated[Iterable[File], "the files in the order named"]
    summary: Annotated[Counted, "how many findings of each severity"]


class Statistic(TypedDict):
    """One of `statistics`."""

    code: Annotated[str, "the rule: `CRN101`"]
    name: Annotated[str, "the rule's name"]
    severity: Annotated[str, "how bad it is", Severity]
    count: Annotated[int, "how often it did"]
    files: Annotated[int, "in how many files"]
    fixable: Annotated[int, "how many of them `--fix` cures"]


class Statistics(TypedDict):
    """With --statistics."""

    files: Annotated[int, "how many files were looked at"]
    statistics: Annotated[Iterable[Statistic], "the rules that found something, by code"]


RESULTS = {
    "check": Result("Findings by file; with --statistics by rule", Findings | Statistics),
}
