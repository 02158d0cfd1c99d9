"""Expressions in the text of commands, and the facts, errors and trace of a run.

HTCondor: XFormCopyValueToTree, XFormValueToString.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import NamedTuple

from crondor._types import Made
from crondor.classad.evaluate import value_of
from crondor.classad.expression import Expression
from crondor.classad.parser import UnparseForm, print_name, print_real, unparse
from crondor.classad.printing import prints_as_it_is
from crondor.classad.scope import BEYOND, Attributes, Code, Codes, Context, Value, code_tree, print_value, to_tree
from crondor.classad.text import lower
from crondor.classad.tree import (
    AdNode,
    Binary,
    Call,
    ClassAdSyntaxError,
    EvaluationFailed,
    ListNode,
    Literal,
    LocalTime,
    Node,
    Reference,
    RelTime,
    Unary,
    literal_text,
    plain_name,
)
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, shortened
from crondor.macro.files import Files
from crondor.macro.lines import MacroError

_MANY = 4096
_SHORT = 4096  # characters of a text that is cached
_NUMBER = re.compile(r"[1-9][0-9]{0,17}").fullmatch


def settled(text: str) -> str | None:
    """Return what SET stores for a text, in new syntax; None if it is invalid. Strings are read as in -long ads."""
    if prints_as_it_is(text):
        return text
    return _known_settled(text) if len(text) <= _SHORT else _settled(text)


def _settled(text: str) -> str | None:
    try:
        return unparse(Expression.parse(Source(text), old=True, open_choice=True).tree)
    except ClassAdSyntaxError:
        return None


_known_settled = lru_cache(maxsize=_MANY)(_settled)


def why_not(text: str, *, old: bool = True, open_choice: bool = False) -> Diagnostic | None:
    """Return why SET and REQUIREMENTS, or EVALSET without ``old``, do not read a text to its end.

    With ``open_choice``: the fault of a text that SET cannot store.
    """
    try:
        Expression.parse(Source(text), old=old, open_choice=open_choice)
    except ClassAdSyntaxError as error:
        return error.diagnostics[0]
    return None


class Evaluation:
    """An expression evaluated in many similar ads, cached by literal attributes if these alone decide its value."""

    def __init__(self, code: Code | None) -> None:
        """Take an expression, None for an invalid text."""
        self._code = code
        names = None if code is None else _names(code_tree(code))
        self._names = names if names is not None and len(names) <= _MOST_NAMES else None
        self._known: dict[tuple[Code | str | None, ...], Value] = {}

    @property
    def is_none(self) -> bool:
        """Whether the text is not an expression."""
        return self._code is None

    def remembered(self, codes: Codes) -> Value | None:
        """Return the cached value for the attributes of an ad, if there is one."""
        return self._known.get(tuple(map(codes.get, self._names))) if self._known and self._names is not None else None

    def value(self, ad: Attributes, context: Context, codes: Codes | None = None) -> Value | None:
        """Return the value in an ad, whose ``codes`` save asking for them; None: HTCondor finds none."""
        if self._code is None:
            return None
        if self._names is None:
            return self._computed(ad, context)
        key = tuple(map((ad.codes if codes is None else codes).get, self._names))
        found = self._known.get(key)
        if found is None:
            found = self._computed(ad, context)
            if found is not None and all(text is None or _is_literal(text) for text in key):
                if len(self._known) >= _MANY:
                    self._known.clear()
                self._known[key] = found
        return found

    def _computed(self, ad: Attributes, context: Context) -> Value | None:
        try:
            return value_of(self._code, ad, None, context) if self._code is not None else None
        except (EvaluationFailed, ClassAdSyntaxError):
            return None


_MOST_NAMES = 8
_PURE = frozenset(("ifthenelse", "isundefined", "iserror", "isinteger", "isreal", "isstring", "isboolean", "floor"))


def _is_literal(text: Code | str) -> bool:
    return isinstance(text, str) and len(text) <= _SHORT and prints_as_it_is(text)


def _names(tree: Node) -> tuple[str, ...] | None:
    """Return the names an expression reads from its ad; None if its value depends on more than these."""
    names: dict[str, None] = {}
    work = [tree]
    while work:
        node = work.pop()
        if isinstance(node, Reference):
            key = lower(node.name)
            if node.absolute or key in BEYOND or (node.scope is not None and plain_name(node.scope) != "my"):
                return None
            names[key] = None
            if node.scope is not None:
                names["my"] = None  # an ad may have an attribute of that name
        elif isinstance(node, Unary):
            work.append(node.operand)
        elif isinstance(node, Binary):
            work += (node.left, node.right)
        elif isinstance(node, Call) and node.name.lower() in _PURE:
            work += node.arguments
        elif not isinstance(node, Literal) or isinstance(node.value, LocalTime):
            return None
    return tuple(names)


def evaluation(text: str) -> Evaluation:
    """Return the longest prefix of a text that is an expression, as EVALSET reads it."""
    return _known_evaluation(text) if len(text) <= _SHORT else _evaluation(text)


def _evaluation(text: str) -> Evaluation:
    try:
        return Evaluation(Expression.parse(Source(text), partial=True).code)
    except ClassAdSyntaxError:
        return Evaluation(None)


_known_evaluation = lru_cache(maxsize=_MANY)(_evaluation)


def evaluated_whole(text: str, ad: Attributes, context: Context) -> Value | None:
    """Return the value of a text that is an expression as a whole, with strings as in -long ads; None: it has none."""
    try:
        return value_of(Expression.parse(Source(text), old=True).code, ad, None, context)
    except (EvaluationFailed, ClassAdSyntaxError):
        return None


def stored(value: Value) -> str:
    """Return the text in new syntax that EVALSET stores for a value."""
    if value.__class__ is int:
        return str(value)
    if isinstance(value, RelTime):
        return print_real(value.seconds)
    return print_value(value)


def as_macro(value: Value) -> str:
    """Return the text that EVALMACRO sets its macro to: a string without quotes."""
    if value.__class__ is int:
        return str(value)
    return value if isinstance(value, str) else _in_lines(to_tree(value))


def _in_lines(node: Node) -> str:
    """Return the text of a value; an ad becomes one line per attribute, also as a member of a list."""
    if isinstance(node, AdNode):
        return (
            "".join(
                f"{print_name(name, UnparseForm.OLD)} = {unparse(part, UnparseForm.OLD)}\n" for name, part in node.items
            )
            or "\n"
        )
    if isinstance(node, ListNode) and any(isinstance(item, AdNode | ListNode) for item in node.items):
        return f"{{ {','.join(map(_in_lines, node.items))} }}"
    return unparse(node, UnparseForm.OLD)


def as_text(code: Code | str) -> str:
    """Return the text of $(MY.name): a literal string without quotes, anything else as written."""
    if isinstance(code, str):
        if code[:1] == '"' and "\\" not in code and code.find('"', 1) == len(code) - 1:
            return code[1:-1]
        if _NUMBER(code) or prints_as_it_is(code):
            return code
    tree = code_tree(code)
    text = literal_text(tree)
    return unparse(tree, UnparseForm.OLD) if text is None else text


_NO_TEXT = re.compile("[\\0\\ud800-\\udc7f\\udd00-\\udfff]")
MOST = 100  # findings kept of one kind


class InvalidTransform(CrondorError, ValueError):
    """Transform rules that HTCondor would not load, with all their faults."""


class Stop(Exception):
    """Ends the application of a transform to an ad, with the reason."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic)
        self.diagnostic = diagnostic


