"""Expansion of $(name) and $(name:default), within bounds that no text can break.

HTCondor: expand_macro in src/condor_utils/config.cpp.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from crondor.macro.around import NOTHING, Around
from crondor.macro.errors import Budget, MacroError
from crondor.macro.scan import MacroFound, MacroKind, Scanner

Lookup = Callable[[str], "str | None"]
"""Gives the unexpanded text of a macro by its lower-case name, or None where it is not defined."""

_LOOK = 64  # what a dollar sign costs, beside the characters behind it
_STEP = 128  # what one macro costs beside the characters it moves
_LEVEL = 32  # what each macro around one costs: what doubles itself is deep, what is useful is not
_CALL = 256  # what one function costs, since it may evaluate an expression
_OF_NO_MACRO = frozenset(("ENV", "RANDOM_INTEGER"))
_MOST_CALLS = 30  # functions in the arguments of functions; each takes some frames of Python's stack


def expand(text: str, lookup: Lookup, budget: Budget, around: Around = NOTHING) -> str:
    """Return ``text`` with all its macros expanded, as HTCondor does it.

    A macro that is undefined or empty gives its default, else nothing; ``$(DOLLAR)`` gives ``$``;
    ``$$(name)`` and ``$$([expression])`` stay. Functions see what ``around`` has. Raises MacroError.
    """
    if "$" not in text:
        return text
    return _Expansion(_Rules(lookup, budget, around)).run(text)


def expand_defined(text: str, lookup: Lookup, budget: Budget, around: Around = NOTHING) -> str:
    """Return ``text`` with the macros expanded that have a value; all others stay, $(DOLLAR) too.

    Of the functions, those stay whose first argument is no such macro, $ENV() and $RANDOM_INTEGER() aside: what is left
    is for whoever reads the text next (expand_defined_macros of HTCondor 25.14). Raises MacroError.
    """
    if "$" not in text:
        return text
    return _Expansion(_Rules(lookup, budget, around, only_defined=True)).run(text)


def expand_self(
    text: str, name: str, earlier: str | None, budget: Budget, lookup: Lookup | None = None, around: Around = NOTHING
) -> str:
    """Return the ``text`` being assigned to ``name`` with references to ``name`` itself replaced by its earlier text.

    All other macros stay: they are expanded when asked for. ``name`` is in lower case. With ``lookup`` the file name
    functions of ``name`` ($Fn(name)) are replaced too, as HTCondor does it. Raises MacroError.

    HTCondor: SelfOnlyBody.
    """
    if "$" not in text:
        return text
    return _Expansion(_Rules(lookup or (lambda _: None), budget, around, name, earlier, lookup is not None)).run(text)


class _Rules(NamedTuple):
    """What stays the same through one expansion and those inside it."""

    lookup: Lookup
    budget: Budget
    around: Around
    only: str | None = None
    earlier: str | None = None
    only_files: bool = False
    only_defined: bool = False
    level: int = 0  # functions around this one


class _Chain:
    """A macro being expanded, and the one whose text it was found in."""

    __slots__ = ("depth", "name", "outer")

    def __init__(self, name: str, outer: _Chain | None) -> None:
        self.name = name
        self.outer = outer
        self.depth: int = outer.depth + 1 if outer else 1

    def names(self) -> list[str]:
        """Return the macros from the outermost to this one."""
        names: list[str] = []
        link: _Chain | None = self
        while link:
            names.append(link.name)
            link = link.outer
        return names[::-1]


class _Expansion:
    """One run: a stack of texts still to be read, the next one on top, and the text already final."""

    def __init__(self, rules: _Rules, chain: _Chain | None = None) -> None:
        self._rules = rules
        self._budget = rules.budget
        self._only = rules.only
        self._pending: list[tuple[str, int, _Chain | None]] = []
        self._done: list[str] = []
        self._size = 0
        self._chain = chain
        self._has_dollar = False
        self._replaces_dollars = rules.only is None and not rules.only_defined

    def run(self, text: str) -> str:
        self._pending.append((text, 0, self._chain))
        try:
            self._budget.spend(len(text))
            while self._pending:
                text, at, self._chain = self._pending.pop()
                self._read(text, at)
        except MacroError as error:
            if not error.chain:
                error.chain = tuple(self._names())
            raise
        return self._with_dollars("".join(self._done))

    def _with_dollars(self, text: str) -> str:
        """Replace each $(DOLLAR), once all else is done; one that now follows a dollar sign is none any more."""
        done: list[str] = []
        begin, at = 0, text.find("$") if self._has_dollar else -1
        scanner = Scanner(text)
        while at >= 0:
            found = scanner.scan(at)
            self._budget.spend(_LOOK + found.end - at)
            if not _is_dollar(found):
                at = text.find("$", found.resume)
                continue
            run = len(text[begin:at].rstrip("$"))
            done.append(text[begin : begin + run])
            sign, begin = text[begin + run : at] + "$", found.end
            if text.startswith(("(", "$"), begin):
                self._budget.spend(_STEP + len(text) - begin)
                text, begin, at = sign + text[begin:], 0, 0
                scanner = Scanner(text)
            else:
                done.append(sign)
                at = text.find("$", begin)
        return "".join(done) + text[begin:]

    def _read(self, text: str, begin: int) -> None:
        """Read the top text up to its next macro, which is replaced on the stack, or to its end.

        HTCondor reads a text from its beginning after each replacement: a macro inside of what was not yet one may
        make it one, be it a name, $(a$(b)), or a default that has a character which it may not have.

        text = (macro | function | PLAIN)*
        """
        outer, nested = -1, 0  # where $(a$(b)) begins, and how many such heads are open
        half, half_end = -1, 0  # where a macro with a wrong default begins, and where that is seen
        scanner = Scanner(text)
        at = text.find("$", begin)
        while at >= 0:
            found = scanner.scan(at)
            self._budget.spend(_LOOK + found.end - at)
            if found.kind is MacroKind.CUT and self._pending:
                self._emit(text[begin:at] if outer < 0 else text[begin:outer])
                self._join(text[outer if outer >= 0 else at :])
                return
            if found.kind is MacroKind.NESTED:
                outer, nested = (at, 1) if outer < 0 else (outer, nested + 1)
                if nested > self._budget.depth:
                    self._too_deep()
                at = found.resume
                continue
            if self._is_mine(text, found):
                start = outer if outer >= 0 else at
                start = min(start, half) if half >= 0 and at < half_end else start
                self._emit(text[begin:start])
                self._pending.append((text, found.end, self._chain))
                self._replace(text[start:at], text, found)
                return
            outer = -1
            if found.kind is MacroKind.PLAIN and found.end > max(found.resume, half_end):
                half, half_end = at, found.end
            self._has_dollar = self._has_dollar or (self._replaces_dollars and _is_dollar(found))
            at = text.find("$", found.resume)
        self._emit(text[begin:])

    def _is_mine(self, text: str, found: MacroFound) -> bool:
        """Whether this run replaces what was found."""
        if self._only is not None:
            if found.kind is MacroKind.FUNCTION and self._rules.only_files and found.name[0] == "F":
                return _body(text, found).lower().split(":")[0] == self._only
            return found.kind is MacroKind.MACRO and found.name == self._only
        if self._rules.only_defined and not self._is_defined(text, found):
            return False
        return found.kind is MacroKind.FUNCTION or (found.kind is MacroKind.MACRO and not _is_dollar(found))

    def _is_defined(self, text: str, found: MacroFound) -> bool:
        """Whether the macro that was found, or the first argument of the function, has a value."""
        if found.name in _OF_NO_MACRO and found.kind is MacroKind.FUNCTION:
            return True
        name = found.name if found.kind is MacroKind.MACRO else _body(text, found).split(",")[0].lower()
        return found.kind in {MacroKind.MACRO, MacroKind.FUNCTION} and bool(self._rules.lookup(name))

    def _replace(self, head: str, text: str, found: MacroFound) -> None:
        chain = self._chain
        if found.kind is MacroKind.FUNCTION:
            self._budget.spend(_CALL)
            value = self._call(text, found)
            if "$" in value:
                chain = self._enter(text[found.at : found.end])
        else:
            value = (self._rules.earlier if self._only is not None else self._rules.lookup(found.name)) or ""
            if not value:
                value = text[found.default : found.end - 1] if found.default >= 0 else ""
            elif self._only is None:
                chain = self._enter(found.name)
        self._budget.spend(_STEP + len(head) + len(value))
        if head or value:
            # With a head the text is partly the outer one's, so a cycle through it is left to the budget.
            self._pending.append((head + value, 0, self._chain if head else chain))

    def _call(self, text: str, found: MacroFound) -> str:
        """Return what a function gives; its arguments are expanded by runs of their own, inside this one."""
        from crondor.macro.functions import MacroCall, call  # noqa: PLC0415 - 1 ms of each short command, and few texts ask

        if self._rules.level >= _MOST_CALLS:
            message = f"macro functions stand inside one another more than {_MOST_CALLS} deep"
            raise MacroError("macro-depth", message, "write some of them out")
        inner = self._rules._replace(only=None, earlier=None, only_defined=False, level=self._rules.level + 1)

        def expanded(argument: str, name: str | None) -> str:
            return _Expansion(inner, self._enter(name) if name else self._chain).run(argument)

        default = text[found.default : found.end - 1] if found.default >= 0 else None
        body = _body(text, found) if default is None else _body(text, found)[: -len(default) - 1]
        return call(
            MacroCall(found.name, body, default, inner.lookup, expanded, self._budget, self._rules.around, self._names)
        )

    def _names(self) -> list[str]:
        return self._chain.names() if self._chain else []

    def _enter(self, name: str) -> _Chain:
        link = self._chain
        while link is not None and link.name != name:
            link = link.outer
        if link is not None:
            names = self._names()
            way = " -> ".join([*names[names.index(name) :], name][-8:])
            raise MacroError("macro-cycle", f"the macro {name} is defined by itself: {way}", "break the circle")
        inner = _Chain(name, self._chain)
        if inner.depth > self._budget.depth:
            self._too_deep()
        self._budget.spend(_LEVEL * inner.depth)
        return inner

    def _too_deep(self) -> None:
        message = f"macros stand inside one another more than {self._budget.depth} deep"
        raise MacroError("macro-depth", message, "write some of them out")

    def _join(self, head: str) -> None:
        """Put a text that may begin a macro before the text that follows it."""
        text, at, chain = self._pending.pop()
        self._budget.spend(_STEP + len(head) + len(text) - at)
        self._pending.append((head + text[at:], 0, chain))

    def _emit(self, text: str) -> None:
        self._size += len(text)
        if self._size > self._budget.size:
            message = f"the macros expand to more than {self._budget.size} characters"
            raise MacroError("macro-size", message, "a macro probably doubles itself")
        if text:
            self._done.append(text)


def _is_dollar(found: MacroFound) -> bool:
    return found.name == "dollar" and found.default < 0 and found.kind is MacroKind.MACRO


def _body(text: str, found: MacroFound) -> str:
    """Return what stands between the parentheses of a function, its default included."""
    return text[text.index("(", found.at) + 1 : found.end - 1]
