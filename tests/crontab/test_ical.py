"""Runs as a calendar: read back by the library, the events are the runs."""

import sys
from datetime import datetime, timedelta
from itertools import islice
from unittest.mock import patch
from zoneinfo import ZoneInfo

import icalendar
import pytest
from dateutil.rrule import rrulestr
from dateutil.tz import resolve_imaginary
from hypothesis import given
from hypothesis import strategies as st

from crondor.crontab.file import CalendarEvent, NoCalendar, NoRule, rule_of, write_calendar
from crondor.deferral import Deferral
from crondor.recurrence import Policy, Recurrence
from crondor.spec import CronSpec, Dialect
from tests.examples import examples

BERLIN = ZoneInfo("Europe/Berlin")
START = 1_795_195_625
END = 7_000_000_000  # crondor looks no further than 2200
FIELDS = st.tuples(
    st.sampled_from(["0", "*/20", "30", "5,50", "30-40/5"]),
    st.sampled_from(["2", "2,3", "8-17/4", "0-23", "1"]),
    st.sampled_from(["*", "1", "*/9", "31", "1-31"]),
    st.sampled_from(["*", "3,10", "*/4", "2-3"]),
    st.sampled_from(["*", "0", "1-5", "*/3"]),
).map(" ".join)


def components(data: bytes) -> list[icalendar.Event]:
    """Return the events of a calendar."""
    calendar = icalendar.Calendar.from_ical(data)
    assert isinstance(calendar, icalendar.Calendar)
    return list(calendar.events)


def test_an_event_has_the_moments_of_its_run() -> None:
    """Its start in the zone, the window as its duration, the other moments in its description."""
    run = Deferral(START - START % 60, window=600, prep_time=120)
    (event,) = components(write_calendar([CalendarEvent(run, "a;b,c", "key")], BERLIN, START))
    assert event.start == datetime.fromtimestamp(run.time, BERLIN)
    assert event.duration == timedelta(seconds=600)
    assert str(event["summary"]) == "a;b,c"
    assert event["dtstamp"].dt.timestamp() == START
    assert str(event["description"]).splitlines() == [
        "match opens 2026-11-20 18:20:00+01:00",
        "last start 2026-11-20 18:37:00+01:00",
        "prep time 120 s, window 600 s, SCHEDD_INTERVAL 300 s",
    ]


def test_uids_are_stable_and_distinct() -> None:
    """They come from key and time alone."""
    runs = [CalendarEvent(Deferral(START + n), "x", key) for n in (0, 60) for key in ("a", "b")]
    first = [str(event["uid"]) for event in components(write_calendar(runs, BERLIN, START))]
    later = [str(event["uid"]) for event in components(write_calendar(reversed(runs), BERLIN, START + 999))]
    assert first == later[::-1]
    assert len(set(first)) == 4


def test_the_second_pass_of_a_repeated_hour_is_told_apart() -> None:
    """In UTC, since local time would mean the first pass."""
    times = [int(datetime(2026, 10, 25, 2, 30, fold=fold, tzinfo=BERLIN).timestamp()) for fold in (0, 1)]
    data = write_calendar([CalendarEvent(Deferral(time), "x", "k") for time in times], BERLIN, START)
    assert [event.start.timestamp() for event in components(data) if isinstance(event.start, datetime)] == times


@examples(10)
@given(FIELDS, st.sampled_from(["UTC", "Europe/Berlin"]))
def test_a_rule_has_the_runs_of_its_schedule(fields: str, zone: str) -> None:
    """Dateutil's reading of the rule, with RFC 5545's treatment of clock changes, gives the same instants."""
    recurrence = Recurrence(CronSpec.from_line(fields), zone)
    info = ZoneInfo(zone)
    try:
        first, rule = rule_of(recurrence, START)
    except NoRule:
        _, _, day, _, weekday = fields.split()
        restricted = not day.startswith("*") and weekday != "*"
        assert restricted or day == "*/9" or recurrence.follows_real_time
        return
    (event,) = components(write_calendar([CalendarEvent(Deferral(first), "x", "k", rule)], info, START))
    wall = datetime.fromtimestamp(first, info).replace(tzinfo=None)
    read = rrulestr(event["rrule"].to_ical().decode(), dtstart=wall)
    instants = dict.fromkeys(int(resolve_imaginary(t.replace(tzinfo=info)).timestamp()) for t in islice(read, 120))
    near = [instant for instant in list(instants)[:-5] if instant < END]  # the last ones may have moved past others
    assert near == list(islice(recurrence.upcoming(first - 1), len(near)))


@pytest.mark.parametrize(
    ("line", "dialect", "zone"),
    [
        ("0 6 1 * 1", Dialect.MANUAL, "UTC"),
        ("*/5 * * * *", Dialect.MANUAL, "Europe/Berlin"),
        ("30 2 * * *", Dialect.UNIX, "Europe/Berlin"),
        ("0 6 * * *", Dialect.HTCONDOR, "UTC"),
    ],
)
def test_there_is_not_always_a_rule(line: str, dialect: Dialect, zone: str) -> None:
    """Either day field, real time, another policy, the schedd."""
    with pytest.raises(NoRule):
        rule_of(Recurrence(CronSpec.from_line(line, dialect=dialect), zone), START)


def test_a_rule_cannot_leave_out_a_missing_day() -> None:
    """Samoa's 30 December 2011: a rule would have its run a day later, and the schedule drops it."""
    samoa = ZoneInfo("Pacific/Apia")
    recurrence = Recurrence(CronSpec.from_line("0 12 * * *"), samoa)
    with pytest.raises(NoRule):
        rule_of(recurrence, int(datetime(2011, 12, 25, tzinfo=samoa).timestamp()))
    assert rule_of(recurrence, int(datetime(2012, 1, 1, tzinfo=samoa).timestamp()))


def test_a_rule_does_not_begin_with_a_moved_run() -> None:
    """Where the next run is moved by a clock change, the rule begins with the run before."""
    recurrence = Recurrence(CronSpec.from_line("30 2 * * *"), "Europe/Berlin", Policy.COMPATIBLE)
    first, _ = rule_of(recurrence, int(datetime(2027, 3, 27, 12, tzinfo=BERLIN).timestamp()))
    assert datetime.fromtimestamp(first, BERLIN) == datetime(2027, 3, 27, 2, 30, tzinfo=BERLIN)


def test_the_library_may_be_missing() -> None:
    """The error says what to install."""
    with patch.dict(sys.modules, {"icalendar": None}), pytest.raises(NoCalendar, match=r"pip install '\.\[ics\]'"):
        write_calendar([], BERLIN, START)