def fault(code: str, message: str, span: Span, help: str | None = None, fix: str | None = None) -> Diagnostic:
    """Return the finding that ends a transform."""
    return Diagnostic(code, message, Severity.ERROR, span, help, fix)


def warning(code: str, message: str, span: Span, help: str | None = None, fix: str | None = None) -> Diagnostic:
    """Return a finding after which HTCondor continues."""
    return Diagnostic(code, message, Severity.WARNING, span, help, fix)


def check_text(source: Source) -> None:
    """Raise InvalidTransform for a text with a NUL or a surrogate."""
    found = _NO_TEXT.search(source.text)
    if found is not None:
        what = "a NUL" if found[0] == "\0" else "half a character"
        raise InvalidTransform(fault("not-text", f"rules are text, and this has {what}", source.span(*found.span())))


def short(text: str, most: int = 60) -> str:
    """Return a text for a message, cut where it is long."""
    return shortened(text, most)


def macro_fault(error: MacroError, span: Span) -> Stop:
    """Return the Stop for a macro that cannot be expanded."""
    only = error.diagnostics[0]
    inside = f"; it is met in the text of $({error.inside})" if error.inside else ""
    return Stop(fault(only.kind, only.message, span, f"{only.help}{inside}" if only.help else inside[2:] or None))


