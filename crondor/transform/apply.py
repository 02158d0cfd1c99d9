"""One run of a transform's lines over an ad, and how to undo it.

HTCondor: XFormHash, TransformClassAd.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn, overload

from crondor.classad.ad import ClassAd
from crondor.classad.operators import truth
from crondor.classad.parser import UnparseForm, unparse
from crondor.classad.scope import Allowance, Code, Codes, Context, Value, code_tree, print_value
from crondor.classad.text import lower
from crondor.classad.tree import MAX_STEPS, ClassAdSyntaxError, Literal, nodes
from crondor.diagnostics import Diagnostic, Source, Span
from crondor.macro import Around, Budget, MacroError, expand, expand_self
from crondor.macro.conditions import ConditionError, Conditions, IfStack
from crondor.macro.expand import is_template
from crondor.macro.lines import Dice, LogicalLine
from crondor.transform.expressions import (
    MOST,
    Evaluation,
    Stop,
    TraceStep,
    TransformFacts,
    as_text,
    evaluated_whole,
    evaluation,
    fault,
    macro_fault,
    warning,
    why_not,
)

SHORT = 1 << 16  # characters of a text that no budget forbids
MOST_MADE = 1 << 26
"""Characters of names and values that one run may make; HTCondor has no limit."""

MOST_STEPS = 4 * MAX_STEPS
"""The cost limit of all expressions of one run, in steps of about a microsecond."""

_EACH = 256  # the cost of an attribute or a macro besides its characters: a COPY of all doubles them
_NODE = 8  # approximate characters of an operator or a name
PREFIX = "xform."
"""Prefixes of a macro's name that are looked up first: XFORM is the transforms' own name in configurations."""


class RunnableLine:
    """A line that can be run, at its place in the rules."""

    is_condition = False  # an if, elif, else or endif, which is always processed

    def __init__(self, line: LogicalLine, *, is_command: bool = False) -> None:
        """Keep the line; ``is_command``: it begins with a keyword HTCondor knows."""
        self.line = line
        self.is_command = is_command

    def run(self, run: TransformRun, /) -> int | None:
        """Run the line; return the number of the line to continue with if it is not the next. Raises Stop."""
        raise NotImplementedError

    def seen(self, **_: bool) -> RunnableLine:
        """Return the meaning of the line at its place; ``is_inside``: it is inside an if."""
        return self

    def check(self, _run: TransformRun, /) -> int | None:
        """Do what HTCondor does with the line on loading, without an ad. Raises Stop."""
        return None


def price(name: str, code: Code | str) -> int:
    """Return the cost of an attribute or a macro: its characters, for an expression about as many."""
    if isinstance(code, str):
        return _EACH + len(name) + len(code)
    values = (node.value if isinstance(node, Literal) else "" for node in nodes(code_tree(code)))
    return _EACH + len(name) + sum(_NODE + (len(value) if isinstance(value, str) else 0) for value in values)


class TransformRun:
    """The state between two lines of transforms in a row, which share ``macros``.

    ``made`` counts the names and values, attributes and macros made.
    """

    _statements: Sequence[RunnableLine] = ()
    _has_fault = False
    _budget: Budget | None = None
    _around: Around | None = None
    _conditions: Conditions | None = None
    _ifs: IfStack | None = None
    _names: dict[str, str] | None = None
    _codes: dict[str, Code | str] | None = None
    _context: Context | None = None
    _allowance: Allowance | None = None
    made = 0
    at = 0
    reached = 0
    line: RunnableLine | None = None

    def __init__(
        self,
        ad: ClassAd | None,
        facts: TransformFacts,
        macros: dict[str, str],
        defaults: Mapping[str, str],
        steps: list[TraceStep] | None = None,
    ) -> None:
        """Start; ``ad`` is changed, None: there is none. ``steps`` takes the trace."""
        self._has_ad = ad is not None
        self.ad = ClassAd() if ad is None else ad
        self.codes: Codes = self.ad.codes
        self.facts = facts
        self.macros = macros
        self._defaults = defaults
        self.steps = steps
        self.found: list[Diagnostic] = []
        self._has_prefixes = bool(macros) and any(key.startswith(PREFIX) for key in macros)
        self._opened: list[RunnableLine] = []

    def apply(self, statements: Sequence[RunnableLine], *, is_straight: bool = False) -> Diagnostic | None:
        """Run all lines on the ad; return why it ended early, None if it did not.

        ``is_straight``: there are neither conditions nor values of several lines.
        """
        try:
            if is_straight:
                for line in statements:
                    self.line = line
                    line.run(self)
                return None
            self._begin(statements)
            while (statement := self._next()) is not None:
                to = statement.run(self)
                self.at = self.at if to is None else to
        except Stop as stop:
            return stop.diagnostic
        except MacroError as error:
            return macro_fault(error, self._span).diagnostic
        return self._unclosed()

    def _begin(self, statements: Sequence[RunnableLine]) -> None:
        self._statements = statements
        self.at = 0
        self._ifs = None
        self._opened = []

    def check(self, statements: Sequence[RunnableLine]) -> list[Diagnostic]:
        """Do what HTCondor does on loading, without an ad, but continue after each fault; return the faults.

        ``reached`` is then the number of commands before the first.
        """
        faults: list[Diagnostic] = []
        self.reached = 0
        self._has_fault = False
        self._begin(statements)
        while len(faults) < MOST and (found := self._checked()) is not None:
            faults.append(found)
        unclosed = self._unclosed()
        return faults if unclosed is None else [*faults, unclosed]

    def _checked(self) -> Diagnostic | None:
        """Check lines up to the next fault, and return it; None: there is none."""
        try:
            while (statement := self._next()) is not None:
                self.reached += statement.is_command and not self._has_fault
                to = statement.check(self)
                self.at = self.at if to is None else to
        except Stop as stop:
            self._has_fault = True
            return stop.diagnostic
        except MacroError as error:
            self._has_fault = True
            return macro_fault(error, self._span).diagnostic
        return None

    @property
    def _span(self) -> Span:
        return Source("").span() if self.line is None else self.line.line.span()

    def _next(self) -> RunnableLine | None:
        """Return the next line to run, None after the last; conditions are evaluated on the way."""
        while self.at < len(self._statements):
            statement = self._statements[self.at]
            self.at += 1
            self.line = statement
            statement = statement.seen(is_inside=self._ifs is not None and self._ifs.is_open)
            if statement.is_condition or self._ifs is None or self._ifs.holds:
                return statement
        return None

    def body(self, tag: str) -> tuple[str, int] | None:
        """Return the lines up to the one with a tag, and the number of the line after it.

        None: there is no such line, and no other line is run.
        """
        lines = self._statements
        end = next((at for at in range(self.at, len(lines)) if lines[at].line.text == tag), None)
        if end is None:
            self.at = len(lines)
            return None
        return "\n".join(each.line.text for each in lines[self.at : end]), end + 1

    def _unclosed(self) -> Diagnostic | None:
        if self._ifs is None or not self._ifs.is_open:
            return None
        message = "endif(s) not found before end-of-file"
        return fault("conditional", message, self._opened[-1].line.span(), "close each if with endif")

    def condition(self, keyword: str, text: str) -> None:
        """Process an if, elif, else or endif. Raises Stop and MacroError."""
        if self._ifs is None:
            self._ifs = IfStack()
        if self._conditions is None:
            is_true = self._is_true if self._has_ad else lambda _: None
            self._conditions = Conditions(self.lookup, self.expand, self.facts.version, is_template, is_true)
        if keyword == "if" and self.line is not None:
            self._opened.append(self.line)
        elif keyword == "endif" and self._opened:
            self._opened.pop()
        try:
            self._ifs.enter(keyword, text, self._conditions)
        except ConditionError as error:
            reason = str(error)
            instead = _CONDITION if "complex" in reason or "expression" in reason else None
            raise Stop(fault("conditional", reason, self._span, instead)) from None

    def _is_true(self, text: str) -> bool | None:
        """Return True for an expression that is true of the ad; HTCondor accepts no other as a condition."""
        value = self.value(evaluation(text))
        if value is None or truth(value) is not True:
            return None
        message = f"{text} is only accepted as a condition because it is true of this ad"
        self.warn("complex-condition", message, _EVALMACRO)
        return True

    def lookup(self, key: str) -> str | None:
        """Return the unexpanded text of a macro by its lower-case name."""
        macros = self.macros
        if self._has_prefixes:
            value = macros.get(PREFIX + key)
            if value is not None:
                return value
        value = macros.get(key)
        if value is None:
            value = self._defaults.get(key)
            if value is None and self._has_ad and key[:3] == "my.":
                code = self.codes.get(key[3:])
                if code is not None:
                    try:
                        value = as_text(code)
                    except ClassAdSyntaxError:
                        value = code if isinstance(code, str) else None
            if value is None:
                value = self.facts.knobs.get(key)
        return value

    def expand(self, text: str) -> str:
        """Return a text with its macros replaced. Raises MacroError."""
        return expand(text, self.lookup, self.budget, self._surroundings()) if "$" in text else text

    def define(self, key: str, text: str, *, is_raw: bool = False) -> None:
        """Set a macro to a text, in which its own name stands for its earlier text; ``is_raw`` does not expand that.

        Raises MacroError, also for a text that exceeds the limits.
        """
        if "$" in text and not is_raw:
            earlier = self.lookup(key) if key in text.lower() else None
            text = expand_self(text, key, earlier, self.budget, self.lookup, self._surroundings())
        if len(text) > SHORT and len(text) > self.budget.size:
            raise MacroError("macro-size", f"{key} has grown to more than {self.budget.size} characters")
        self.charge(price(key, text))
        self._has_prefixes = self._has_prefixes or key.startswith(PREFIX)
        self.macros[key] = text

    @property
    def budget(self) -> Budget:
        """The remaining budget of the macros of this run."""
        if self._budget is None:
            self._budget = Budget()
        return self._budget

    def charge(self, made: int) -> None:
        """Count the cost of what is made. Raises Stop if there is too much, or if it is too long."""
        self.made += made
        if self.made > MOST_MADE:
            message = f"the rules make more than {MOST_MADE >> 20} million characters of names and values"
            self.stop("too-much-made", message, "a COPY of all that a pattern finds doubles the ad")

    @property
    def context(self) -> Context:
        """The context of expressions, with one cost limit for all of this run."""
        if self._context is None:
            known = self.facts.context
            self._allowance = Allowance(MOST_STEPS)
            self._context = Context(
                known.now, known.zone, known.seed, known.current_time, known.maps, known.effort or self._allowance
            )
        return self._context

    @property
    def spent(self) -> tuple[int, int]:
        """The costs so far, to restore when lines are run again."""
        return self.made, MOST_STEPS if self._allowance is None else self._allowance.left

    @spent.setter
    def spent(self, to: tuple[int, int]) -> None:
        self.made = to[0]
        if self._allowance is not None:
            self._allowance.left = to[1]

    def value(self, of: Evaluation, codes: Codes | None = None) -> Value | None:
        """Return the value of an expression in the ad, None: it has none. ``codes`` saves asking for the ad's.

        Raises Stop when all expressions took too long.
        """
        codes = self.codes if codes is None else codes
        value = of.remembered(codes)
        if value is None:
            value = of.value(self.ad, self.context, codes)
            if value is None:
                self._check_effort()
        return value

    def _check_effort(self) -> None:
        effort = self.context.effort
        if effort is not None and effort.left <= 0:
            message = "the expressions of the rules take too long together"
            self.stop("too-many-steps", message, "write simpler or fewer ones")

    def _surroundings(self) -> Around:
        if self._around is None:
            facts = self.facts
            evaluate = self._evaluate if self._has_ad else None
            dice, now = Dice(facts.context.seed), facts.context.now
            self._around = Around(facts.environ, dice, "", evaluate, now, self._soft)
        return self._around

    def _evaluate(self, text: str) -> str | None:
        value = evaluated_whole(text, self.ad, self.context)
        if value is None:
            self._check_effort()
        return value if value is None or isinstance(value, str) else print_value(value)

    def _soft(self, error: MacroError) -> None:
        for each in error.diagnostics:
            self.warn(each.kind, each.message, each.help)

    @property
    def is_plannable(self) -> bool:
        """Whether the ad has no parent, no line has changed it yet, and no trace is wanted."""
        return self.steps is None and self._names is None and self.ad.parent is None and not self._has_prefixes

    def _parts(self) -> tuple[dict[str, Code | str], dict[str, str]]:
        """Return the ad's own attributes, to be changed."""
        codes, names = self._codes, self._names
        if codes is None or names is None:
            codes, names = self._codes, self._names = self.ad.parts()
        return codes, names

    def put(self, key: str, name: str, code: Code | str) -> None:
        """Set an attribute; a new one comes last, an old one keeps its spelling. ``key`` is the name in lower case.

        Raises Stop above the limit of a run.
        """
        self.charge(price(name, code))
        own, names = self._parts()
        if key not in own:
            names[key] = name
        own[key] = code

    def delete(self, key: str) -> None:
        """Remove an attribute; one of the parent becomes undefined."""
        if self.ad.parent is not None:
            if key in self.codes:
                del self.ad[key]
        elif key in self.codes:
            codes, names = self._parts()
            del codes[key]
            del names[key]

    def delete_all(self, keys: Iterable[str]) -> None:
        """Remove attributes of the ad itself; those that the parent has too become undefined."""
        if self.ad.parent is not None:
            for key in keys:
                self.delete(key)
            return
        codes, names = self._parts()
        for key in keys:
            del codes[key]
            del names[key]

    def own_names(self) -> tuple[str, ...]:
        """Return the names of the ad's own attributes."""
        return tuple(self._parts()[1].values())

    def step(self, text: str, *, is_detail: bool = False) -> None:
        """Add a step to the trace."""
        if self.steps is not None and self.line is not None:
            self.steps.append(TraceStep(self.line.line.span(), text, is_detail))

    def stop(self, code: str, message: str, help: str) -> NoReturn:
        """End the transform at the present line. Raises Stop."""
        raise Stop(fault(code, message, self._span, help))

    def warn(self, code: str, message: str, help: str | None) -> None:
        """Add a failure that HTCondor prints and ignores, up to a hundred."""
        if len(self.found) < MOST and self.line is not None:
            self.found.append(warning(code, message, self.line.line.span(), help))

    def why_not(self, text: str, of: RunnableLine) -> str:
        """Return the fault of an expression, and what to write instead if known."""
        reason = why_not(text, open_choice=True)
        said = reason.message if reason is not None else "it is not an expression"
        if " #" in of.line.text:
            return f"{said}; a # after a command does not begin a comment"
        if text[:1] == "=":
            return f"{said}; put a blank after the = too"
        return f"{said}; nothing is stored"


