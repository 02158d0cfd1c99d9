"""Calendars in .ics files: what starts when, what a file changes of its series, and what is refused."""

from datetime import datetime
from itertools import islice
from pathlib import Path

import pytest

from crondor.compile.meaning import WrittenSchedule, read_schedule
from crondor.compile.walls import InvalidSchedule
from crondor.macro.files import Files

NOW = 1_796_083_200  # 2026-12-01 00:00 UTC


EVENTS = Path(__file__).with_name("events.ics").read_text(encoding="utf-8")


def in_folder(folder: Path, text: str) -> WrittenSchedule:
    """Read a schedule that may name the files of a folder."""
    return read_schedule(text, zone="UTC", files=Files([str(folder)], base=str(folder)))


def test_a_calendar_file_starts_events_or_takes_their_time(tmp_path: Path) -> None:
    """As a schedule their starts; right of except and only all of their time, days and repetitions too."""
    (tmp_path / "down.ics").write_text(EVENTS, "utf-8")
    starts = list(islice(in_folder(tmp_path, "down.ics").between(NOW, 1 << 40), 4))
    assert [datetime.fromtimestamp(at, tz=None).astimezone().timestamp() for at in starts] == starts
    zone = in_folder(tmp_path, "down.ics").zone
    assert [f"{zone.moment(at):%m-%d %H:%M}" for at in starts] == [
        "12-02 10:00",
        "12-03 11:00",
        "12-17 11:00",
        "12-24 00:00",
    ]
    gone = set(in_folder(tmp_path, "every 30 minutes").between(NOW, NOW + 40 * 86_400)) - set(
        in_folder(tmp_path, "every 30 minutes except down.ics").between(NOW, NOW + 40 * 86_400)
    )
    assert len(gone) == 5 + 2 + 2 + 3 * 48
    only = in_folder(tmp_path, "every 30 minutes only down.ics")
    assert set(only.between(NOW, NOW + 40 * 86_400)) == gone


@pytest.mark.parametrize("text", ["", "no calendar", "BEGIN:VCALENDAR\n", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nRRULE:x\n"])
def test_a_broken_calendar_file_is_a_fault(tmp_path: Path, text: str) -> None:
    """Never a traceback."""
    (tmp_path / "x.ics").write_text(text, "utf-8")
    with pytest.raises(InvalidSchedule):
        in_folder(tmp_path, "every hour except x.ics")
    with pytest.raises(InvalidSchedule):
        in_folder(tmp_path, "every hour except ../x.ics")


_RULE = "BEGIN:STANDARD\nDTSTART:{}T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nRRULE:{}\nEND:STANDARD\n"
_YEARLY = "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU"


def zoned(*rules: str) -> str:
    """Return a calendar with a zone of its own."""
    zone = f"BEGIN:VTIMEZONE\nTZID:Own\n{''.join(rules)}END:VTIMEZONE\n"
    event = "BEGIN:VEVENT\nUID:1\nDTSTART;TZID=Own:20261224T000000\nEND:VEVENT\n"
    return f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n{zone}{event}END:VCALENDAR\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("BEGIN:VCALENDAR\n" * 100_000, "deep"),
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\n" * 50_000 + "END:VEVENT\nEND:VCALENDAR\n" * 50_000, "deep"),
        (zoned(_RULE.format("19700101", "FREQ=SECONDLY")), "yearly"),
        (zoned(_RULE.format("19700101", f"{_YEARLY};BYHOUR=1,2,3")), "yearly"),
        (zoned(_RULE.format("19700101", "FREQ=YEARLY;\n BYSECOND=1")), "yearly"),
        (zoned(_RULE.format("19700101", _YEARLY) * 200), "changes"),
        (zoned(*[_RULE.format("00010101", "FREQ=YEARLY;BYMONTHDAY=1,2,3")] * 9), "changes"),
        ("BEGIN:VCALENDAR" + "\n" * 2_000_000 + "X", "not a calendar"),
        ("BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:F\nBEGIN:STANDARD\nDTSTART;VALUE=DATE:x\nEND:VTIMEZONE\n", "calendar"),
    ],
)
def test_a_hostile_calendar_is_refused_soon(text: str, said: str, tmp_path: Path) -> None:
    """Its depth, its zones and its empty lines are looked at before it is read."""
    (tmp_path / "x.ics").write_text(text, "utf-8")
    with pytest.raises(InvalidSchedule, match=said):
        in_folder(tmp_path, "every hour except x.ics")


