"""Rows of two readings that are made as they are asked for, against a table of all times."""

from hypothesis import given
from hypothesis import strategies as st

from crondor.preview.runs import Rows, Runs

TIMES = st.lists(st.integers(1, 40), unique=True).map(sorted)


def sides(rows: Rows) -> list[tuple[int, int | None, int | None, bool]]:
    """Return the rows as numbers."""
    return [(row.number, row.run and row.run.time, row.schedd and row.schedd.time, row.compared) for row in rows]


@given(TIMES, TIMES, st.integers(1, 12))
def test_runs_are_paired_by_time(ours: list[int], theirs: list[int], count: int) -> None:
    """A side that was cut at ``count`` says nothing of later times; rows can be asked for again."""
    ours, theirs = ours[:count], theirs[:count]
    last = ours[-1] if len(ours) == count else None
    reached = theirs[-1] if len(theirs) == count else None
    times = sorted(time for time in {*ours, *theirs} if last is None or time <= last)
    expected = [
        (number, time if time in ours else None, time if time in theirs else None, reached is None or time <= reached)
        for number, time in enumerate(times, 1)
    ]
    rows = Rows(Runs(ours, most=count), Runs(theirs, most=count))
    assert sides(rows) == sides(rows) == expected
    assert len(rows) == len(expected)
    assert [row.number for row in rows.parting()] == [row.number for row in rows if row.differs]
    assert rows.differing == sum(row.differs for row in rows)


@given(TIMES)
def test_one_reading_alone_is_compared_with_nothing(ours: list[int]) -> None:
    """Its rows have one side, and none differs."""
    rows = Rows(Runs(ours))
    assert sides(rows) == [(number, time, None, False) for number, time in enumerate(ours, 1)]
    assert rows.differing == 0