def definitions(statements: Sequence[RunnableLine], facts: TransformFacts) -> dict[str, str]:
    """Return the definitions of lines when loaded without an ad, by lower-case name; commands have no effect."""
    macros: dict[str, str] = {}
    TransformRun(None, facts, macros, facts.defaults(iterates=False)).check(statements)
    return macros


_CONDITION = "write a number, true or false, defined NAME, or EVALMACRO v EXPRESSION and then if $(v); ! inverts"
_EVALMACRO = "HTCondor refuses it otherwise; write EVALMACRO v EXPRESSION, and then if $(v)"


class AttributeChange(NamedTuple):
    """One attribute: its name, and its expression in new syntax before and after (None: the ad itself had none).

    A deleted attribute that the parent of the ad has is ``undefined`` afterwards, since it hides the parent's.
    """

    name: str
    before: str | None
    after: str | None

    @property
    def lines(self) -> tuple[str | None, str | None]:
        """Both as lines of a -long ad, None if there is none: ``X = 2.5`` for 2.500000000000000E+00."""
        return _line(self.name, self.before), _line(self.name, self.after)


class _Old(NamedTuple):
    name: str
    code: Code | str | None


class Changes(Sequence[AttributeChange]):
    """The attributes that differ, in the order of their names; ``undo`` restores an ad's old attributes."""

    __slots__ = ("_changes", "_old", "_order")

    def __init__(self, before: ClassAd, after: ClassAd) -> None:
        mine, theirs = before.own(), after.own()
        self._old: list[_Old] = []
        self._changes: list[AttributeChange] = []
        self._order = list(mine.names)
        for key in sorted(mine.codes.keys() | theirs.codes.keys()):
            old, new = mine.codes.get(key), theirs.codes.get(key)
            name = mine.names.get(key, theirs.names.get(key, key))
            if old is not new or name != theirs.names.get(key, name):
                first, last = _text(old), _text(new)
                is_renamed = name != theirs.names.get(key, name)
                if first != last or is_renamed:
                    self._old.append(_Old(name, old))
                    if is_renamed or not _is_same(old, new):
                        self._changes.append(AttributeChange(theirs.names.get(key, name), first, last))

    def __repr__(self) -> str:
        names = [each.name for each in self._changes]
        return f"<Changes of {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}>"

    def _state(self) -> tuple[object, ...]:
        return self._changes, self._order, [_Old(name, _text(code)) for name, code in self._old]

    def __eq__(self, other: object) -> bool:
        return self._state() == other._state() if isinstance(other, Changes) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as other sequences of what may change

    def __getstate__(self) -> tuple[object, ...]:
        return self._state()

    def __setstate__(self, state: tuple[list[AttributeChange], list[str], list[_Old]]) -> None:
        self._changes, self._order, self._old = state

    @overload
    def __getitem__(self, index: int) -> AttributeChange: ...
    @overload
    def __getitem__(self, index: slice) -> list[AttributeChange]: ...
    def __getitem__(self, index: int | slice) -> AttributeChange | list[AttributeChange]:
        return self._changes[index]

    def __len__(self) -> int:
        return len(self._changes)

    def __iter__(self) -> Iterator[AttributeChange]:
        return iter(self._changes)

    def undo(self, ad: ClassAd) -> ClassAd:
        """Restore the old attributes of an ad, and return it; other changes stay.

        If nothing else was changed, the ad is as before, including the order and the spelling of its names.
        """
        for old in self._old:
            ad.prune(old.name)
            if old.code is not None:
                ad.put(old.name, old.code)
        now = ad.own()
        if list(now.names) != self._order and now.names.keys() == set(self._order):
            for name in (now.names[key] for key in self._order):
                ad.prune(name)
                ad.put(name, now.codes[lower(name)])
        return ad


def _line(name: str, text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return f"{name} = {unparse(code_tree(text), UnparseForm.OLD)}"
    except ClassAdSyntaxError:
        return f"{name} = {text}"


def _is_same(old: Code | str | None, new: Code | str | None) -> bool:
    """Return whether two texts differ only in notation, such as 2.5 and 2.5E0."""
    if old is None or new is None:
        return old is new
    try:
        return unparse(code_tree(old)) == unparse(code_tree(new))
    except ClassAdSyntaxError:
        return False


def _text(code: Code | str | None) -> str | None:
    return code if code is None or isinstance(code, str) else unparse(code_tree(code))
