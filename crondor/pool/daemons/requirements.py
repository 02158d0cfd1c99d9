"""Requirements of a job, taken apart so that looking again costs only what can have changed.

The parts that HTCondor's own clause adds about time are numbers; those that depend on nothing that changes are
evaluated once. What is left, and whatever is not plainly true, is evaluated as a whole.

HTCondor: SubmitHash::SetRequirements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from crondor.classad import CircularReference, Code, Context, Expression, UnparseForm, lower, unparse
from crondor.classad.ad import ClassAd
from crondor.classad.tree import Binary, Call, Node, Reference, bare, nodes
from crondor.deferral import LATEST, Deferral, InvalidDeferral
from crondor.job.attributes import boolean, exact_integer, expression, plain, result
from crondor.schedule import JobSchedule, Universe

# What a pool writes into a job by itself.
VOLATILE: Final = frozenset(
    (
        "currenthosts",
        "deferraltime",
        "enteredcurrentstatus",
        "exitbysignal",
        "exitcode",
        "holdreason",
        "holdreasoncode",
        "holdreasonsubcode",
        "jobcurrentstartdate",
        "jobcurrentstartexecutingdate",
        "jobruncount",
        "jobstartdate",
        "jobstatus",
        "lastholdreason",
        "lastholdreasoncode",
        "lastholdreasonsubcode",
        "lastjobstatus",
        "lastrejmatchreason",
        "lastrejmatchtime",
        "lastsuspensiontime",
        "lastvacatetime",
        "numholds",
        "numjobcompletions",
        "numjobstarts",
        "numshadowstarts",
        "releasereason",
        "totalsuspensions",
    )
)
# Functions that have one value for the same arguments, and ask for nothing else.
_PURE: Final = frozenset(
    [
        "ceiling",
        "floor",
        "ifthenelse",
        "int",
        "iserror",
        "isundefined",
        "max",
        "member",
        "min",
        "real",
        "regexp",
        "round",
        "size",
        "split",
        "strcat",
        "string",
        "stringlistimember",
        "stringlistmember",
        "substr",
        "tolower",
        "toupper",
        "versioneq",
        "versionge",
        "versiongt",
        "versionle",
        "versionlt",
    ]
)
CLOCK: Final = frozenset(("currenttime", "servertime"))
_NUMBERS: Final = ("DeferralTime", "DeferralWindow", "DeferralPrepTime", "ScheddInterval")
_KEYS: Final = tuple(name.lower() for name in _NUMBERS)


def _conjuncts(tree: Node) -> Iterator[Node]:
    work = [tree]
    while work:
        node = bare(work.pop())
        if isinstance(node, Binary) and node.op == "&&":
            work += [node.right, node.left]
        else:
            yield node


def _clause() -> frozenset[str]:
    """Return the parts of the clause that condor_submit adds, as they are printed."""
    text = JobSchedule(time=1, universe=Universe.LOCAL).requirements_clause() or ""
    return frozenset(unparse(node, UnparseForm.COMPACT) for node in _conjuncts(Expression(text).tree))


_CLAUSE: Final = _clause()


class Gate:
    """The Requirements of one job against the machines of one kind.

    ``changes_by_itself`` says whether time alone, beside the clause, can open what is closed. ``time`` is the
    DeferralTime and ``match_opens`` the first second at which the clause lets a match be made (epoch seconds); None
    where the numbers of the ad are none that a run can have, or change with the clock.
    """

    def __init__(self, ad: ClassAd, machine: ClassAd, *, is_asked: bool = True) -> None:
        """Take the job's ad and the machine's; ``is_asked`` says whether a job without Requirements matches nothing.

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
        if asked is None:  # a text that is no expression is never true
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
        time, self._window, prep_time, interval = found  # lengths below 0 too: they only move the gates
        self._lead = prep_time + interval
        self.time, self.match_opens = time, time - self._lead

    @property
    def is_settled(self) -> bool:
        """Say whether, as was found out by ``lets``, the clause alone decides, and its numbers are those of any run."""
        return self._settled is True and self.is_still and self.time is not None

    @property
    def is_still(self) -> bool:
        """Say whether it may become settled, or is: nothing beside the clause depends on time or on the runs."""
        return not (self._settled is False or self._moving or self._asks or self._follows_runs)

    def plan(self, time: int) -> None:
        """Take another DeferralTime, which the ad has already."""
        if self.time is None or not 0 < time <= LATEST:
            self._read_terms()
        else:
            self.time, self.match_opens = time, time - self._lead

    def opens(self, now: int) -> int | None:
        """Return the first second from ``now`` on at which the clause lets a match be made; None for never."""
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
        """Say whether job and machine match at ``now`` (epoch seconds); ``context`` gives that of an evaluation."""
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
        """Return the run that the ad's numbers speak of; None where one cannot be, or asks for the time.

        In the lifetime of a gate DeferralTime may change, and what the runs change.
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
        """Return the numbers of ``_NUMBERS``; None where one is missing, is no integer, or asks for the time.

        The clause reckons with a real as it is, fraction and all.
        """
        time, window, prep_time, interval = (exact_integer(self._ad, name) for name in _NUMBERS)
        if time is None or window is None or prep_time is None or interval is None or self._may_change(CLOCK):
            return None
        return time, window, prep_time, interval

    def _may_change(self, names: frozenset[str]) -> bool:
        """Say whether one of the numbers is an expression that has another value when one of some attributes has."""
        found = [(name, self._codes.get(key)) for name, key in zip(_NUMBERS, _KEYS, strict=True)]
        written = [
            name for name, code in found if code is not None and not (isinstance(code, str) and plain(code) is not None)
        ]
        codes = filter(None, (expression(self._ad, name) for name in written))
        return any(is_moving(code, self._ad, self._machine, names) for code in codes)


class _Moving(NamedTuple):
    """Whether an expression moves, as long as what it can reach in the two ads is what was ``seen`` there.

    ``mine`` and ``theirs`` are the names that it reaches in the job's ad and in the machine's, in lower case.
    """

    moves: bool
    mine: tuple[str, ...]
    theirs: tuple[str, ...]
    seen: tuple[object, ...]


_MOVING: Final[dict[tuple[Code, frozenset[str]], _Moving]] = {}
_MOST_MOVING: Final = 1024


def is_moving(part: Expression, ad: ClassAd, machine: ClassAd, names: frozenset[str]) -> bool:
    """Say whether an expression may have another value later: it asks for the time, or for one of some attributes.

    ``names`` are in lower case. What it refers to in both ads counts. It is asked at each look at a job, and found
    out anew only where something has changed that the expression can reach.
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
    """Say whether a name is selected from what has to be evaluated first, with all that it may ask for."""
    return any(isinstance(node, Reference) and (node.absolute or not _is_plain(node.scope)) for node in nodes(tree))


def _is_plain(scope: Node | None) -> bool:
    return scope is None or (isinstance(scope, Reference) and scope.scope is None and lower(scope.name) in _SCOPES)


def _asks(tree: Node, names: frozenset[str]) -> bool:
    return any(
        (isinstance(node, Call) and node.name.lower() not in _PURE)
        or (isinstance(node, Reference) and node.name.lower() in names)
        for node in nodes(tree)
    )
