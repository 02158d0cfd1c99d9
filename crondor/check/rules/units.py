"""CRN56..: numbers with units that condor_submit does not read, and amounts whose unit is probably another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from crondor.check.given import AMOUNT, AMOUNTS, GivenValue
from crondor.check.policy_names import POLICIES
from crondor.check.rule import MANY, RuleHit, rule
from crondor.check.subject import CheckedFile
from crondor.diagnostics import Severity

_KIB, _MIB, _GIB, _TIB = (1024**power for power in (1, 2, 3, 4))
_MUCH_MEMORY: Final = 2 * _TIB  # bytes from which on a number of megabytes is one of kilobytes or bytes
_MOST_MEMORY: Final = 32 * _TIB  # more than any machine has
_LEAST_MEMORY: Final = 16 * _MIB  # up to here gigabytes are meant: hardly a job runs in so little
_MUCH_DISK: Final = 64 * _TIB
_LEAST_DISK: Final = _MIB
_COUNTED: Final = {  # of what, and how many a machine may have today
    **dict.fromkeys(("request_cpus", "requestcpus"), ("processor", 1024)),
    **dict.fromkeys(("request_gpus", "requestgpus"), ("GPU", 64)),
}


@rule("CRN560", "unit", Severity.ERROR, "a number with a unit that HTCondor does not know", most=MANY)
def unit(file: CheckedFile) -> Iterator[RuleHit]:
    """Memory and disk have K, M, G or T; all other numbers have none, and times are in seconds."""
    yield from (each.hit for each in file.unread if each.code == "CRN560" and each.value.key not in POLICIES)


@rule(
    "CRN561",
    "amount",
    Severity.WARNING,
    "an amount of memory, disk or processors that is probably not meant",
    most=MANY,
)
def amount(file: CheckedFile) -> Iterator[RuleHit]:
    """Without a unit request_memory counts megabytes, and request_disk kilobytes."""
    for value in file.given.all:
        if value.key in _COUNTED and re.fullmatch(r"\d{1,9}", value.text):
            yield from _suspect_count(value, int(value.text))
        found = AMOUNT.fullmatch(value.text) if value.key in AMOUNTS else None
        if found is not None:
            yield from _suspect(value, float(found["number"]), (found["unit"] or "")[:1].lower())


def _suspect_count(value: GivenValue, number: int) -> Iterator[RuleHit]:
    what, most = _COUNTED[value.key]
    if number == 0 and what == "processor":
        yield RuleHit("the job asks for no processor at all", value.span, "write request_cpus = 1, or more")
    elif number > most:
        message = f"the job asks for {number} {what}s of one machine: it stays idle where none has so many"
        yield RuleHit(message, value.span, "memory and disk have commands of their own: request_memory, request_disk")


def _suspect(value: GivenValue, number: float, letter: str) -> Iterator[RuleHit]:
    base = AMOUNTS[value.key]
    bytes_ = number * {"": base, "k": _KIB, "m": _MIB, "g": _GIB, "t": _TIB}[letter]
    is_memory = base == _MIB
    what = "memory" if is_memory else "disk"
    plain = f"a number without a unit counts {'megabytes' if is_memory else 'kilobytes'}"
    counted = plain if not letter else f"{value.text} is that much"
    if is_memory:
        too_much = bytes_ >= (_MOST_MEMORY if letter in {"g", "t"} else _MUCH_MEMORY)
    else:
        too_much = not letter and bytes_ >= _MUCH_DISK
    is_least = bytes_ < _LEAST_DISK if not is_memory else bytes_ <= _LEAST_MEMORY
    too_little = bytes_ > 0 and is_least and (is_memory or not letter)
    if too_much:
        message = f"this asks for {_shown(bytes_)} of {what}: {counted}"
        yield RuleHit(message, value.span, "write the number with its unit, such as 4GB")
    elif too_little:
        least = Severity.NOTE if number == 1 else None  # 1 may well say: as little as there is
        message = f"this asks for no more than {_shown(bytes_)} of {what}: {counted}"
        yield RuleHit(
            message, value.span, f"write {value.text.rstrip('kKmMbB ')}GB, if gigabytes are meant", severity=least
        )


def _shown(bytes_: float) -> str:
    for size, name in ((_TIB, "TiB"), (_GIB, "GiB"), (_MIB, "MiB"), (_KIB, "KiB")):
        if bytes_ >= size:
            return f"{round(bytes_ / size, 1):g} {name}"
    return f"{bytes_:g} bytes"
