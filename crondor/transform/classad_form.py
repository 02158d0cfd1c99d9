"""Rules written as a ClassAd, and their conversion to commands exactly like HTCondor's, including its defects.

Routes had this form up to HTCondor 24, and JOB_TRANSFORM_ knobs up to 25.9.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from crondor.classad import EvaluationFailed, Expression, UnparseForm, code_of, lower, unparse
from crondor.classad.ad import ClassAd
from crondor.classad.parser import parse_ad
from crondor.classad.scope import Allowance, Code, Context, Inlining, Value
from crondor.classad.tree import (
    INT_MAX,
    UNDEFINED,
    AdNode,
    Binary,
    Call,
    CircularReference,
    ClassAdSyntaxError,
    ListNode,
    Node,
    Reference,
    Ternary,
    Unary,
    children,
    literal_text,
)
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span
from crondor.macro.expand import MacroKind, Scanner
from crondor.macro.lines import BLANKS, LogicalLine
from crondor.transform.expressions import universe_name, why_not

STRINGS = (
    r'"[^"\\]*(?:\\[\s\S][^"\\]*)*("|\\?\Z)|\'[^\'\\]*(?:\\[\s\S][^\'\\]*)*(\'|\\?\Z)|//[^\n]*|/\*[\s\S]*?(\*/|\Z)'
)
"""Strings, names in quotes and comments; ``is_closed`` identifies those without an end."""

_STRING = re.compile(STRINGS)
_FAR = 1 << 62


class Macros(Enum):
    """The treatment of $(macros): all EXPANDED, those inside strings KEPT, or all left RAW."""

    EXPANDED = "expanded"
    KEPT = "kept"
    RAW = "raw"


class Segment(NamedTuple):
    """A piece: characters of a line from ``at`` on, or the result for the one place ``span``."""

    text: str
    line: LogicalLine | None = None
    at: int = 0
    span: Span | None = None

    def place(self, start: int, end: int) -> Span:
        """Return the origin of characters ``start`` to ``end``."""
        if self.line is not None:
            return self.line.span(self.at + start, self.at + end)
        return self.span or Source("").span()


class Placed:
    """The text of some segments in a row."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = tuple(each for each in segments if each.text) or tuple(segments[:1]) or (Segment(""),)
        self._starts = [0, *accumulate(len(each.text) for each in self._segments[:-1])]
        self.text = "".join(each.text for each in self._segments)

    @classmethod
    def of(cls, source: Source) -> Placed:
        """Return the whole of a source."""
        return cls([Segment(source.text, LogicalLine(source, source.text, (0,), (0,)))])

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """Return the origin of characters ``start`` to ``end``: one piece of the source of the first of them."""
        end = len(self.text) if end is None else max(start, end)
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, max(start, end - 1)) - 1
        low = self._inside(first, start, end)
        high = low if first == last else self._inside(last, self._starts[last], end)
        is_one = low.source is high.source and high.end >= low.start
        return Span(low.source, low.start, high.end) if is_one else low

    def _inside(self, number: int, start: int, end: int) -> Span:
        segment, begin = self._segments[number], self._starts[number]
        return segment.place(start - begin, min(end - begin, len(segment.text)))

    def segments(self, start: int, end: int) -> Iterator[Segment]:
        """Yield the segments of a piece."""
        for number in range(max(0, bisect_right(self._starts, start) - 1), len(self._segments)):
            segment, begin = self._segments[number], self._starts[number]
            if begin >= end:
                return
            low, high = max(start - begin, 0), min(end - begin, len(segment.text))
            if low < high:
                at = segment.at + low if segment.line is not None else 0
                yield segment._replace(text=segment.text[low:high], at=at)

    def expanded(self, fill: Callable[[str], str], macros: Macros = Macros.EXPANDED) -> Placed:
        """Return the text with macros replaced by ``fill``, at the macro's place. Raises what ``fill`` raises."""
        text = self.text
        if macros is Macros.RAW or "$" not in text:
            return self
        strings: list[tuple[int, int]] = []
        if macros is Macros.KEPT:
            strings = [found.span() for found in _STRING.finditer(text) if is_closed(found)]
        parts: list[Segment] = []
        begin, at = 0, text.find("$")
        scanner = Scanner(text)
        while at >= 0:
            found = scanner.scan(at)
            if _is_inside(strings, at) or found.kind is MacroKind.PLAIN:
                at = text.find("$", max(found.resume, at + 1))
                continue
            end = found.end if found.kind in {MacroKind.MACRO, MacroKind.FUNCTION} else len(text)
            parts += self.segments(begin, at)
            parts.append(Segment(fill(text[at:end]), span=self.span(at, end)))
            begin, at = end, text.find("$", end)
        return Placed([*parts, *self.segments(begin, len(text))])


