"""Values of attributes that make an expression true, or not: both sides of each comparison, each branch of each choice.

An assignment is a mapping of attributes' names in lower case to texts, None for an attribute that is not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise, product
from typing import TypeAlias

from crondor.classad.ad import ClassAd
from crondor.classad.compile import code_of
from crondor.classad.errors import CircularReference, ClassAdSyntaxError, EvaluationFailed
from crondor.classad.evaluate import value_of
from crondor.classad.operators import truth
from crondor.classad.scope import Code, Context
from crondor.classad.text import lower
from crondor.classad.tree import Binary, Call, Literal, Node, Reference, Ternary, Unary, bare, measure, nodes
from crondor.classad.unparse import print_string, unparse
from crondor.classad.values import UNDEFINED

Assignment: TypeAlias = "dict[str, str | None]"

MOST_MODELS = 8
"""Assignments that are kept for one truth value of one expression."""
_MOST_VALUES = 64
_MOST_TRIED = 256
_DEEPEST = 100  # operators in operators that are divided further
_MANY = 40  # attributes of one question of which few values are tried together
MOST_NODES = 2000
"""Parts of an expression that is divided; a larger one is tried as a whole."""
_MOST_WORK = 2_000_000  # attributes of jobs that are tried
_MOST_TURNS = 4
_MOST_MEMBERS = 4  # of a list in a text, of choices in a regular expression
_SCALE = (*(-(1 << power) for power in range(40, -1, -3)), 0, *(1 << power for power in range(0, 41, 3)))
_COMPARISONS = frozenset(("<", "<=", "==", ">=", ">", "!=", "=?=", "=!=", "is", "isnt"))
_SCOPES = frozenset(("my", "target", "self"))
_EITHER: tuple[str | None, ...] = ("true", "false", "1", "0", "2", None)


class ValuePool:
    """The values that attributes are tried with, those first that conditions compare them with."""

    def __init__(self, conditions: Iterable[Node], context: Context) -> None:
        """Collect the constants of conditions."""
        self._context = context
        self.values: dict[str, dict[str | None, None]] = {}
        self.spelled: dict[str, str] = {}
        self._owned: dict[int, tuple[Node, tuple[tuple[str, str], ...]]] = {}
        self._known: dict[tuple[int, bool], tuple[Node, list[Assignment]]] = {}
        self._depth = 0
        self._left = _MOST_WORK
        for condition in conditions:
            for node in nodes(condition):
                self._look(node)
        for found in self.values.values():
            found.update(dict.fromkeys(_EITHER))

    def of(self, name: str) -> list[str | None]:
        """Return the values of an attribute, by its name in lower case; always with None."""
        found = self.values.get(name, {})
        return (
            list(islice(found, _MOST_VALUES))
            if None in islice(found, _MOST_VALUES)
            else [*islice(found, _MOST_VALUES - 1), None]
        )

    def _look(self, node: Node) -> None:
        if isinstance(node, Reference) and (name := name_of(node)) is not None:
            self.spelled.setdefault(name, node.name)
            self.values.setdefault(name, {})
        for name, text in self._own(node):
            self.values.setdefault(name, {}).setdefault(text)

    def _own(self, node: Node) -> tuple[tuple[str, str], ...]:
        """Return the attributes of one comparison or call, each with what it is compared with."""
        known = self._owned.get(id(node))
        if known is None:
            if isinstance(node, Binary) and node.op in _COMPARISONS:
                known = (node, tuple(self._compared(node)))
            elif isinstance(node, Call):
                known = (node, tuple(_called(node)))
            else:
                return ()
            self._owned[id(node)] = known
        return known[1]

    def _compared(self, node: Binary) -> Iterator[tuple[str, str]]:
        names, constants = references(node), _constants(node)
        yield from ((name, text) for name in names for each in constants for text in _around(each))
        if len(names) == 1:
            root = self._root(node, names[0])
            roots = self._turns(node, names[0]) if root is None and constants else [root]
            yield from ((names[0], str(each + step)) for each in roots if each is not None for step in (-1, 0, 1))

    def _root(self, node: Binary, name: str) -> int | None:
        """Return where the two sides meet, if they are linear in one attribute."""
        points = []
        difference = code_of(Binary("-", node.left, node.right))
        for at in (0, 1, 2):
            value = self._value(difference, {name: str(at)})
            if not isinstance(value, (int, float)) or isinstance(value, bool):
                return None
            points.append(float(value))
        slope = points[1] - points[0]
        if not slope or abs(points[2] - points[1] - slope) > abs(slope) * 1e-9:
            return None
        root = -points[0] / slope
        return round(root) if abs(root) < 1 << 53 else None

    def _turns(self, node: Binary, name: str) -> list[int]:
        """Return where a comparison becomes true, or ceases to be, among whole numbers; found by halving."""
        code = code_of(node)
        found = []
        for low, high in pairwise(_SCALE):
            first = self.is_true(code, {name: str(low)})
            if first is self.is_true(code, {name: str(high)}):
                continue
            begin, end = low, high
            while end - begin > 1:
                middle = (begin + end) // 2
                begin, end = (middle, end) if self.is_true(code, {name: str(middle)}) is first else (begin, middle)
            found.append(end)
        return found[:_MOST_TURNS]

    def _value(self, code: Code, assignment: Mapping[str, str | None]) -> object:
        try:
            return value_of(code, ad_of(assignment, self.spelled), None, self._context)
        except (EvaluationFailed, ClassAdSyntaxError, CircularReference):
            return UNDEFINED

    def is_true(self, code: Code, assignment: Mapping[str, str | None]) -> bool:
        """Say whether an expression is true of a job that has these attributes alone."""
        return truth(self._value(code, assignment)) is True  # type: ignore[arg-type]

    def models(self, condition: Node, *, want: bool) -> list[Assignment]:
        """Return assignments under which a condition is true, or is not; each branch has its own, if it fits."""
        node = bare(condition)
        known = self._known.get((id(node), want))
        if known is None:
            is_large = not self._depth and measure(node)[1] > MOST_NODES
            self._depth += 1
            found = (
                self._models(node, want=want)
                if self._depth <= _DEEPEST and not is_large
                else self._atom(node, want=want)
            )
            self._depth -= 1
            known = self._known[(id(node), want)] = (node, found)
        return known[1]

    def _models(self, node: Node, *, want: bool) -> list[Assignment]:
        if isinstance(node, Unary) and node.op == "!":
            found = in_turn([iter(self.models(node.operand, want=not want)), iter(self._atom(node, want=want))])
            return _few(self._that(node, found, want=want))
        if isinstance(node, Binary) and node.op in {"&&", "||"}:
            deciding = node.op == "||"  # either side alone decides for this value
            left, right = node.left, node.right
            pairs = [(want, not want), (not want, want)] if want is deciding else []
            pairs.append((want, want))
            found = in_turn(
                [merged(self.models(left, want=first), self.models(right, want=second)) for first, second in pairs]
            )
            return _few(self._that(node, found, want=want))
        if isinstance(node, Ternary) or (isinstance(node, Call) and node.name.lower() == "ifthenelse"):
            test, yes, no = (node.test, node.yes, node.no) if isinstance(node, Ternary) else (*node.arguments, None)[:3]
            if test is not None and yes is not None and no is not None:
                chosen = merged(self.models(test, want=True), self.models(yes, want=want))
                found = in_turn([chosen, merged(self.models(test, want=False), self.models(no, want=want))])
                return _few(self._that(node, found, want=want))
        return self._atom(node, want=want)

    def _that(self, node: Node, found: Iterable[Assignment], *, want: bool) -> Iterator[Assignment]:
        code = code_of(node)
        for each in found:
            self._left -= len(each) + 1
            if self._left < 0:
                return
            if self.is_true(code, each) is want:
                yield each

    def _atom(self, node: Node, *, want: bool) -> list[Assignment]:
        """Try the values of the attributes of a condition that is not divided further."""
        names = references(node)
        own: dict[str, list[str]] = {}
        for each in nodes(node):
            for name, text in self._own(each):
                own.setdefault(name, []).append(text)
        tried = [list(dict.fromkeys((*own.get(name, ()), *self.of(name)))) for name in names]
        found = (
            dict(zip(names, values, strict=True))
            for values in islice(product(*tried), _MOST_TRIED if len(names) <= _MANY else 1)
        )
        return _few(self._that(node, found, want=want))


def name_of(node: Reference) -> str | None:
    """Return the lower-case name of an attribute of the job, None for what is another ad's, or a part of one."""
    if node.absolute:
        return None
    scope = node.scope
    if scope is None:
        return None if lower(node.name) in _SCOPES else lower(node.name)
    if isinstance(scope, Reference) and scope.scope is None and lower(scope.name) in _SCOPES:
        return lower(node.name)
    return None


