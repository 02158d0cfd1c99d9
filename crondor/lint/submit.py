"""Check submit descriptions and fix them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from crondor._types import expect
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source
from crondor.lint.fixing import Checked, Choose, Cure, Cured, Kind, cured, without_fixes
from crondor.lint.report import COMMENT_RULES, CheckReport, report
from crondor.lint.rule import Finding, Rule, distinct, rules_of
from crondor.lint.rules import access_point, conditions, cron, dags, deferral, files, names, reading, text
from crondor.lint.subject import CheckedFile, CheckMemory, CheckSettings
from crondor.lint.values import POLICIES
from crondor.lint.written import faults
from crondor.schedule import COMMANDS
from crondor.spec import FIELDS
from crondor.submit import SubmitFile, UnreadableLines, read_submit
from crondor.submit.edits import JobsValue, Meaning, TextChange, differing, meaning, touched

JOB_RULES = rules_of(cron, deferral)
"""Rules for each group of equal jobs."""

FILE_RULES = tuple(
    each for each in rules_of(access_point, conditions, files, names, reading, text) if each not in JOB_RULES
)
"""Rules for a description."""

RULES: dict[str, Rule[Any]] = {each.code: each for each in (*FILE_RULES, *JOB_RULES, *dags.RULES, *COMMENT_RULES)}
"""All rules of submit descriptions and DAG files, by code."""

_DEAR = 100  # checks that one check counts for if it takes all its effort
_READING = "CRN0"  # codes of reading; with such errors, or the next, the text cannot be read or submitted
_REFUSED = "CRN017"
_VALUES = ("CRN1", "CRN3")  # codes of values: of cron fields, expressions and numbers
_FEW = 3  # names listed in a reason
_PLAIN = frozenset(name for field in FIELDS for name in (field.command, field.attribute.lower()))
_EXPRESSIONS = frozenset((*COMMANDS, *POLICIES, "requirements", "rank")) - _PLAIN - {"universe"}

Read = Callable[[Source], SubmitFile]


def check_submit(
    source: Source | str, settings: CheckSettings, read: Read = read_submit, memory: CheckMemory | None = None
) -> CheckReport:
    """Apply every rule to a submit description; ``read`` is how to read it (files it may include, for example).

    ``memory`` has the results of earlier checks of the same file: unchanged values are not checked again.

    Nothing in it is run, and no file is opened unless ``read`` does. The cost is bounded for any text. Raises nothing:
    a description that cannot be read is a finding.
    """
    source = Source(source) if isinstance(source, str) else source
    expect("source", source, Source, "a Source or a text", "write Source(text, 'job.sub')")
    expect("settings", settings, CheckSettings, "CheckSettings", "write CheckSettings(now, 'Europe/Berlin')")
    return report_of(read_file(source, settings, read, memory))


def read_file(
    source: Source, settings: CheckSettings, read: Read = read_submit, memory: CheckMemory | None = None
) -> CheckedFile:
    """Read a submit description for the rules, which also report one that cannot be read.

    If some lines are not statements, the rules see the rest, unless a macro is missing that these lines may define.
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


def rules_for(settings: CheckSettings) -> Mapping[str, Rule[Any]]:
    """Return crondor's own rules and those of the site, by code."""
    return RULES if settings.site is None else {**RULES, **{each.code: each for each in settings.site.rules}}


def report_of(file: CheckedFile) -> CheckReport:
    """Apply every rule to a submit description that was read."""
    found = report(file.source, distinct(_findings(file)), rules_for(file.settings), is_whole=file.is_checked)
    included = file.submit.sources[1:] if file.submit else ()
    return found._replace(included=included) if included else found


def refused(name: str, error: CrondorError, settings: CheckSettings) -> CheckReport:
    """Return the report of a file that could not be read as text."""
    return report_of(CheckedFile(Source("", name), settings, None, error.diagnostics))


def _findings(file: CheckedFile) -> Iterator[Finding]:
    job_rules = [each for each in JOB_RULES if file.is_whole or not each.misses]
    for job in file.looked_at():
        for job_rule in job_rules:
            yield from job_rule.findings(job)
    for file_rule in FILE_RULES:  # after the jobs, since one of them reports how many were checked
        yield from file_rule.findings(file)
    if file.settings.site is not None:
        for site_rule in file.settings.site.rules:
            if file.is_whole or not site_rule.misses:
                yield from site_rule.findings(file)


