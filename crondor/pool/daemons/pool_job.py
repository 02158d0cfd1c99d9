"""One job of a pool and its run, what its requirements hang on, and the clock of the pool."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

from crondor.classad import CircularReference, Code, Context, Expression, UnparseForm, lower, unparse
from crondor.classad.ad import ClassAd
from crondor.classad.tree import Binary, Call, Node, Reference, bare, nodes
from crondor.deferral import LATEST, Deferral, InvalidDeferral
from crondor.job.attributes import JobStatus, boolean, count, exact_integer, expression, int32, plain, result
from crondor.job.policy import Ruling, always_at_exit, has_periodic
from crondor.job_queue import JobId
from crondor.pool.daemons.negotiator import Claim
from crondor.pool.settings import SUCCESS, chance
from crondor.schedule import JobSchedule, Universe

TimedCall: TypeAlias = Callable[[int], None]

_SPARE: Final = 1000

# The order within one second: a run ends before the schedd's pass, and the pass is before a match.
RUN: Final = 0
POLICY: Final = 1
PASS: Final = 2
MATCH: Final = 3


class TimetableEntry:
    """A future action at a time (epoch seconds); ``call`` is None once it is cancelled."""

    __slots__ = ("call", "time")

    def __init__(self, time: int, call: TimedCall) -> None:
        self.time = time
        self.call: TimedCall | None = call


class Timetable:
    """Future actions, the next one found in O(log n).

    ``now`` (epoch seconds) never goes back; ``until`` is how far time passes by itself.
    """

    def __init__(self, now: int) -> None:
        self.now = self.until = now
        self._heap: list[tuple[int, int, tuple[int, ...], int, TimetableEntry]] = []  # serial numbers are unique
        self._off = 0
        self._serial = 0

    def __len__(self) -> int:
        return len(self._heap) - self._off

    @property
    def next_time(self) -> int | None:
        """The time of the next action (epoch seconds), None if there is none."""
        heap = self._heap
        while heap and heap[0][4].call is None:
            heapq.heappop(heap)
            self._off -= 1
        return heap[0][0] if heap else None

    def at(self, time: int, call: TimedCall, order: int = RUN, rank: tuple[int, ...] = ()) -> TimetableEntry:
        """Schedule a call at a time, or at once if it is past; ``rank`` orders within a second."""
        if time < self.now:  # noqa: PLR1730 - max() takes three times as long, twice in each run
            time = self.now
        self._serial += 1
        entry = TimetableEntry(time, call)
        heapq.heappush(self._heap, (time, order, rank, self._serial, entry))
        return entry

    def cancel(self, entry: TimetableEntry | None) -> None:
        """Cancel an action, unless it was done already."""
        if entry is None or entry.call is None:
            return
        entry.call = None
        self._off += 1
        if self._off > _SPARE and self._off > len(self._heap) // 2:
            self._heap[:] = [place for place in self._heap if place[4].call is not None]
            heapq.heapify(self._heap)
            self._off = 0

    def advance(self, until: int, most: int | None = None) -> bool:
        """Do all actions up to and including a time, at most ``most``; return whether the time was reached."""
        heap, done = self._heap, 0
        self.until = until
        while heap:
            time, _, _, _, entry = heap[0]
            call = entry.call
            if call is None:
                heapq.heappop(heap)
                self._off -= 1
                continue
            if time > until:
                break
            if done == most:
                return False
            heapq.heappop(heap)
            entry.call = None
            self.now = time
            done += 1
            call(time)
        self.now = max(self.now, until)
        return True


# Attributes that a pool itself sets in a job.
_VOLATILE_NAMES: Final = """
    currenthosts deferraltime enteredcurrentstatus exitbysignal exitcode holdreason holdreasoncode
    holdreasonsubcode jobcurrentstartdate jobcurrentstartexecutingdate jobruncount jobstartdate jobstatus
    lastholdreason lastholdreasoncode lastholdreasonsubcode lastjobstatus lastrejmatchreason lastrejmatchtime
    lastsuspensiontime lastvacatetime numholds numjobcompletions numjobstarts numshadowstarts releasereason
    totalsuspensions