def of_job(node: Node) -> Node:
    """Return a question about TARGET, the job, as one that is asked in the job's own ad; too deep a one as it is."""
    return node if measure(node)[0] > _DEEPEST else _of_job(node)


def _of_job(node: Node) -> Node:
    made = node
    if isinstance(node, Reference) and node.scope is not None:
        scope = node.scope
        is_job = isinstance(scope, Reference) and scope.scope is None and lower(scope.name) == "target"
        made = node._replace(scope=None if is_job else _of_job(scope))
    elif isinstance(node, Unary):
        made = node._replace(operand=_of_job(node.operand))
    elif isinstance(node, Binary):
        made = node._replace(left=_of_job(node.left), right=_of_job(node.right))
    elif isinstance(node, Ternary):
        made = node._replace(test=_of_job(node.test), yes=_of_job(node.yes), no=_of_job(node.no))
    elif isinstance(node, Call):
        made = node._replace(arguments=tuple(_of_job(each) for each in node.arguments))
    return made


def distinct(trees: Iterable[Node]) -> tuple[Node, ...]:
    """Return expressions, each once by its text: one that is nested deeply has no hash."""
    return tuple({unparse(tree): tree for tree in trees}.values())


def references(node: Node) -> tuple[str, ...]:
    """Return the lower-case names of the job's attributes in an expression, in the order of their names."""
    found = {name for each in nodes(node) if isinstance(each, Reference) and (name := name_of(each)) is not None}
    return tuple(sorted(found))


