"""Applying the rules to a submit description."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from crondor._types import expect
from crondor.check.hearing import distinct, place
from crondor.check.memory import CheckMemory
from crondor.check.rule import Finding
from crondor.check.rules import COMMENT_RULES, FILE_RULES, JOB_RULES, RULES
from crondor.check.subject import CheckedFile, CheckSettings
from crondor.check.suppress import heard
from crondor.diagnostics import CrondorError
from crondor.source import Source
from crondor.submit import SubmitFile, UnreadableLines, read_submit

Read = Callable[[Source], SubmitFile]


class CheckReport(NamedTuple):
    """What was found in one description, in the order of its lines, and what its comments silenced.

    ``included`` are the other files that were read for it.
    """

    source: Source
    findings: tuple[Finding, ...]
    silenced: tuple[Finding, ...] = ()
    included: tuple[Source, ...] = ()

    def __repr__(self) -> str:
        """Return the name of the description, and the codes of what was found."""
        codes = ", ".join(dict.fromkeys(each.diagnostic.code for each in self.findings)) or "nothing"
        return f"<CheckReport of {self.source.name!r}: {codes}>"


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


def report(source: Source, findings: Iterable[Finding], codes: Collection[str], *, is_whole: bool) -> CheckReport:
    """Return what is left of the findings about one source, and what is wrong with its comments.

    ``codes`` are all that a comment may name; ``is_whole``: the text could be read, so that what was not found is not
    there.
    """
    found, silenced = heard(findings, source, COMMENT_RULES, codes, is_whole=is_whole)
    return CheckReport(source, tuple(sorted(found, key=place)), tuple(silenced))


def _findings(file: CheckedFile) -> Iterator[Finding]:
    job_rules = [each for each in JOB_RULES if file.is_whole or not each.misses]
    for job in file.looked_at():
        for job_rule in job_rules:
            yield from job_rule.findings(job)
    for file_rule in FILE_RULES:  # behind the jobs, since one of them says how many were looked at
        yield from file_rule.findings(file)


def select(findings: Iterable[Finding], chosen: tuple[str, ...], ignored: tuple[str, ...]) -> Iterator[Finding]:
    """Keep the findings whose code begins with one of ``chosen`` (all, where that is empty) and none of ``ignored``.

    The longer prefix wins where both name a code, as in other linters.
    """
    for finding in findings:
        code = finding.diagnostic.code
        taken = max((len(prefix) for prefix in chosen if code.startswith(prefix)), default=-1 if chosen else 0)
        left = max((len(prefix) for prefix in ignored if code.startswith(prefix)), default=-1)
        if taken > left:
            yield finding
