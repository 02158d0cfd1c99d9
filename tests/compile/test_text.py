"""Schedules as people write them: what is understood, what is refused, and what is said then."""

from itertools import islice

import pytest

from crondor.compile.meaning import read_schedule, schedule_line
from crondor.compile.walls import InvalidSchedule
from crondor.diagnostics import Severity, Source
from crondor.zones import Policy, UnknownZone
from tests.rows import rows

NOW = 1_796_083_200  # 2026-12-01 00:00 UTC


def runs(text: str, zone: str = "UTC", most: int = 3, **more: object) -> list[str]:
    """Return the first runs after NOW on the schedule's own clock."""
    found = read_schedule(text, zone=zone, **more)  # type: ignore[arg-type]
    return [f"{found.zone.moment(at):%a %m-%d %H:%M}" for at in islice(found.between(NOW, 1 << 40), most)]


@pytest.mark.parametrize(("text", "words", "expected"), rows("compile/schedules"))
def test_what_people_write_is_understood(text: str, words: str, expected: str | None) -> None:
    """A sentence, and the first run."""
    assert words in read_schedule(text, zone="UTC").words
    assert runs(text, most=1) == ([] if expected is None else [expected])


@pytest.mark.parametrize(
    ("text", "message", "cure"),
    [
        ("", "no schedule is given", "write one"),
        ("   ", "no schedule is given", "write one"),
        ("evry day", "is not a schedule that crondor knows", "did you mean `every`?"),
        ("every mondy at 09:00", "cannot read `mondy` here", "did you mean `monday`?"),
        ("every day at 9", "`9` is not a time of day", "write 09:00"),
        ("every day at 25:00", "is not a time of day", "write a time such as"),
        ("every day at 09:00:30", "whole minutes", "remove the seconds"),
        ("every 90 minutes", "do not divide an hour evenly", "from 2026-12-01T00:00"),
        ("every 90 minutes from 06:00", "`from` needs a date", "from YYYY-MM-DDT06:00"),
        ("every 2 days", "counted from when?", "every 2 days from"),
        ("every 2 days at 06:00", "counted from when?", "write `every 2 days from 2026-12-01 at 06:00`"),
        (
            "(every 2 weeks on Monday, Friday at 6:30, 18:00) except 24 December",
            "counted from when?",
            "write `every 2 weeks on Monday, Friday from 2026-12-01 at 06:30, 18:00`",
        ),
        ("nope.ics", "may not be read here", "allow its folder"),
        ("first and ninth Monday of the month", "is not a schedule", ""),
        ("40th of the month", "days are 1st to 31st", ""),
        ("sixth Monday of the month", "is not a schedule", ""),
        ("6th Monday of the month", "a month has at most 5", ""),
        ("2026-12-24", "without a time of day", "2026-12-24 at 09:00"),
        ("2026-12-24T10:00..2026-12-24T14:00", "without a run", "every hour only"),
        ("(2026-12-24..2026-12-31 or 2026-12-24T10:00..2026-12-24T14:00) at 09:00", "has times already", "remove it"),
        ("2026-02-30 at 09:00", "is not a date", "write 2026-12-24"),
        ("0 9 * * 1 at 10:00", "this has times already", "remove it"),
        ("0 9 * *", "this has 4", "write minute hour"),
        ("@reboot", "@reboot names no time", "write one of @yearly"),
        ("0 9 * * L", "Saturday to some", "write 6"),
        ("0 9 * * 1#6", "no month has a 6th Monday", "#1 to #5"),
        ("0 9 32W * *", "no month has a day 32", "1W to 31W"),
        ("0 9 L-31 * *", "no month has a day 31 days before its last", "L-1 to L-30"),
        ("0 9 +1 * *", "comes before the day of week", "+MON,FRI"),
        ("0 9 * * FRI,+MON", "comes before the day of week", "+MON,FRI"),
        ("0 9 * L *", "cannot read `L` in month", "write 1 to 12"),
        ("0 9 15W-20 * *", "cannot read `15W-20` in day of month", "LW and 15W"),
        ("0 9 * * FOO#1", "cannot read `FOO#1` in day of week", "FRI#L or 5L"),
        ("0 9 * * 1-3#6", "no month has a 6th Monday", "#1 to #5"),
        ("0 9 W15 * *", "the day comes before the W", "write 15W"),
        ("0 9 0-L * *", "has no first day", "1-L to 31-L"),
        ("R R(10-20) * * *", "R is random", "write H"),
        ("0 0 9 ? * 0", "not a day of the week in Quartz", "1 (Sunday) to 7 (Saturday)"),
        ("0 0 9 ? * 8", "not a day of the week in Quartz", "1 (Sunday) to 7 (Saturday)"),
        ("0 9 1 1 * 5000", "`5000` is not a year", "1970 to 2200"),
        ("0 9 1 1 * 1900-1969", "is not a year", "1970 to 2200"),
        ("0 9 1 1 * 99x", "neither a day of week, after seconds, nor a year", "2026-2030"),
        (
            "every second Tuesday at 09:00",
            "may be the 2nd Tuesday of each month",
            "`2nd Tuesday of the month at 09:00`",
        ),
        (
            "every second Tuesday at 09:00",
            "or every other Tuesday",
            "`every 2 weeks on Tuesdays from 2026-12-01 at 09:00`",
        ),
        ("each 3rd Friday from 2027-01-01", "or one Friday in 3", "`every 3 weeks on Fridays from 2027-01-01`"),
        ("every second working day", "the 2nd working day of each month", "`every 2 days from 2026-12-01`"),
        ("every other weekday", "not evenly spaced", "every Monday, Wednesday, Friday"),
        ("every other Tuesday at 09:00", "counted from when?", "`every other Tuesday from 2026-12-01 at 09:00`"),
        ("every second", "whole minutes", "every minute"),
        ("every 30 seconds", "whole minutes", "every minute"),
        ("@1796169630", "30 s after one", "write @1796169600"),
        ("@1796169600 Europe/Berlin", "seconds since 1970 are in UTC", "remove the zone"),
        ("0 9 * * * 1969", "`1969` is not a year", "1970 to 2200"),
        ("0 0 9 * * *", "seconds first or the years last", "0 9 * * *"),
        ("30 0 9 * * MON-FRI", "seconds must be 0", "write 0"),
        ("0 9 31 2 *", "never", "write a day that the months have"),
        ("H 3 * * *", "chosen by the job's name", "add `name NIGHTLY`"),
        ("H(9-5) 3 * * * name x", "has no value to choose", "write a range"),
        ("Mon 09:00:30", "whole minutes", "remove the seconds"),
        ("*-*-* */2:00", "`*/2` is not a valid hour", "write 0/2"),
        ("Fri..Mon 09:00", "runs backwards", "Fri..Sun,Mon"),
        ("09:00 Europe/Berln", "unknown zone", "did you mean Europe/Berlin?"),
        ("RRULE:FREQ=SECONDLY", "SECONDLY is not possible", "MINUTELY"),
        ("RRULE:FREQ=DAILY;BYSECOND=5 from 2026-12-01", "BYSECOND can only be 0", "leave it out"),
        ("RRULE:FREQ=DAILY", "counts from its DTSTART", "write DTSTART"),
        ("RRULE:FREQ=WEEKLY;BYDAY=2MO from 2026-12-01", "only a month or a year", "FREQ=MONTHLY"),
        ("RRULE:FREQ=DAILY;COUNT=1;UNTIL=20270101 from 2026-12-01", "UNTIL or COUNT, not both", "remove one"),
        ("DTSTART:20261201T170000 EXRULE:FREQ=DAILY", "EXRULE has no meaning here", "except RRULE:"),
        ("DTSTART;TZID=Europe/Berln:20261201T170000", "unknown zone", "did you mean Europe/Berlin?"),
        ("0 9 * * 1 except", "are missing here", "write them"),
        ("0 9 * * 1 except except", "are missing here", "write them"),
        ("(0 9 * * 1", "is not closed", "write )"),
        ("0 9 * * 1)", "has no opening parenthesis", "remove it"),
        ("every day at 09:00 not on weekends", "`not` is unexpected here", "with except, only"),
        ("every day at 09:00 until 2027-01-01 or 0 9 * * 1", "`or` comes after a clause", "parentheses"),
        ("30 February at 09:00", "February has 1 to 29 days", ""),
        ("0 9 * * 1 or 0 10 * * 2 until 2027-01-01", "the last part only or to all", "parentheses"),
        ("0 9 * * 1 zone Mars", "unknown zone", "write an IANA name"),
        ("0 9 * * 1 from", "has no value", "from 2026-12-01"),
        ("0 9 * * 1 except holidays:Germny", "unknown country `Germny`", "did you mean holidays:DE"),
        ("0 9 * * 1 except holidays:DE-XW", "has no part `XW`", "DE-NW"),
        ("0 9 * * 1 except downtimes.ics", "may not be read here", "allow its folder"),
        ("(" * 60 + "0 9 * * 1" + ")" * 60, "nested too deeply", "remove some"),
        ("0 9 * * 1 or " * 2000, "too long", "shorter"),
        ("0 9 * * 1" + " or 0 9 * * 2" * 101, "more than 50 parts", "one list"),
        ("2026-12-24" + " at 09:00" * 900, "more than 50 parts", "one list"),
        ("0 9 * * 1 zone A" + "/a" * 3000, "unknown zone", "IANA name"),
    ],
)
def test_what_is_refused_is_refused_with_a_cure(text: str, message: str, cure: str) -> None:
    """The reason, its place, and what to write instead."""
    with pytest.raises(InvalidSchedule) as caught:
        read_schedule(text, zone="UTC")
    found = caught.value.diagnostics
    assert any(message in each.message and cure in (each.help or "") for each in found), str(caught.value)
    assert all(each.span is not None for each in found)


