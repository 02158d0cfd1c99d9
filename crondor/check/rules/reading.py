"""CRN0..: what condor_submit would refuse, or crondor cannot read."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.check.rule import Found, rule
from crondor.check.subject import CheckedFile
from crondor.diagnostics import Severity


@rule("CRN001", "unreadable", Severity.ERROR, "a line that condor_submit refuses")
def unreadable(file: CheckedFile) -> Iterator[Found]:
    """Pass on the errors of reading that no other rule is about."""
    for fault in file.errors:
        yield Found(fault.message, fault.span, fault.help)
