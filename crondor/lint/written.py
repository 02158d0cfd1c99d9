"""The expressions that a description writes into its jobs, and the intended meaning of those that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import Final, NamedTuple

from crondor.classad import ClassAdSyntaxError, Expression
from crondor.classad.tree import AdNode, Binary, Literal, Node, Reference, bare, children, functions, nodes
from crondor.diagnostics import Diagnostic, Severity, Source, Span
from crondor.lint.rule import RuleHit
from crondor.lint.values import AMOUNTS, LONGEST, MOST, GivenValue, is_expression, is_plain
from crondor.schedule import COMMANDS
from crondor.submit.ad.draft import amount


class WrittenExpression(NamedTuple):
    """An expression as the value of a command or attribute; ``tree`` is None if it cannot be read."""

    value: GivenValue
    tree: Node | None

    def place(self, node: Node) -> Span:
        """Return the place of a part of it."""
        return self.value.place(node.start, node.end)


def written(values: Iterable[GivenValue]) -> Iterator[WrittenExpression]:
    """Read the expressions among some values; plain constants are skipped."""
    looked_at = (value for value in values if is_expression(value.key) and not is_plain(value.key, value.text))
    for value in islice(looked_at, MOST):
        if len(value.text) <= LONGEST:
            yield WrittenExpression(value, parsed(value.text))


@lru_cache(1024)
def parsed(text: str) -> Node | None:
    """Return the tree of an expression as condor_submit parses it, None if it cannot."""
    try:
        return Expression.parse(Source(text), old=True).tree
    except ClassAdSyntaxError:
        return None


class Comparison(NamedTuple):
    """An attribute compared with a constant, the attribute on the left: ``node`` is the whole."""

    attribute: Reference
    op: str
    constant: Literal
    node: Binary


_TURNED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
EQUAL: Final = frozenset(("==", "=?=", "is"))
UNEQUAL: Final = frozenset(("!=", "=!=", "isnt"))
ORDERED: Final = frozenset(("<", "<=", ">", ">="))
COMPARED: Final = EQUAL | UNEQUAL | ORDERED


def comparison(node: Node) -> Comparison | None:
    """Return the comparison of a node, None if it does not compare an attribute with a constant."""
    node = bare(node)
    if not isinstance(node, Binary) or node.op.lower() not in COMPARED:
        return None
    left, right, op = bare(node.left), bare(node.right), node.op.lower()
    if isinstance(left, Reference) and isinstance(right, Literal):
        return Comparison(left, op, right, node)
    if isinstance(left, Literal) and isinstance(right, Reference):
        return Comparison(right, _TURNED.get(op, op), left, node)
    return None


def comparisons(tree: Node) -> Iterator[Comparison]:
    """Yield all comparisons of attributes with constants in an expression, in the order of the text."""
    found = (comparison(node) for node in nodes(tree) if isinstance(node, Binary))
    yield from sorted((each for each in found if each is not None), key=lambda each: each.node.start)


def joined_by(tree: Node, op: str) -> list[Node]:
    """Return the parts that one operator (``&&`` or ``||``) joins, without parentheses; the tree itself if none."""
    parts: list[Node] = []
    left = [tree]
    while left:
        node = bare(left.pop())
        if isinstance(node, Binary) and node.op == op:
            left += [node.right, node.left]
        else:
            parts.append(node)
    return parts


def attribute_of(node: Reference) -> str:
    """Return the lower-case name of an attribute, without MY. or TARGET. before it."""
    return node.name.lower()


def scope_of(node: Reference) -> str:
    """Return ``my`` or ``target`` if the reference has that scope, else an empty string."""
    scope = node.scope
    is_name = isinstance(scope, Reference) and scope.scope is None
    return scope.name.lower() if is_name and isinstance(scope, Reference) else ""


def references(tree: Node) -> Iterator[Reference]:
    """Yield the attributes of the job or the machine in an expression, in the order of the text.

    Those of another ad, ``x.y``, are skipped, and so are attributes of ads and lists within the expression.
    """
    found: list[Reference] = []
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, Reference):
            found += [node] if node.scope is None or scope_of(node) in {"my", "target"} else []
        elif not isinstance(node, AdNode):
            left += children(node)
    yield from sorted(found, key=lambda each: each.start)


# A string, in which nothing is an operator; an unclosed one extends to the end, and is scanned once.
STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*("?)')
_OPERATORS: Final = re.compile(
    r"===|!==|=>|=<|<>|(?<![=<>!?])=(?![=?!<>])|(?<![\w.$])(?:and|or|not)(?![\w.(])", re.IGNORECASE
)
_MEANT: Final[Mapping[str, str]] = {
    "=": "==",
    "===": "=?=",
    "!==": "=!=",
    "=>": ">=",
    "=<": "<=",
    "<>": "!=",
    "and": "&&",
    "or": "||",
    "not": "!",
}
_AMOUNT: Final = re.compile(
    r"(?<![\w.$])(?P<number>\d{1,3}(?:,\d{3})+|\d+(?:\.\d*)?|\.\d+)[ \t]*(?P<unit>[A-Za-z]+)?(?![\w(.])"
)
_TIMES: Final = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86400),
    **dict.fromkeys(("w", "week", "weeks"), 604800),
}
_SIZES: Final = {letter: 1024**power for power, letter in enumerate("kmgtp", 1)}
_SIZE: Final = re.compile(
    r"(?P<letter>[kmgtp])(?:i?b{1,2}|bytes?|ib)?|(?P<word>kilo|mega|giga|tera|peta)(?:byte)?s?", re.IGNORECASE
)
_COUNTED: Final = re.compile(r"(?:cpu|core|thread|slot|gpu)s?", re.IGNORECASE)


class Replacement(NamedTuple):
    """The text at an offset and its replacement."""

    start: int
    end: int
    text: str


def replaced(text: str, changes: Sequence[Replacement]) -> str:
    """Return a text with some pieces replaced; they are in order and do not overlap."""
    done, at = [], 0
    for change in changes:
        done += [text[at : change.start], change.text]
        at = change.end
    return "".join((*done, text[at:]))


def operators_of(text: str) -> list[Replacement]:
    """Return the operators of other languages in an expression, each with that of ClassAds."""
    found = _outside(text, _OPERATORS)
    return [Replacement(each.start(), each.end(), _MEANT[each[0].lower()]) for each in found]


def amounts(text: str, key: str) -> list[Replacement]:
    """Return the numbers with units or commas, each with the plain number that is meant.

    ``key`` is the command or attribute of the expression: it determines the unit of a plain number.
    """
    found: list[Replacement] = []
    base, at = _base(key, 0), 0
    for each in _outside(text, _AMOUNT):
        number, unit = each["number"], each["unit"] or ""
        if not unit and "," not in number:
            continue
        base, at = _base(text[at : each.start()], base), each.start()
        plain = _plain(float(number.replace(",", "")), unit, base, key)
        if plain is not None:
            found.append(Replacement(each.start(), each.end(), plain))
    return found


def seconds_of(text: str) -> int | None:
    """Return the seconds of a length such as ``10 min`` or ``2h``, None if it is not one."""
    each = re.fullmatch(_AMOUNT, text.strip())
    factor = _TIMES.get((each["unit"] or "").lower()) if each else None
    return None if each is None or factor is None else round(float(each["number"].replace(",", "")) * factor)


def _outside(text: str, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """Yield the matches of a pattern outside of strings."""
    blank = STRING.sub(lambda piece: f'"{"_" * (len(piece[0]) - 2)}"' if piece[1] else piece[0], text)
    return list(pattern.finditer(blank))


def _base(before: str, earlier: int) -> int:
    """Return the bytes of the unit of what a number is compared with or assigned to: 0 if that is a time.

    ``earlier`` is the result if nothing in ``before`` names it.
    """
    named = re.findall(r"(memory|disk|imagesize|residentsetsize)", before.lower())
    if not named:
        return earlier
    return 1024 * 1024 if named[-1] == "memory" else 1024


def _plain(number: float, unit: str, base: int, key: str) -> str | None:
    size = _SIZE.fullmatch(unit)
    if key in {"request_cpus", "request_gpus"}:
        return str(round(number)) if not unit or _COUNTED.fullmatch(unit) else None
    if size is not None and base:
        letter = (size["letter"] or size["word"][0]).lower()
        if key.startswith("request_"):
            if letter == "p":  # which condor_submit does not know
                number, letter = number * 1024, "t"
            return f"{number:g}{letter.upper()}B" if number < 1_000_000 else f"{round(number)}{letter.upper()}B"
        return str(round(number * _SIZES[letter] / base))
    if base:
        return None if unit else str(round(number))
    factor = _TIMES.get(unit.lower()) if unit else 1
    return None if factor is None else str(round(number * factor))


_SHOWN: Final = 60
_THOUSANDS: Final = re.compile(r"\d{1,2}(,\d{3})+|\d{1,3}(,0\d\d)+|\d{1,3}(,\d{3}){2,}")  # 512,768 is a list of two
_THOUSANDS_AND_UNIT: Final = re.compile(rf"(?:{_THOUSANDS.pattern})[ \t]*(?:[kmgt]b?)?", re.IGNORECASE)

_OTHER_UNIT: Final = re.compile(r"[\d.]+[ \t]*[A-Za-z]+")


class Unread(NamedTuple):
    """A value that condor_submit refuses, and the message, with the code of a rule."""

    value: GivenValue
    code: str
    hit: RuleHit


def unread(expressions: Iterable[WrittenExpression]) -> Iterator[Unread]:
    """Yield the values that condor_submit would read with another operator or number."""
    for each in expressions:
        key, text = each.value.key, each.value.text
        is_list = key in AMOUNTS and _THOUSANDS_AND_UNIT.fullmatch(text) is not None
        if _is_read(key, text) and not is_list:
            continue
        found = _operator(each) or (None if key in COMMANDS else _unit(each, is_list=is_list))
        if found is not None:
            yield found


def _operator(each: WrittenExpression) -> Unread | None:
    changes = operators_of(each.value.text)
    if not _helps(each, changes):
        return None
    message = f"`{_was(each, changes)}` is not an operator of ClassAds: condor_submit refuses the expression"
    return Unread(each.value, "CRN550", _hit(each, changes, message))


def _unit(each: WrittenExpression, *, is_list: bool) -> Unread | None:
    """Return the fault of a number's unit; CRN301 reports those of the deferral commands."""
    key, text = each.value.key, each.value.text
    changes = amounts(text, key)
    if key in AMOUNTS and not changes and _OTHER_UNIT.fullmatch(text):
        message = f"condor_submit cannot read {text}: the units are K, M, G and T, with or without a B"
        return Unread(each.value, "CRN560", RuleHit(message, each.value.span, "write an amount such as 4GB"))
    if not _helps(each, changes):
        return None
    if is_list:
        message = (
            f"{text} is a list to condor_submit: it requests the number before the comma, and retries with the next"
        )
    elif key in AMOUNTS:
        message = f"condor_submit cannot read {text}: the units are K, M, G and T, with or without a B"
    else:
        message = f"condor_submit cannot read {_was(each, changes)}: a number in an expression has no unit"
    hit = _hit(each, changes, message)
    if is_list and _is_rising(text):
        hit = hit._replace(severity=Severity.WARNING)
    return Unread(each.value, "CRN560", hit)