def test_all_faults_come_at_once_in_their_order() -> None:
    """Whatever language they are in."""
    text = "every mondy at 25:00 except holidays:XX or 0 99 * * * zone Mars"
    with pytest.raises(InvalidSchedule) as caught:
        read_schedule(text, zone="UTC")
    places = [each.span and each.span.text for each in caught.value.diagnostics]
    assert places == ["mondy", "25:00", "XX", "99", "Mars"]


def test_a_zone_may_be_the_texts_own() -> None:
    """By zone, by a calendar event's suffix, by TZID; days on the right go by the zone on the left."""
    for text in (
        "0 9 * * * zone America/New_York",
        "09:00 America/New_York",
        "DTSTART;TZID=America/New_York:20200101T090000 RRULE:FREQ=DAILY",
        "(every day at 09:00 zone America/New_York) except 2026-01-01",
    ):
        assert read_schedule(text, zone="Asia/Tokyo").zone.name == "America/New_York"
        assert runs(text, "Asia/Tokyo", 1) == ["Tue 12-01 09:00"]
    late = read_schedule("23:30 America/New_York except 2026-12-01", zone="Asia/Tokyo")
    assert f"{late.zone.moment(late.next(NOW + 86_400) or 0):%m-%d}" == "12-02"
    with pytest.raises(UnknownZone):
        read_schedule("@daily", zone="Mars")


