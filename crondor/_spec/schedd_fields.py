"""The reading of one field in the HTCONDOR dialect: what the schedd's CronTab engine makes of any text.

The engine is HTCondor 25.14's ``CronTab`` (condor_crontab.cpp).
"""

from __future__ import annotations

from typing import NamedTuple

from crondor._spec.fields import DAY_OF_WEEK, Field, fold_sunday, stepped

_ALLOWED = frozenset("0123456789,-./* ")
_DIGITS = frozenset("0123456789")


class ScheddField(NamedTuple):
    """The bits of a field, or why the schedd holds the job.

    ``star``: the field was written with ``*`` and has every value; for the day of week: its list is empty.
    ``fault`` is None for a valid field, else ``character``, ``empty`` or ``step`` with the engine's own ``error``.
    """

    bits: int
    star: bool
    fault: str | None = None
    error: str = ""


def read_schedd_field(text: str, field: Field) -> ScheddField:
    """Return what HTCondor 25.14 makes of a field (docs/dialects.md); no text raises anything.

    HTCondor: CronTab::expandParameter.
    """
    if not _ALLOWED.issuperset(text):
        return ScheddField(
            0, star=False, fault="character", error=f"Invalid parameter value '{text}' for {field.attribute}"
        )
    packed = text.replace(" ", "")
    bits = 0
    for item in packed.split(","):
        if item:
            read = _read_item(item, field)
            if read is None:
                return ScheddField(0, star=False, fault="step")  # the engine leaves at once and says nothing
            bits |= read
    if field.index == DAY_OF_WEEK.index:
        # An empty list means "unrestricted" there.
        return ScheddField(bits or field.full, star=not bits)
    if not bits:
        return ScheddField(0, star=False, fault="empty", error=f"Invalid cron attribute: {packed}")
    return ScheddField(bits, star="*" in text and bits == field.full)


def illegal_characters(text: str) -> list[tuple[int, int]]:
    """Return the runs (start, end) of characters that the engine's character class refuses.

    HTCondor: CronTab::validateParameter.
    """
    runs: list[tuple[int, int]] = []
    for at, character in enumerate(text):
        if character in _ALLOWED:
            continue
        if runs and runs[-1][1] == at:
            runs[-1] = (runs[-1][0], at + 1)
        else:
            runs.append((at, at + 1))
    return runs


def zero_step(text: str) -> tuple[int, int]:
    """Return where the first step that comes to 0 stands, its slash included."""
    start = 0
    for part in text.split(","):
        body, slash, step = part.partition("/")
        if slash and _atoi(step.replace(" ", "")) == 0:
            return start + len(body), start + len(part.rstrip(" "))
        start += len(part) + 1
    return 0, len(text)


def _read_item(item: str, field: Field) -> int | None:
    body, slash, step_text = item.partition("/")
    step = abs(_atoi(step_text)) if slash else 1
    if step == 0:
        return None
    low, high = field.low, field.high
    first, dash, last = body.partition("-")
    if dash:
        low, high = max(_atoi(first), low), min(_atoi(last), high)
    elif "*" in body:
        if field.index == DAY_OF_WEEK.index:
            return 0
    elif low <= (value := _atoi(body)) <= high:
        low = high = value
    if low > high:
        return 0
    # The step keeps multiples of itself, whatever the range begins with; Sunday's 7 is 0 before that.
    multiples = stepped(0, 63, step) if step < 60 else 1  # no field reaches 60
    values = (2 << high) - (1 << low)
    return (fold_sunday(values) if field.index == DAY_OF_WEEK.index else values) & multiples


def _atoi(text: str) -> int:
    """Return what C's atoi gives: a sign and leading digits, 0 without any, saturated to 64 bits, cut to 32."""
    start = 1 if text.startswith("-") else 0
    end = start
    while end < len(text) and text[end] in _DIGITS:
        end += 1
    digits = text[start:end].lstrip("0")
    value = int(digits or "0") if len(digits) < 20 else 2**64
    value = max(-value, -(2**63)) if start else min(value, 2**63 - 1)
    return (value + 2**31) % 2**32 - 2**31
