"""The commands of a transform, each compiled once; ``run`` applies one to the ad of a TransformRun.

The rules are those of HTCondor 25.14 (ParseRulesCallback in xform_utils.cpp).
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable

from crondor.classad.scope import Value
from crondor.classad.text import lower
from crondor.diagnostics import Diagnostic
from crondor.macro.lines import LogicalLine
from crondor.transform.apply import RunnableLine, TransformRun
from crondor.transform.errors import Stop
from crondor.transform.expressions import as_macro, evaluation, settled, stored
from crondor.transform.template import MacroTemplate
from crondor.transform.words import Word

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class LineFault(RunnableLine):
    """A line that HTCondor refuses when it comes to it."""

    __slots__ = ("_made", "_make")

    def __init__(self, line: LogicalLine, make: Callable[[], Diagnostic], *, is_command: bool = False) -> None:
        """Keep what makes the reason: most faults of a text with thousands are never shown."""
        super().__init__(line, is_command=is_command)
        self._make = make
        self._made: Diagnostic | None = None

    @property
    def diagnostic(self) -> Diagnostic:
        """The reason."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def run(self, run: TransformRun) -> int | None:  # noqa: ARG002 - the same whatever the ad
        """Stop."""
        raise Stop(self.diagnostic)

    check = run


class LateFault(LineFault):
    """A line that HTCondor takes on loading, and refuses when an ad leads to it."""

    __slots__ = ()

    def check(self, run: TransformRun) -> int | None:  # noqa: ARG002 - the same whatever the ad
        """Pass it over."""
        return None


class Nothing(RunnableLine):
    """A line without effect."""

    __slots__ = ()

    def run(self, run: TransformRun) -> int | None:  # noqa: ARG002 - the same whatever the ad
        """Do nothing."""
        return None


class NamedCommand(RunnableLine):
    """A command with an attribute's name, and the text behind it."""

    __slots__ = ("key", "keyword", "name", "rest", "words")

    def __init__(self, line: LogicalLine, words: tuple[Word, Word], name: str, rest: str) -> None:
        """Take the keyword and the first argument; ``rest`` has macros."""
        super().__init__(line, is_command=True)
        self.words = words
        self.keyword = words[0].text.upper()
        self.name = name
        self.key = lower(name)
        self.rest = MacroTemplate(rest)

    def _filled(self, run: TransformRun) -> str:
        return self.rest.text if self.rest.is_plain else self.rest.fill(run.lookup, run.expand)

    def _store(self, run: TransformRun, value: str) -> None:
        if self.name:
            run.put(self.key, self.name, value)
        else:
            run.warn("set-name", f"could not set {self.name} to {value}", "write the name of an attribute")


class Set(NamedCommand):
    """SET and DEFAULT: store an expression as it is written."""

    __slots__ = ("_keeps", "fixed")

    def __init__(self, line: LogicalLine, words: tuple[Word, Word], name: str, rest: str) -> None:
        """Take the arguments."""
        super().__init__(line, words, name, rest)
        self._keeps = self.keyword == "DEFAULT"
        self.fixed = settled(rest) if self.rest.is_plain and name else None

    def run(self, run: TransformRun) -> int | None:
        """Store it, for DEFAULT where the ad has no attribute of that name."""
        fixed = self.fixed
        if fixed is not None and run.steps is None:
            if not (self._keeps and self.key in run.codes):
                run.put(self.key, self.name, fixed)
            return None
        rest = self.rest
        text = rest.text if rest.is_plain else rest.fill(run.lookup, run.expand)
        if run.steps is not None:
            run.step(f"{self.keyword} {self.name} to {text}")
        if self._keeps and self.key in run.codes:
            return None
        value = settled(text)
        if value is None:
            run.warn("set-expression", f"SET {self.name} invalid expression : {text}", run.why_not(text, self))
        elif self.name:
            run.put(self.key, self.name, value)
        else:
            self._store(run, value)
        return None


class _Eval(NamedCommand):
    """A command with an expression to evaluate."""

    __slots__ = ("evaluated",)

    def __init__(self, line: LogicalLine, words: tuple[Word, Word], name: str, rest: str) -> None:
        """Take the arguments."""
        super().__init__(line, words, name, rest)
        self.evaluated = evaluation(rest) if self.rest.is_plain else None

    def run(self, run: TransformRun) -> int | None:
        """Evaluate, and keep the value."""
        rest = self.rest
        text = rest.text if rest.is_plain else rest.fill(run.lookup, run.expand)
        if run.steps is not None:
            run.step(f"{self.keyword} {self.name} to {text}")
        value = run.value(self.evaluated or evaluation(text))
        if value is None:
            run.warn(self.keyword.lower(), f"{self.keyword} {self.name} could not evaluate : {text}", _NO_VALUE)
        else:
            self.keep(run, value)
        return None

    @abstractmethod
    def keep(self, run: TransformRun, value: Value) -> None:
        """Put the value where it belongs."""


class EvalSet(_Eval):
    """EVALSET: store the value of an expression."""

    __slots__ = ()

    def keep(self, run: TransformRun, value: Value) -> None:
        """Store it."""
        self._store(run, stored(value))
        if run.steps is not None:
            run.step(f"SET {self.name} to {as_macro(value)}", is_detail=True)


class EvalMacro(_Eval):
    """EVALMACRO: give a macro the value of an expression."""

    __slots__ = ()

    def keep(self, run: TransformRun, value: Value) -> None:
        """Define it."""
        result = as_macro(value)
        run.define(self.key, result, is_raw=True)
        if run.steps is not None:
            run.step(f"{self.name} = {result}", is_detail=True)


_NO_VALUE = "it is no expression, or HTCondor finds no value for it: nothing is stored"


class Delete(NamedCommand):
    """DELETE of one attribute."""

    __slots__ = ()

    def run(self, run: TransformRun) -> int | None:
        """Delete it."""
        if run.steps is not None:
            run.step(f"DELETE {self.name}")
        run.delete(self.key)
        return None


class Move(NamedCommand):
    """COPY and RENAME of one attribute."""

    __slots__ = ("new",)

    def __init__(self, line: LogicalLine, words: tuple[Word, Word], name: str, rest: str) -> None:
        """Take the arguments."""
        super().__init__(line, words, name, rest)
        self.new = lower(rest) if is_name(rest) else ""

    def run(self, run: TransformRun) -> int | None:
        """Do it."""
        if self.new and run.steps is None:
            code = run.codes.get(self.key)
            if code is not None:
                if self.keyword == "RENAME":
                    run.delete(self.key)
                run.put(self.new, self.rest.text, code)
            return None
        move(run, self.keyword, self.name, self._filled(run))
        return None


def move(run: TransformRun, keyword: str, name: str, new: str) -> None:
    """Copy or rename an attribute; one that is missing is passed over in silence."""
    if run.steps is not None:
        run.step(f"{keyword} {name} to {new}")
    if not is_name(new):
        message = f"{keyword} {name} new name {new} is not valid"
        run.warn("new-name", message, "a name is made of letters, digits and _, and begins with no digit")
        return
    key = lower(name)
    code = run.codes.get(key)
    if code is not None:
        if keyword == "RENAME":
            run.delete(key)
        run.put(lower(new), new, code)


def is_name(text: str) -> bool:
    """Whether HTCondor takes a text for the new name of an attribute."""
    return _NAME.fullmatch(text) is not None