def test_h_is_chosen_by_the_name_and_stays() -> None:
    """Jobs of different names spread over the hour; one of them is always at the same minute."""
    found = {runs("H * * * *", name=f"job {n}", most=1)[0] for n in range(200)}
    assert len(found) > 50
    assert runs("H H(2-4) * * * name nightly") == runs("H H(2-4) * * *", name="nightly")
    assert len(set(runs("H/15 * * * *", name="x", most=4))) == 4
    spec = read_schedule("H(0-29) 3 H * H", zone="UTC", name="x").spec
    assert spec is not None
    assert max(spec.bits[0].bit_length() - 1, 0) <= 29
    assert spec.bits[2].bit_length() - 1 <= 28


def test_five_fields_are_known_as_such() -> None:
    """Their spec is the canonical one of HTCondor's manual."""
    assert str(read_schedule("*/5 6-8 * JAN mon-fri", zone="UTC").spec) == "*/5 6-8 * 1 1-5"
    assert read_schedule("0 6 L * *", zone="UTC").spec is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 0 9 ? * 2", "at 09:00 on Mondays"),
        ("0 0 9 ? * 2-6", "at 09:00 on weekdays (Monday to Friday)"),
        ("0 0 9 ? * 6-2", "at 09:00 on Fridays to Mondays"),
        ("0 0 9 ? * 7", "at 09:00 on Saturdays"),
        ("0 0 9 ? * 2/2", "at 09:00 on Mondays, Wednesdays and Fridays"),
        ("0 0 9 ? * 6#3", "at 09:00 on the 3rd Friday of the month"),
        ("0 0 9 ? * 7L", "at 09:00 on the last Saturday of the month"),
        ("0 0 9 ? * 1 2027", "at 09:00 on every Sunday in 2027"),
        ("0 9 ? * 2 2027", "at 09:00 on every Monday in 2027"),
    ],
)
def test_what_only_quartz_writes_counts_weekdays_as_quartz_does(text: str, words: str) -> None:
    """Six or seven fields with a `?`: Sunday is 1, which a note repeats."""
    found = read_schedule(text, zone="UTC")
    assert found.words == words
    assert [(each.kind, each.severity) for each in found.warnings] == [("schedule-quartz", Severity.NOTE)]