def test_a_calendar_may_define_zones(tmp_path: Path) -> None:
    """As Outlook does, from 1601 on; those of another file with the same name are forgotten."""
    both = [_RULE.format("16010101", _YEARLY), _RULE.format("16010101", "FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU")]
    for offset, hour in (("+0200", 22), ("+0500", 19)):
        (tmp_path / "x.ics").write_text(zoned(*both).replace("+0200", offset), "utf-8")
        found = in_folder(tmp_path, "x.ics")
        first = found.next(NOW)
        assert first is not None
        assert f"{found.zone.moment(first):%m-%d %H}" == f"12-23 {hour}"


def calendar(*events: str) -> str:
    """Return a calendar of events, each given as its properties between blanks."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x"]
    for each in events:
        lines += ["BEGIN:VEVENT", *each.split(), "END:VEVENT"]
    return "\n".join([*lines, "END:VCALENDAR", ""])


def read(folder: Path, *events: str, text: str = "x.ics") -> WrittenSchedule:
    """Read a calendar of events, or a schedule that names it."""
    (folder / "x.ics").write_text(calendar(*events), "utf-8")
    return in_folder(folder, text)


def starts(folder: Path, *events: str, most: int = 9) -> list[str]:
    """Return the first starts of a calendar after NOW, in UTC."""
    found = read(folder, *events)
    return [f"{found.zone.moment(at):%m-%d %H:%M}" for at in islice(found.between(NOW, 1 << 40), most)]


WEEKLY = "UID:w DTSTART:20261202T090000Z DTEND:20261202T100000Z RRULE:FREQ=WEEKLY;COUNT=4"


@pytest.mark.parametrize(
    ("until", "last"),
    [("20261216T090059Z", "12-16 09:00"), ("20261216T085959Z", "12-09 09:00"), ("20261216T090000Z", "12-16 09:00")],
)
def test_the_seconds_of_a_last_time_bound_what_starts_on_whole_minutes(until: str, last: str, tmp_path: Path) -> None:
    """They are no reason to refuse the file; a rule in a text is read the same."""
    rule = f"DTSTART:20261202T090000Z RRULE:FREQ=WEEKLY;UNTIL={until}"
    assert starts(tmp_path, f"UID:w {rule}")[-1] == last
    found = read_schedule(rule, zone="UTC")
    assert [f"{found.zone.moment(at):%m-%d %H:%M}" for at in found.between(NOW, 1 << 40)][-1] == last


def test_seconds_of_starts_are_dropped_and_said(tmp_path: Path) -> None:
    """The end, the last time and what is left out go by the seconds that the file has."""
    found = read(
        tmp_path,
        "UID:s DTSTART:20261202T090025Z RRULE:FREQ=WEEKLY;UNTIL=20261223T090024Z EXDATE:20261209T090025Z",
        "UID:t DTSTART:20261203T090000Z RRULE:FREQ=WEEKLY;COUNT=2 EXDATE:20261210T090001Z",
    )
    assert [f"{found.zone.moment(at):%d %H:%M}" for at in found.between(NOW, 1 << 40)] == [
        "02 09:00",
        "03 09:00",
        "10 09:00",
        "16 09:00",
    ]
    (warning,) = found.warnings
    assert "seconds" in warning.message
    assert "x.ics" in warning.message


def test_an_exdate_with_seconds_excludes_no_run_of_a_text() -> None:
    """It is a warning, because no run has seconds; a DTSTART or RDATE with seconds stays a fault."""
    text = "DTSTART:20261202T090000Z RRULE:FREQ=DAILY;COUNT=3 EXDATE:20261203T090030Z,20261204T090000Z"
    found = read_schedule(text, zone="UTC")
    assert [at // 86_400 - NOW // 86_400 for at in found.between(NOW, 1 << 40)] == [1, 2]
    assert [each.kind for each in found.warnings] == ["schedule-seconds"]
    for wrong in ("DTSTART:20261202T090030Z RRULE:FREQ=DAILY", "RDATE:20261202T090030Z"):
        with pytest.raises(InvalidSchedule, match="whole minutes"):
            read_schedule(wrong, zone="UTC")


def test_times_of_a_rule_are_ignored_where_its_start_is_a_date(tmp_path: Path) -> None:
    """RFC 5545, 3.3.10; it is said, except where nothing is lost."""
    rule = "RRULE:FREQ=DAILY;BYHOUR=9;BYMINUTE=1,2;COUNT=2"
    assert starts(tmp_path, f"UID:d DTSTART;VALUE=DATE:20261202 {rule}") == ["12-02 00:00", "12-03 00:00"]
    assert len(in_folder(tmp_path, "x.ics").warnings) == 2
    found = read_schedule(f"DTSTART:20261202 {rule}", zone="Europe/Berlin")
    assert [f"{found.zone.moment(at):%d %H:%M}" for at in found.between(NOW, 1 << 40)] == ["02 00:00", "03 00:00"]
    assert {each.span.text for each in found.warnings if each.span} == {"9", "1,2"}
    assert not read_schedule("DTSTART:20261202 RRULE:FREQ=DAILY;BYHOUR=0;BYMINUTE=00", zone="UTC").warnings
    timed = read_schedule(f"DTSTART:20261202T000000 {rule}", zone="UTC")
    assert [at % 86_400 // 60 for at in timed.between(NOW, 1 << 40)] == [541, 542]


def test_a_start_may_be_moved_left_out_or_cancelled(tmp_path: Path) -> None:
    """One start by its RECURRENCE-ID; a rule in the event that replaces it repeats nothing."""
    moved = "UID:w RECURRENCE-ID:20261209T090000Z DTSTART:20261210T120000Z RRULE:FREQ=DAILY SEQUENCE:1"
    gone = "UID:w RECURRENCE-ID:20261216T090000Z DTSTART:20261216T090000Z STATUS:CANCELLED"
    assert starts(tmp_path, WEEKLY, moved, gone) == ["12-02 09:00", "12-10 12:00", "12-23 09:00"]
    alone = "UID:other RECURRENCE-ID:20261209T090000Z DTSTART:20261210T120000Z"
    assert starts(tmp_path, alone) == ["12-10 12:00"]


def test_all_starts_from_one_on_may_be_moved(tmp_path: Path) -> None:
    """RECURRENCE-ID;RANGE=THISANDFUTURE: by as much as its start is, with its length, RDATE and single changes too."""
    texts = (
        "DTSTART;@:20270320T120000 DURATION:PT30M RRULE:FREQ=DAILY;UNTIL=20270331T220000Z RDATE;@:20270327T150000",
        "RECURRENCE-ID;RANGE=THISANDFUTURE;@:20270327T120000 DTSTART;@:20270327T090000 DURATION:PT2H",
        "RECURRENCE-ID;@:20270328T120000 DTSTART;@:20270328T200000",
        "RECURRENCE-ID;RANGE=THISANDFUTURE;@:20270330T120000 DTSTART;@:20270331T140000",
    )
    events = [f"UID:r {each} EXDATE;@:20270329T120000".replace("@", "TZID=Europe/Berlin") for each in texts]
    assert starts(tmp_path, *events, most=99)[6:] == [
        "03-26 11:00",
        "03-27 08:00",
        "03-27 11:00",
        "03-28 18:00",
        "03-31 12:00",
        "04-01 12:00",
    ]
    busy = read(tmp_path, *events, text="every 30 minutes only x.ics")
    day = (NOW // 86_400 + 116) * 86_400  # 2027-03-27: twice two hours
    assert len(list(busy.between(day - 1, day + 86_399))) == 8
    cancelled = "UID:w RECURRENCE-ID;RANGE=THISANDFUTURE:20261216T090000Z DTSTART:20261216T090000Z STATUS:CANCELLED"
    assert starts(tmp_path, WEEKLY, cancelled) == ["12-02 09:00", "12-09 09:00"]


def test_moved_runs_keep_their_time_over_a_clock_change(tmp_path: Path) -> None:
    """They are moved on the wall clock of the series, over days as well, and back as well as forth."""
    first = "UID:r DTSTART;TZID=Europe/Berlin:20270326T080000 RRULE:FREQ=DAILY;COUNT=4"
    for to, expected in (
        ("20270328T070000", ["26 08:00", "28 07:00", "29 07:00", "30 07:00"]),
        ("20270326T233000", ["26 08:00", "26 23:30", "27 23:30", "28 23:30"]),
    ):
        later = f"UID:r RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20270327T080000 DTSTART:{to}"
        found = read(tmp_path, first, later.replace("DTSTART:", "DTSTART;TZID=Europe/Berlin:"), text="x.ics zone UTC")
        berlin = read_schedule("every minute", zone="Europe/Berlin").zone
        assert [f"{berlin.moment(at):%d %H:%M}" for at in found.between(NOW, 1 << 40)] == expected


def test_a_newer_version_of_an_event_replaces_the_older(tmp_path: Path) -> None:
    """By SEQUENCE, of series and of their changes; what an older change means is dropped with its start."""
    newer = WEEKLY.replace("T09", "T11").replace("COUNT=4", "COUNT=3") + " SEQUENCE:2 EXDATE:20261209T110000Z"
    assert starts(tmp_path, newer, WEEKLY) == ["12-02 11:00", "12-16 11:00"]
    changed = "UID:w RECURRENCE-ID:202612{}T110000Z DTSTART:20261220T000000Z SEQUENCE:{}"
    assert starts(tmp_path, newer, changed.format(16, 1)) == ["12-02 11:00", "12-20 00:00"]
    assert starts(tmp_path, newer, changed.format("09", 1)) == ["12-02 11:00", "12-16 11:00"]
    assert starts(tmp_path, newer, changed.format(16, 3), changed.format(16, 2).replace("1220", "1221")) == [
        "12-02 11:00",
        "12-20 00:00",
    ]
    assert starts(tmp_path, newer + " STATUS:CANCELLED", WEEKLY) == []


def test_a_change_of_days_may_name_its_start_with_a_zone(tmp_path: Path) -> None:
    """Outlook writes a midnight where the series has dates; a date means the start of that day."""
    days = "UID:d DTSTART;VALUE=DATE:20261203 RRULE:FREQ=WEEKLY;COUNT=3"
    changed = "UID:d RECURRENCE-ID;TZID=Asia/Tokyo:20261210T000000 DTSTART;VALUE=DATE:20261211"
    assert starts(tmp_path, days, changed) == ["12-03 00:00", "12-11 00:00", "12-17 00:00"]
    dated = "UID:w RECURRENCE-ID;VALUE=DATE:20261209 DTSTART:20261211T100000Z"
    expected = ["12-02 09:00", "12-11 10:00", "12-16 09:00", "12-23 09:00"]
    assert starts(tmp_path, WEEKLY, dated) == expected
    del expected[1]
    assert starts(tmp_path, f"{WEEKLY} EXDATE;VALUE=DATE:20261209") == expected


def test_an_exdate_in_utc_excludes_a_run_that_a_clock_change_moved(tmp_path: Path) -> None:
    """At 02:30 on a day whose clock goes from 02:00 to 03:00 it starts at 03:30."""
    night = "UID:n DTSTART;TZID=Europe/Berlin:20270327T023000 RRULE:FREQ=DAILY;COUNT=3"
    assert starts(tmp_path, night) == ["03-27 01:30", "03-28 01:30", "03-29 00:30"]
    for gone in ("EXDATE:20270328T013000Z", "EXDATE;TZID=Europe/Berlin:20270328T023000"):
        assert starts(tmp_path, f"{night} {gone}") == ["03-27 01:30", "03-29 00:30"]


def test_many_events_may_repeat(tmp_path: Path) -> None:
    """Each of a thousand; one more is refused, and how long they last is bounded."""
    one = "UID:{0} DTSTART:20261202T{1:02}{2:02}00Z RRULE:FREQ=DAILY"
    many = [one.format(number, number // 60 % 24, number % 60) for number in range(1_000)]
    found = read(tmp_path, *many)
    day = NOW + 40 * 86_400
    assert [at - day for at in found.between(day - 1, day + 86_399)] == [60 * each for each in range(1_000)]
    with pytest.raises(InvalidSchedule, match="more than 1000 events that repeat"):
        read(tmp_path, *many, one.format(1_000, 0, 0))
    for length in ("DURATION:P9D", "DTEND:21261202T000000Z"):
        with pytest.raises(InvalidSchedule, match="longer than 8 days"):
            read(tmp_path, f"{one.format(1, 0, 0)} {length}")
    with pytest.raises(InvalidSchedule, match="longer than 366 days"):
        read(tmp_path, "UID:d DTSTART;VALUE=DATE:20261202 DURATION:P400D RRULE:FREQ=YEARLY")


@pytest.mark.parametrize("name", ["America", "Z" * 300, "..", "/etc/passwd", "right/UTC", "localtime", "Mars/Olympus"])
def test_a_zone_that_is_none_is_a_fault_of_its_file(name: str, tmp_path: Path) -> None:
    """A folder of the database and a long name too; a file may define a zone of any name."""
    with pytest.raises(InvalidSchedule, match="unknown zone") as caught:
        read(tmp_path, f"UID:z DTSTART;TZID={name}:20261202T090000")
    assert "zoneinfo" not in str(caught.value)
    own = zoned(_RULE.format("19700101", _YEARLY)).replace("Own", name.strip("/").replace("..", "dots"))
    (tmp_path / "x.ics").write_text(own, "utf-8")
    assert in_folder(tmp_path, "x.ics").next(NOW) is not None


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("DTSTART:20261202T090000Z RRULE:FREQ=WEEKLY;UNTIL=tomorrow", "RRULE that cannot be read"),
        ("DTSTART:20261202T090000Z EXDATE:tomorrow", "EXDATE that cannot be read"),
        ("DTSTART:20261202T090000Z RRULE:FREQ=DAILY;COUNT=0", "COUNT `0`"),
    ],
)
def test_what_cannot_be_read_of_an_event_is_a_fault(event: str, said: str, tmp_path: Path) -> None:
    """The event is not taken for another; once for all events that have it."""
    with pytest.raises(InvalidSchedule, match=said) as caught:
        read(tmp_path, f"UID:1 {event}", f"UID:2 {event}")
    assert len(caught.value.diagnostics) == 1


def test_an_event_with_an_empty_rule_happens_once(tmp_path: Path) -> None:
    """And it is said."""
    assert starts(tmp_path, "UID:1 DTSTART:20261202T090000Z RRULE:") == ["12-02 09:00"]
    assert ["is empty" in each.message for each in in_folder(tmp_path, "x.ics").warnings] == [True]