def _is_read(key: str, text: str) -> bool:
    base = AMOUNTS.get(key)
    return (base is not None and amount(text, base, in_list=True) is not None) or parsed(text) is not None


def _is_rising(text: str) -> bool:
    """Return whether condor_submit 25 accepts a list of amounts: each must be larger than the one before."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return all(first < second for first, second in pairwise(numbers))


def _helps(each: WrittenExpression, changes: Sequence[Replacement]) -> bool:
    return bool(changes) and _is_read(each.value.key, replaced(each.value.text, changes))


def _was(each: WrittenExpression, changes: Sequence[Replacement]) -> str:
    return each.value.text[changes[0].start : changes[0].end]


def _hit(each: WrittenExpression, changes: Sequence[Replacement], message: str) -> RuleHit:
    """Return a finding at the first change, without a fix: no fix edits a value that cannot be read."""
    new = replaced(each.value.text, changes)
    place = each.value.place(changes[0].start, changes[0].end)
    return RuleHit(message, place, f"write {new if len(new) <= _SHOWN else changes[0].text}")


def faults(text: str, name: str) -> tuple[Diagnostic, ...]:
    """Return the faults of the value of a command, as an expression."""
    try:
        Expression.parse(Source(text, name), old=True)
    except ClassAdSyntaxError as error:
        return error.diagnostics
    return ()


def called(text: str) -> frozenset[str]:
    """Return the lower-case names of the functions that an expression calls, none if it is not an expression."""
    try:
        return functions(Expression(text).tree)
    except ClassAdSyntaxError:
        return frozenset()
