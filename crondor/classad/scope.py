"""What evaluation works on, which refers to itself in a ring: values, ads, expressions, and the state of a run.

HTCondor: EvalState.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timezone, tzinfo
from random import Random
from typing import Final, NamedTuple, Protocol, TypeAlias

from crondor.classad.errors import Exhausted
from crondor.classad.limits import MAX_DEPTH, MAX_STEPS
from crondor.classad.tree import Literal, Node, measure
from crondor.classad.values import LocalTime, RelTime, Simple

Value: TypeAlias = "Simple | ListValue | AdValue"
Run: TypeAlias = "Callable[[EvaluationState], Value]"
Codes: TypeAlias = "Mapping[str, Code | str]"

SPECIAL: Final = frozenset(("self", "my", "parent", "root", "toplevel", "currenttime"))
_CONTEXT: Final = frozenset(("other", "target", "my", "ad"))
_MATCH: Final = frozenset(
    (
        "symmetricmatch",
        "leftmatchesright",
        "rightmatchesleft",
        "leftrankvalue",
        "rightrankvalue",
        "left",
        "right",
        "lctx",
        "rctx",
    )
)
BEYOND: Final = SPECIAL | _CONTEXT | _MATCH
"""Names that mean something beyond the attributes of the two ads; for all others two look-ups decide."""


class Attributes(Protocol):
    """What evaluation needs of an ad: expressions by name in lower case (text until asked for), and spellings."""

    @property
    def codes(self) -> Codes:
        """The expressions."""

    @property
    def names(self) -> Mapping[str, str]:
        """The names as they were written, by name in lower case."""


class AdValue:
    """An ad as a value and as a place to look names up.

    ``codes`` maps names in lower case to expressions (text, until one is asked for); ``names`` keeps their spelling.
    ``parent`` is the ad around it. ``other`` is where a bare name missing here is looked for next: the other ad of a
    match. ``target`` is the ad that TARGET means, where that can be told without a search.
    """

    __slots__ = ("codes", "matched", "names", "other", "parent", "target")

    def __init__(self, codes: Codes, names: Mapping[str, str], parent: AdValue | None = None) -> None:
        """Take the attributes and the ad around them."""
        self.codes = codes
        self.names = names
        self.parent = parent
        self.other: AdValue | None = None
        self.target: AdValue | None = None
        self.matched = False

    def __len__(self) -> int:
        """Return the number of attributes."""
        return len(self.codes)

    def __repr__(self) -> str:
        """Return the names of the attributes."""
        return f"<ad of {', '.join(self.names.values())}>"


class ListValue:
    """A list as a value: its members are expressions until someone asks for one of them.

    ``scope`` is the ad a member's names are looked up in when it is selected by a subscript; None is no ad at all.
    ``made`` marks the result of a function: HTCondor keeps such lists as another type, and ``=?=`` sees it.
    """

    __slots__ = ("made", "members", "scope")

    def __init__(self, members: tuple[Code, ...], scope: AdValue | None, *, made: bool = False) -> None:
        """Take the members and their ad."""
        self.members = members
        self.scope = scope
        self.made = made

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self.members)

    def __repr__(self) -> str:
        """Return the number of members in words."""
        return f"<list of {len(self.members)}>"


class CopiedAd(AdValue):
    """An ad that a subscript by a name gives, as HTCondor has it: no ad is around it, and ``.name`` finds nothing."""

    __slots__ = ()


class CopiedList(ListValue):
    """A list that such a subscript gives: nothing is found in the ads and lists that are its members."""

    __slots__ = ()


NOWHERE: Final = AdValue({}, {})
"""Stands for no ad: nothing is found in it, not even MY."""


class Effort(Protocol):
    """How much all evaluations that share it may cost; a step is about a microsecond."""

    left: int

    def __hash__(self) -> int:
        """Be one of those that are told apart by identity."""
        ...


class Allowance:
    """An effort of so many steps."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        """Begin with nothing spent."""
        self.left = steps


@dataclass(frozen=True)
class Context:
    """What an evaluation may know beside its ads.

    ``now`` is the time in seconds since 1970; ``zone`` the local zone of formatTime and its kin. ``seed`` is what
    random() is drawn from, the same numbers for the same seed. ``current_time`` lets CurrentTime, where no ad has
    it, be the time. ``maps`` serves userMap(map, user): a function from map and user to the groups separated by
    commas, or None. ``effort`` is what this evaluation and others may cost together. ``faithful``: a name selected
    from what a subscript by a name gives (``v["q"].z``) is undefined, as in HTCondor 25.14, which looks for it in
    memory that it has given back.
    """

    now: int = 0
    zone: tzinfo = timezone.utc
    seed: int = 0
    current_time: bool = True
    maps: Callable[[str, str], str | None] | None = field(default=None, compare=False)
    effort: Effort | None = field(default=None, compare=False)
    faithful: bool = False


ENCLOSED: Final = -1
OUT_OF_STEPS: Final = f"the evaluation takes more than {MAX_STEPS} steps"


class Inlining(NamedTuple):
    """How flattening replaces names by the expressions of attributes that have no value yet.

    ``parentheses`` keeps what is put in place together, which HTCondor 25.14 does not: for ``m * 2`` with ``m = x + 1``
    it prints ``2 * x + 1``. ``open`` are functions, in lower case, that are left for later, though they could be
    computed now: the clock and the dice.
    """

    parentheses: bool = True
    open: frozenset[str] = frozenset(("time", "random", "currenttime"))


class EvaluationState:
    """One evaluation under way.

    ``cur`` is the ad whose expression is evaluated; ``root`` the outermost ad (None: a match whose outermost ad
    nobody has asked for); ``used`` how much of the depth is taken; ``stack`` the attributes under way.
    ``free`` is the depth at which an ad that is written out belongs to no ad (ENCLOSED: everywhere it belongs to the
    one it is written in): HTCondor takes references from, and flattens, an expression that has not been put into the
    ad, so that names inside such an ad do not reach MY. ``inlining`` says how flattening puts the expressions of
    names in their place, None: not at all.
    """

    __slots__ = ("_random", "ads", "context", "cur", "free", "inlining", "my", "read", "root", "stack", "steps", "used")

    def __init__(self, context: Context, my: AdValue, read: Callable[[str], Code]) -> None:
        """Begin in the ad ``my``; ``read`` turns a text into an expression."""
        self.context = context
        self.my = my
        self.cur = my
        self.root: AdValue | None = None if my.matched else my
        self.read = read
        self.used = 0
        self.free = ENCLOSED
        self.inlining: Inlining | None = None
        self.steps = MAX_STEPS if context.effort is None else min(MAX_STEPS, context.effort.left)
        self.stack: list[tuple[AdValue, str]] = []
        self.ads: dict[tuple[int, int], AdValue] | None = None
        self._random: Random | None = None

    def spend(self, steps: int) -> None:
        """Take work from what is left.

        Raises Exhausted.
        """
        self.steps -= steps
        if self.steps < 0:
            raise Exhausted(OUT_OF_STEPS)

    def around(self) -> AdValue | None:
        """Return the ad around one that is written out here."""
        return None if self.used == self.free and self.cur is self.my else self.cur

    @property
    def random(self) -> Random:
        """The dice of the function random, begun at the context's seed."""
        if self._random is None:
            self._random = Random(self.context.seed)  # noqa: S311 - a simulation's dice, no secret
        return self._random


