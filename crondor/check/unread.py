"""Expressions that cannot be read, with what was probably meant: another operator, a number without its unit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from crondor.check.rule import Fix, RuleHit, TextEdit
from crondor.check.spelt import Replacement, amounts, operators_of, replaced
from crondor.check.subject import CheckedFile
from crondor.check.written import WrittenExpression, parsed
from crondor.schedule import COMMANDS

_SHOWN = 60


def operators(file: CheckedFile) -> Iterator[RuleHit]:
    """Yield the expressions that can be read once their operators are those of ClassAds."""
    for each in _unread(file):
        changes = operators_of(each.value.text)
        if _reads(each, changes):
            first = changes[0]
            shown = each.value.text[first.start : first.end]
            message = f"`{shown}` is no operator of ClassAds: condor_submit refuses the expression"
            yield _hit(file, each, changes, message)


def units(file: CheckedFile) -> Iterator[RuleHit]:
    """Yield the expressions that can be read once their numbers have no units, or others."""
    for each in _unread(file):
        if each.value.key in COMMANDS:
            continue  # CRN301 speaks of the lengths and times
        changes = amounts(each.value.text, each.value.key)
        if _reads(each, changes):
            first = changes[0]
            shown = each.value.text[first.start : first.end]
            message = f"condor_submit cannot read {shown}: the only units it knows are K, M, G and T of memory and disk"
            yield _hit(file, each, changes, message)


def _unread(file: CheckedFile) -> Iterator[WrittenExpression]:
    yield from (each for each in file.written if each.tree is None)


def _reads(each: WrittenExpression, changes: Sequence[Replacement]) -> bool:
    return bool(changes) and _can_read(each.value.key)(replaced(each.value.text, changes))