def offered(report: CheckReport, choose: Choose, cure: Callable[[CheckReport, bool], Cured]) -> CheckReport:
    """Return the report with only the fixes that ``cure`` applies: the safe ones, with True all that work."""
    for unsafe in (False, True):
        if any(each.fix is not None and each.fix.safe is not unsafe for each in choose(report.findings)):
            left = cure(report, unsafe).left
            report = without_fixes(report, (each for each in left if each.fix.safe is not unsafe))
    return report


def fixed(
    report: CheckReport,
    settings: CheckSettings,
    choose: Choose = tuple,
    *,
    unsafe: bool = False,
    read: Read = read_submit,
) -> Cured:
    """Apply the safe fixes of the findings that ``choose`` keeps (with ``unsafe`` all of them) and check again.

    A fix is left out if its finding remains, if the text can no longer be read, if it would add an error or more
    findings of the same severity, or if it changes what another line means. If a fix reveals a finding that has a fix
    too, both are applied together. Applying it again changes nothing.
    """
    found = choose(report.findings)
    if not any(each.fix is not None and (each.fix.safe or unsafe) for each in found):
        return Cured(report)

    def check(sources: Sequence[Source]) -> Checked[_Meant]:
        file = read_file(sources[0], settings, read)
        return Checked((report_of(file),), _Meant(file), 1 + int(_DEAR * file.effort.spent))

    begun = Checked((report,), _Meant(read_file(report.source, settings, read)))
    return cured(Kind("file", check, _objection), begun, choose, unsafe=unsafe)[0]


@dataclass(frozen=True)
class _Meant:
    """A description and the values of its names."""

    file: CheckedFile

    @cached_property
    def meaning(self) -> Meaning | None:
        """The values of its names, None if it cannot be read."""
        return None if self.file.submit is None else meaning(self.file.submit)


def _objection(
    before: Checked[_Meant], after: Checked[_Meant], changes: Sequence[TextChange], cures: Sequence[Cure]
) -> str | None:
    """Return why fixes are rejected, whatever else is found after them."""
    (change,) = changes
    return _unreadable(before, after) or _wrong_value(after, change) or _elsewhere(before, after, change, cures)


def _unreadable(before: Checked[_Meant], after: Checked[_Meant]) -> str | None:
    known = {code for code in before.errors if code.startswith(_READING) and code != _REFUSED}
    faults = [each for each in _errors(after) if each.code.startswith(_READING)]
    fault = next((each for each in faults if each.code not in before.errors), None)
    if fault is not None and not known:  # otherwise nothing else in the text was checked
        return f"the file could no longer be read or submitted: {fault.message} [{fault.code}]"
    return None


def _wrong_value(after: Checked[_Meant], change: TextChange) -> str | None:
    for fault in _errors(after):
        span = fault.span
        if span is None or span.source not in after.sources or not fault.code.startswith(_VALUES):
            continue
        if any(span.start < end and start < span.end for _, (start, end) in change.written):
            return f"the new text would be wrong: {fault.message} [{fault.code}]"
    return None


def _elsewhere(
    before: Checked[_Meant], after: Checked[_Meant], change: TextChange, cures: Sequence[Cure]
) -> str | None:
    """Return what fixes change besides their findings, or change although it cannot be read."""
    had, has = before.read.meaning, after.read.meaning
    own = touched(before.sources[0], change)
    is_list = "" in own and not any(cure.fix.safe for cure in cures)  # which --unsafe asked for
    if had is None or has is None or is_list:
        return None
    wrong = _no_expressions(has, own)
    if wrong:
        return f"{wrong[0]} could not be read as an expression"
    unread = _no_expressions(had, own)
    if unread and not all(cure.found.severity is Severity.ERROR for cure in cures):
        return f"{unread[0]} cannot be read as an expression, so its new meaning is unknown"
    others = differing(had, has) - own
    if not others:
        return None
    if "" in others:
        return "it would change the number of jobs"
    return f"it would also change {', '.join(sorted(others)[:_FEW])}"


def _errors(state: Checked[_Meant]) -> list[Diagnostic]:
    (report,) = state.reports
    found = [each.diagnostic for each in (*report.findings, *report.silenced)]
    return [each for each in found if each.severity is Severity.ERROR]


def _no_expressions(said: Meaning, keys: Iterable[str]) -> list[str]:
    """Return the names whose value should be a ClassAd expression and is not."""
    wanted = sorted(key for key in keys if key in _EXPRESSIONS or key.startswith("my."))
    values = {(key, value.text) for key in wanted for value in said.get(key, ()) if isinstance(value, JobsValue)}
    return sorted({key for key, text in values if text.strip() and faults(text, key)})
