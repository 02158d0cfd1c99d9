"""CRN9..: the comments that silence other rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crondor.check.rule import Edit, Fix, RuleHit, rule
from crondor.check.suppress import Comments, Order
from crondor.diagnostics import Severity

_FEW = 20  # mistakes of one file that are compared with every code


class Silence(NamedTuple):
    """The comments of a source, those of their orders that silenced something, and the codes there are.

    ``is_whole``: the description could be read, so that what was not found is not there.
    """

    comments: Comments
    used: frozenset[Order]
    codes: frozenset[str]
    is_whole: bool = True


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
            fix = Fix(f"write {close}", (Edit(order.span, close),)) if close else None
            yield RuleHit(f"no rule has the code {order.prefix}", order.span, help_text, fix)


def _is_known(order: Order, codes: frozenset[str]) -> bool:
    return any(code.startswith(order.prefix) for code in codes)


def _close(prefix: str, codes: frozenset[str]) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415 - slow to import, and needed for a mistake only

    return next(iter(get_close_matches(prefix[:20], sorted(codes), 1, 0.8)), None)
