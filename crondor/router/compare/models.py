"""Values of attributes that make an expression true or false, and what rules read.

An assignment is a mapping of attributes' names in lower case to texts, None for an attribute that is not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise, product
from typing import TypeAlias

from crondor.classad.ad import ClassAd
from crondor.classad.compile import code_of
from crondor.classad.evaluate import value_of
from crondor.classad.expression import Expression
from crondor.classad.operators import truth
from crondor.classad.parser import print_string, unparse
from crondor.classad.scope import Code, Context
from crondor.classad.text import lower
from crondor.classad.tree import (
    UNDEFINED,
    Binary,
    Call,
    CircularReference,
    ClassAdSyntaxError,
    EvaluationFailed,
    Literal,
    Node,
    Reference,
    Ternary,
    Unary,
    bare,
    measure,
    nodes,
)
from crondor.router.table.route import Route, RoutingTable
from crondor.transform import Transform
from crondor.transform.program import Requirements

Assignment: TypeAlias = "dict[str, str | None]"

MOST_MODELS = 8
"""Assignments that are kept for one truth value of one expression."""
_MOST_VALUES = 64
_MOST_TRIED = 256
_DEEPEST = 100  # nesting of operators that are split further
_MANY = 40  # attributes of one condition of which few values are tried together
MOST_NODES = 2000
"""Parts of an expression that is split; a larger one is tried as a whole."""
_MOST_WORK = 2_000_000  # attributes of jobs that are tried
_MOST_TURNS = 4
_MOST_MEMBERS = 4  # of a list in a text, of choices in a regular expression
_SCALE = (*(-(1 << power) for power in range(40, -1, -3)), 0, *(1 << power for power in range(0, 41, 3)))
_COMPARISONS = frozenset(("<", "<=", "==", ">=", ">", "!=", "=?=", "=!=", "is", "isnt"))
_SCOPES = frozenset(("my", "target", "self"))
_EITHER: tuple[str | None, ...] = ("true", "false", "1", "0", "2", None)


class ValuePool:
    """The values that attributes are tried with, starting with those that conditions compare them with."""

    def __init__(self, conditions: Iterable[Node], context: Context) -> None:
        self._context = context
        self.values: dict[str, dict[str | None, None]] = {}
        self.spelled: dict[str, str] = {}
        self._owned: dict[int, tuple[Node, tuple[tuple[str, str], ...]]] = {}
        self._known: dict[tuple[int, bool], tuple[Node, list[Assignment]]] = {}
        self._depth = 0
        self._left = _MOST_WORK
        for condition in conditions:
            for node in nodes(condition):
                if isinstance(node, Reference) and (name := name_of(node)) is not None:
                    self.spelled.setdefault(name, node.name)
                    self.values.setdefault(name, {})
                for name, text in self._own(node):
                    self.values.setdefault(name, {}).setdefault(text)
        for found in self.values.values():
            found.update(dict.fromkeys(_EITHER))

    def of(self, name: str) -> list[str | None]:
        """Return the values of an attribute, by its name in lower case; always including None."""
        found = self.values.get(name, {})
        return (
            list(islice(found, _MOST_VALUES))
            if None in islice(found, _MOST_VALUES)
            else [*islice(found, _MOST_VALUES - 1), None]
        )

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
        """Return where the two sides are equal, if they are linear in one attribute."""
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
        """Return where a comparison changes among whole numbers, found by bisection."""
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
        """Return whether an expression is true of a job with only these attributes."""
        return truth(self._value(code, assignment)) is True  # type: ignore[arg-type]

    def models(self, condition: Node, *, want: bool) -> list[Assignment]:
        """Return assignments under which a condition is true, or not; one for each branch, if possible."""
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
        """Try the values of the attributes of a condition that is not split further."""
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
    """Return the lower-case name of an attribute of the job, None for another ad's, or a part of one."""
    if node.absolute:
        return None
    scope = node.scope
    if scope is None:
        return None if lower(node.name) in _SCOPES else lower(node.name)
    if isinstance(scope, Reference) and scope.scope is None and lower(scope.name) in _SCOPES:
        return lower(node.name)
    return None


def of_job(node: Node) -> Node:
    """Return a condition on TARGET, the job, as one in the job's own ad; unchanged if too deep."""
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
    """Return expressions, each once by its text: deeply nested ones cannot be hashed."""
    return tuple({unparse(tree): tree for tree in trees}.values())


def references(node: Node) -> tuple[str, ...]:
    """Return the lower-case names of the job's attributes in an expression, in the order of their names."""
    found = {name for each in nodes(node) if isinstance(each, Reference) and (name := name_of(each)) is not None}
    return tuple(sorted(found))


