"""Expressions for users of the package: read once, printed, evaluated, simplified."""

from __future__ import annotations

from typing import Final, NamedTuple

from crondor.classad import operators
from crondor.classad.compile import code_of, compile_node, read
from crondor.classad.evaluate import EMPTY, Explanation, begin, explain, failed, holds, references_of, value_of
from crondor.classad.functions import find_function
from crondor.classad.parser import UnparseForm, parse_expression, unparse
from crondor.classad.scope import (
    NOWHERE,
    AdValue,
    Attributes,
    Code,
    Context,
    EvaluationState,
    Inlining,
    ListValue,
    Value,
    code_tree,
    find,
    find_bare,
    root_of,
    to_tree,
)
from crondor.classad.text import lower
from crondor.classad.tree import (
    ERROR,
    MAX_CACHED_TEXT,
    MAX_DEPTH,
    UNDEFINED,
    AdNode,
    Binary,
    Call,
    CircularReference,
    Exceptional,
    Exhausted,
    Failure,
    ListNode,
    Literal,
    Node,
    Reference,
    StackExhausted,
    Ternary,
    Unary,
)
from crondor.diagnostics import Diagnostic, Source

_COMMUTES: Final = frozenset(("+", "*", "&&", "||", "&", "|", "^"))


# The result is that of HTCondor 25.14 with one exception: HTCondor loses part of ``true && 2 * x`` (it leaves ``x``).
# Oddities are kept: ``true || "text"`` is an error, unlike in evaluation, and names inside an ad literal in the
# expression are not looked up around it. HTCondor: ClassAd::Flatten, Operation::flatten.
class _Part(NamedTuple):
    """What flattening leaves of an operand: a value, a tree, or both joined by an operator that may be regrouped."""

    value: Value = UNDEFINED
    tree: Node | None = None
    op: str | None = None


def flatten(code: Code, ad: Attributes, context: Context, inlining: Inlining | None = None) -> Code:
    """Return what remains of an expression in an ad; ``inlining``: no name of the ad. Raises EvaluationFailed."""
    state = begin(ad, None, context)
    state.inlining = inlining
    state.free = 0
    try:
        part = _flatten(state, code_tree(code), split=False)
    except (Failure, Exhausted) as failure:
        raise failed(str(failure)) from None
    except (RecursionError, StackExhausted):
        raise failed("names and operators nest deeper than can be flattened") from None
    return code_of(_as_tree(part))


def _as_tree(part: _Part) -> Node:
    if part.tree is None:
        return to_tree(part.value)
    return part.tree if part.op is None else Binary(part.op, to_tree(part.value), part.tree)


def _flatten(state: EvaluationState, node: Node, *, split: bool) -> _Part:
    state.spend(8)
    if isinstance(node, Binary) and node.op in _COMMUTES:
        part = _combine(node.op, _flatten(state, node.left, split=True), _flatten(state, node.right, split=True))
        return part if split or part.op is None else _Part(tree=_as_tree(part))
    if isinstance(node, Reference):
        return _reference(state, node)
    if isinstance(node, (Literal, ListNode, AdNode)):
        return _structure(state, node)
    if isinstance(node, Call):
        return _call(state, node)
    return _operator(state, node)


def _structure(state: EvaluationState, node: Literal | ListNode | AdNode) -> _Part:
    if isinstance(node, Literal):
        return _Part(code_of(node).evaluate(state))
    if isinstance(node, ListNode):
        return _Part(tree=ListNode(tuple(_as_tree(_flatten(state, item, split=False)) for item in node.items)))
    cur = state.cur
    codes = {lower(name): code_of(item) for name, item in node.items}
    state.cur = AdValue(codes, {lower(name): name for name, _ in node.items}, state.around())
    items = tuple((name, _as_tree(_flatten(state, item, split=False))) for name, item in node.items)
    state.cur = cur
    return _Part(tree=AdNode(items))


def _operator(state: EvaluationState, node: Unary | Binary | Ternary) -> _Part:
    if isinstance(node, Ternary):
        return _ternary(state, node)
    if isinstance(node, Unary):
        part = _flatten(state, node.operand, split=False)
        if part.tree is not None:
            return _Part(tree=Unary(node.op, part.tree))
        return part if node.op == "()" else _Part(operators.unary(node.op, part.value))
    left, right = _flatten(state, node.left, split=False), _flatten(state, node.right, split=False)
    if left.tree is not None or right.tree is not None:
        return _Part(tree=Binary(node.op, _as_tree(left), _as_tree(right)))
    return _Part(_apply(state, node.op, left.value, right.value))


def _apply(state: EvaluationState, op: str, left: Value, right: Value) -> Value:
    if op == "?:":
        return right if left is UNDEFINED else left
    if op in ("&&", "||", "[]"):
        return code_of(Binary(op, to_tree(left), to_tree(right))).evaluate(state)
    return operators.binary(op, left, right)


