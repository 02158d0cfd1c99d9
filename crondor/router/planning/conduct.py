"""What a routed copy does with the schedule in it: start at once, wait for one time, schedule itself, never run."""

from __future__ import annotations

import re
from datetime import tzinfo
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

from crondor.classad import ClassAdSyntaxError, Context, EvaluationFailed, Expression, truth
from crondor.classad.ad import ClassAd
from crondor.classad.scope import AdValue
from crondor.classad.tree import Binary, Call, Node, Reference, bare, children
from crondor.schedule import Universe
from crondor.source import Source
from crondor.spec import FIELDS

HONOURING: Final = frozenset((Universe.VANILLA, Universe.LOCAL, Universe.PARALLEL, Universe.JAVA, Universe.VM))
"""The universes in which somebody waits for a job's time: docker and container jobs are vanilla ones."""

CRON: Final = tuple(f.attribute for f in FIELDS)
DEFERRAL: Final = ("DeferralTime", "DeferralWindow", "DeferralPrepTime")
_CLAUSE: Final = re.compile(r"\b(?:deferraltime|deferralwindow|deferralpreptime)\b", re.IGNORECASE).search
_OF_STARTERS: Final = re.compile(r"\bhasjobdeferral\b", re.IGNORECASE).search
_PREFIX: Final = "remote_"


class Conduct(str, Enum):
    """What a copy does with its schedule; THERE: in the queue of the remote schedd that HTCondor-C submits to."""

    AT_ONCE = "starts at once"
    WAITS = "waits for its time"
    WAITS_THERE = "waits for its time at the remote schedd"
    SCHEDULES_ITSELF = "schedules itself"
    SCHEDULES_ITSELF_THERE = "schedules itself at the remote schedd"
    TOO_LATE = "is too late"
    NEVER_MATCHES = "never matches"
    NEVER_RUNS = "never runs"

    @property
    def repeats(self) -> bool:
        """Whether a schedd computes the copy's times anew, run by run."""
        return self in (Conduct.SCHEDULES_ITSELF, Conduct.SCHEDULES_ITSELF_THERE)

    @property
    def waits(self) -> bool:
        """Whether the copy has one time, and waits for it."""
        return self in (Conduct.WAITS, Conduct.WAITS_THERE)

    @property
    def runs(self) -> bool:
        """Whether the copy ever runs."""
        return self not in (Conduct.TOO_LATE, Conduct.NEVER_MATCHES, Conduct.NEVER_RUNS)


class Manner(NamedTuple):
    """A copy's conduct; ``time`` (epoch seconds) is what it waits for. ``ad`` is that of the queue where it runs."""

    conduct: Conduct
    ad: ClassAd
    time: int | None = None


def manner_of(copy: ClassAd, taken: int, zone: tzinfo) -> Manner:
    """Return what a routed copy does that was submitted at ``taken`` (epoch seconds), whose QDate that is then.

    By HTCondor 25.14: the grid manager looks at no Cron and no Deferral attribute; only a copy for HTCondor-C
    (GridResource ``condor ...``) takes them along, and its remote schedd heeds them.
    """
    ad = copy.copy()
    ad.set("QDate", taken)
    universe = _integer(ad, "JobUniverse")
    is_remote = universe == Universe.GRID and grid_type(ad) == "condor"
    if is_remote:
        ad = _there(ad)
        universe = _integer(ad, "JobUniverse")
    has_schedule = has_cron(ad) or "DeferralTime" in ad
    if universe == Universe.SCHEDULER and has_schedule:
        return Manner(Conduct.NEVER_RUNS, ad)
    if universe not in HONOURING:
        return Manner(Conduct.AT_ONCE, ad)
    if has_cron(ad):
        if any(name not in ad and asks(ad, name) for name in (*DEFERRAL[1:], "ScheddInterval")):
            return Manner(Conduct.NEVER_MATCHES, ad)
        return Manner(Conduct.SCHEDULES_ITSELF_THERE if is_remote else Conduct.SCHEDULES_ITSELF, ad)
    if "DeferralTime" not in ad:
        is_kept_out = _keeps_out(ad, Context(now=taken, zone=zone))
        return Manner(Conduct.NEVER_MATCHES if is_kept_out else Conduct.AT_ONCE, ad)
    return _once(ad, taken, zone, is_remote=is_remote)


