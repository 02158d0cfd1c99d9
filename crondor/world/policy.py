"""What a job's own expressions say: at exit, and from time to time (HTCondor 25.14: UserPolicy::AnalyzePolicy)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple

from crondor.classad import Context, EvaluationFailed, Form
from crondor.classad.ad import ClassAd
from crondor.queued import JobStatus
from crondor.world.gate import CLOCK, is_moving

POLICY_CODE: Final = 3  # CONDOR_HOLD_CODE JobPolicy
BY_USER: Final = 1  # CONDOR_HOLD_CODE UserRequest: periodic_release leaves such jobs alone

_PERIODIC: Final = ("TimerRemove", "PeriodicHold", "PeriodicRelease", "PeriodicRemove")


class Act(Enum):
    """What a policy does to a job."""

    STAY = "stay"
    HOLD = "hold"
    RELEASE = "release"
    REMOVE = "remove"


class Ruling(NamedTuple):
    """What a policy does, with the reason HTCondor writes and its code and subcode."""

    act: Act
    reason: str = ""
    code: int = POLICY_CODE
    subcode: int = 0


_STAY: Final = Ruling(Act.STAY)


def has_periodic(ad: ClassAd) -> bool:
    """Say whether a job has an expression that is looked at from time to time."""
    return any(name in ad and ad.text(name).strip().lower() != "false" for name in _PERIODIC)


def asks_clock(ad: ClassAd, status: int) -> bool:
    """Say whether time alone can make a periodic expression true that counts in a status."""
    names = ("PeriodicRelease" if status == JobStatus.HELD else "PeriodicHold", "PeriodicRemove")
    return any(name in ad and is_moving(ad[name], ad, ad, CLOCK) for name in names) or "TimerRemove" in ad


def periodic(ad: ClassAd, status: int, now: int, context: Context) -> Ruling:
    """Return what the periodic expressions say at ``now`` (epoch seconds)."""
    timer = _value(ad, "TimerRemove", context)
    if isinstance(timer, int) and 0 <= timer < now:
        return Ruling(Act.REMOVE, _reason(ad, "TimerRemove", "TRUE"))
    rules: Sequence[tuple[str, Act]] = (("PeriodicHold", Act.HOLD), ("PeriodicRemove", Act.REMOVE))
    if status == JobStatus.HELD:
        rules = (("PeriodicRelease", Act.RELEASE), ("PeriodicRemove", Act.REMOVE))
        if _value(ad, "HoldReasonCode", context) == BY_USER:
            rules = rules[1:]
    for name, act in rules:
        if _counts(ad, name, context):
            return _fired(ad, name, act, context)
    return _STAY


def at_exit(ad: ClassAd, now: int, context: Context) -> Ruling:
    """Return what happens to a job whose program has ended; the ad has its ExitCode.

    The periodic expressions come first. Only an on_exit_remove that is plainly false keeps the job.
    """
    ruling = periodic(ad, JobStatus.RUNNING, now, context)
    if ruling.act is not Act.STAY:
        return ruling
    if _counts(ad, "OnExitHold", context):
        return _fired(ad, "OnExitHold", Act.HOLD, context)
    if "OnExitRemove" in ad:
        value = _value(ad, "OnExitRemove", context)
        if isinstance(value, (int, float)) and not value:
            return Ruling(Act.STAY, _reason(ad, "OnExitRemove", "FALSE"))
    return Ruling(Act.REMOVE)


def always_at_exit(ad: ClassAd) -> Ruling | None:
    """Return what ``at_exit`` says of every run of a job without periodic expressions; None where it depends."""
    words = [ad.text(name).strip().lower() if name in ad else None for name in ("OnExitHold", "OnExitRemove")]
    if words[0] in (None, "false") and words[1] in (None, "true", "false"):
        return at_exit(ad, 0, Context(now=0))
    return None


def _fired(ad: ClassAd, name: str, act: Act, context: Context) -> Ruling:
    said = _value(ad, f"{name}Reason", context)
    subcode = _value(ad, f"{name}SubCode", context)
    reason = said if isinstance(said, str) and said else _reason(ad, name, "TRUE")
    return Ruling(act, reason, subcode=subcode if isinstance(subcode, int) else 0)


def _reason(ad: ClassAd, name: str, value: str) -> str:
    return f"The job attribute {name} expression '{ad[name].unparse(Form.OLD)}' evaluated to {value}"


def _counts(ad: ClassAd, name: str, context: Context) -> bool:
    return name in ad and ad[name].holds(ad, None, context)


def _value(ad: ClassAd, name: str, context: Context) -> object:
    try:
        return ad.value(name, None, context) if name in ad else None
    except EvaluationFailed:
        return None
