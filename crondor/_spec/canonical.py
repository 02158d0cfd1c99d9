"""The shortest text of one field's value in a dialect; reading it back gives the same bits and star flag."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import gcd

from crondor._spec.fields import DAY_OF_MONTH, DAY_OF_WEEK, Dialect, Field, fold_sunday, stepped

_LONG_ENOUGH = 4  # values of a progression that is worth an item of its own
_MOST_PROGRESSIONS = 8


@lru_cache(maxsize=4096)  # a queue has the same few fields again and again
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
        text = ",".join(f"*/{n}" for n in chosen) + ("," + _joined(rest, bits, field, dialect) if rest else "")
        if not best or len(text) < len(best):
            best = text
    return best


def _listed(wanted: int, allowed: int, field: Field, dialect: Dialect) -> str:
    """Return the shortest list found that names ``wanted`` inside ``allowed``: values, ranges and steps.

    Neighbours are joined in the best way there is; besides, up to two progressions that run between other values
    are tried. A Sunday may be written as 7.
    """
    found = _joined(wanted, allowed, field, dialect)
    lists = _progressions(wanted, allowed, field, dialect)
    for chosen in (*combinations(lists, 1), *combinations(lists, 2)):
        rest = wanted
        for text in chosen:
            rest &= ~lists[text]
        items = [*chosen, *([_joined(rest, allowed, field, dialect)] if rest else [])]
        text = ",".join(
            sorted(items, key=lambda item: int(item.partition("-")[0].partition(",")[0].replace("*/", "0")))
        )
        if len(text) < len(found):
            found = text
    if field.index == DAY_OF_WEEK.index and wanted & 1 and wanted >> 1:
        late = _joined(wanted ^ 1 | 1 << 7, allowed & ~1 | 1 << 7, field, dialect)
        found = late if len(late) < len(found) else found
    return found


def _progressions(wanted: int, allowed: int, field: Field, dialect: Dialect) -> dict[str, int]:
    """Return the longest stepped items inside ``allowed``, with the bits they name, the most useful first."""
    lists: dict[str, int] = {}
    for step in range(2, field.high // 2 + 1):
        for start in range(field.low, min(field.low + step, field.high)):
            run = 0
            for value in range(start, field.high + 2, step):
                if value <= field.high and allowed >> value & 1:
                    run += 1
                    continue
                first, last = value - run * step, value - step
                if run >= _LONG_ENOUGH:
                    text = _item(first, last, step, allowed, field, dialect)
                    covered = stepped(first, last, step) & wanted
                    if text is not None and covered:
                        lists[text] = covered
                run = 0
    best = sorted(lists, key=lambda text: (len(text) - 3 * lists[text].bit_count(), text))
    return {text: lists[text] for text in best[:_MOST_PROGRESSIONS]}


def _joined(wanted: int, allowed: int, field: Field, dialect: Dialect) -> str:
    """Return the shortest list whose items do not interleave."""
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
    weekday = field.index == DAY_OF_WEEK.index
    # The schedd's steps are multiples from zero, whatever the range begins with; and it loses Sunday's step.
    if dialect is Dialect.HTCONDOR and (low % step or weekday):
        return None
    if stepped(low, high, step) & ~allowed:
        return None
    whole = low - step < field.low and high + step > field.high - weekday
    # Where `*/n` raises no star flag it is the shorter way to say the same.
    starless = dialect is Dialect.HTCONDOR or (dialect is Dialect.MANUAL and field.index >= DAY_OF_MONTH.index)
    if whole and starless and (dialect is Dialect.HTCONDOR or low == field.low) and not (weekday and 7 % step == 0):
        return f"*/{step}"
    return f"{low}-{high}/{step}"
