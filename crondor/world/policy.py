"""What a job's own expressions say: at exit, and from time to time (HTCondor 25.14: UserPolicy::AnalyzePolicy)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.job.attributes import expression, fires, int32, integer, printed, string
from crondor.queued import JobStatus
from crondor.world.gate import CLOCK, is_moving

POLICY_CODE: Final = 3  # CONDOR_HOLD_CODE JobPolicy
UNDEFINED_CODE: Final = 5  # CONDOR_HOLD_CODE JobPolicyUndefined
DURATION_CODE: Final = 46  # CONDOR_HOLD_CODE JobDurationExceeded
EXECUTE_CODE: Final = 47  # CONDOR_HOLD_CODE JobExecuteExceeded
BY_USER: Final = 1  # CONDOR_HOLD_CODE UserRequest: periodic_release leaves such jobs alone

BIRTH: Final = "JobCurrentStartDate"  # when the shadow of the run began: at the match, before any wait

_PERIODIC: Final = ("PeriodicVacate", "PeriodicHold", "PeriodicRelease", "PeriodicRemove")
_LONGEST: Final = ("AllowedJobDuration", "AllowedExecuteDuration")
_ALWAYS: Final = (*_LONGEST, "TimerRemove")  # of which false is a number, too
_RUNNING: Final = (JobStatus.RUNNING, JobStatus.SUSPENDED)


class Act(Enum):
    """What a policy does to a job; UNDEFINED: nobody knows, since what must be a number is none."""

    STAY = "stay"
    HOLD = "hold"
    RELEASE = "release"
    VACATE = "vacate"
    REMOVE = "remove"
    UNDEFINED = "undefined"


class Ruling(NamedTuple):
    """What a policy does, with the reason HTCondor writes and its code and subcode."""

    act: Act
    reason: str = ""
    code: int = POLICY_CODE
    subcode: int = 0


_STAY: Final = Ruling(Act.STAY)


def has_periodic(ad: ClassAd) -> bool:
    """Say whether a job has an expression that is looked at from time to time, or a longest time to run."""
    return any(name in ad for name in _ALWAYS) or any(
        name in ad and ad.text(name).strip().lower() != "false" for name in _PERIODIC
    )


def asks_clock(ad: ClassAd, status: int) -> bool:
    """Say whether time alone can make a periodic expression true that counts in a status."""
    names = ["PeriodicRelease" if status == JobStatus.HELD else "PeriodicHold", "PeriodicRemove"]
    if status in _RUNNING:
        if any(name in ad for name in _LONGEST):
            return True
        names.append("PeriodicVacate")
    codes = filter(None, (expression(ad, name) for name in names))
    return any(is_moving(code, ad, ad, CLOCK) for code in codes) or "TimerRemove" in ad


def exceeded(ad: ClassAd, status: int, now: int, birth: str) -> Ruling | None:
    """Return the hold of a job that runs for too long at ``now`` (epoch seconds); None for one that does not.

    AllowedJobDuration counts from ``birth``, an attribute, AllowedExecuteDuration from JobCurrentStartExecutingDate;
    of two runs' times the older one does not count.
    """
    born = integer(ad, birth) if status in _RUNNING else None
    if born is None:
        return None
    allowed = integer(ad, "AllowedJobDuration")
    if allowed is not None and now - born >= allowed:
        return Ruling(Act.HOLD, f"The job exceeded allowed job duration of {_duration(allowed)}", DURATION_CODE)
    allowed, began = integer(ad, "AllowedExecuteDuration"), integer(ad, "JobCurrentStartExecutingDate")
    if allowed is None or began is None or began < born:
        return None
    began = max(began, integer(ad, "TransferOutFinished") or 0)
    if now - began > allowed:
        return Ruling(Act.HOLD, f"The job exceeded allowed execute duration of {_duration(allowed)}", EXECUTE_CODE)
    return None


def from_time_to_time(ad: ClassAd, status: int, now: int, context: Context) -> Ruling:
    """Return what happens to a job that is looked at, ``now`` in epoch seconds: also what only one that runs heeds.

    What is undefined holds a job that runs, by its shadow; the schedd passes such a job over.
    """
    too_long = exceeded(ad, status, now, BIRTH)
    if too_long is not None:
        return too_long
    if status in _RUNNING and fires(ad, "PeriodicVacate", context):
        return _fired(ad, "PeriodicVacate", Act.VACATE, context)
    found = periodic(ad, status, now, context)
    if found.act is not Act.UNDEFINED:
        return found
    return held_for_it(found) if status in _RUNNING else _STAY


def held_for_it(undefined: Ruling) -> Ruling:
    """Return the hold that a shadow or a router makes of what is undefined."""
    return undefined._replace(act=Act.HOLD)


def periodic(ad: ClassAd, status: int, now: int, context: Context) -> Ruling:
    """Return what the periodic expressions say at ``now`` (epoch seconds); UNDEFINED for a timer that is no number."""
    timer = int32(ad, "TimerRemove", context)
    if timer is None and "TimerRemove" in ad:
        return Ruling(Act.UNDEFINED, _reason(ad, "TimerRemove", "UNDEFINED"), UNDEFINED_CODE)
    if timer is not None and 0 <= timer < now:
        return Ruling(Act.REMOVE, _reason(ad, "TimerRemove", "TRUE"))
    rules: Sequence[tuple[str, Act]] = (("PeriodicHold", Act.HOLD), ("PeriodicRemove", Act.REMOVE))
    if status == JobStatus.HELD:
        rules = (("PeriodicRelease", Act.RELEASE), ("PeriodicRemove", Act.REMOVE))
        if int32(ad, "HoldReasonCode", context) == BY_USER:
            rules = rules[1:]
    for name, act in rules:
        if fires(ad, name, context):
            return _fired(ad, name, act, context)
    return _STAY


def at_exit(ad: ClassAd, now: int, context: Context) -> Ruling:
    """Return what happens to a job whose program has ended; the ad has its ExitCode.

    How long it ran and the periodic expressions come first. Only an on_exit_remove that is plainly false keeps the job.
    """
    ruling = exceeded(ad, JobStatus.RUNNING, now, BIRTH) or periodic(ad, JobStatus.RUNNING, now, context)
    if ruling.act is not Act.STAY:
        return held_for_it(ruling) if ruling.act is Act.UNDEFINED else ruling
    if fires(ad, "OnExitHold", context):
        return _fired(ad, "OnExitHold", Act.HOLD, context)
    if int32(ad, "OnExitRemove", context) == 0:
        return Ruling(Act.STAY, _reason(ad, "OnExitRemove", "FALSE"))
    return Ruling(Act.REMOVE)


def always_at_exit(ad: ClassAd) -> Ruling | None:
    """Return what ``at_exit`` says of every run of a job without periodic expressions; None where it depends."""
    words = [ad.text(name).strip().lower() if name in ad else None for name in ("OnExitHold", "OnExitRemove")]
    if words[0] in (None, "false") and words[1] in (None, "true", "false"):
        return at_exit(ad, 0, Context(now=0))
    return None


def _fired(ad: ClassAd, name: str, act: Act, context: Context) -> Ruling:
    reason = string(ad, f"{name}Reason", context) or _reason(ad, name, "TRUE")
    return Ruling(act, reason, subcode=int32(ad, f"{name}SubCode", context) or 0)


def _duration(seconds: int) -> str:
    """Return a length as HTCondor's ``format_time_short`` writes it: ``1+02:03:04`` without what is 0 in front."""
    minutes, second = divmod(max(0, seconds), 60)
    hours, minute = divmod(minutes, 60)
    text = f"{hours // 24}+{hours % 24:02}:{minute:02}:{second:02}".lstrip(" 0+")
    return text.removeprefix(":")


def _reason(ad: ClassAd, name: str, value: str) -> str:
    return f"The job attribute {name} expression '{printed(ad, name)}' evaluated to {value}"