def ad_of(assignment: Mapping[str, str | None], spelled: Mapping[str, str]) -> ClassAd:
    """Return an ad with the attributes of an assignment."""
    return ClassAd.of_texts({spelled.get(key, key): text for key, text in assignment.items() if text is not None})


def merged(left: Iterable[Assignment], right: Iterable[Assignment]) -> Iterator[Assignment]:
    """Yield the pairs of assignments that do not contradict each other."""
    others = list(right)
    for one in left:
        for other in others:
            if all(one.get(name, text) == text for name, text in other.items()):
                yield {**one, **other}


def in_turn(each: Iterable[Iterator[Assignment]]) -> Iterator[Assignment]:
    """Yield from iterators in turn, until all are at their end."""
    left = list(each)
    while left:
        still = []
        for one in left:
            found = next(one, None)
            if found is not None:
                yield found
                still.append(one)
        left = still


def samples(pattern: str) -> tuple[str, ...]:
    """Return texts that a simple regular expression matches, or something near them: what may be repeated, and not."""
    plain = re.sub(r"\(\?[a-zA-Z]+\)", "", pattern[:1000])
    choices = [plain]
    for found in re.finditer(r"\((?:\?:)?([^()]*\|[^()]*)\)", plain):
        choices += [plain[: found.start()] + one + plain[found.end() :] for one in found[1].split("|")[1:_MOST_MEMBERS]]
    choices += plain.split("|")[1:_MOST_MEMBERS] if "(" not in plain else []
    made = [_sample(choice, times) for choice in choices for times in (1, 2, 0)]
    return tuple(dict.fromkeys(made))[: 3 * _MOST_MEMBERS]


def _sample(pattern: str, times: int) -> str:
    """Return a text for a regular expression, in which what may be repeated is there so often."""
    text = re.sub(r"\((?:\?:)?([^()|]*)(?:\|[^()]*)?\)", r"\1", pattern).partition("|")[0]
    text = re.sub(r"\[\^[^\]]*\]", "x", text)
    text = re.sub(r"\[(.)[^\]]*\]", r"\1", text)
    text = re.sub(r"\\[dD]", "1", text)
    text = re.sub(r"\\[wWsS]", "a", text)
    text = re.sub(r"\{[0-9,]*\}", "", text)
    text = re.sub(r"(?<!\\)\.", "x", text)
    text = re.sub(r"(\\?.)([*+?])\??", lambda found: found[1] * (times or int(found[2] == "+")), text)
    return re.sub(r"\\(.)", r"\1", re.sub(r"(?<!\\)[\^$]", "", text))


def _constants(node: Node) -> list[object]:
    return [each.value for each in nodes(node) if isinstance(each, Literal)]


def _called(node: Call) -> Iterator[tuple[str, str]]:
    names, constants = references(node), _constants(node)
    texts = [each for each in constants if isinstance(each, str)]
    is_pattern = node.name.lower().startswith("regexp")
    for name in names:
        yield from ((name, text) for each in constants if not isinstance(each, str) for text in _around(each))
        for text in texts:
            for made in samples(text) if is_pattern else (text, *re.findall(r"[^, ]+", text)[:_MOST_MEMBERS]):
                yield from ((name, print_string(each)) for each in (made, f"{made}-x", f"x,{made}"))


def _around(value: object) -> tuple[str, ...]:
    """Return a constant and what is next to it on both sides, as texts."""
    if isinstance(value, bool):
        return ("true", "false")
    if isinstance(value, int):
        return (str(value), str(value - 1), str(value + 1))
    if isinstance(value, float):
        return (repr(value), repr(value - 0.5), repr(value + 0.5)) if abs(value) < 1e300 else (repr(1e300),)
    if isinstance(value, str):
        return (print_string(value), print_string(value.swapcase()), print_string(f"{value}-x"))
    return ("true", "1")


def _few(found: Iterable[Assignment]) -> list[Assignment]:
    """Return some assignments, each once."""
    kept: dict[tuple[tuple[str, str | None], ...], Assignment] = {}
    for each in islice(found, _MOST_TRIED):
        kept.setdefault(tuple(sorted(each.items())), each)
        if len(kept) >= MOST_MODELS:
            break
    return list(kept.values())