class _Unknown:
    __slots__ = ()


UNKNOWN: Final = _Unknown()
"""The ``const`` of an expression that has to be evaluated."""

Compiler: TypeAlias = Callable[[Node, int, bool], Run]
UNMEASURED: Final = 1 << 30
"""The ``height`` of an expression that has not been compiled."""


def literal_value(value: Simple) -> Value:
    """Return what a literal evaluates to: a literal relTime is a real, only relTime() of something else is not."""
    return value.seconds if isinstance(value, RelTime) else value


class Code:
    """An expression that is compiled when it is first evaluated.

    ``height`` is how deep its operators and names are nested: where that fits into what is left of HTCondor's bound,
    ``run`` evaluates without any count; where it does not, a second set of closures counts.
    ``cost`` is the number of its nodes.
    """

    __slots__ = ("_compiler", "_counting", "const", "cost", "height", "node", "run")

    def __init__(self, node: Node, compiler: Compiler, const: Value | _Unknown = UNKNOWN) -> None:
        """Take a tree and what compiles it, or a constant."""
        self.node = node
        self.const = const
        if isinstance(node, Literal) and const is UNKNOWN and not isinstance(node.value, LocalTime):
            self.const = literal_value(node.value)
        self.height = UNMEASURED
        self.cost = 1
        self.run: Run = self.evaluate
        self._compiler = compiler
        self._counting: Run | None = None

    def __repr__(self) -> str:
        """Return the kind of its tree."""
        return f"<Code of a {type(self.node).__name__}>"

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle by the tree, which is compiled again when it is evaluated."""
        return Code, (self.node, self._compiler, *(() if self.const is UNKNOWN else (self.const,)))

    def prepare(self) -> None:
        """Compile the expression."""
        self.height, self.cost = measure(self.node)
        self.run = self._compiler(self.node, 0, False)  # noqa: FBT003 - whether to count

    def evaluate(self, state: EvaluationState) -> Value:
        """Return the value in the ad ``state`` is in.

        Raises Failure.
        """
        const = self.const
        if const is not UNKNOWN:
            return const  # type: ignore[return-value]
        if self.height is UNMEASURED:
            self.prepare()
        if state.used + self.height <= MAX_DEPTH:
            return self.run(state)
        if self._counting is None:
            self._counting = self._compiler(self.node, 0, True)  # noqa: FBT003
        return self._counting(state)
