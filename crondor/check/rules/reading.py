"""CRN0..: what condor_submit would refuse, or crondor cannot read."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.check.rule import Found, rule
from crondor.check.subject import CheckedFile
from crondor.diagnostics import CrondorError, Severity


@rule("CRN001", "unreadable", Severity.ERROR, "a line that condor_submit refuses")
def unreadable(file: CheckedFile) -> Iterator[Found]:
    """Pass on the errors of reading that no other rule is about."""
    for fault in file.errors:
        yield Found(fault.message, fault.span, fault.help)


@rule("CRN002", "not-text", Severity.ERROR, "a file that is no text")
def unreadable_file(error: CrondorError) -> Iterator[Found]:
    """UTF-16, a NUL byte, bytes that are not UTF-8, or too many of them: condor_submit cannot read that either."""
    for fault in error.diagnostics:
        yield Found(fault.message, fault.span, fault.help)
