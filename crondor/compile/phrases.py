"""Pieces of sentences about schedules."""

from __future__ import annotations

from collections.abc import Sequence

from crondor.compile.days import seconds_of
from crondor.words import clock_words

_MOST = 8  # of a list; beyond, the rest is counted


def listed(words: Sequence[str], word: str = "and") -> str:
    """Return words as a list: "a, b and c"; of a long one the first, and how many more there are."""
    if len(words) > _MOST:
        words = [*words[: _MOST - 1], f"{len(words) - _MOST + 1} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {word} {words[-1]}"


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 11th, 23rd."""
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def at_times(times: int) -> str:
    """Return the minutes of a day (a bit set) as a schedule is written: "at 09:00, 17:00"."""
    return f"at {', '.join(f'{second // 3600:02}:{second // 60 % 60:02}' for second in seconds_of(times))}"


def clock_list(times: int) -> str:
    """Return the minutes of a day (a bit set) in words: "at 09:00 and 17:00", "every 10 minutes"."""
    minutes = [second // 60 for second in seconds_of(times)]
    hours = sorted({minute // 60 for minute in minutes})
    of_hour = sorted({minute % 60 for minute in minutes})
    if len(hours) * len(of_hour) == len(minutes):
        return clock_words(of_hour, hours)
    return f"at {listed([f'{minute // 60:02}:{minute % 60:02}' for minute in minutes])}"