def _ternary(state: EvaluationState, node: Ternary) -> _Part:
    test = _flatten(state, node.test, split=False)
    if test.tree is None and test.value is not UNDEFINED:
        chosen = operators.truth(test.value)
        if chosen is None:
            return _Part(ERROR)
        return _flatten(state, node.yes if chosen else node.no, split=False)
    yes, no = _flatten(state, node.yes, split=False), _flatten(state, node.no, split=False)
    return _Part(tree=Ternary(test.tree or node.test, _as_tree(yes), _as_tree(no)))


def _call(state: EvaluationState, node: Call) -> _Part:
    if find_function(node.name) is None:
        return _Part(ERROR)
    parts = [_flatten(state, argument, split=False) for argument in node.arguments]
    is_open = state.inlining is not None and lower(node.name) in state.inlining.open
    if is_open or any(part.tree is not None for part in parts):
        return _Part(tree=Call(node.name, tuple(map(_as_tree, parts))))
    return _Part(compile_node(node, 0)(state))


def _reference(state: EvaluationState, node: Reference) -> _Part:
    cur, used = state.cur, state.used
    found = _found(state, node)
    if isinstance(found, _Part):
        return found
    place, code = found
    tree = code_tree(code)
    if isinstance(tree, AdNode) or isinstance(code.const, AdValue):
        return _Part(tree=node)  # a reference to an ad stays a reference
    if used >= MAX_DEPTH:
        raise Failure("an attribute refers to itself")
    state.cur, state.used = place, used + 1
    part = _flatten(state, tree, split=False)
    state.cur, state.used = cur, used
    if part.tree is None or state.inlining is None:
        return part if part.tree is None else _Part(tree=node)
    is_compound = isinstance(part.tree, (Binary, Ternary)) or (isinstance(part.tree, Unary) and part.tree.op != "()")
    return _Part(tree=Unary("()", part.tree)) if is_compound and state.inlining.parentheses else part


def _found(state: EvaluationState, node: Reference) -> tuple[AdValue, Code] | _Part:
    """Return what a reference finds, or what remains of one that finds no attribute."""
    name, stays = lower(node.name), _Part(tree=node)
    if node.scope is None:
        found = find(state, root_of(state), name) if node.absolute else find_bare(state, state.cur, name)
        return stays if found is None else found
    value = code_of(node.scope).evaluate(state)
    if isinstance(value, AdValue) and value is not NOWHERE:
        return find(state, value, name) or stays
    if isinstance(value, ListValue):
        mapped = compile_node(Reference(to_tree(value), node.name), 0)(state)
        return state.cur, code_of(to_tree(mapped))
    return stays if value is UNDEFINED else _Part(ERROR)


def _combine(op: str, left: _Part, right: _Part) -> _Part:
    """Join two operands, combining the constants of a chain of one operator: x + 1 + 2 is 3 + x."""
    if (left.tree is None) is not (right.tree is None) and op in ("&&", "||"):
        left, right = _as_condition(left), _as_condition(right)
        decided = _decided(op, left, right)
        if decided is not None:
            return decided
    if left.tree is None and right.tree is None:
        return _Part(_logical(op, left.value, right.value))
    if left.tree is None and right.op is None:
        return _Part(left.value, right.tree, op)
    if right.tree is None and left.op is None:
        return _Part(right.value, left.tree, op)
    if left.op is None and right.op is None:
        return _Part(tree=_join(op, left.tree, right.tree))
    return _regroup(op, left, right)


def _regroup(op: str, left: _Part, right: _Part) -> _Part:
    if op not in (left.op, right.op):
        return _Part(tree=Binary(op, _as_tree(left), _as_tree(right)))
    if left.op == right.op:
        return _Part(_logical(op, left.value, right.value), _join(op, left.tree, right.tree), op)
    same, other = (left, right) if left.op == op else (right, left)
    if other.tree is None:
        one, two = (left.value, right.value)
        return _Part(_logical(op, one, two), same.tree, op)
    return _Part(same.value, _join(op, left.tree, right.tree), op)


def _join(op: str, left: Node | None, right: Node | None) -> Node:
    if left is None or right is None:
        raise TypeError("a known side is not joined")
    return Binary(op, left, right)


def _logical(op: str, left: Value, right: Value) -> Value:
    if op not in ("&&", "||"):
        return operators.binary(op, left, right)
    stop = op == "||"
    values: list[bool | Value] = []
    for value in (left, right):
        fact = operators.truth(value)
        values.append(value if fact is None else fact)
    one, two = values
    if not all(type(value) is bool or isinstance(value, Exceptional) for value in values):
        return ERROR  # if both values are known, both count, even if evaluation would skip the second
    if one is stop or one is ERROR:
        return one
    if one is UNDEFINED:
        return UNDEFINED if two is (not stop) else two
    return two


def _as_condition(part: _Part) -> _Part:
    """Return a number as the boolean that it counts as in ``&&`` and ``||``."""
    fact = operators.truth(part.value) if part.tree is None else None
    return part if fact is None else _Part(fact)


