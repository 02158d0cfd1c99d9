"""What is done with a job: hold, periodic and exit policy, retries, rank, limits (HTCondor 25.14)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from crondor.classad import CircularReference, ClassAdSyntaxError, UnparseForm, lower, unparse
from crondor.classad.tree import Ternary
from crondor.hold_codes import SUBMITTED_ON_HOLD
from crondor.job.attributes import int32_of
from crondor.schedule import Universe
from crondor.submit.ad import values
from crondor.submit.ad.draft import Draft, shown

_IDLE: Final = 1
_HELD: Final = 5
_ATTRIBUTE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_BLANK: Final = re.compile(r"[ \t\n\v\f\r]")
_INT: Final = range(-(2**31), 2**31)


class _Check(NamedTuple):
    """A policy expression, and what HTCondor gives where SUBMIT_INSERT_DEFAULT_POLICY_EXPRS says so."""

    command: str
    attribute: str
    default: bool | None = False


_PERIODIC: Final = (
    _Check("periodic_hold", "PeriodicHold"),
    _Check("periodic_hold_reason", "PeriodicHoldReason", None),
    _Check("periodic_hold_subcode", "PeriodicHoldSubCode", None),
    _Check("periodic_release", "PeriodicRelease"),
    _Check("periodic_remove", "PeriodicRemove"),
    _Check("periodic_vacate", "PeriodicVacate"),
    _Check("on_exit_hold_reason", "OnExitHoldReason", None),
    _Check("on_exit_hold_subcode", "OnExitHoldSubCode", None),
)
_REMOVE: Final = _Check("on_exit_remove", "OnExitRemove", default=True)
_HOLD: Final = _Check("on_exit_hold", "OnExitHold")
_NOTIFICATIONS: Final = {"never": 0, "always": 1, "complete": 2, "error": 3, "start": 4}

NAMES: Final = (
    *(name for check in (*_PERIODIC, _REMOVE, _HOLD) for name in (check.command, check.attribute.lower())),
    *("hold", "rank", "preferences", "leave_in_queue", "leavejobinqueue", "notification", "jobnotification"),
    *("max_retries", "jobmaxretries", "success_exit_code", "jobsuccessexitcode", "retry_until"),
    *("concurrency_limits", "concurrency_limits_expr", "nice_user", "niceuser"),
    *("accounting_group", "accountinggroup", "accounting_group_user", "acctgroupuser"),
    *("project_name", "projectname"),
)


def set_status(draft: Draft) -> None:
    """Set JobStatus: a new job is idle, or held where ``hold`` says so (HTCondor: SubmitHash::SetJobStatus)."""
    hold = draft.flag("hold")
    draft.set("JobStatus", _HELD if hold else _IDLE)
    if hold:
        draft.set("HoldReasonCode", SUBMITTED_ON_HOLD)
        draft.set("HoldReason", "submitted on hold at user's request")


def settle_status(draft: Draft) -> None:
    """Make a number of the JobStatus that the file may have set as an attribute: of none HTCondor makes an idle job."""
    status = int32_of(draft.value("JobStatus"))
    draft.set("JobStatus", _IDLE if status is None else status)


def set_notification(draft: Draft) -> None:
    """Set JobNotification (HTCondor: SubmitHash::SetNotification)."""
    names = ("notification", "jobnotification")
    text = draft.command(*names) or draft.knobs.get("JOB_DEFAULT_NOTIFICATION") or "never"
    number = _NOTIFICATIONS.get(lower(text))
    if number is None:
        message = "Notification must be 'Never', 'Always', 'Complete', 'Start', or 'Error'"
        draft.fault("submit-value", draft.written(*names) or "", message, "write one of these")
    else:
        draft.set("JobNotification", number)


def set_rank(draft: Draft) -> None:
    """Set Rank from the command or the configuration (HTCondor: SubmitHash::SetRank)."""
    knobs = draft.knobs
    is_vanilla = draft.cluster.universe == Universe.VANILLA
    default = (knobs.get("DEFAULT_RANK_VANILLA") if is_vanilla else None) or knobs.get("DEFAULT_RANK")
    append = (knobs.get("APPEND_RANK_VANILLA") if is_vanilla else None) or knobs.get("APPEND_RANK")
    rank = draft.command("rank", "preferences") or default
    if append is not None:
        rank = append if rank is None else f"({rank}) + ({append})"
    if rank is None:
        draft.set("Rank", 0.0)
    else:
        draft.expression("Rank", rank, draft.written("rank", "preferences") or "")


def set_periodic(draft: Draft) -> None:
    """Set the periodic_* expressions, and the reason and subcode of on_exit_hold.

    HTCondor: SubmitHash::SetPeriodicExpressions.
    """
    for check in _PERIODIC:
        _set_check(draft, check)


def set_leave_in_queue(draft: Draft) -> None:
    """Set LeaveJobInQueue (HTCondor: SubmitHash::SetLeaveInQueue)."""
    if not draft.copy_expression("LeaveJobInQueue", "leave_in_queue", "leavejobinqueue") and not draft.has(
        "LeaveJobInQueue"
    ):
        draft.set("LeaveJobInQueue", value=False)


def _set_check(draft: Draft, check: _Check) -> None:
    given = draft.copy_expression(check.attribute, check.command, check.attribute.lower())
    if given or check.default is None or draft.has(check.attribute):
        return
    if draft.knobs.flag("SUBMIT_INSERT_DEFAULT_POLICY_EXPRS", default=False):
        draft.set(check.attribute, check.default)


def set_retries(draft: Draft) -> None:
    """Set OnExitRemove and OnExitHold, with the retries that max_retries and its like ask for (SetJobRetries)."""
    most = draft.integer("max_retries", "jobmaxretries")
    code = draft.integer("success_exit_code", "jobsuccessexitcode", is_int=True)
    until = draft.command("retry_until")
    if most is None and code is None and until is None:
        _set_check(draft, _REMOVE)
        _set_check(draft, _HOLD)
        return
    if most is None and not draft.has("JobMaxRetries"):
        most = draft.knobs.number("DEFAULT_JOB_MAX_RETRIES")
    if most is not None:
        draft.set("JobMaxRetries", most)
    if not draft.copy_expression("OnExitHold", "on_exit_hold", "onexithold") and not draft.has("OnExitHold"):
        draft.set("OnExitHold", value=False)
    if draft.has("OnExitRemove") and code is None and until is None:
        return
    if code is not None:
        draft.set("JobSuccessExitCode", code)
    success = "0" if code is None else "JobSuccessExitCode"
    clauses = [f"NumJobCompletions > JobMaxRetries || ExitCode =?= {success}"]
    clauses += [clause for clause in (_until(draft, until), _own_remove(draft)) if clause]
    draft.expression("OnExitRemove", " || ".join(clauses))


def _until(draft: Draft, text: str | None) -> str | None:
    """Return the clause of retry_until, an exit code or an expression."""
    if text is None:
        return None
    clause = _wrapped(text)
    if clause is not None and not _refers(text):
        code = values.integer(text, draft.context)
        if code is not None:
            clause = f"ExitCode =?= {code}" if code in _INT else None
    if clause is None:
        message = f"retry_until={shown(text)} is invalid, it must be an integer or boolean expression."
        draft.fault("submit-value", "retry_until", message, "write the exit code, or the condition, that ends it")
    return clause


def _refers(text: str) -> bool:
    """Say whether an expression names attributes; one whose references cannot be told names none."""
    try:
        return any(values.parse(text).references()[:2])
    except CircularReference:
        return False


def _own_remove(draft: Draft) -> str | None:
    names = ("on_exit_remove", "onexitremove")
    text = draft.command(*names)
    clause = None if text is None else _wrapped(text)
    if text is not None and clause is None:
        message = f"on_exit_remove={shown(text)} is invalid, it must be a boolean expression."
        draft.fault("submit-value", draft.written(*names) or "", message, "write one complete ClassAd expression")
    return clause


def _wrapped(text: str) -> str | None:
    """Return an expression in parentheses where it needs them beside ``||``; None where it is none.

    HTCondor takes ``a ?: b`` for what binds closest, and leaves it as it is.
    """
    try:
        tree = values.parse(text).tree
    except ClassAdSyntaxError:
        return None
    return f"({unparse(tree, UnparseForm.OLD)})" if isinstance(tree, Ternary) else text


def set_limits(draft: Draft) -> None:
    """Set ConcurrencyLimits: a list of names, sorted in lower case, or an expression.

    HTCondor: SubmitHash::SetConcurrencyLimits.
    """
    text, expression = draft.command("concurrency_limits"), draft.command("concurrency_limits_expr")
    if text is None:
        draft.copy_expression("ConcurrencyLimits", "concurrency_limits_expr")
        return
    if expression is not None:
        message = "concurrency_limits and concurrency_limits_expr can't be used together"
        draft.fault("submit-limits", "concurrency_limits_expr", message, "remove one of them")
        return
    limits = sorted(values.words(lower(text)))
    for limit in limits:
        if not all(map(_ATTRIBUTE.match, limit.split(":")[0].split(".", 1))):
            message = f"Invalid concurrency limit '{shown(limit)}'"
            draft.fault("submit-limits", "concurrency_limits", message, "write names such as licence:2")
    if limits:
        draft.set("ConcurrencyLimits", ",".join(limits))


def set_accounting(draft: Draft) -> None:
    """Set the accounting group and the project of a job (HTCondor: SubmitHash::SetAccountingGroup)."""
    draft.string("ProjectName", "project_name", "projectname")
    group = draft.command("accounting_group", "accountinggroup")
    if draft.flag("nice_user", "niceuser"):
        group = group or draft.knobs.get("NICE_USER_ACCOUNTING_GROUP_NAME")
        draft.set("MaxJobRetirementTime", 0)
    member = draft.command("accounting_group_user", "acctgroupuser")
    if group is None and member is None:
        return
    for name, text in (("accounting_group", group), ("accounting_group_user", member)):
        if text is not None and _BLANK.search(text):
            draft.fault("submit-value", name, f"Invalid {name}: {shown(text)}", "write a name without blanks")
    member = member or draft.host.user
    draft.set("AcctGroupUser", member)
    if group is not None:
        draft.set("AcctGroup", group)
    draft.set("AccountingGroup", member if group is None else f"{group}.{member}")
