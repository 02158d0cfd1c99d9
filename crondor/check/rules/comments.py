"""CRN9..: the comments that silence other rules."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.check.rule import Fix, RuleHit, TextEdit, rule
from crondor.check.suppress import Silence, Suppression
from crondor.diagnostics import Severity, similar

_FEW = 20  # mistakes of one file that are compared with every code


@rule("CRN901", "unused-ignore", Severity.NOTE, "a comment that silences nothing")
def unused(silence: Silence) -> Iterator[RuleHit]:
    """An order that met no finding hides the next one that comes along."""
    for order in silence.comments.orders if silence.is_whole else ():
        if order not in silence.used and _is_known(order, silence.codes):
            yield RuleHit(f"nothing is found here under {order.prefix}", order.span, "remove it from the comment")


@rule("CRN902", "bad-ignore", Severity.WARNING, "a comment to crondor that cannot be read")
def malformed(silence: Silence) -> Iterator[RuleHit]:
    """A comment that is not understood silences nothing."""
    for span in silence.comments.malformed:
        message = "this comment speaks to crondor, and cannot be read"
        yield RuleHit(message, span, "write # crondor: ignore[CRN101], or ignore-file, with the codes in brackets")
    known: dict[str, str | None] = {}
    for order in silence.comments.orders:
        if not _is_known(order, silence.codes):
            if order.prefix not in known:
                known[order.prefix] = _close(order.prefix, silence.codes) if len(known) < _FEW else None
            close = known[order.prefix]
            help_text = f"did you mean {close}?" if close else "crondor check --rules lists the codes"
            fix = Fix(f"write {close}", (TextEdit(order.span, close),)) if close else None
            yield RuleHit(f"no rule has the code {order.prefix}", order.span, help_text, fix)


def _is_known(order: Suppression, codes: frozenset[str]) -> bool:
    return any(code.startswith(order.prefix) for code in codes)


def _close(prefix: str, codes: frozenset[str]) -> str | None:
    return next(iter(similar(prefix[:20], sorted(codes), 0.8)), None)