"""
VOLATILE: Final = frozenset(_VOLATILE_NAMES.split())
# Functions of their arguments alone.
_PURE_NAMES: Final = """
    ceiling floor ifthenelse int iserror isundefined max member min real regexp round size split strcat string
    stringlistimember stringlistmember substr tolower toupper versioneq versionge versiongt versionle versionlt
"""
_PURE: Final = frozenset(_PURE_NAMES.split())
CLOCK: Final = frozenset(("currenttime", "servertime"))
_NUMBERS: Final = ("DeferralTime", "DeferralWindow", "DeferralPrepTime", "ScheddInterval")
_KEYS: Final = tuple(name.lower() for name in _NUMBERS)


# The parts of HTCondor's own clause about time are numbers; parts that depend on nothing that changes are evaluated
# once. The rest, and anything not plainly true, is evaluated as a whole. HTCondor: SubmitHash::SetRequirements.
def _conjuncts(tree: Node) -> Iterator[Node]:
    work = [tree]
    while work:
        node = bare(work.pop())
        if isinstance(node, Binary) and node.op == "&&":
            work += [node.right, node.left]
        else:
            yield node


def _clause() -> frozenset[str]:
    """Return the parts of the clause that condor_submit adds, as printed."""
    text = JobSchedule(time=1, universe=Universe.LOCAL).requirements_clause() or ""
    return frozenset(unparse(node, UnparseForm.COMPACT) for node in _conjuncts(Expression(text).tree))


_CLAUSE: Final = _clause()


class Gate:
    """The Requirements of one job against the machines of one kind.

    ``changes_by_itself``: time alone, apart from the clause, can open a closed gate. ``time`` is the DeferralTime and
    ``match_opens`` the first second at which the clause allows a match (epoch seconds); None if the numbers of the ad
    are invalid for a run, or change with the clock.
    """

    def __init__(self, ad: ClassAd, machine: ClassAd, *, is_asked: bool = True) -> None:
        """Take the job's ad and the machine's; ``is_asked``: a job without Requirements matches nothing.

        That is so in a match of two ads; the schedd starts a local job without any.
        """
        self._ad = ad
        self._is_asked = is_asked
        self._machine = machine
        self._asks = "Requirements" in machine and boolean(machine, "Requirements") is not True
        self._static: list[Expression] = []
        self._moving: list[Expression] = []
        self._settled: bool | None = None
        self._has_clause = False
        self._codes = ad.codes
        self._deferral: tuple[object, Deferral | None] | None = None
        self.time: int | None = None
        self.match_opens: int | None = None
        self._window = self._lead = 0
        self._follows_runs = self._may_change(VOLATILE)
        self._read_terms()
        if "Requirements" in ad:
            self._take_apart()
        self.changes_by_itself = bool(self._moving) or self._asks or (self._has_clause and self._may_change(CLOCK))

    def _take_apart(self) -> None:
        asked = expression(self._ad, "Requirements")
        if asked is None:  # an invalid expression is never true
            self._settled = False
            return
        parts = {unparse(node, UnparseForm.COMPACT): node for node in _conjuncts(asked.tree)}
        self._has_clause = parts.keys() >= _CLAUSE
        for text, node in parts.items():
            if not (self._has_clause and text in _CLAUSE):
                part = Expression.of(node)
                moves = is_moving(part, self._ad, self._machine, VOLATILE | CLOCK)
                (self._moving if moves else self._static).append(part)

    def _read_terms(self) -> None:
        found = self._numbers()
        if found is None or not 0 < found[0] <= LATEST:
            self.time = self.match_opens = None
            return
        time, self._window, prep_time, interval = found  # negative lengths too: they only move the gates
        self._lead = prep_time + interval
        self.time, self.match_opens = time, time - self._lead

    @property
    def is_settled(self) -> bool:
        """Return whether only the clause decides (as ``lets`` found), with the same numbers for every run."""
        return self._settled is True and self.is_still and self.time is not None

    @property
    def is_still(self) -> bool:
        """Return whether it may become settled, or is: nothing besides the clause depends on time or on the runs."""
        return not (self._settled is False or self._moving or self._asks or self._follows_runs)

    def plan(self, time: int) -> None:
        """Set another DeferralTime, which the ad has already."""
        if self.time is None or not 0 < time <= LATEST:
            self._read_terms()
        else:
            self.time, self.match_opens = time, time - self._lead

    def opens(self, now: int) -> int | None:
        """Return the first second from ``now`` on at which the clause allows a match; None for never."""
        if not self._has_clause:
            return now
        if self._follows_runs:
            self._read_terms()
        time, opens = self.time, self.match_opens
        if time is None or opens is None:
            return now if all(name in self._ad for name in _NUMBERS) else None
        first = opens if opens > now else now  # noqa: FURB136 - max() takes three times as long, twice in each run
        return first if first < time + self._window else None

    def lets(self, now: int, context: Callable[[int], Context]) -> bool:
        """Return whether job and machine match at ``now`` (epoch seconds); ``context`` is for evaluation."""
        ad, machine = self._ad, self._machine
        if self._asks and not boolean(machine, "Requirements", context(now), ad):
            return False
        if "requirements" not in self._codes:
            return not self._is_asked
        is_plain = True
        if self._has_clause:
            if self._follows_runs:
                self._read_terms()
            time, opens = self.time, self.match_opens
            is_plain = time is not None
            if time is not None and opens is not None and not opens <= now < time + self._window:
                return False
        if self._settled is None:
            self._settled = all(self._is_true(part, context(now)) for part in self._static)
        if (
            self._settled
            and is_plain
            and (not self._moving or all(self._is_true(part, context(now)) for part in self._moving))
        ):
            return True
        return boolean(ad, "Requirements", context(now), machine) is True

    def unmet(self, context: Context) -> list[str]:
        """Return the parts of Requirements that depend on nothing that changes, and are not true of the machine."""
        return [part.unparse() for part in self._static if not self._is_true(part, context)]

    def _is_true(self, part: Expression, context: Context) -> bool:
        return result(part, self._ad, context, self._machine) is True

    def deferral(self) -> Deferral | None:
        """Return the run given by the ad's numbers; None if one is invalid, or depends on the time.

        In the lifetime of a gate DeferralTime may change, and attributes that runs change.
        """
        code = self._codes.get("deferraltime")
        if self._deferral is None or self._deferral[0] != code or self._follows_runs:
            self._deferral = code, self._read()
        return self._deferral[1]

    def _read(self) -> Deferral | None:
        found = self._numbers()
        try:
            return None if found is None else Deferral(*found)
        except InvalidDeferral:
            return None

    def _numbers(self) -> tuple[int, int, int, int] | None:
        """Return the numbers of ``_NUMBERS``; None if one is missing, not an integer, or depends on the time.

        The clause uses a real with its fraction.
        """
        time, window, prep_time, interval = (exact_integer(self._ad, name) for name in _NUMBERS)
        if time is None or window is None or prep_time is None or interval is None or self._may_change(CLOCK):
            return None
        return time, window, prep_time, interval

    def _may_change(self, names: frozenset[str]) -> bool:
        """Return whether one of the numbers is an expression that depends on one of some attributes."""
        found = [(name, self._codes.get(key)) for name, key in zip(_NUMBERS, _KEYS, strict=True)]
        written = [
            name for name, code in found if code is not None and not (isinstance(code, str) and plain(code) is not None)
        ]
        codes = filter(None, (expression(self._ad, name) for name in written))
        return any(is_moving(code, self._ad, self._machine, names) for code in codes)


class _Moving(NamedTuple):
    """Whether an expression may change, valid while the attributes it reaches are as they were ``seen``.

    ``mine`` and ``theirs`` are the lower-case names that it reaches in the job's ad and in the machine's.
    """

    moves: bool
    mine: tuple[str, ...]
    theirs: tuple[str, ...]
    seen: tuple[object, ...]


_MOVING: Final[dict[tuple[Code, frozenset[str]], _Moving]] = {}
_MOST_MOVING: Final = 1024


def is_moving(part: Expression, ad: ClassAd, machine: ClassAd, names: frozenset[str]) -> bool:
    """Return whether an expression may have another value later: it depends on the time, or on some attributes.

    ``names`` are in lower case. References in both ads count. Called whenever a job is considered; computed again only
    if something has changed that the expression can reach.
    """
    known = _MOVING.get((part.code, names))
    if known is not None and known.seen == _seen(ad, machine, known.mine, known.theirs):
        return known.moves
    try:
        found = part.references(ad)
    except CircularReference:
        return True
    asked = [name.rpartition(".")[2] for name in found.external]
    codes = [part, *(expression(ad, name) for name in found.internal), *(expression(machine, name) for name in asked)]
    trees = [code.tree for code in codes if code is not None]
    moves = any(_asks(tree, names) for tree in trees)
    if not any(map(_selects, trees)):
        mine = (*_SCOPES, *map(lower, (*found.internal, *asked)))
        theirs = tuple(map(lower, asked))
        if len(_MOVING) >= _MOST_MOVING:
            _MOVING.clear()
        _MOVING[part.code, names] = _Moving(moves, mine, theirs, _seen(ad, machine, mine, theirs))
    return moves


_SCOPES: Final = ("my", "target", "self", "other")


def _seen(ad: ClassAd, machine: ClassAd, mine: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[object, ...]:
    return *map(ad.codes.get, mine), *map(machine.codes.get, theirs)


def _selects(tree: Node) -> bool:
    """Return whether a name is selected from something that has to be evaluated first, with unknown dependencies."""
    return any(isinstance(node, Reference) and (node.absolute or not _is_plain(node.scope)) for node in nodes(tree))


def _is_plain(scope: Node | None) -> bool:
    return scope is None or (isinstance(scope, Reference) and scope.scope is None and lower(scope.name) in _SCOPES)


def _asks(tree: Node, names: frozenset[str]) -> bool:
    return any(
        (isinstance(node, Call) and node.name.lower() not in _PURE)
        or (isinstance(node, Reference) and node.name.lower() in names)
        for node in nodes(tree)
    )


_ON_SCHEDD: Final = (int(Universe.LOCAL), int(Universe.SCHEDULER))


class JobRun:
    """One match of a job, from there to its end; times are epoch seconds of the schedd's clock.

    ``ad`` is the starter's copy: later edits do not reach it. ``claim`` is its part of a machine, None in the local
    universe. ``next`` is the next action, ``taken`` when the pool takes the machine back; ``left`` the remaining run
    time of a suspended program (seconds), ``exit`` how it will end, if known; ``time`` is its DeferralTime, None if
    that is to be read from the ad; ``is_over``: it has ended, but that is not known everywhere yet.
    """

    __slots__ = (
        "ad", "arrived", "claim", "exit", "is_over", "is_suspended", "left", "matched", "next", "started",
        "taken", "time",
    )  # fmt: skip

    def __init__(self, ad: ClassAd, matched: int, claim: Claim | None) -> None:
        self.ad = ad
        self.matched = matched
        self.time: int | None = None
        self.claim = claim
        self.arrived: int | None = None
        self.started: int | None = None
        self.next: TimetableEntry | None = None
        self.taken: TimetableEntry | None = None
        self.is_suspended = False
        self.left: int | None = None
        self.exit = SUCCESS
        self.is_over = False

    @property
    def has_slot(self) -> bool:
        """Return whether it holds a slot of a machine."""
        return self.claim is not None


class Unwritten(Protocol):
    """Changes of a job that are not in its ad yet; ``time`` is its DeferralTime, if changed."""

    time: int | None

    def write(self) -> None:
        """Write it."""


class PoolJob:
    """A job in the queue.

    ``turn`` is when it is considered next, ``check`` when its periodic expressions are checked; ``is_starved``: it
    waits for a slot. ``run`` is its present run, None if it has none. ``has_left``: it is gone; ``is_over``: it was
    completed or removed, and may still be there because of LeaveJobInQueue. ``gates`` are its Requirements against each
    kind of machine, ``gate`` the first of them; ``ruling`` is the policy at every exit, if that is constant;
    ``has_dollars``: something in it is expanded with the machine's ad. ``kept`` is the ad in the queue, ``unwritten``
    its missing changes; ``is_quiet`` is the result of ``Quiet`` for its runs. ``began`` is when its last run was
    matched, or started, None for never.
    """

    __slots__ = (
        "_chances", "_has_policy", "began", "check", "codes", "gate", "gates", "has_dollars", "has_left",
        "has_stayed", "id", "is_local", "is_over", "is_periodic", "is_quiet", "is_starved", "kept", "key",
        "rank", "ruling", "run", "status", "turn", "universe", "unwritten",
    )  # fmt: skip

    def __init__(
        self, job: JobId, ad: ClassAd, machines: Sequence[ClassAd], schedd: ClassAd, *, has_policy: bool = False
    ) -> None:
        """Take the queue's ad of the job, and those it may meet; ``has_policy``: the administrator has one too."""
        self._has_policy = has_policy
        self.id = job
        self.key = str(job)
        self.kept = ad
        self.unwritten: Unwritten | None = None
        self.codes = ad.parts()[0]
        self.universe = count(ad, "JobUniverse") or int(Universe.VANILLA)
        self.is_local = self.universe in _ON_SCHEDD
        self.rank = (-(int32(ad, "JobPrio") or 0), *job)
        self.status = count(ad, "JobStatus")
        self.run: JobRun | None = None
        self.began: int | None = None
        self.turn: TimetableEntry | None = None
        self.check: TimetableEntry | None = None
        self.is_starved = self.has_left = self.is_over = self.has_stayed = False
        self._chances: dict[int, int] = {}
        self.read(machines, schedd)

    def read(self, machines: Sequence[ClassAd], schedd: ClassAd) -> None:
        """Read the expressions, again after an edit."""
        if self.is_local:
            self.gates = [Gate(self.ad, schedd, is_asked=False)]
        else:
            self.gates = [Gate(self.ad, machine) for machine in machines]
        self.gate = self.gates[0]
        self.is_quiet: bool | None = None
        self.is_periodic = self._has_policy or has_periodic(self.ad)
        self.ruling: Ruling | None = None if self.is_periodic else always_at_exit(self.ad)
        self.has_dollars = any("$$(" in self.ad.text(name) for name in self.ad)

    @property
    def ad(self) -> ClassAd:
        """The ad in the queue, after writing its missing changes."""
        if self.unwritten is not None:
            self.unwritten.write()
        return self.kept

    @property
    def is_idle(self) -> bool:
        """Return whether it waits for a match."""
        return self.status == JobStatus.IDLE and not self.has_left

    def counter(self, key: str) -> int:
        """Return a counter of the ad, by its lower-case name; 0 if it is missing."""
        return count(self.ad, key)

    def chance(self, seed: int, kind: int, run: int) -> int:
        """Return the random number of a kind for one of the runs, identified by ``run``."""
        begun = self._chances.get(kind)
        if begun is None:
            begun = self._chances[kind] = chance(seed, kind, *self.id)
        return chance(run, after=begun)