VERSION = (25, 14, 0)
_MACHINE = {"arch": "X86_64", "opsys": "LINUX"}
_ALWAYS = {"islinux": "1", "iswindows": "0", "iterating": "0"}
_BASIC = {**_ALWAYS, "isclusterad": "0", "latematerialization": "0"}
_BY_KNOB = ("arch", "opsys", "opsysandver", "opsysmajorver", "opsysver")


class TransformFacts(Made):
    """The inputs of transforms besides the ad.

    ``knobs`` are the values of the configuration by name; ``environ`` is read by $ENV(), None: unknown, and a fault if
    a value needs it. ``context`` has the clock (epoch seconds) and the zone of expressions, and the seed of
    $RANDOM_CHOICE() and similar functions. ``files`` opens the files of TRANSFORM ... FROM; without it none is opened.
    ``version`` is compared by ``if version``.
    """

    __slots__ = ("_iterating", "context", "environ", "files", "knobs", "version")

    def __init__(
        self,
        knobs: Mapping[str, str] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        context: Context | None = None,
        files: Files | None = None,
        version: tuple[int, int, int] = VERSION,
    ) -> None:
        """Take the known facts; names of knobs ignore case."""
        self.knobs = {**_MACHINE, **{name.lower(): text for name, text in (knobs or {}).items()}}
        self.environ = environ
        self.context = context or Context()
        self.files = files
        self.version = version
        self._iterating = {**_ALWAYS, "rulesfile": "", **{name: self.knobs.get(name, "") for name in _BY_KNOB}}

    def __repr__(self) -> str:
        known = [name for name in ("environ", "files") if getattr(self, name) is not None]
        return f"<TransformFacts of {len(self.knobs)} knobs{''.join(f', {name}' for name in known)}>"

    def _made_of(self) -> tuple[object, ...]:
        return self.knobs, self.environ, self.context, self.files, self.version

    def __hash__(self) -> int:
        """Hash only the version: knobs may change."""
        return hash(self.version)

    def __reduce__(self) -> tuple[object, ...]:
        how = partial(
            TransformFacts, environ=self.environ, context=self.context, files=self.files, version=self.version
        )
        return how, (self.knobs,)

    def at(self, context: Context) -> TransformFacts:
        """Return the same facts with another clock."""
        made = TransformFacts.__new__(TransformFacts)
        for name in self.__slots__:
            setattr(made, name, getattr(self, name))
        made.context = context
        return made

    def defaults(self, *, iterates: bool) -> Mapping[str, str]:
        """Return the macros that HTCondor provides, which differ if the transform iterates."""
        return self._iterating if iterates else _BASIC


NOTHING = TransformFacts()


class TraceStep(NamedTuple):
    """One step: the line of the rules that caused it, and HTCondor's message.

    ``is_detail`` marks a consequence of the step before: the value of an expression.
    """

    span: Span
    text: str
    is_detail: bool = False

    def __str__(self) -> str:
        return f"{self.span.source.name}:{self.span.line}: {'    ' if self.is_detail else ''}{self.text}"


UNIVERSES = (
    *("", "STANDARD", "PIPE", "LINDA", "PVM", "VANILLA", "PVMD", "SCHEDULER", "MPI", "GRID", "JAVA", "PARALLEL"),
    *("LOCAL", "VM"),
)
"""The name of each universe at its number, as from CondorUniverseName(); empty at 0."""


def universe_number(text: str) -> int:
    """Return the universe of a UNIVERSE statement, by number or by name; 0 for none, which counts as unset."""
    found = re.match(r"[ \t\r\n\v\f]*([-+]?[0-9]{1,9})", text)
    if found is not None and int(found[1]):
        return int(found[1])
    name = text.upper()
    return UNIVERSES.index(name) if name in UNIVERSES else 0


def universe_name(number: int) -> str:
    """Return the name of a universe, UNKNOWN for a number without one."""
    return UNIVERSES[number] if 0 < number < len(UNIVERSES) else "UNKNOWN"