def _once(ad: ClassAd, taken: int, zone: tzinfo, *, is_remote: bool) -> Manner:
    context = Context(now=taken, zone=zone)
    time, window = (_integer(ad, name, context) for name in DEFERRAL[:2])
    if time is None or time <= 0 or (window is None and "DeferralWindow" in ad):
        return Manner(Conduct.NEVER_RUNS, ad)
    if _keeps_out(ad, Context(now=min(max(taken, time - 1), time + (window or 0) - 1), zone=zone)):
        return Manner(Conduct.NEVER_MATCHES, ad)
    if taken > time + (window or 0) or (taken == time + (window or 0) and asks(ad, "DeferralTime")):
        return Manner(Conduct.TOO_LATE, ad, time)
    return Manner(Conduct.WAITS_THERE if is_remote else Conduct.WAITS, ad, time)


def is_matched(ad: ClassAd) -> bool:
    """Say whether a copy's Requirements are ever looked at: those of a grid job are for HTCondor-C alone."""
    return _integer(ad, "JobUniverse") != Universe.GRID or grid_type(ad) == "condor"


def has_cron(ad: ClassAd) -> bool:
    """Say whether a schedd would compute times for a job: it has any of the five Cron attributes."""
    return any(name in ad for name in CRON)


def grid_type(ad: ClassAd) -> str:
    """Return the first word of GridResource in lower case, empty where there is none."""
    value = _value(ad, "GridResource", Context())
    words = value.split(None, 1) if isinstance(value, str) else []
    return words[0].lower() if words else ""


def asks(ad: ClassAd, name: str) -> bool:
    """Say whether a job's Requirements speak of an attribute."""
    return "Requirements" in ad and re.search(rf"(?i)\b{name}\b", ad.text("Requirements")) is not None


def without_clause(ad: ClassAd) -> str:
    """Return a job's Requirements without the clauses that condor_submit adds for a deferred job."""
    left = [text for _, text in _conjuncts(ad) if not _CLAUSE(text) and not _OF_STARTERS(text)]
    return " && ".join(f"({text})" if "||" in text and not text.startswith("(") else text for text in left) or "true"


def _keeps_out(ad: ClassAd, context: Context) -> bool:
    """Say whether a clause about the job's time, which no machine can change, is not true."""
    try:
        return any(
            _CLAUSE(text) is not None
            and not _asks_machine(part.tree, ad)
            and truth(part.evaluate(ad, None, context)) is not True
            for part, text in _conjuncts(ad)
        )
    except (EvaluationFailed, ClassAdSyntaxError):
        return False


def _conjuncts(ad: ClassAd) -> tuple[tuple[Expression, str], ...]:
    return _split(ad.text("Requirements")) if "Requirements" in ad else ()


@lru_cache(maxsize=256)
def _split(requirements: str) -> tuple[tuple[Expression, str], ...]:
    """Return the parts that && joins, each with its text; none of what is no expression."""
    try:
        tree = Expression.parse(Source(requirements, "Requirements"), old=True).tree
    except ClassAdSyntaxError:
        return ()
    left, found = [tree], []
    while left:
        node = left.pop()
        inner = bare(node)
        if isinstance(inner, Binary) and inner.op == "&&":
            left += [inner.right, inner.left]
        else:
            part = Expression.of(node)
            found.append((part, part.unparse()))
    return tuple(found)


def _asks_machine(tree: Node, ad: ClassAd) -> bool:
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, Reference):
            scope = node.scope.name.lower() if isinstance(node.scope, Reference) else ""
            if scope in {"target", "other"} or (
                not scope and node.name.lower() not in _OF_JOBS and node.name not in ad
            ):
                return True
            continue
        if isinstance(node, Call) and node.name.lower() == "eval":
            return True
        left.extend(children(node))
    return False


_OF_JOBS: Final = frozenset(name.lower() for name in (*DEFERRAL, "ScheddInterval", "CurrentTime"))


def _there(ad: ClassAd) -> ClassAd:
    """Return a copy's ad as HTCondor-C submits it: Remote_ attributes count, on_exit_remove stays here (25.14)."""
    made = ad.copy()
    made.set("JobUniverse", int(Universe.VANILLA))
    made.prune("OnExitRemove")
    for key, name in list(ad.names.items()):
        if key.startswith(_PREFIX):
            made.prune(name)
    for key, name in list(ad.names.items()):
        if key.startswith(_PREFIX) and len(key) > len(_PREFIX):
            made.put(name[len(_PREFIX) :], ad.codes[key])
    return made


def _integer(ad: ClassAd, name: str, context: Context | None = None) -> int | None:
    value = _value(ad, name, context or Context())
    if isinstance(value, float) and abs(value) < 1 << 62:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _value(ad: ClassAd, name: str, context: Context) -> object:
    if name not in ad:
        return None
    try:
        value: object = ad.value(name, None, context)
    except (EvaluationFailed, ClassAdSyntaxError):
        return None
    return None if isinstance(value, AdValue) else value
