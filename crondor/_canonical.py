"""The shortest text of one field's value in a dialect; reading it back gives the same bits and star flag."""

from __future__ import annotations

from itertools import combinations
from math import gcd

from crondor._fields import DAY_OF_WEEK, Dialect, Field, fold_sunday, stepped


def field_text(bits: int, field: Field, dialect: Dialect, *, star: bool) -> str:
    """Return the canonical text: ``*`` and ``*/n`` only where the star flag asks for them."""
    if not star:
        return _listed(bits, bits, field, dialect)
    if bits == field.full:
        return "*"
    return _starred(bits, field, dialect)


def values(bits: int) -> tuple[int, ...]:
    """Return the members of a bit set in order."""
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return tuple(found)


def _starred(bits: int, field: Field, dialect: Dialect) -> str:
    """``*/n`` items first, as many as pay, then the rest as a list."""
    steps: dict[int, int] = {}
    for n in range(2, field.high + 2):
        covered = stepped(field.low, field.high, n)
        covered = fold_sunday(covered) if field.index == DAY_OF_WEEK.index else covered
        if covered & ~bits == 0 and not any(covered & ~other == 0 for other in steps.values()):
            steps[n] = covered
    best = ""
    for chosen in (*combinations(steps, 1), *combinations(steps, 2)):
        rest = bits
        for n in chosen:
            rest &= ~steps[n]
        text = ",".join(f"*/{n}" for n in chosen) + ("," + _listed(rest, bits, field, dialect) if rest else "")
        if not best or len(text) < len(best):
            best = text
    return best


def _listed(wanted: int, allowed: int, field: Field, dialect: Dialect) -> str:
    """Return the shortest list of values, ranges and stepped ranges that names ``wanted`` inside ``allowed``."""
    todo = values(wanted)
    best: list[tuple[int, str]] = [(0, "")]  # the cost and text of the first k values
    for k in range(1, len(todo) + 1):
        last = todo[k - 1]
        found = best[k - 1][0] + len(str(last)) + 1, f"{best[k - 1][1]},{last}" if k > 1 else str(last)
        step = 0
        for i in range(k - 2, -1, -1):
            step = gcd(step, todo[i + 1] - todo[i])
            item = _item(todo[i], last, step, allowed, field, dialect)
            if item is not None and best[i][0] + len(item) + 1 < found[0]:
                found = best[i][0] + len(item) + 1, f"{best[i][1]},{item}" if i else item
        best.append(found)
    return best[-1][1]


def _item(low: int, high: int, step: int, allowed: int, field: Field, dialect: Dialect) -> str | None:
    if stepped(low, high, 1) & ~allowed == 0:
        return f"{low}-{high}"
    # The schedd's steps are multiples from zero, whatever the range begins with; and it loses Sunday's step.
    phased = dialect is Dialect.HTCONDOR and (low % step or field.index == DAY_OF_WEEK.index)
    if phased or stepped(low, high, step) & ~allowed:
        return None
    return f"{low}-{high}/{step}"