def _decided(op: str, left: _Part, right: _Part) -> _Part | None:
    """Return the result if one known side of ``&&`` or ``||`` decides; None if it does not."""
    known, open_side = (left, right) if left.tree is None else (right, left)
    one, two = (known.value, UNDEFINED) if left.tree is None else (UNDEFINED, known.value)
    value = _logical(op, one, two)
    if type(value) is bool:
        return _Part(value)
    if op == "&&" and known.value is True:
        return open_side if open_side.op is None else _Part(tree=_as_tree(open_side))
    return None


NOW_UNKNOWN = Context()


class References(NamedTuple):
    """The attributes an expression refers to, each in the spelling of its first occurrence, sorted ignoring case.

    ``internal`` are found in its own ad, directly or through attributes that are; ``external`` are not: they may be in
    the other ad of a match, or nowhere. ``target`` are those of them with TARGET.
    """

    internal: tuple[str, ...]
    external: tuple[str, ...]
    target: tuple[str, ...]


class Expression:
    """An expression; two are equal if they print alike."""

    __slots__ = ("code", "source")

    def __init__(self, text: str) -> None:
        """Read an expression in new syntax. Raises ClassAdSyntaxError."""
        self.code = read(text)
        self.source: Source | None = None if len(text) > MAX_CACHED_TEXT else Source(text)

    @classmethod
    def parse(
        cls, source: Source, *, old: bool = False, partial: bool = False, open_choice: bool = False
    ) -> Expression:
        """Read an expression of a named source, so that errors have their place.

        ``old``: strings by the rules of ``-long`` ads. ``partial``: text after a complete expression is ignored;
        ``open_choice``: only after a ``? :``, as in HTCondor's configuration and transforms. Raises ClassAdSyntaxError.
        """
        if partial or open_choice or len(source.text) > MAX_CACHED_TEXT:
            return cls.of(parse_expression(source, old=old, partial=partial, open_choice=open_choice), source)
        made = cls.__new__(cls)
        try:
            made.code = read(source.text, old=old)
        except ValueError:
            parse_expression(source, old=old)  # the same error, at the user's place
            raise
        made.source = source
        return made

    @classmethod
    def of(cls, node: Node | Code, source: Source | None = None) -> Expression:
        """Return a tree as an expression."""
        made = cls.__new__(cls)
        made.code = node if isinstance(node, Code) else code_of(node)
        made.source = source
        return made

    @property
    def tree(self) -> Node:
        """The syntax tree; its offsets are those of the text it was read from."""
        return code_tree(self.code)

    def evaluate(
        self, my: Attributes = EMPTY, target: Attributes | None = None, context: Context = NOW_UNKNOWN
    ) -> Value:
        """Return the value in an ad, or in a match of two. Raises EvaluationFailed."""
        return value_of(self.code, my, target, context)

    def holds(self, my: Attributes = EMPTY, target: Attributes | None = None, context: Context = NOW_UNKNOWN) -> bool:
        """Return whether the value is true, or a nonzero number; False in all other cases."""
        return holds(self.code, my, target, context)

    def unparse(self, form: UnparseForm = UnparseForm.COMPACT, *, faithful: bool = False) -> str:
        """Return the text as HTCondor prints it, but readable again; ``faithful``: exactly as HTCondor."""
        return unparse(self.tree, form, faithful=faithful)

    def references(self, ad: Attributes = EMPTY) -> References:
        """Return the attributes referred to, seen from an ad.

        Raises CircularReference, also for a selection from something that is not an ad.
        """
        inside = references_of(self.code, ad, internal=True)
        outside = None if inside is None else references_of(self.code, ad, internal=False)
        if inside is None or outside is None:
            message = "its references have no end: an attribute refers to itself, or a name is selected from no ad"
            span = None if self.source is None else self.source.span()
            raise CircularReference(Diagnostic("classad-references", message, span=span))
        prefixes = ("target.", "other.")
        target = tuple(name[len(prefix) :] for name in outside for prefix in prefixes if lower(name).startswith(prefix))
        return References(tuple(inside), tuple(outside), target)

    def flatten(
        self, ad: Attributes = EMPTY, context: Context = NOW_UNKNOWN, inlining: Inlining | None = None
    ) -> Expression:
        """Return what remains after computing what the ad decides; with ``inlining`` without names of the ad.

        Raises EvaluationFailed.
        """
        return Expression.of(flatten(self.code, ad, context, inlining))

    def explain(
        self, my: Attributes = EMPTY, target: Attributes | None = None, context: Context = NOW_UNKNOWN
    ) -> Explanation:
        """Return the values of all parts, and the shortest reason why the whole is not true."""
        return explain(self.code, my, target, context)

    def __str__(self) -> str:
        """Return the text as HTCondor prints it on one line."""
        return self.unparse()

    def __repr__(self) -> str:
        return f"Expression({self.unparse()!r})"

    def __eq__(self, other: object) -> bool:
        return self.unparse() == other.unparse() if isinstance(other, Expression) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.unparse())

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self.unparse(), self.source)


def _restored(text: str, source: Source | None) -> Expression:
    return Expression.of(read(text), source)
