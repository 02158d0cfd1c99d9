"""Attributes of an ad that refer to themselves, directly or through others.

HTCondor evaluates such a reference to undefined (AttributeReference::_Evaluate), and so everything that needs its
value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

from crondor.classad.compile import code_of
from crondor.classad.evaluate import value_of
from crondor.classad.operators import truth
from crondor.classad.printing import prints_as_it_is
from crondor.classad.scope import BEYOND, AdValue, Code, Codes, Context, code_tree
from crondor.classad.text import lower
from crondor.classad.tree import (
    AdNode,
    Binary,
    Call,
    ClassAdSyntaxError,
    EvaluationFailed,
    ListNode,
    Literal,
    Node,
    Reference,
    Ternary,
    bare,
    children,
    nodes,
    plain_name,
)
from crondor.diagnostics import Severity

_OWN: Final = frozenset(("my", "self"))
_NOT_EVALUATED: Final = frozenset(("unparse", "unresolved"))
_ALIKE: Final = frozenset(("=?=", "=!=", "is", "isnt"))
_TAKES_UNDEFINED: Final = re.compile(
    r"is[a-z]+|user(map|home)|join|mergeenvironment|identicalmember|stringlisti?(member|subsetmatch)"
).fullmatch
"""Functions that have a value even if an argument is undefined."""

_ELSEWHERE: Final = frozenset(
    ("evalineachcontext", "countmatches")
)  # their first argument names attributes of other ads
_WORDS: Final = re.compile(r"[a-z_]\w*").findall
_LONGEST: Final = 1 << 14  # characters of an expression that is examined
_ROUNDS: Final = 8
_NOTHING: Final = AdValue({}, {})
_CONTEXT: Final = Context()
_References = TypeVar("_References", bound=Collection[str])


class Circle(NamedTuple):
    """Attributes each of which refers to the next, and the last to the first; lower-case names.

    ``is_sure``: they are undefined whatever the values of other attributes; a conjunction may be false.
    """

    names: tuple[str, ...]
    is_sure: bool

    @property
    def severity(self) -> Severity:
        """Its severity; a circle through others that is not always followed may be intended, as in HTCondor-CE."""
        if self.is_sure:
            return Severity.ERROR
        return Severity.WARNING if len(self.names) == 1 else Severity.NOTE

    def message(self, spelled: Mapping[str, str]) -> str:
        """Return the message, with the names as ``spelled`` has them."""
        shown = [spelled.get(name, name) for name in self.names]
        one = len(shown) == 1
        taken = "HTCondor evaluates the reference to undefined"
        if self.is_sure:
            taken = f"{'it never has' if one else 'none of them ever has'} a value, for {taken}"
        if one:
            return f"{shown[0]} refers to itself: {taken}"
        way = ", ".join(f"{name} to {other}" for name, other in zip(shown[1:], (*shown[2:], shown[0]), strict=True))
        return f"{shown[0]} refers to {shown[1]}, {way}: {taken}"


def circles(codes: Codes, names: Iterable[str] | None = None) -> Iterator[Circle]:
    """Yield the circles among the expressions of an ad, reachable from some names (lower case; None: all).

    Of circles that share attributes one is yielded, preferably a sure one.
    """
    if not _may_have_knots(_edges(codes, names, _possible_references)):
        return
    edges = _edges(codes, names, _own_references)
    told: set[str] = set()
    for is_sure in (True, False):
        graph = {name: [to for to, sure in found.items() if sure or not is_sure] for name, found in edges.items()}
        for group in _knots(graph):
            if told.isdisjoint(group):
                told |= group
                yield Circle(_way_round(graph, group), is_sure)


def new_circles(before: Codes, after: Codes) -> list[Circle]:
    """Return the circles that a change of an ad has made."""
    changed = {
        name
        for name, code in after.items()
        if (was := before.get(name)) is not code and _written(was) != _written(code)
    }
    found = [each for each in circles(after, changed) if not changed.isdisjoint(each.names)]
    known = {frozenset(each.names) for each in circles(before, changed)} if found else set()
    return [each for each in found if frozenset(each.names) not in known]


def entangled(codes: Codes, names: Iterable[str] | None = None) -> set[str]:
    """Return the names that are in some circle of an ad, reachable from some names."""
    return {name for group in _knots(_edges(codes, names, _own_references)) for name in group}


def _written(code: Code | str | None) -> Code | str | None:
    """Return the text that an expression was read from, if there is one."""
    return code.text or code if isinstance(code, Code) else code


def _edges(
    codes: Codes, names: Iterable[str] | None, references: Callable[[Codes, str], _References]
) -> dict[str, _References]:
    """Return the references of some names, and theirs, name by name."""
    roots = tuple(codes) if names is None else tuple(name for name in names if name in codes)
    edges: dict[str, _References] = {}
    work = list(reversed(roots))
    while work:
        name = work.pop()
        if name not in edges:
            edges[name] = found = references(codes, name)
            work += found
    return edges


def _possible_references(codes: Codes, name: str) -> AbstractSet[str]:
    """Return all that an attribute may refer to in its own ad: where possible all words of its text."""
    code = _written(codes.get(name))
    if not isinstance(code, str):
        return _own_references(codes, name).keys()
    if prints_as_it_is(code):
        return frozenset()
    if len(code) > _LONGEST or "'" in code or not code.isascii():
        return _own_references(codes, name).keys()
    return codes.keys() & _WORDS(code.lower())


def _own_references(codes: Codes, name: str) -> dict[str, bool]:
    """Return the references of an attribute to its own ad, and whether it always needs their values."""
    code = codes.get(name)
    if code is None or (isinstance(code, str) and (len(code) > _LONGEST or prints_as_it_is(code))):
        return {}
    try:
        found = _of_text(code) if isinstance(code, str) else _references(code_tree(code))
    except ClassAdSyntaxError:
        return {}
    return {key: is_sure for key, is_sure in found.items() if key in codes}


@lru_cache(maxsize=4096)
def _of_text(text: str) -> dict[str, bool]:
    return _references(code_tree(text))


class _Part(NamedTuple):
    """A node to visit: whether its value is always needed, and the names that nested ads hide."""

    node: Node
    is_sure: bool
    hidden: frozenset[str]


def _references(tree: Node) -> dict[str, bool]:
    """Return the attributes of its own ad that an expression may evaluate, and whether it always needs their values."""
    found: dict[str, bool] = {}
    if isinstance(tree, Literal):
        return found
    work = [_Part(tree, is_sure=True, hidden=frozenset())]
    while work:
        part = work.pop()
        node = part.node
        if isinstance(node, Reference):
            name = lower(node.name)
            if node.scope is not None and plain_name(node.scope) not in _OWN:
                work.append(part._replace(node=node.scope))
            elif name not in part.hidden and (node.scope is not None or name not in BEYOND):
                found[name] = found.get(name, False) or part.is_sure
        elif isinstance(node, AdNode):
            hidden = part.hidden | {lower(name) for name, _ in node.items}
            work += [_Part(each, is_sure=False, hidden=hidden) for _, each in node.items]
        else:
            work += [part._replace(node=each, is_sure=part.is_sure and is_sure) for each, is_sure in _evaluated(node)]
    return found


def _evaluated(node: Node) -> Iterator[tuple[Node, bool]]:
    """Yield the parts of a node that may be evaluated with it, and whether it always needs their values."""
    if isinstance(node, Binary) and node.op in {"&&", "||", "?:"}:
        yield node.left, node.op == "&&" or (node.op == "||" and _constant(node.right) is False)
        known = _constant(node.left)
        if known is None or node.op == "?:":
            yield node.right, False
        elif known is (node.op == "&&"):
            yield node.right, True
    elif (isinstance(node, Binary) and node.op in _ALIKE) or (
        isinstance(node, Call) and _TAKES_UNDEFINED(lower(node.name))
    ):
        yield from ((each, False) for each in children(node))
    elif isinstance(node, Ternary) or (
        isinstance(node, Call) and lower(node.name) == "ifthenelse" and len(node.arguments) == 3
    ):
        test, yes, no = children(node)
        yield test, True
        known = _constant(test)
        if known is None:
            yield yes, False
            yield no, False
        else:
            yield (yes if known else no), True
    elif isinstance(node, Call) and lower(node.name) in _NOT_EVALUATED:
        yield from ((each, True) for each in node.arguments[1:])
    elif isinstance(node, Call) and lower(node.name) in _ELSEWHERE:
        yield from ((each, False) for each in node.arguments[1:])
    else:
        yield from ((each, not isinstance(node, ListNode)) for each in children(node))


def _constant(node: Node) -> bool | None:
    """Return the truth value of a constant expression, None for any other."""
    whole = bare(node)
    if any(isinstance(each, (Reference, Call)) for each in nodes(whole)):
        return None
    try:
        return truth(value_of(code_of(whole), _NOTHING, None, _CONTEXT))
    except EvaluationFailed:
        return None


def _may_have_knots(graph: Mapping[str, AbstractSet[str]]) -> bool:
    """Return whether names are left when those that lead nowhere are removed, a few times at most."""
    left = {name: found for name, found in graph.items() if found}
    for _ in range(_ROUNDS):
        inner = {name: found for name, found in left.items() if not left.keys().isdisjoint(found)}
        if len(inner) == len(left):
            break
        left = inner
    return bool(left)


def _knots(graph: Mapping[str, Iterable[str]]) -> Iterator[set[str]]:
    """Yield the groups of names that lead to each other (Tarjan), and the names that lead to themselves."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    is_open: set[str] = set()
    for root in graph:
        if root in number:
            continue
        work = [(root, iter(graph[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        is_open.add(root)
        while work:
            name, left = work[-1]
            to = next(left, None)
            if to is not None and to not in number:
                number[to] = low[to] = len(number)
                stack.append(to)
                is_open.add(to)
                work.append((to, iter(graph[to])))
            elif to is not None:
                low[name] = min(low[name], number[to]) if to in is_open else low[name]
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == number[name]:
                    group = {stack.pop()}
                    while name not in group:
                        group.add(stack.pop())
                    is_open -= group
                    if len(group) > 1 or name in graph[name]:
                        yield group


def _way_round(graph: Mapping[str, Iterable[str]], group: set[str]) -> tuple[str, ...]:
    """Return a shortest path from the first name of a group back to it."""
    first = next(name for name in graph if name in group)
    came: dict[str, str] = {}
    work = [first]
    for name in work:
        for to in graph[name]:
            if to == first:
                way = [name]
                while way[-1] != first:
                    way.append(came[way[-1]])
                return tuple(reversed(way))
            if to in group and to not in came:
                came[to] = name
                work.append(to)
    return (first,)
