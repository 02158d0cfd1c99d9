"""What a transform did, step by step, in the words of condor_transform_ads -verbose."""

from __future__ import annotations

from typing import NamedTuple

from crondor.source import Span


class TraceStep(NamedTuple):
    """One thing that was done: the line of the rules that asked for it, and HTCondor's words for it.

    ``is_detail`` marks what follows from the step before: the value that an expression turned out to have.
    """

    span: Span
    text: str
    is_detail: bool = False

    def __str__(self) -> str:
        """Return a line of text with its place."""
        return f"{self.span.source.name}:{self.span.line}: {'    ' if self.is_detail else ''}{self.text}"
