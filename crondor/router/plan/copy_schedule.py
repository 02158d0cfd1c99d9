"""What a routed copy does with the schedule in it: start at once, wait for one time, schedule itself, never run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import tzinfo
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from crondor.classad import ClassAdSyntaxError, Context, Expression
from crondor.classad.ad import ClassAd
from crondor.classad.scope import Code
from crondor.classad.show import code_tree
from crondor.classad.tree import Binary, Call, Node, Reference, bare, children
from crondor.classad.unparse import unparse
from crondor.deferral import GATE
from crondor.job.attributes import int32, integer, plain, string
from crondor.schedule import Universe
from crondor.spec import FIELDS

HONOURING: Final = frozenset((Universe.VANILLA, Universe.LOCAL, Universe.PARALLEL, Universe.JAVA, Universe.VM))
"""The universes in which somebody waits for a job's time: docker and container jobs are vanilla ones."""

CRON: Final = tuple(f.attribute for f in FIELDS)
_CRON_KEYS: Final = frozenset(name.lower() for name in CRON)
DEFERRAL: Final = ("DeferralTime", "DeferralWindow", "DeferralPrepTime")
_GATE_KEYS: Final = ("deferraltime", "deferralwindow", "deferralpreptime", "scheddinterval")
_CLAUSE: Final = re.compile(r"\b(?:deferraltime|deferralwindow|deferralpreptime)\b", re.IGNORECASE).search
_OF_STARTERS: Final = re.compile(r"\bhasjobdeferral\b", re.IGNORECASE).search
_PREFIX: Final = "remote_"
_EXACT: Final = 19  # digits that fit into 64 bits


class CopySchedule(str, Enum):
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
        return self in (CopySchedule.SCHEDULES_ITSELF, CopySchedule.SCHEDULES_ITSELF_THERE)

    @property
    def waits(self) -> bool:
        """Whether the copy has one time, and waits for it."""
        return self in (CopySchedule.WAITS, CopySchedule.WAITS_THERE)

    @property
    def runs(self) -> bool:
        """Whether the copy ever runs."""
        return self not in (CopySchedule.TOO_LATE, CopySchedule.NEVER_MATCHES, CopySchedule.NEVER_RUNS)


class Manner(NamedTuple):
    """A copy's conduct; ``time`` (epoch seconds) is what it waits for. ``ad`` is that of the queue where it runs."""

    conduct: CopySchedule
    ad: ClassAd
    time: int | None = None


def manner_of(copy: ClassAd, taken: int, zone: tzinfo) -> Manner:
    """Return what a routed copy does that was submitted at ``taken`` (epoch seconds), whose QDate that is then.

    By HTCondor 25.14: the grid manager looks at no Cron and no Deferral attribute; only a copy for HTCondor-C
    (GridResource ``condor ...``) takes them along, and its remote schedd heeds them.
    """
    ad = copy.copy()
    ad.set("QDate", taken)
    universe = int32(ad, "JobUniverse")
    is_remote = universe == Universe.GRID and grid_type(ad) == "condor"
    if is_remote:
        ad = _there(ad)
        universe = int32(ad, "JobUniverse")
    has_schedule = has_cron(ad) or "DeferralTime" in ad
    if universe == Universe.SCHEDULER and has_schedule:
        return Manner(CopySchedule.NEVER_RUNS, ad)
    if universe not in HONOURING:
        return Manner(CopySchedule.AT_ONCE, ad)
    if has_cron(ad):
        if any(name not in ad and asks(ad, name) for name in (*DEFERRAL[1:], "ScheddInterval")):
            return Manner(CopySchedule.NEVER_MATCHES, ad)
        return Manner(CopySchedule.SCHEDULES_ITSELF_THERE if is_remote else CopySchedule.SCHEDULES_ITSELF, ad)
    if "DeferralTime" not in ad:
        is_kept_out = _keeps_out(ad, Context(now=taken, zone=zone))
        return Manner(CopySchedule.NEVER_MATCHES if is_kept_out else CopySchedule.AT_ONCE, ad)
    return _once(ad, taken, zone, is_remote=is_remote)


def _once(ad: ClassAd, taken: int, zone: tzinfo, *, is_remote: bool) -> Manner:
    context = Context(now=taken, zone=zone)
    time, window = (integer(ad, name, context) for name in DEFERRAL[:2])
    if time is None or time <= 0 or (window is None and "DeferralWindow" in ad):
        return Manner(CopySchedule.NEVER_RUNS, ad)
    if _keeps_out(ad, Context(now=min(max(taken, time - 1), time + (window or 0) - 1), zone=zone)):
        return Manner(CopySchedule.NEVER_MATCHES, ad)
    if taken > time + (window or 0) or (taken == time + (window or 0) and asks(ad, "DeferralTime")):
        return Manner(CopySchedule.TOO_LATE, ad, time)
    return Manner(CopySchedule.WAITS_THERE if is_remote else CopySchedule.WAITS, ad, time)


