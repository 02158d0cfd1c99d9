"""What can be wrong with a ClassAd text, and how it is said."""

from __future__ import annotations

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.source import Source, Span


class ClassAdSyntaxError(CrondorError, ValueError):
    """A text is not an expression or an ad; the diagnostic underlines where it stops making sense."""


class StackExhausted(ClassAdSyntaxError):
    """A text could not be read because the caller has left too little of Python's own stack."""


class EvaluationFailed(CrondorError, ValueError):
    """An expression has no value at all: HTCondor's daemons see it as if nothing were there.

    This is rarer than the value ``error``: recursion, work or growth beyond the bounds, and a few wrong calls
    (``random(0)``).
    """


class CircularReference(CrondorError, ValueError):
    """The references of an expression cannot be told: it leads back to itself, or selects from what is no ad."""


def syntax_error(source: Source, start: int, end: int, message: str, hint: str | None = None) -> ClassAdSyntaxError:
    """Return the error for the characters ``start`` to ``end`` of a source."""
    span: Span = source.span(start, max(end, start))
    return ClassAdSyntaxError(Diagnostic("classad-syntax", message, span=span, help=hint))


class Failure(Exception):
    """Inside the engine: the evaluation under way fails. It leaves as ``EvaluationFailed``."""


class Exhausted(Exception):
    """Inside the engine: the work of one evaluation is used up; no function may turn this into a value."""
