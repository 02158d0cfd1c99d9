"""Expressions that cannot be read, with what was probably meant: another operator, a number without its unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from crondor.check.given import AMOUNTS, GivenValue
from crondor.check.rule import RuleHit
from crondor.check.spelt import Replacement, amounts, operators_of, replaced
from crondor.check.written import WrittenExpression, parsed
from crondor.diagnostics import Severity
from crondor.schedule import COMMANDS
from crondor.submit.ad.values import amount

_SHOWN: Final = 60
_THOUSANDS: Final = re.compile(r"\d{1,2}(,\d{3})+|\d{1,3}(,0\d\d)+|\d{1,3}(,\d{3}){2,}")  # 512,768 is a list of two
_THOUSANDS_AND_UNIT: Final = re.compile(rf"(?:{_THOUSANDS.pattern})[ \t]*(?:[kmgt]b?)?", re.IGNORECASE)

_OTHER_UNIT: Final = re.compile(r"[\d.]+[ \t]*[A-Za-z]+")


class Unread(NamedTuple):
    """A value that condor_submit refuses, and what is said of it, under the code of a rule."""

    value: GivenValue
    code: str
    hit: RuleHit


def unread(expressions: Iterable[WrittenExpression]) -> Iterator[Unread]:
    """Yield the values that condor_submit reads once an operator or a number in them is another."""
    for each in expressions:
        key, text = each.value.key, each.value.text
        is_list = key in AMOUNTS and _THOUSANDS_AND_UNIT.fullmatch(text) is not None
        if _is_read(key, text) and not is_list:
            continue
        found = _operator(each) or (None if key in COMMANDS else _unit(each, is_list=is_list))
        if found is not None:
            yield found


def _operator(each: WrittenExpression) -> Unread | None:
    changes = operators_of(each.value.text)
    if not _helps(each, changes):
        return None
    message = f"`{_was(each, changes)}` is no operator of ClassAds: condor_submit refuses the expression"
    return Unread(each.value, "CRN550", _hit(each, changes, message))


def _unit(each: WrittenExpression, *, is_list: bool) -> Unread | None:
    """Return what is wrong with a number's unit; CRN301 speaks of those of the deferral commands."""
    key, text = each.value.key, each.value.text
    changes = amounts(text, key)
    if key in AMOUNTS and not changes and _OTHER_UNIT.fullmatch(text):
        message = f"condor_submit cannot read {text}: the units it knows are K, M, G and T, with a B or without"
        return Unread(each.value, "CRN560", RuleHit(message, each.value.span, "write an amount such as 4GB"))
    if not _helps(each, changes):
        return None
    if is_list:
        message = (
            f"{text} is a list to condor_submit: it asks for the number before the comma, and retries with the next"
        )
    elif key in AMOUNTS:
        message = f"condor_submit cannot read {text}: the units it knows are K, M, G and T, with a B or without"
    else:
        message = f"condor_submit cannot read {_was(each, changes)}: a number in an expression has no unit"
    hit = _hit(each, changes, message)
    if is_list and _is_rising(text):
        hit = hit._replace(severity=Severity.WARNING)
    return Unread(each.value, "CRN560", hit)


def _is_read(key: str, text: str) -> bool:
    base = AMOUNTS.get(key)
    return (base is not None and amount(text, base, in_list=True) is not None) or parsed(text) is not None


def _is_rising(text: str) -> bool:
    """Say whether condor_submit 25 takes a list of amounts: each is to be larger than the one before."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return all(first < second for first, second in pairwise(numbers))


def _helps(each: WrittenExpression, changes: Sequence[Replacement]) -> bool:
    return bool(changes) and _is_read(each.value.key, replaced(each.value.text, changes))


def _was(each: WrittenExpression, changes: Sequence[Replacement]) -> str:
    return each.value.text[changes[0].start : changes[0].end]


def _hit(each: WrittenExpression, changes: Sequence[Replacement], message: str) -> RuleHit:
    """Return a finding at the first change; there is no fix, since no cure touches a value that cannot be read."""
    new = replaced(each.value.text, changes)
    place = each.value.place(changes[0].start, changes[0].end)
    return RuleHit(message, place, f"write {new if len(new) <= _SHOWN else changes[0].text}")