def ad_of(assignment: Mapping[str, str | None], spelled: Mapping[str, str]) -> ClassAd:
    """Return an ad with the attributes of an assignment."""
    return ClassAd.of_texts({spelled.get(key, key): text for key, text in assignment.items() if text is not None})


def merged(left: Iterable[Assignment], right: Iterable[Assignment]) -> Iterator[Assignment]:
    """Yield the merged pairs of assignments that do not contradict each other."""
    others = list(right)
    for one in left:
        for other in others:
            if all(one.get(name, text) == text for name, text in other.items()):
                yield {**one, **other}


def in_turn(each: Iterable[Iterator[Assignment]]) -> Iterator[Assignment]:
    """Yield from iterators in turn, until all are exhausted."""
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
    """Return texts that a simple regular expression matches, at least nearly: with and without repetition."""
    plain = re.sub(r"\(\?[a-zA-Z]+\)", "", pattern[:1000])
    choices = [plain]
    for found in re.finditer(r"\((?:\?:)?([^()]*\|[^()]*)\)", plain):
        choices += [plain[: found.start()] + one + plain[found.end() :] for one in found[1].split("|")[1:_MOST_MEMBERS]]
    choices += plain.split("|")[1:_MOST_MEMBERS] if "(" not in plain else []
    made = [_sample(choice, times) for choice in choices for times in (1, 2, 0)]
    return tuple(dict.fromkeys(made))[: 3 * _MOST_MEMBERS]


def _sample(pattern: str, times: int) -> str:
    """Return a text for a regular expression, with repeatable parts ``times`` times."""
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
    """Return a constant and its neighbours on both sides, as texts."""
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


_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MACRO = re.compile(r"\$(?P<function>[A-Za-z_]*)\((?P<inside>[^()]*)")
_SIMPLE = re.compile(r"\$\((?P<name>[A-Za-z0-9_.+-]+)(?::(?P<default>[^()]*))?\)")
_NESTED = re.compile(r"\$[A-Za-z_]*\([^()]*\$\(")
_OPENING = re.compile(r"(?i)\b(?:eval|evalInEachContext|countMatches|unparse|unresolved)[ \t]*\(")
_COMMAND = re.compile(
    r"[ \t]*(?P<keyword>SET|DEFAULT|EVALSET|EVALMACRO|COPY|RENAME|DELETE)[ \t]+(?P<target>[^ \t]+)"
    r"(?:[ \t]+(?:[=,][ \t]+)?(?P<value>.*))?",
    re.IGNORECASE,
)
_PATTERN = re.compile(r"[ \t]*(?:COPY|RENAME|DELETE)[ \t]+/(?P<pattern>[^/]*)/", re.IGNORECASE)
_IF = re.compile(r"(?i)[ \t]*(?:if|elif)[ \t]+(?P<condition>.*)")
_ASSIGNED = re.compile(r"[ \t]*(?P<name>[A-Za-z_+-][A-Za-z0-9_.]*)[ \t]*=(?P<value>.*)")
_SCOPE_WORDS = frozenset(("my", "target", "self", "true", "false", "undefined", "error"))
_MOST_ROUNDS = 8  # macros within macros


