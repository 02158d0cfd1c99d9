"""Expansion of $(name) and $(name:default), within bounds that no text can break."""

from __future__ import annotations

from collections.abc import Callable

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.macro.scan import Found, Kind, scan

Lookup = Callable[[str], "str | None"]
"""Gives the unexpanded text of a macro by its lower-case name, or None where it is not defined."""

_STEP = 128  # what one macro costs beside the characters it moves


class MacroError(CrondorError, ValueError):
    """A text whose macros cannot be expanded: a cycle, too much of it, or something not read yet.

    ``inside`` is the lower-case name of the macro whose text holds the fault, None where it is the text itself.
    """

    def __init__(self, code: str, message: str, help: str | None = None) -> None:  # noqa: A002 - Diagnostic's word
        """Make one diagnostic without a place; the caller knows the place."""
        super().__init__(Diagnostic(code, message, help=help))
        self.inside: str | None = None


class Budget:
    """How much expansion may cost: work over all expansions that share the budget, and the size of one result.

    ``work`` counts characters moved plus a constant for each macro; ``size`` is in characters; ``depth`` is how many
    macros may stand inside one another.
    """

    def __init__(self, work: int = 1 << 26, size: int = 1 << 20, depth: int = 100) -> None:
        """Begin with nothing spent."""
        self.left = work
        self.size = size
        self.depth = depth

    def spend(self, amount: int) -> None:
        """Take ``amount`` from the work left; raises MacroError when there is no more."""
        self.left -= amount
        if self.left < 0:
            raise MacroError("macro-work", "expanding the macros takes too long", "use fewer macros inside macros")


def expand(text: str, lookup: Lookup, budget: Budget) -> str:
    """Return ``text`` with all its macros expanded, as HTCondor does it.

    A macro that is undefined or empty gives its default, else nothing; ``$(DOLLAR)`` gives ``$``;
    ``$$(name)`` and ``$$([expression])`` stay. Raises MacroError.
    """
    if "$" not in text:
        return text
    return _Expansion(lookup, budget, None).run(text)


def expand_self(text: str, name: str, earlier: str | None, budget: Budget) -> str:
    """Return the ``text`` being assigned to ``name`` with references to ``name`` itself replaced by its earlier text.

    All other macros stay: they are expanded when asked for. ``name`` is in lower case. Raises MacroError.
    """
    if "$" not in text:
        return text
    return _Expansion(lambda _: earlier, budget, name).run(text)


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

    def __init__(self, lookup: Lookup, budget: Budget, only: str | None) -> None:
        self._lookup = lookup
        self._budget = budget
        self._only = only
        self._pending: list[tuple[str, int, _Chain | None]] = []
        self._done: list[str] = []
        self._size = 0

    def run(self, text: str) -> str:
        self._pending.append((text, 0, None))
        self._chain: _Chain | None = None
        try:
            self._budget.spend(len(text))
            while self._pending:
                text, at, self._chain = self._pending.pop()
                self._read(text, at)
        except MacroError as error:
            error.inside = self._chain.name if self._chain else None
            raise
        return "".join(self._done)

    def _read(self, text: str, begin: int) -> None:
        """Read the top text up to its next macro, which is replaced on the stack, or to its end."""
        outer, nested = -1, 0  # where $(a$(b)) begins, and how many such heads are open
        at = text.find("$", begin)
        while at >= 0:
            found = scan(text, at)
            self._budget.spend(found.end - at)
            if found.kind is Kind.CUT and self._pending:
                self._emit(text[begin:at] if outer < 0 else text[begin:outer])
                self._join(text[outer if outer >= 0 else at :])
                return
            if found.kind is Kind.NESTED:
                outer, nested = (at, 1) if outer < 0 else (outer, nested + 1)
                if nested > self._budget.depth:
                    self._too_deep()
                at = found.resume
                continue
            if self._is_mine(found):
                start = outer if outer >= 0 else at
                self._emit(text[begin:start])
                self._pending.append((text, found.end, self._chain))
                self._replace(text[start:at], text, found)
                return
            outer = -1
            if found.name == "dollar" and found.default < 0 and found.kind is Kind.MACRO and self._only is None:
                self._emit(text[begin:at] + "$")
                begin = found.end
            at = text.find("$", found.resume)
        self._emit(text[begin:])

    def _is_mine(self, found: Found) -> bool:
        """Whether this run replaces what was found."""
        if self._only is not None:
            return found.kind is Kind.MACRO and found.name == self._only
        is_dollar = found.name == "dollar" and found.default < 0
        return found.kind is Kind.FUNCTION or (found.kind is Kind.MACRO and not is_dollar)

    def _replace(self, head: str, text: str, found: Found) -> None:
        if found.kind is Kind.FUNCTION:
            shown = text[found.at : found.end]
            shown = shown if len(shown) <= 60 else shown[:57] + "..."
            raise MacroError(
                "unread-function",
                f"crondor does not read the macro function ${found.name}() yet, and {shown} is needed here",
                "write out the value it gives",
            )
        value = self._lookup(found.name)
        chain = self._chain
        if not value:
            value = text[found.default : found.end - 1] if found.default >= 0 else ""
        elif self._only is None:
            chain = self._enter(found.name)
        self._budget.spend(_STEP + len(head) + len(value))
        if head or value:
            # With a head the text is partly the outer one's, so a cycle through it is left to the budget.
            self._pending.append((head + value, 0, self._chain if head else chain))

    def _enter(self, name: str) -> _Chain:
        names = self._chain.names() if self._chain else []
        if name in names:
            way = " -> ".join([*names[names.index(name) :], name][-8:])
            raise MacroError("macro-cycle", f"the macro {name} is defined by itself: {way}", "break the circle")
        if len(names) >= self._budget.depth:
            self._too_deep()
        return _Chain(name, self._chain)

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
