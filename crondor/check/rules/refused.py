"""CRN017: what condor_submit refuses of a description beside its schedule, by the job ads that it would make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from crondor.check.job_policy import POLICIES
from crondor.check.rule import RuleHit, rule
from crondor.check.rules.commands import no_universe
from crondor.check.rules.deferral import bad_expression
from crondor.check.subject import CheckedFile
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.source import Span
from crondor.spec import FIELDS
from crondor.submit import InvalidSubmit, job_ads

_MOST_JOBS = 50  # looked at one by one; nobody makes a mistake in the fiftieth alone
_LONGEST = 50_000  # characters of a description: what is longer is no work of a person, and may be made to cost time

# A description with nothing but these is looked at without job ads, which take a while to load: commands that take
# any text, policies (CRN312 parses them), and the values with which no other command is refused.
_ANY = frozenset(
    (
        *(name for field in FIELDS for name in (field.command, field.attribute.lower())),
        *(name for name in POLICIES if not name.startswith("my.")),
        *("executable", "output", "error", "log", "input", "initialdir", "notify_user", "batch_name"),
    )
)
_NUMBER = r"\d+"
_TRUTH = r"true|false"
_PLAIN: Mapping[str, str] = {
    "arguments": r"""[^"']*""",
    "universe": "vanilla|local",
    "should_transfer_files": "yes|no|if_needed",
    **dict.fromkeys(("request_memory", "request_disk"), r"\d+([KMGT]B?)?"),
    **dict.fromkeys(("request_cpus", "deferral_time", "deferral_window", "deferral_prep_time"), _NUMBER),
    **dict.fromkeys(("cron_window", "cron_prep_time", "max_retries"), _NUMBER),
    "transfer_executable": _TRUTH,
}

_OF_TIMES = frozenset(("submit-number", "submit-scheduler"))  # CRN301 and CRN503


@rule("CRN017", "refused", Severity.ERROR, "a job that condor_submit refuses")
def refused(file: CheckedFile) -> Iterator[RuleHit]:
    """The words are those of condor_submit 25.14, which makes no job of the file then."""
    if file.submit is None or not file.is_whole or not file.is_checked or len(file.source.text) > _LONGEST:
        return
    if file.effort.left <= 0 or (file.settings.access_point is None and _is_plain(file)):
        return
    all_faults = _faults(file) if file.settings.access_point is None else file.admitted.faults
    faults = [fault for fault in all_faults if fault.kind not in _OF_TIMES]
    said = _said(file) if faults else frozenset()
    for fault in faults:
        is_refusal = fault.kind.startswith("submit-") or fault.code == "CRN005"
        if is_refusal and (fault.span is None or fault.span not in said):
            yield RuleHit(fault.message, fault.span or _queue(file), fault.help)


def _faults(file: CheckedFile) -> tuple[Diagnostic, ...]:
    if file.submit is None:
        return ()
    try:
        for _ in job_ads(file.submit, limit=_MOST_JOBS + len(file.submit.queues)):
            pass
    except InvalidSubmit as error:
        return error.diagnostics
    return ()


def _is_plain(file: CheckedFile) -> bool:
    """Say whether nothing in a description can be refused, but by the rules about its schedule."""
    if file.submit is None or "executable" not in file.submit.keys:
        return False
    rest = [key for key in file.submit.keys if key not in _ANY]
    if not _PLAIN.keys() >= set(rest):
        return False
    try:
        groups = list(file.submit.groups(rest, _MOST_JOBS + len(file.submit.queues)))
    except CrondorError:
        return False
    values = {(name, text) for group in groups for name, text in group.values.items() if text}
    return all(re.fullmatch(_PLAIN[name], text, re.IGNORECASE) for name, text in values)


def _said(file: CheckedFile) -> frozenset[Span | None]:
    """Return the places of which other rules speak."""
    rules = (bad_expression, no_universe)
    return frozenset(found.span for job in file.jobs[:_MOST_JOBS] for rule in rules for found in rule.function(job))


def _queue(file: CheckedFile) -> Span | None:
    return next((job.span() for job in file.jobs), None)
