"""The lines that take a schedule out of routed copies, and what a copy is with them."""

from __future__ import annotations

import re
from datetime import tzinfo
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.job.policy import always_leaves
from crondor.router.apply.applying import RoutedAd
from crondor.router.plan.copy_schedule import (
    CRON,
    DEFERRAL,
    CopySchedule,
    Manner,
    asks,
    grid_type,
    has_cron,
    is_matched,
    manner_of,
    without_clause,
)
from crondor.transform import Transform, TransformFacts

DELETE_CRON: Final = f"DELETE /^({'|'.join(CRON)})$/"
DELETE_DEFERRAL: Final = f"DELETE /^({'|'.join(DEFERRAL)})$/"
REMOTE: Final = tuple(f"Remote_{name}" for name in (*CRON, *DEFERRAL))
DELETE_REMOTE: Final = f"DELETE /^Remote_({'|'.join((*CRON, *DEFERRAL))})$/"


class Cure(NamedTuple):
    """Lines of the transform language for the end of a route, or for a transform behind all routes.

    ``ad`` is the copy with the lines applied, ``manner`` what that does; ``text`` is empty where nothing is to be done.
    """

    text: str
    ad: ClassAd
    manner: Manner


def cure(routed: RoutedAd, taken: int, zone: tzinfo, facts: TransformFacts) -> Cure:
    """Return what makes a copy one that runs once and schedules nothing, with the proof: the lines are applied.

    A copy that has a time to wait for keeps that. Otherwise nothing of a schedule is left, and the clause about it
    goes out of Requirements; those are this job's then, and a route that sets Requirements itself needs no such line.
    Raises ValueError for a job that was not routed.
    """
    if routed.ad is None:
        raise ValueError("only a routed copy can be cured: this job has none")
    ad = routed.ad
    lines = [DELETE_CRON] if has_cron(ad) else []
    if grid_type(ad) == "condor" and any(name in ad for name in REMOTE):
        lines.append(DELETE_REMOTE)
    keeps_time = "DeferralTime" in ad and manner_of(_applied(lines, ad, facts), taken, zone).conduct.waits
    if not keeps_time:
        lines += [DELETE_DEFERRAL] if any(name in ad for name in DEFERRAL) else []
        if is_matched(ad) and any(asks(ad, name) for name in DEFERRAL):
            lines.append(f"SET Requirements {_unexpanded(without_clause(ad))}")
    if not always_leaves(ad):
        lines.append("SET OnExitRemove true")
    made = _applied(lines, ad, facts)
    return Cure("\n".join(lines), made, manner_of(made, taken, zone))


def is_cured(found: Cure) -> bool:
    """Say whether a copy with the lines runs, and once."""
    return found.manner.conduct is CopySchedule.AT_ONCE or found.manner.conduct.waits


def _unexpanded(text: str) -> str:
    """Return a text that stays what it is where macros are replaced; $$(x) is no macro."""
    return re.sub(r"(?<!\$)\$\(", "$(DOLLAR)(", text)


def _applied(lines: list[str], ad: ClassAd, facts: TransformFacts) -> ClassAd:
    if not lines:
        return ad
    return Transform.parse("\n".join(lines), name="cure").apply(ad, facts).ad