def is_closed(found: re.Match[str]) -> bool:
    """Return whether a match of STRINGS ends before the text does."""
    return found.lastindex is None or found[found.lastindex] not in {"", "\\"}


def _is_inside(spans: Sequence[tuple[int, int]], at: int) -> bool:
    number = bisect_right(spans, (at, _FAR)) - 1
    return number >= 0 and spans[number][0] <= at < spans[number][1]


SHOWN = 79
"""Characters of a malformed ad that HTCondor logs."""

MAX_WORK = 1 << 20
"""Characters that are read more than once before the rest of a malformed text is skipped."""

MAX_ADS = 100_000

LONGEST = 1 << 16
"""Characters of a malformed ad that are kept."""

MAX_FAULTS = 1000
"""Malformed ads after which the rest of a text is skipped."""

_MARK = re.compile(rf"[\[\]]|{STRINGS}")
_BETWEEN = re.compile(r"(?:[\s,;]|//[^\n]*|/\*[\s\S]*?\*/)*")


# HTCondor: JobRoute::ParseNext.
class Ad(NamedTuple):
    """A valid ad, and its place in the text; the offsets of its tree count from ``start``."""

    tree: AdNode
    start: int
    end: int


class _Brackets(NamedTuple):
    """Where brackets open, and what closes each; ``None``: nothing."""

    opens: list[int]
    closes: dict[int, int]


def read_ads(placed: Placed, knob: str, *, faithful: bool = False) -> Iterator[Ad | Diagnostic]:
    """Yield the ads of a text, and a finding for each invalid piece.

    ``faithful``: continue after a fault like condor_transform_ads 25.14, directly after the unexpected token, so that
    an ad inside a malformed one counts as a route. Otherwise a malformed ad is skipped as a whole.
    """
    text = placed.text
    brackets = _brackets(text)
    at, left, count, faults = 0, len(text) + MAX_WORK, 0, 0
    for opening in brackets.opens:
        if opening < at:
            continue
        if faithful and _is_gone(text, at, opening):
            at = opening + 1
            continue
        if not faithful and (junk := _junk(placed, knob, at, opening)):
            yield junk
        end = brackets.closes.get(opening, len(text))
        left -= end - opening
        count += 1
        if left < 0 or count > MAX_ADS or faults > MAX_FAULTS:
            message = f"{knob} has too many malformed or too many ads: the rest of it is not read"
            yield Diagnostic("legacy-ad", message, span=placed.span(opening, opening + 1))
            return
        try:
            tree = parse_ad(Source(text[opening:end]))
        except ClassAdSyntaxError as error:
            found = _fault(placed, knob, opening, error)
            faults += 1
            at = _resume(text, found, brackets, opening, faithful=faithful)
            said = found.diagnostic
            lost = text[opening : max(opening, at)][:LONGEST]
            yield MalformedAd(said.kind, said.message, said.severity, said.span, said.help, text=lost)
            continue
        yield Ad(tree, opening, end)
        at = end
    if not faithful and (junk := _junk(placed, knob, at, len(text))):
        yield junk


@dataclass(frozen=True)
class MalformedAd(Diagnostic):
    """The finding about a malformed ad; ``text`` is all of it that is skipped."""

    text: str = ""


class _Fault(NamedTuple):
    """The fault of an ad, and where the unexpected token begins and ends."""

    diagnostic: Diagnostic
    start: int
    end: int


def _brackets(text: str) -> _Brackets:
    """Find all brackets outside of strings and comments, in one pass."""
    opens: list[int] = []
    closes: dict[int, int] = {}
    stack: list[int] = []
    for found in _MARK.finditer(text):
        mark = found[0]
        if mark == "[":
            opens.append(found.start())
            stack.append(found.start())
        elif mark == "]":
            if stack:
                closes[stack.pop()] = found.end()
        elif not is_closed(found):
            break
    return _Brackets(opens, closes)


