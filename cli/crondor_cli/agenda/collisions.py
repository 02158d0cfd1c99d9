"""Which jobs start in the same minute: all of a minute together, and pairs of schedules by their bit sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from heapq import heappush, heappushpop
from itertools import combinations, islice, product
from typing import NamedTuple

from crondor.calendar import lowest


class Strand:
    """Entries that start at the same minutes: their numbers, and the bit set of the minutes.

    ``several`` are those that stand for several equal jobs, which collide among themselves.
    """

    __slots__ = ("bits", "jobs", "minutes_of_hour", "several")

    def __init__(self, bits: int) -> None:
        """Begin without a job."""
        self.bits = bits
        self.jobs: list[int] = []
        self.several: list[int] = []
        # Most pairs are told apart by this alone.
        self.minutes_of_hour = _folded(bits, 60)


class Collision(NamedTuple):
    """Two entries, by number, that start in the same minute: how many times, and the first such minute.

    The same number twice means the equal jobs of one entry.
    """

    times: int
    first: int
    jobs: tuple[int, int]


def together(strands: Sequence[Strand], minutes: int) -> list[int]:
    """Return some minutes in bit sets, each of those in which the same strands start.

    Each strand has a number of 64 random bits. Minutes with the same exclusive or of the numbers of their strands have
    the same strands, and a bit set of minutes for each of the 64 is enough to know them.
    """
    planes = [0] * 64
    for strand in strands:
        if common := strand.bits & minutes:
            number = int.from_bytes(blake2b(str(strand.jobs[0]).encode(), digest_size=8).digest(), "big")
            for plane in range(64):
                if number >> plane & 1:
                    planes[plane] ^= common
    found = [minutes] if minutes else []
    for plane in planes:
        found = [part for group in found for part in (group & plane, group & ~plane) if part]
    return found


def collisions(strands: Sequence[Strand], most: int) -> tuple[list[Collision], int]:
    """Return the pairs of entries that collide most often, ``most`` of them, and how many pairs there are in all."""
    total = 0
    kept: list[tuple[int, int, int, int]] = []  # a heap: fewest collisions, then the latest first one, on top
    for one, other, common in _pairs(strands):
        same = one is other
        total += _own_pairs(one) if same else len(one.jobs) * len(other.jobs)
        count = common.bit_count()
        if not most or (len(kept) == most and count < kept[0][0]):
            continue
        low, high = sorted((one.jobs[0], other.jobs[0]))
        item = (count, -lowest(common), -low, -high)
        if len(kept) < most:
            heappush(kept, item)
        else:
            heappushpop(kept, item)
    home = {number: strand for strand in strands for number in strand.jobs}
    found: list[Collision] = []
    for count, first, low, high in sorted(kept, reverse=True):
        numbers = _jobs(home[-low], home[-high])
        found += [Collision(count, -first, pair) for pair in islice(numbers, most - len(found))]
    return sorted(found, key=lambda c: (-c.times, c.first, c.jobs)), total


def _pairs(strands: Sequence[Strand]) -> Iterator[tuple[Strand, Strand, int]]:
    for number, one in enumerate(strands):
        bits, folded = one.bits, one.minutes_of_hour
        if bits and _own_pairs(one):
            yield one, one, bits
        for other in strands[:number]:
            if folded & other.minutes_of_hour:
                common = bits & other.bits
                if common:
                    yield one, other, common


def _own_pairs(strand: Strand) -> int:
    return len(strand.several) + len(strand.jobs) * (len(strand.jobs) - 1) // 2


def _jobs(one: Strand, other: Strand) -> Iterator[tuple[int, int]]:
    if one is other:
        yield from ((number, number) for number in one.several)
        yield from combinations(one.jobs, 2)
    else:
        for low, high in product(one.jobs, other.jobs):
            yield min(low, high), max(low, high)


def _folded(bits: int, width: int) -> int:
    """Return which remainders by ``width`` the members have, by halves."""
    size = width
    while size < bits.bit_length():
        size *= 2
    while size > width:
        size //= 2
        bits = bits & ((1 << size) - 1) | bits >> size
    return bits