# It may return too much: each word of a rule may be an attribute.
@dataclass(frozen=True)
class ReadRules:
    """The lines of some transforms, and their context."""

    transforms: tuple[Transform, ...]
    knobs: dict[str, str]
    tests: tuple[Expression, ...] = ()

    @classmethod
    def of_table(cls, table: RoutingTable) -> ReadRules:
        """Take all transforms of a table, and its other conditions."""
        transforms = (*table.before, *(route.transform for route in table.routes), *table.after)
        constraint = table.settings.source_constraint
        asked = [Expression.of(of_job(constraint.tree))] if constraint is not None else []
        asked += [test for route in table.routes for test in tests_of(route)]
        return cls(transforms, dict(table.facts.knobs), tuple(asked))

    @classmethod
    def of_route(cls, table: RoutingTable, route: Route) -> ReadRules:
        """Take a route with the transforms around it."""
        before, after = (table.before, table.after) if route.takes_transforms else ((), ())
        return cls((*before, route.transform, *after), dict(table.facts.knobs), tuple(tests_of(route)))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """All lines except comments."""
        found = (line.text for transform in self.transforms for line in transform.lines)
        return tuple(line for line in found if not line.lstrip().startswith("#"))

    @cached_property
    def used_knobs(self) -> dict[str, str]:
        """The knobs of the configuration that the lines may read, directly or through others."""
        found: dict[str, str] = {}
        work = list(self.lines)
        while work:
            for word in _macro_words(work.pop()):
                if word in self.knobs and word not in found:
                    found[word] = self.knobs[word]
                    work.append(found[word])
        return found

    @cached_property
    def names(self) -> dict[str, str]:
        """The words that may be names of attributes, in their first spelling, by name in lower case."""
        found: dict[str, str] = {}
        texts = (*self.lines, *self.used_knobs.values(), *(str(each.expression) for each in self._requirements))
        for text in (*texts, *(str(test) for test in self.tests)):
            for word in _WORD.findall(text):
                found.setdefault(lower(word), word)
        return {key: word for key, word in found.items() if key not in _SCOPE_WORDS}

    @property
    def _requirements(self) -> Iterator[Requirements]:
        return (each.requirements for each in self.transforms if each.requirements is not None)

    @property
    def requirements(self) -> tuple[str, ...]:
        """The texts of the requirements of all transforms."""
        return tuple(each.text for each in self._requirements)

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """The regular expressions with which rules select names."""
        found = (_PATTERN.match(line) for line in self.lines)
        return tuple(dict.fromkeys(each["pattern"] for each in found if each is not None))

    @cached_property
    def is_open(self) -> bool:
        """Whether the texts do not show what is read: a name is composed, or a text is evaluated."""
        texts = (*self.lines, *self.used_knobs.values(), *(str(test) for test in self.tests))
        return any(_NESTED.search(text) or _OPENING.search(text) for text in texts)

    @cached_property
    def conditions(self) -> tuple[Node, ...]:
        """The conditions: requirements, tests, evaluated expressions, and conditions of ``if``."""
        trees = [each.expression.tree for each in self._requirements]
        trees += [test.tree for test in self.tests]
        for transform in self.transforms:
            macros = {**self.knobs, **_assigned(transform)}
            trees += [tree for text in _evaluated(transform) if (tree := _parsed(text, macros)) is not None]
        return distinct(trees)

    @cached_property
    def touched(self) -> tuple[str, ...]:
        """The attributes that commands name and macros read, as spelled."""
        found: dict[str, str] = {}
        for line in (*self.lines, *self.used_knobs.values()):
            for name in (*re.findall(r"(?i)\bMY\.([A-Za-z_][A-Za-z0-9_]*)", line), *_named(line)):
                found.setdefault(lower(name), name)
        return tuple(found.values())


def tests_of(route: Route) -> list[Expression]:
    """Return the conditions of a route besides its requirements, evaluated before it copies jobs."""
    asked = (
        *(route.job_should_be_sandboxed, route.edit_job_in_place, route.use_shared_x509_user_proxy),
        *(route.shared_x509_user_proxy, route.send_id_tokens),
    )
    return [each for each in asked if each is not None]


def _macro_words(text: str) -> Iterator[str]:
    for found in _MACRO.finditer(text):
        yield from (lower(word) for word in re.findall(r"[A-Za-z_][A-Za-z0-9_.]*", found["inside"]))
    found_if = _IF.match(text)
    if found_if is not None:
        yield from (lower(word) for word in _WORD.findall(found_if["condition"]))


def _named(line: str) -> Iterator[str]:
    found = _COMMAND.match(line)
    if found is None:
        return
    target = found["target"].strip('",=')
    if found["keyword"].upper() != "EVALMACRO" and _WORD.fullmatch(target):
        yield target


def _assigned(transform: Transform) -> dict[str, str]:
    """Return the macros that a transform defines, by the last assignment of each."""
    found = (_ASSIGNED.match(line.text) for line in transform.lines)
    return {lower(each["name"].lstrip("+")): each["value"].strip() for each in found if each is not None}


def _evaluated(transform: Transform) -> Iterator[str]:
    """Yield the texts of a transform that are evaluated in the job, or are conditions."""
    for line in transform.lines:
        found = _COMMAND.match(line.text)
        if found is not None and found["keyword"].upper() in {"EVALSET", "EVALMACRO"}:
            yield found["value"] or ""
        condition = _IF.match(line.text)
        if condition is not None:
            yield re.sub(r"(?i)^[ \t]*(?:!|defined\b)[ \t]*", "", condition["condition"])


def _parsed(text: str, macros: dict[str, str]) -> Node | None:
    """Return an expression with its plain macros replaced; None if it is invalid."""

    def replaced(found: re.Match[str]) -> str:
        name = lower(found["name"])
        if name.startswith("my."):
            return f"MY.{found['name'][3:]}"
        return macros.get(name) or found["default"] or ""

    for _ in range(_MOST_ROUNDS):
        text, count = _SIMPLE.subn(replaced, text[:10_000])
        if not count:
            break
    try:
        return Expression(text).tree if text.strip() else None
    except ClassAdSyntaxError:
        return None