def _junk(placed: Placed, knob: str, start: int, end: int) -> Diagnostic | None:
    """Return a finding for text between ads, None for separators and comments."""
    found = _BETWEEN.match(placed.text, start, end)
    begin = found.end() if found else start
    if begin >= end:
        return None
    shown = " ".join(placed.text[begin : min(end, begin + SHOWN)].split())
    message = f"this text of {knob} is in no ad, and is ignored: {shown}"
    help_text = "write each route between [ and ]"
    return Diagnostic("legacy-ad", message, span=placed.span(begin, min(end, begin + 1)), help=help_text)


def _fault(placed: Placed, knob: str, opening: int, error: ClassAdSyntaxError) -> _Fault:
    found = error.diagnostics[0]
    text = placed.text
    start = opening if found.span is None else opening + found.span.start
    end = start + 1 if found.span is None else max(start + 1, opening + found.span.end)
    shown = " ".join(text[opening : opening + SHOWN].split())
    message = f"malformed route in {knob}, ignored: {found.message}; it begins {shown}"
    if "never closed" in found.message:
        end = len(text)  # HTCondor looks for the closing token up to the end of the text
    span = placed.span(start, min(end, start + SHOWN))
    return _Fault(Diagnostic("legacy-ad", message, span=span, help=found.help), start, min(end, len(text)))


def _resume(text: str, fault: _Fault, brackets: _Brackets, opening: int, *, faithful: bool) -> int:
    """Return where the next ad is looked for after a malformed one."""
    if faithful:
        return _read_on(text, fault.start, fault.end)
    closing = brackets.closes.get(opening)
    if closing is not None and not _is_entry(text, fault.start):
        return closing
    first = bisect_left(brackets.opens, fault.start)
    opens = (brackets.opens[number] for number in range(first, len(brackets.opens)))
    return next((each for each in opens if _is_entry(text, each)), len(text))


def _read_on(text: str, start: int, end: int) -> int:
    """Return how far HTCondor has read when it knows where a token ends; the characters read are consumed.

    That is one character after a word, a number and a token that another could follow (``=`` and ``==``), and all
    blanks and one character after a string, which another string could continue.
    """
    last = text[end - 1 : end]
    if last in {'"', "'"} and end - start > 1:
        while end < len(text) and text[end] in BLANKS:
            end += 1
        return end + 1
    is_open = last.isalnum() or last == "_" or (end - start == 1 and last in "=<>&|!?.-")
    return end + 1 if is_open else end


def _is_gone(text: str, start: int, opening: int) -> bool:
    """Return whether HTCondor has consumed a bracket when it fails on the text before it, from ``start`` on."""
    at = opening - 1
    if at >= start and text[at] not in BLANKS:
        is_pair = at > start and text[at - 1] in "=<>&|!?"
        return text[at] in {'"', "'"} or _read_on(text, at - is_pair, opening) > opening
    while at >= start and text[at] in BLANKS:
        at -= 1
    return at >= start and text[at] in {'"', "'"}


def _is_entry(text: str, at: int) -> bool:
    """Return whether a bracket opens where an ad may begin: nothing before it makes it a value."""
    if text[at : at + 1] != "[":
        return False
    before = at - 1
    while before >= 0 and text[before] in BLANKS:
        before -= 1
    return before < 0 or text[before] in "];,/"


MAX_STEPS = 200_000
"""The work limit of one expression of a route, in evaluation steps: a tenth of a second or two."""


def bounded() -> Context:
    """Return the context and cost limit of an expression of a route."""
    return Context(effort=Allowance(MAX_STEPS))


