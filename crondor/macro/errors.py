"""What goes wrong with macros, and how much they may cost."""

from __future__ import annotations

from crondor.diagnostics import CrondorError, Diagnostic


class MacroError(CrondorError, ValueError):
    """A text whose macros cannot be expanded: a cycle, too much of it, or a function that has no value.

    ``chain`` has the lower-case names of the macros being expanded, from the outermost to the one whose text holds
    the fault; it is empty where that is the text itself.
    """

    def __init__(self, code: str, message: str, help: str | None = None) -> None:  # noqa: A002 - Diagnostic's word
        """Make one diagnostic without a place; the caller knows the place."""
        super().__init__(Diagnostic(code, message, help=help))
        self.chain: tuple[str, ...] = ()

    @property
    def inside(self) -> str | None:
        """The macro whose text holds the fault, None where it is the text itself."""
        return self.chain[-1] if self.chain else None

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the diagnostic's parts."""
        only = self.diagnostics[0]
        return MacroError, (only.kind, only.message, only.help), {"chain": self.chain}


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