def is_matched(ad: ClassAd) -> bool:
    """Say whether a copy's Requirements are ever looked at: those of a grid job are for HTCondor-C alone."""
    return int32(ad, "JobUniverse") != Universe.GRID or grid_type(ad) == "condor"


def has_cron(ad: ClassAd) -> bool:
    """Say whether a schedd would compute times for a job: it has any of the five Cron attributes."""
    return not _CRON_KEYS.isdisjoint(ad.codes)


def grid_type(ad: ClassAd) -> str:
    """Return the first word of GridResource in lower case, empty where there is none."""
    words = (string(ad, "GridResource") or "").split(None, 1)
    return words[0].lower() if words else ""


def asks(ad: ClassAd, name: str) -> bool:
    """Say whether a job's Requirements speak of an attribute."""
    return "Requirements" in ad and re.search(rf"(?i)\b{name}\b", ad.text("Requirements")) is not None


def without_clause(ad: ClassAd) -> str:
    """Return a job's Requirements without the clauses that condor_submit adds for a deferred job."""
    texts = (each.expression.unparse() for each in _conjuncts(ad) if not each.is_clause)
    left = [text for text in texts if not _OF_STARTERS(text)]
    return " && ".join(f"({text})" if "||" in text and not text.startswith("(") else text for text in left) or "true"


def _keeps_out(ad: ClassAd, context: Context) -> bool:
    """Say whether a clause about the job's time, which no machine can change, is not true."""
    numbers = _gate_numbers(ad)
    for each in _conjuncts(ad):
        if not each.is_clause or each.asks_machine or not all(name in ad for name in each.names):
            continue
        if numbers is not None and each.gate is not None:
            is_met = each.gate(context.now, numbers)
        else:
            is_met = each.expression.holds(ad, None, context)
        if not is_met:
            return True
    return False


_Numbers: TypeAlias = tuple[int, int, int, int]


def _gate_numbers(ad: ClassAd) -> _Numbers | None:
    """Return DeferralTime, DeferralWindow, DeferralPrepTime and ScheddInterval where all are written as numbers."""
    found = [code if isinstance(code, str) else None for code in map(ad.codes.get, _GATE_KEYS)]
    time, window, prep_time, interval = (None if text is None else plain(text) for text in found)
    if time is None or window is None or prep_time is None or interval is None:
        return None
    return time, window, prep_time, interval


def _opens(now: int, numbers: _Numbers) -> bool:
    time, _, prep_time, interval = numbers
    return now + interval >= time - prep_time


def _closes(now: int, numbers: _Numbers) -> bool:
    time, window, _, _ = numbers
    return now < time + window


class _Conjunct(NamedTuple):
    """A part of Requirements that && joins with others.

    ``is_clause``: it speaks of the job's time. ``names`` are a machine's where the job has none of that name;
    ``asks_machine``: it asks a machine in any case.
    """

    expression: Expression
    is_clause: bool
    asks_machine: bool
    names: tuple[str, ...]
    gate: Callable[[int, _Numbers], bool] | None


def _conjuncts(ad: ClassAd) -> tuple[_Conjunct, ...]:
    """Return the parts that && joins; none of what is no expression."""
    try:
        return _split(ad.code("Requirements"))
    except (KeyError, ClassAdSyntaxError):
        return ()


@lru_cache(maxsize=256)
def _split(requirements: Code) -> tuple[_Conjunct, ...]:
    found = []
    for node, inner in _parts(code_tree(requirements)):
        part = Expression.of(node)
        asks_machine, names = _asked_by(node)
        is_clause = _CLAUSE(part.unparse()) is not None
        found.append(_Conjunct(part, is_clause, asks_machine, names, _gates().get(unparse(inner))))
    return tuple(found)


def _parts(tree: Node) -> Iterator[tuple[Node, Node]]:
    """Yield what && joins, with its parentheses and without."""
    left = [tree]
    while left:
        node = left.pop()
        inner = bare(node)
        if isinstance(inner, Binary) and inner.op == "&&":
            left += [inner.right, inner.left]
        else:
            yield node, inner


@lru_cache(maxsize=1)
def _gates() -> dict[str, Callable[[int, _Numbers], bool]]:
    """Return the parts of condor_submit's clause, whose numbers need no evaluation."""
    texts = (unparse(inner) for _, inner in _parts(Expression(GATE).tree))
    return dict(zip(texts, (_opens, _closes), strict=True))


def _asked_by(tree: Node) -> tuple[bool, tuple[str, ...]]:
    """Return whether an expression asks a machine in any case, and what it asks one for that the job has not."""
    names: list[str] = []
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, Reference):
            scope = node.scope.name.lower() if isinstance(node.scope, Reference) else ""
            if scope in {"target", "other"}:
                return True, ()
            if not scope and node.name.lower() not in _OF_JOBS:
                names.append(node.name)
            continue
        if isinstance(node, Call) and node.name.lower() == "eval":
            return True, ()
        left.extend(children(node))
    return False, tuple(names)


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