class EntryAttributes:
    """The attributes of one ad as written, each with the place of its expression."""

    def __init__(self, ad: Ad | None, placed: Placed) -> None:
        self.codes: dict[str, Code | str] = {}
        self.names: dict[str, str] = {}
        self.places: dict[str, Span] = {}
        for name, node in () if ad is None else ad.tree.items:
            key = lower(name)
            self.codes[key] = code_of(node)
            self.names[key] = name
            self.places[key] = placed.span((ad.start if ad else 0) + node.start, (ad.start if ad else 0) + node.end)

    def updated(self, other: EntryAttributes) -> EntryAttributes:
        """Return the two merged; the other's expressions win, the spelling of a name stays."""
        made = EntryAttributes(None, Placed(()))
        made.codes = {**self.codes, **other.codes}
        made.names = {**other.names, **self.names}
        made.places = {**self.places, **other.places}
        return made

    def ad(self) -> ClassAd:
        """Return them as an ad."""
        return ClassAd.of(dict(self.codes), dict(self.names))


@dataclass(frozen=True)
class LegacyEntry:
    """A route written as a ClassAd.

    ``name`` is its Name, else its GridResource. ``ad`` has its attributes over those of JOB_ROUTER_DEFAULTS. ``knob``
    and ``number`` identify the ad in its knob, ``span`` is its place and ``places`` those of the attributes (by
    lower-case name). ``expand`` replaces the macros that stay in strings, None: none stay, and similar texts are plain.
    ``is_knob``: it is a JOB_ROUTER_ROUTE_<name>, whose name is used.
    """

    name: str
    ad: ClassAd
    knob: str
    number: int
    span: Span
    places: Mapping[str, Span]
    expand: Callable[[str], str] | None = None
    is_knob: bool = False

    def value(self, name: str) -> Value:
        """Return an attribute's value in the route's own ad, UNDEFINED if it has none."""
        try:
            return self.ad.value(name, context=bounded())
        except CrondorError:
            return UNDEFINED

    def place(self, name: str) -> Span:
        """Return the place of an attribute, or of the whole route if it is not written."""
        return self.places.get(lower(name), self.span)


Change: TypeAlias = Callable[[Node], "Node | None"]
"""Returns the replacement of a node, None: the node stays, and its parts are visited."""


def rewrite(tree: Node, change: Change) -> Node:
    """Return the tree with all changes made, from the outside in; the same tree if there are none."""
    work: list[tuple[Node, bool]] = [(tree, False)]
    done: list[Node] = []
    while work:
        node, is_read = work.pop()
        if is_read:
            count = len(children(node))
            parts = done[-count:]
            del done[-count:]
            same = all(one is other for one, other in zip(parts, children(node), strict=True))
            done.append(node if same else _rebuilt(node, parts))
            continue
        changed = change(node)
        if changed is not None:
            done.append(changed)
        elif children(node):
            work.append((node, True))
            work.extend((part, False) for part in reversed(children(node)))
        else:
            done.append(node)
    return done[0]


_PARTS: Mapping[type, tuple[str, ...]] = {
    Binary: ("left", "right"),
    Unary: ("operand",),
    Ternary: ("test", "yes", "no"),
    Reference: ("scope",),
}


def _rebuilt(node: Node, parts: list[Node]) -> Node:
    if isinstance(node, Call):
        return node._replace(arguments=tuple(parts))
    if isinstance(node, ListNode):
        return node._replace(items=tuple(parts))
    if isinstance(node, AdNode):
        return node._replace(items=tuple((name, part) for (name, _), part in zip(node.items, parts, strict=True)))
    return node._replace(**dict(zip(_PARTS[type(node)], parts, strict=True)))  # type: ignore[arg-type]


def without_scope(scopes: Collection[str]) -> Change:
    """Return the change of ``TARGET.x`` to ``x``; ``scopes`` are names in lower case."""

    def change(node: Node) -> Node | None:
        if isinstance(node, Reference) and _is_name(node.scope, scopes):
            return node._replace(scope=None)
        return None

    return change


def scope_to_my(scopes: Collection[str]) -> Change:
    """Return the change of ``TARGET.x`` to ``MY.x``, and of a bare ``TARGET`` to ``MY``."""

    def change(node: Node) -> Node | None:
        return node._replace(name="MY") if isinstance(node, Reference) and _is_name(node, scopes) else None

    return change


def current_time(node: Node) -> Node | None:
    """Return ``time()`` for CurrentTime, which HTCondor removed from its ads."""
    if not isinstance(node, Reference) or lower(node.name) != "currenttime":
        return None
    is_bare = node.scope is None or _is_name(node.scope, {"my", "target", "other"})
    return Call("time", ()) if is_bare else None


