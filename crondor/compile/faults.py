"""What is wrong with a schedule's text: all faults of it, each with its place and what to write instead."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.diagnostics import CrondorError, Diagnostic, Severity, shortened
from crondor.source import Span

MOST_FAULTS = 20
WHOLE_MINUTES = "HTCondor starts runs on whole minutes"


class InvalidSchedule(CrondorError, ValueError):
    """A text that is no schedule."""


class Remarks:
    """The faults and warnings that readers of a text collect."""

    def __init__(self) -> None:
        """Begin with none."""
        self.found: list[Diagnostic] = []

    def fault(self, kind: str, message: str, span: Span, help_text: str, fix: str | None = None) -> None:
        """Add an error."""
        self.found.append(Diagnostic(f"schedule-{kind}", message, span=span, help=help_text, fix=fix))

    def warn(self, kind: str, message: str, span: Span, help_text: str) -> None:
        """Add a warning."""
        self.found.append(Diagnostic(f"schedule-{kind}", message, Severity.WARNING, span, help_text))

    def note(self, kind: str, message: str, span: Span, help_text: str) -> None:
        """Add a note, once."""
        note = Diagnostic(f"schedule-{kind}", message, Severity.NOTE, span, help_text)
        if note not in self.found:
            self.found.append(note)

    def take(self, error: CrondorError) -> None:
        """Add what another reader found."""
        self.found.extend(error.diagnostics)

    @property
    def errors(self) -> list[Diagnostic]:
        """The errors by their places, no more than anybody reads."""
        found = [each for each in self.found if each.severity is Severity.ERROR]
        return sorted(found, key=lambda each: 0 if each.span is None else each.span.start)[:MOST_FAULTS]

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The rest."""
        return tuple(each for each in self.found if each.severity is not Severity.ERROR)


def pieces(span: Span, mark: str = ",") -> Iterator[Span]:
    """Yield the pieces of a list, as they stand between the marks."""
    at = 0
    for text in span.text.split(mark):
        yield span.part(at, at + len(text))
        at += len(text) + 1


def short(text: str) -> str:
    """Return a piece of text as a message can show it."""
    return shortened(text, 40)
