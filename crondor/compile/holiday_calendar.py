"""`holidays:COUNTRY[-SUBDIV]`: the public holidays of a country, from the package holidays (an extra)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from functools import lru_cache
from types import ModuleType
from typing import Protocol

from crondor.calendar import EPOCH_ORDINAL, FIRST_YEAR, LAST_YEAR
from crondor.compile.context import Context, epoch_of
from crondor.compile.day_terms import DayTerm
from crondor.compile.days import year_start
from crondor.diagnostics import similar
from crondor.source import Span
from crondor.zones import Zone

PREFIX = "holidays:"
_ESTIMATED = "stimated"  # how the package marks, in English, the days of a lunar calendar that it has computed
_RECENT = 2020  # what is older is history; some lunar calendars of it are computed too
_MOST_KEPT = 16  # calendars


class _Calendar(Protocol):
    """What is asked of a calendar of the package."""

    start_year: int
    end_year: int

    def __iter__(self) -> Iterator[date]:
        """Yield the days."""

    def get_list(self, key: date) -> list[str]:
        """Return the names of a day's holidays."""


def read_holidays(span: Span, context: Context) -> DayTerm | None:
    """Return the holidays that a text names; None, and a fault, where there are none of that name.

    holidays = "holidays:" [A-Z]+ ("-" [A-Za-z0-9]+)?
    """
    remarks = context.remarks
    try:
        import holidays as package  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415 - an extra; 80 ms
    except ImportError:
        help_text = "in a clone of crondor: pip install '.[holidays]'"
        remarks.fault("holidays", "holidays need the package holidays, which is not installed", span, help_text)
        return None
    code = span.text[len(PREFIX) :]
    country, _, subdivision = code.partition("-")
    place = span.part(len(PREFIX))
    names = countries(package)
    country = country.upper()
    if country not in names:
        near = [each for each, name in names.items() if similar(code.lower(), [name.lower()], 0.75)]
        near = near or similar(country, names, 0.6)
        help_text = f"did you mean {PREFIX}{near[0]} ({names[near[0]]})?" if near else "write ISO codes: DE, CH, US-CA"
        remarks.fault("holidays", f"there is no country `{code[:20]}`", place, help_text)
        return None
    known = package.list_supported_countries().get(country, [])
    if subdivision and subdivision.upper() not in {each.upper() for each in known}:
        near = similar(subdivision.upper(), known, 0.5)
        help_text = f"did you mean {country}-{near[0]}? " if near else ""
        help_text += f"known are {', '.join(known)}" if known else f"write {PREFIX}{country}"
        remarks.fault("holidays", f"{names[country]} has no part `{subdivision[:20]}`", place, help_text)
        return None
    subdivision = next((each for each in known if each.upper() == subdivision.upper()), "")
    label = f"{PREFIX}{country}{f'-{subdivision}' if subdivision else ''}"
    days, last = _calendar(country, subdivision)
    words = f"on public holidays of {names[country]}{f' ({subdivision})' if subdivision else ''}"
    reason = f"the calendar {label} is known until {last}-12-31"
    return DayTerm(days, words, context.zone, until=_end_of(last, context.zone), until_reason=reason)


def countries(package: ModuleType) -> dict[str, str]:
    """Return the names of all countries by their codes."""
    found = package.registry.COUNTRIES.values()
    return {codes[0]: re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name) for name, *codes in found}


def _end_of(year: int, zone: Zone) -> int:
    return epoch_of((year_start(year + 1)) * 86400, zone) - 60


@lru_cache(maxsize=_MOST_KEPT)
def _calendar(country: str, subdivision: str) -> tuple[Callable[[int], int], int]:
    """Return the holidays of a year, and the last year for which they are known and not estimated."""
    import holidays as package  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415 - the same

    years: dict[int, int] = {}

    def made(year: int) -> _Calendar | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of years that it does not know
            try:
                found: _Calendar = package.country_holidays(
                    country, subdiv=subdivision or None, years=year, language="en_US", expand=False
                )
            except (KeyError, ValueError, NotImplementedError):
                return None
        return found if found.start_year <= year <= found.end_year else None

    def of_year(year: int) -> int:
        found = years.get(year)
        if found is None:
            calendar = made(year) if FIRST_YEAR <= year <= LAST_YEAR else None
            base = year_start(year) + EPOCH_ORDINAL
            days = [] if calendar is None else list(calendar)
            found = years[year] = sum(1 << day.toordinal() - base for day in set(days) if day.year == year)
        return found

    whole: _Calendar = package.country_holidays(country)
    return of_year, _last_known(made, max(whole.start_year, _RECENT), whole.end_year)


def _last_known(made: Callable[[int], _Calendar | None], first: int, last: int) -> int:
    """Return the last year before the calendar ends or has to estimate, as it does with lunar ones."""
    for year in range(first, last + 1):
        calendar = made(year)
        if calendar is None or any(_ESTIMATED in name for day in calendar for name in calendar.get_list(day)):
            return year - 1
    return last