def _is_name(node: Node | None, names: Collection[str]) -> bool:
    return isinstance(node, Reference) and node.scope is None and lower(node.name) in names


_EVALUATED_NAMES = (
    "editjobinplace failureratethreshold jobfailuretest jobshouldbesandboxed overrideroutingentry "
    "sharedx509userproxy usesharedx509userproxy"
)
EVALUATED = frozenset(_EVALUATED_NAMES.split())
"""Attributes whose expressions the router evaluates in the job's ad: flattened, TARGET becomes MY."""

_LIFTED = re.compile(r"[ \t\v\f]*(?i:(name|requirements|universe|transform))[ \t\v\f]+(?![=: \t\v\f])(.*)", re.DOTALL)
_TARGET = frozenset(("target",))
AS_HTCONDOR = Inlining(parentheses=False, open=frozenset())


# Commands are grouped in sections, each sorted by attribute ignoring case: copy, delete, set, eval_set. Expressions
# that refer to attributes of the route itself are flattened. HTCondor's defects are kept here, but not in ``mended``.
# HTCondor: ConvertClassadJobRouterRouteToXForm.
class Commands:
    """The commands of one route, by section and lower-case attribute."""

    def __init__(self, entry: LegacyEntry) -> None:
        self.entry = entry
        self.name = ""
        self.universe = 0
        self.requirements = ""
        self.assignments: dict[str, tuple[str, str]] = {}
        self.copies: dict[str, tuple[str, str]] = {}
        self.deletes: dict[str, tuple[str, str]] = {}
        self.sets: dict[str, tuple[str, str]] = {}
        self.eval_sets: dict[str, tuple[str, str]] = {}
        self.strings: set[str] = set()
        self.temporary: dict[str, str] = {}
        sections: tuple[tuple[str, Callable[[str, str], None]], ...] = (
            ("copy_", self.copy),
            ("delete_", self.delete),
            ("set_", self.set),
            ("eval_set_", self.eval_set),
        )
        for name in entry.ad:
            for prefix, command in sections:
                if lower(name).startswith(prefix):
                    command(name, name[len(prefix) :])
                    break
            else:
                self._plain(name)

    def _plain(self, name: str) -> None:
        key = lower(name)
        if key == "name":
            value = self.entry.value(name)
            self.name = value if isinstance(value, str) else ""
        elif key == "targetuniverse":
            self.target_universe(name)
        elif key == "requirements":
            self.require(name)
        else:
            self.assign(name)

    def tree(self, name: str) -> Node:
        """Return the expression of an attribute."""
        return self.entry.ad[name].tree

    def printed(self, node: Node) -> str:
        """Return an expression as it is written in a command."""
        return unparse(node, UnparseForm.OLD, faithful=True)

    def copy(self, name: str, attribute: str) -> None:
        """Process ``copy_X = "Y"``."""
        value = self.entry.value(name)
        if isinstance(value, str):
            self.copies[lower(attribute)] = (attribute, value)

    def delete(self, _name: str, attribute: str) -> None:
        """Process ``delete_X``, whatever its value."""
        self.deletes[lower(attribute)] = (attribute, "")

    def set(self, name: str, attribute: str) -> None:
        """Process ``set_X = expression``."""
        if lower(attribute) != "inputrsl":
            self.sets[lower(attribute)] = (attribute, self.printed(self.tree(name)))

    def eval_set(self, name: str, attribute: str) -> None:
        """Process ``eval_set_X = expression``: flattened only if it refers to attributes of the route."""
        expression = Expression.of(self.tree(name))
        own = self.own_names(expression)
        text = self.printed(expression.tree)
        if own:
            text = self._special(expression, scope_to_my(_TARGET))
            try:
                own = self.own_names(Expression.parse(Source(text)))
            except ClassAdSyntaxError:
                own = ()
        self.eval_sets[lower(attribute)] = (attribute, text)
        self.temporary.update((lower(each), each) for each in own)

    def own_names(self, expression: Expression) -> tuple[str, ...]:
        """Return the attributes of the route that an expression refers to."""
        try:
            found = expression.references(self.entry.ad).internal
        except CircularReference:
            return ()
        return tuple(re.split(r"[.\[]", each, maxsplit=1)[0] for each in found)

    def _special(self, expression: Expression, change: Change) -> str:
        """Return an expression flattened and with renamed attributes."""
        try:
            node = expression.flatten(self.entry.ad, bounded(), inlining=AS_HTCONDOR).tree
        except EvaluationFailed:
            node = expression.tree
        return self.printed(rewrite(node, change))

    def target_universe(self, name: str) -> None:
        """Process TargetUniverse, an integer or a truth value: for a string HTCondor reads its address."""
        value = self.entry.value(name)
        if isinstance(value, str):
            self.universe = -1
        elif isinstance(value, int) and -INT_MAX <= value <= INT_MAX:
            self.universe = (value + (1 << 31)) % (1 << 32) - (1 << 31)

    def require(self, name: str) -> None:
        """Process Requirements: flattened, without TARGET."""
        self.requirements = self._special(Expression.of(self.tree(name)), without_scope(_TARGET))

    def assign(self, name: str) -> None:
        """Process any other attribute as a macro: a literal string without its quotes, except GridResource."""
        key = lower(name)
        node = self.tree(name)
        literal = None if key == "gridresource" else literal_text(node)
        if key in EVALUATED:
            text = self._special(Expression.of(node), scope_to_my(_TARGET))
        else:
            text = self.printed(node) if literal is None else literal
        if text:
            self.assignments[key] = (name, text)
            if literal is not None or key in EVALUATED or key == "gridresource":
                self.strings.add(key)

    def body(self) -> Iterator[str]:
        """Yield the commands."""
        yield f"# autoconversion of route '{self.name}' from old route syntax"
        for _, (name, text) in sorted(self.assignments.items()):
            yield f"{name} = {text}"
        for title, keyword, section in (
            ("copy", "COPY", self.copies),
            ("delete", "DELETE", self.deletes),
            ("set", "SET", self.sets),
        ):
            if section:
                yield f"# {title}_* rules"
            for _, (name, text) in sorted(section.items()):
                yield f"{keyword} {name} {text}" if keyword != "DELETE" else f"DELETE {name}"
        needed = [
            (key, name)
            for key, name in sorted(self.temporary.items())
            if key in self.assignments and key not in self.sets
        ]
        if needed:
            yield "# temporarily SET attrs because eval_set_ rules refer to them"
            yield from (f"SET {name} {self.borrowed(key, name)}" for key, name in needed)
        if self.eval_sets:
            yield "# eval_set_* rules"
            yield from (f"EVALSET {name} {text}" for _, (name, text) in sorted(self.eval_sets.items()))
        if needed:
            yield "# remove temporary attrs"
            yield from (f"DELETE {name}" for _, name in needed)

    def borrowed(self, key: str, name: str) -> str:
        """Return the value of an attribute of the route that an EVALSET needs."""
        return f'"$({name})"' if key in self.strings else f"$({name})"

    def universe_name(self) -> str:
        """Return the name of the universe, empty if there is none."""
        return universe_name(self.universe) if self.universe else ""