def test_six_fields_without_a_question_mark_come_with_a_warning() -> None:
    """They may be of anybody who writes seconds; five fields are cron's, whatever they hold, and names are clear."""
    found = read_schedule("0 0 9 * * 2", zone="UTC")
    assert (found.words, [each.severity for each in found.warnings]) == ("at 09:00 on Tuesdays", [Severity.WARNING])
    five, names = (read_schedule(text, zone="UTC") for text in ("0 9 ? * 2", "0 0 9 ? * MON"))
    assert (five.words, five.warnings) == ("at 09:00 on Tuesdays", ())
    assert (names.words, names.warnings) == ("at 09:00 on Mondays", ())


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("0 9 * * 0-0", "at 09:00 on Sundays", "`0-0` is only Sunday"),
        ("0 9 * * Sun-Sun", "at 09:00 on Sundays", "`Sun-Sun` is only Sunday"),
        ("0 9 * * *,5L", "at 09:00 every day", "matches every day of week"),
    ],
)
def test_fields_that_other_programs_read_otherwise_come_with_a_warning(text: str, words: str, said: str) -> None:
    """They are read as every cron does."""
    found = read_schedule(text, zone="UTC")
    assert found.words == words
    assert [said in each.message for each in found.warnings] == [True]


@pytest.mark.parametrize(
    ("policy", "runs_of_gap", "runs_of_fold"),
    [
        (Policy.COMPATIBLE, ["03:30+0200"], ["02:30+0200"]),
        (Policy.DEBIAN, ["03:00+0200"], ["02:30+0200"]),
        (Policy.SKIP, [], ["02:30+0200"]),
        (Policy.KUBERNETES, [], ["02:30+0200", "02:30+0100"]),
    ],
)
def test_dates_obey_the_policy(policy: Policy, runs_of_gap: list[str], runs_of_fold: list[str]) -> None:
    """A date with a time, alone and with `at`, has the runs that cron fields have there; a skipped one is named."""

    def moments(text: str) -> list[str]:
        found = read_schedule(text, zone="Europe/Berlin", policy=policy)
        return [f"{found.zone.moment(at):%H:%M%z}" for at in found.between(NOW, NOW + 366 * 86_400)]

    after = ["02:30+0200"]
    assert moments("2027-03-28T02:30, 2027-03-29T02:30") == runs_of_gap + after
    assert moments("2027-03-28, 2027-03-29 at 02:30") == runs_of_gap + after
    assert moments("30 2 28,29 3 *") == runs_of_gap + after
    assert moments("RDATE:20270328T023000,20270329T023000") == runs_of_gap + after
    rule = "DTSTART:20270328T023000 RRULE:FREQ=DAILY;UNTIL=20270329T230000"
    assert moments(rule) == runs_of_gap + after
    assert moments(f"{rule} EXDATE:20270328T023000") == after
    assert moments("RDATE:20271031T023000") == runs_of_fold
    assert moments("2027-10-31T02:30") == moments("30 2 31 10 *") == runs_of_fold
    if runs_of_gap:
        (warning,) = read_schedule("2027-03-28T02:30", zone="Europe/Berlin", policy=policy).warnings
        assert warning.message.endswith(f"--policy {policy.value} the run is at {runs_of_gap[0][:5]}")
    else:
        for text in ("2027-03-28T02:30", "RDATE:20270328T023000"):
            with pytest.raises(InvalidSchedule, match=r"this never runs: the clock .*skips it, and --policy"):
                read_schedule(text, zone="Europe/Berlin", policy=policy)


