"""Applying the rules to a submit description."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from crondor._types import expect
from crondor.diagnostics import CrondorError, Source
from crondor.lint.report import COMMENT_RULES, CheckReport, report
from crondor.lint.rule import Finding, Rule, distinct, rules_of
from crondor.lint.rules import access_point, conditions, cron, deferral, files, names, reading, text
from crondor.lint.subject import CheckedFile, CheckMemory, CheckSettings
from crondor.submit import SubmitFile, UnreadableLines, read_submit

JOB_RULES = rules_of(cron, deferral)
"""Those about each group of equal jobs."""

FILE_RULES = tuple(
    each for each in rules_of(access_point, conditions, files, names, reading, text) if each not in JOB_RULES
)
"""Those about a description."""

RULES: dict[str, Rule[Any]] = {each.code: each for each in (*FILE_RULES, *JOB_RULES, *COMMENT_RULES)}
"""All rules of submit descriptions, by code."""

Read = Callable[[Source], SubmitFile]


def check_submit(
    source: Source | str, settings: CheckSettings, read: Read = read_submit, memory: CheckMemory | None = None
) -> CheckReport:
    """Apply every rule to a submit description; ``read`` is how to read it (files it may include, for example).

    ``memory`` is what earlier checks of the same file left: what has not changed since is not looked at again.

    Nothing in it is run, and no file is opened unless ``read`` does. What it costs is bounded, whatever it says. Raises
    nothing: a description that cannot be read is a finding.
    """
    source = Source(source) if isinstance(source, str) else source
    expect("source", source, Source, "a Source or a text", "write Source(text, 'job.sub')")
    expect("settings", settings, CheckSettings, "CheckSettings", "write CheckSettings(now, 'Europe/Berlin')")
    return report_of(read_file(source, settings, read, memory))


def read_file(
    source: Source, settings: CheckSettings, read: Read = read_submit, memory: CheckMemory | None = None
) -> CheckedFile:
    """Read a submit description for the rules; one that cannot be read is what they speak of, too.

    Of one with lines that are no statements they see the rest, unless a macro is missing there, which they may define.
    """
    memory = memory or CheckMemory()
    memory.turn()
    try:
        return CheckedFile(source, settings, read(source), memory=memory)
    except CrondorError as error:
        rest = error if isinstance(error, UnreadableLines) else None
        file = CheckedFile(
            source,
            settings,
            None if rest is None else rest.readable,
            error.diagnostics,
            memory=memory,
            has_all_commands=rest is not None and rest.has_all_commands,
            unknown_items=frozenset() if rest is None else rest.unknown_items,
        )
        if file.has_all_commands:
            return file
        is_odd = file.macros is not None and bool(file.macros.unknown)
        return replace(file, submit=None) if is_odd else file


def report_of(file: CheckedFile) -> CheckReport:
    """Apply every rule to a submit description that was read."""
    found = report(file.source, distinct(_findings(file)), RULES, is_whole=file.is_checked)
    included = file.submit.sources[1:] if file.submit else ()
    return found._replace(included=included) if included else found


def refused(name: str, error: CrondorError, settings: CheckSettings) -> CheckReport:
    """Return the report of a file that could not be taken for text at all."""
    return report_of(CheckedFile(Source("", name), settings, None, error.diagnostics))


def _findings(file: CheckedFile) -> Iterator[Finding]:
    job_rules = [each for each in JOB_RULES if file.is_whole or not each.misses]
    for job in file.looked_at():
        for job_rule in job_rules:
            yield from job_rule.findings(job)
    for file_rule in FILE_RULES:  # behind the jobs, since one of them says how many were looked at
        yield from file_rule.findings(file)
