"""The months in which the day-0 defect is looked for begin where the zone's clock says, whatever is done to it."""

from datetime import datetime, timezone
from itertools import islice

import pytest

from crondor.lint.schedules import _month_ends
from crondor.zones import zone_of


@pytest.mark.parametrize(
    "name", ["Asia/Amman", "America/Sao_Paulo", "Asia/Gaza", "America/Havana", "Africa/Cairo", "Australia/Lord_Howe"]
)
def test_a_month_begins_with_its_first_second(name: str) -> None:
    """A fold at midnight has its first second twice, a gap has none at 00:00 (Amman in October and July 1999)."""
    zone = zone_of(name)
    begin = int(datetime(1970, 1, 15, tzinfo=timezone.utc).timestamp())
    for at in islice(_month_ends(zone, begin), 12 * 60):
        month, *earlier = (zone.moment(at - back) for back in (0, 1, 1800, 5400))
        assert all((each.year, each.month) < (month.year, month.month) for each in earlier)
