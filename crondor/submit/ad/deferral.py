"""DeferralTime, DeferralWindow and DeferralPrepTime of a job ad (HTCondor 25.14: SubmitHash::SetJobDeferral).

Which command gives which attribute, and in which order, stands in crondor.schedule's tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from crondor._schedule.job_terms import ATTRIBUTES, PREP_COMMANDS, TIME_COMMANDS, WINDOW_COMMANDS
from crondor.deferral import DEFAULT_PREP_TIME, DEFAULT_WINDOW
from crondor.job.attributes import exact_integer_of
from crondor.schedule import Universe
from crondor.submit.ad import values
from crondor.submit.ad.draft import Draft, shown

DEFERRING: Final = ATTRIBUTES[:6]  # the cron fields and DeferralTime


def deferred_by(draft: Draft) -> str | None:
    """Return the attribute that makes a job a deferred one, None for a job that is none."""
    return next((attribute for attribute in DEFERRING if draft.has(attribute)), None)


def set_deferral(draft: Draft) -> None:
    """Set the deferral attributes that the commands give; a deferred job always has a window and a prep time."""
    _set_seconds(draft, "DeferralTime", "deferral_time", TIME_COMMANDS)
    if deferred_by(draft) is None:
        return
    for attribute, command, names, default in (
        ("DeferralWindow", "deferral_window", WINDOW_COMMANDS, DEFAULT_WINDOW),
        ("DeferralPrepTime", "deferral_prep_time", PREP_COMMANDS, DEFAULT_PREP_TIME),
    ):
        if not _set_seconds(draft, attribute, command, names):
            draft.set(attribute, default)


def _set_seconds(draft: Draft, attribute: str, command: str, names: Sequence[str]) -> bool:
    """Set a time or length in seconds; the error names ``command``, whatever was written."""
    pairs = (names[at : at + 2] for at in range(0, len(names), 2))  # an empty command hides its other spelling only
    pair = next((pair for pair in pairs if draft.command(*pair) is not None), ())
    text = draft.command(*pair)
    if text is None:
        return False
    name = draft.written(*pair) or ""
    given = draft.expression(attribute, text, name)
    tree = draft.ad[attribute].tree if given else None
    found = values.literal(tree) if tree is not None else None
    number = found.value if found is not None else None
    if not given or (found is not None and not _is_length(number)):
        message = f"{command} = {shown(text)} is invalid, must eval to a non-negative integer."
        draft.fault("submit-number", name, message, "write a number of seconds from 0 up, or an expression")
    return True


def _is_length(number: object) -> bool:
    length = exact_integer_of(number)
    return length is not None and length >= 0


def check_scheduler(draft: Draft) -> None:
    """Refuse a deferral time in the scheduler universe, which has no starter to wait for it."""
    if draft.cluster.universe == Universe.SCHEDULER and draft.has("DeferralTime"):
        attribute = deferred_by(draft) or "DeferralTime"
        message = (
            f"{attribute} does not work for scheduler universe jobs. "
            "Consider submitting this job using the local universe, instead"
        )
        draft.fault("submit-scheduler", draft.written(*TIME_COMMANDS) or "", message, "write universe = local")