def convert_faithfully(entry: LegacyEntry, *, name_as: Callable[[str], str] | None = None) -> tuple[str, str] | None:
    """Return name and text of a route as condor_transform_ads prints them, None if it prints nothing.

    ``name_as`` gives the knob's name: if that is the same, the text has no NAME.
    """
    made = Commands(entry)
    head = {"name": made.name, "universe": made.universe_name(), "requirements": made.requirements}
    lines: list[str] = []
    given = [f"REQUIREMENTS {made.requirements}"] if made.requirements else []
    # HTCondor writes the route and reads it again: a line end inside a string splits the line.
    for line in re.split(r"[\r\n]+", "\n".join([*given, *made.body()])):
        found = _LIFTED.fullmatch(line)
        keyword = found[1].lower() if found else ""
        if keyword == "transform":
            break
        if found is None:
            lines += [line] if line else []
        elif keyword == "name":
            head[keyword] = head[keyword] or found[2].strip()
        else:
            head[keyword] = found[2]
        if keyword == "requirements" and why_not(head[keyword]) is not None:
            return None
    name = head["name"]
    if name and name_as is not None and name_as(name) == name:
        del head["name"]
    return name, "\n".join([*(f"{keyword.upper()} {text}" for keyword, text in head.items() if text), *lines])