def test_a_bound_in_a_gap_is_the_end_of_the_gap_where_no_run_is_moved() -> None:
    """A moved run counts by the time that it is written with; where none is moved the clock's own time decides."""

    def first(text: str, policy: Policy) -> str:
        found = read_schedule(text, zone="Europe/Berlin", policy=policy)
        return f"{found.zone.moment(found.next(NOW) or 0):%m-%d %H:%M}"

    text = "every 30 minutes except 2026-12-01..2027-03-27 except 2027-03-28T00:00..2027-03-28T02:30"
    assert first(text, Policy.COMPATIBLE) == "03-28 03:30"
    assert first(text, Policy.SKIP) == first(text, Policy.KUBERNETES) == "03-28 03:00"
    assert first("15 2 * * * from 2027-03-28T02:30", Policy.COMPATIBLE) == "03-29 02:15"
    assert first("45 2 * * * from 2027-03-28T02:30", Policy.COMPATIBLE) == "03-28 03:45"
    assert first("45 2 * * * from 2027-03-28T02:30", Policy.DEBIAN) == "03-28 03:00"
    last = read_schedule("*/30 * * * * until 2027-03-28T02:30", zone="Europe/Berlin", policy=Policy.KUBERNETES)
    assert f"{last.zone.moment(last.previous(NOW * 2) or 0):%m-%d %H:%M}" == "03-28 01:30"


def test_a_span_keeps_its_place_in_errors() -> None:
    """Of a file's own line."""
    source = Source("executable = x\n# crondor: schedule = every mondy at 09:00\nqueue\n", "nightly.sub")
    line = schedule_line(source)
    assert line is not None
    assert line.text == "every mondy at 09:00"
    with pytest.raises(InvalidSchedule) as caught:
        read_schedule(line, zone="UTC")
    assert str(caught.value).startswith("nightly.sub:2:29: error: cannot read `mondy` here")


def test_a_file_has_one_schedule_line() -> None:
    """Two are refused, none is None."""
    assert schedule_line(Source("executable = x\nqueue\n")) is None
    with pytest.raises(InvalidSchedule):
        schedule_line(Source("# crondor: schedule = @daily\n#crondor:schedule=@weekly\n"))


@pytest.mark.parametrize(
    "text",
    [
        "RRULE:FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30 from 2026-12-01",
        "RRULE:FREQ=MINUTELY;COUNT=999999999 from 2026-12-01",
        "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;COUNT=99 from 2026-12-01",
        "RRULE:FREQ=YEARLY;BYDAY=MO,TU,WE;BYSETPOS=-366 from 2026-12-01",
        "RRULE:FREQ=HOURLY;INTERVAL=999999999 from 2026-12-01",
        "0 0 30 2 * 2026-2200",
        "every 99999 months from 2026-12-01",
        "* * * * * only 0 0 29 2 1 only holidays:DE",
    ],
)
def test_what_seldom_or_never_fires_is_found_soon(text: str) -> None:
    """The years are walked by their days, none by its minutes."""
    try:
        found = read_schedule(text, zone="Europe/Berlin")
    except InvalidSchedule:
        return
    found.next(NOW)
    found.previous(NOW)


def test_a_text_may_say_its_own_policy() -> None:
    """For all that it comes after; an unknown one has its place and what was meant."""
    night = 1_806_192_000  # 2027-03-28 00:00 UTC, when Berlin skips 02:00 to 03:00
    runs = [
        list(read_schedule(f"30 2 * * *{said}", zone="Europe/Berlin").between(night, night + 7200))
        for said in ("", " policy debian", " policy SKIP")
    ]
    assert runs == [[night + 5400], [night + 3600], []]
    with pytest.raises(InvalidSchedule) as refused:
        read_schedule("30 2 * * * policy skipp", zone="UTC")
    (fault,) = refused.value.diagnostics
    assert (fault.span and fault.span.text, fault.help) == ("skipp", "did you mean skip?")


def test_steps_count_from_the_moment_as_the_schedules_own_zone_has_it() -> None:
    """The zone that all of the schedule names, not the one around it."""
    inside = read_schedule("(every 90 minutes zone Asia/Tokyo) from 2026-12-01", zone="UTC")
    whole = read_schedule("every 90 minutes from 2026-12-01", zone="Asia/Tokyo")
    start = 1_796_000_000
    assert list(inside.between(start, start + 300_000)) == list(whole.between(start, start + 300_000))
