"""Times typed by people, the local zone, and instants shown as text."""

import os
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone
from itertools import accumulate
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from crondor.diagnostics import CrondorError
from crondor.preview.agenda import first_start, members, starts
from crondor.preview.span import AgendaSpan
from crondor.recurrence import Policy
from crondor.schedule import JobSchedule
from crondor.spec import CronSpec
from crondor.times import JobTimes
from crondor.zones import UnknownZone
from crondor_cli.kit.times import ClockFace, UnnamedZone, find_zone, local_text, local_zone, relative
from crondor_cli.kit.typed_times import UnreadableTime, parse_time
from tests.cli.running import crondor
from tests.engine.clock_oracle import DAY, GRID, Change, grid_id, runs
from tests.examples import some
from tests.rows import rows

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = [ZoneInfo(n) for n in ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe")]
NOW = int(datetime(2026, 11, 20, 18, 27, 5, tzinfo=BERLIN).timestamp())  # a Friday
LAST = int(datetime(2200, 12, 31, 23, 59, 59, tzinfo=timezone.utc).timestamp())
SLOWEST = 60.0  # seconds of the processor; it takes a fraction of one


def read(text: str, zone: ZoneInfo = BERLIN, now: int = NOW) -> str:
    """Return what a time means, as text."""
    return local_text(parse_time(text, now, zone), zone)


def refusal(text: str, zone: ZoneInfo = BERLIN, now: int = NOW) -> tuple[str, str, str]:
    """Return code, underlined piece and help of the error for a text."""
    with pytest.raises(UnreadableTime) as caught:
        parse_time(text, now, zone)
    (found,) = caught.value.diagnostics
    assert found.span is not None
    assert found.help is not None
    assert str(caught.value)
    return found.kind, found.span.text, found.help


def at(text: str, zone: ZoneInfo) -> int:
    """Return the epoch seconds of an ISO time on the clock of a zone, by the standard library alone."""
    return int(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp())


@pytest.mark.parametrize(("text", "expected"), rows("cli/times"))
def test_what_people_write_is_read(text: str, expected: str) -> None:
    """Words, weekdays, times of day, days on, dates."""
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("in 90 min", 5_400),
        ("in 90m", 5_400),
        ("+2h", 7_200),
        ("+ 2 hours", 7_200),
        ("in 1 h 30 min", 5_400),
        ("in 1h30m", 5_400),
        ("in 45 seconds", 45),
        ("in 0 days", 0),
        ("2 hours ago", -7_200),
        ("-2h", -7_200),
        ("3 weeks ago", -21 * 86_400),
        ("in 2 days", 2 * 86_400),
        ("in 1w 1d 1s", 8 * 86_400 + 1),
    ],
)
def test_distances(text: str, seconds: int) -> None:
    """A distance is counted from now, to the second."""
    assert parse_time(text, NOW, BERLIN) == NOW + seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in 1 day", "Sun 2026-03-29 12:00 +0200"),
        ("in 24 hours", "Sun 2026-03-29 13:00 +0200"),
        ("in 1 day 1 hour", "Sun 2026-03-29 13:00 +0200"),
        ("in 1 week", "Sat 2026-04-04 12:00 +0200"),
    ],
)
def test_days_keep_the_clock_and_hours_elapse(text: str, expected: str) -> None:
    """Across a clock change a day is as long as the clock says, an hour always an hour."""
    assert read(text, now=at("2026-03-28 12:00", BERLIN)) == expected


@pytest.mark.parametrize("text", ["03/04/2026", "3.4.2026", "03-04-2026", "4/3/2026 06:30"])
def test_a_date_with_two_readings_is_refused(text: str) -> None:
    """Day and month in either order: both readings are offered, none is taken."""
    code, underlined, help_ = refusal(text)
    assert code == "time-ambiguous-date"
    assert underlined == text.split(maxsplit=1)[0]
    assert help_ == "write 2026-03-04 or 2026-04-03"


@pytest.mark.parametrize(("text", "code", "underlined", "advice"), rows("cli/invalid_times"))
def test_what_cannot_be_read_is_underlined(text: str, code: str, underlined: str, advice: str) -> None:
    """The piece at fault is underlined, and the help says what to write."""
    found, piece, help_ = refusal(text)
    assert (found, piece) == (code, underlined)
    assert advice in help_


@pytest.mark.parametrize(
    ("text", "epoch"),
    [("1763659625", 1_763_659_625), ("100000000", 100_000_000), (str(LAST), LAST), (" 1763659625 ", 1_763_659_625)],
)
def test_a_long_number_is_epoch_seconds(text: str, epoch: int) -> None:
    """Nine digits and more are epoch seconds."""
    assert parse_time(text, NOW, BERLIN) == epoch


@pytest.mark.parametrize(
    ("text", "code", "advice"),
    [
        ("2026", "time-bare-number", "2026-11-20"),
        ("1830", "time-bare-number", "18:30"),
        ("20261120", "time-bare-number", "2026-11-20"),
        ("1763659625123", "time-bare-number", "milliseconds"),
        (str(LAST + 1), "time-out-of-range", "within"),
    ],
)
def test_other_bare_numbers_are_refused(text: str, code: str, advice: str) -> None:
    """A short number may mean anything, a longer one milliseconds."""
    found, underlined, help_ = refusal(text)
    assert (found, underlined) == (code, text)
    assert advice in help_


@pytest.mark.parametrize(
    "text",
    [
        "1" * 10_000,
        "in " * 10_000,
        "a" * 10_000,
        " " * 10_000,
        "6:30 " * 10_000,
        "(" * 10_000,
        "2026-11-20\0",
        "\0",
        "\u0662\u0660\u0662\u0666-11-20",
        "\uff12\uff10\uff12\uff16-11-20",
        "²0 Nov 2026",
        "tomorrow 🕕",
        "\ud800",
        "\x1b[31mnow",
        "9" * 99,
        "in 99999999999999 days",
        f"in {'9' * 80} h",
        f"{'9' * 80} weeks ago",
        "in 99999999 weeks at noon",
        "%s %d {}",
        "2026-11-20 06:30:15:16",
        "nan",
        "inf",
        "1e400",
        "-",
        ",,,",
        "--",
        "::",
    ],
)
def test_hostile_texts_are_refused(text: str) -> None:
    """Whatever is typed, the answer is an error that can be shown, at once."""
    began = time.process_time()
    _, _, help_ = refusal(text)
    assert help_
    assert time.process_time() - began < SLOWEST


def test_an_error_shows_the_place() -> None:
    """An error names the text by the label and underlines the piece."""
    with pytest.raises(UnreadableTime, match=r"--from:1:10: error: `25:00` is not a time of day") as caught:
        parse_time("tomorrow 25:00", NOW, BERLIN, label="--from")
    assert isinstance(caught.value, ValueError)
    assert "   1 | tomorrow 25:00\n     |          ^^^^^\n" in str(caught.value)


@pytest.mark.parametrize(
    ("zone", "text", "before", "after"),
    [
        ("Europe/Berlin", "2026-03-29 02:30", "2026-03-29 01:59:59", "2026-03-29 03:00:00"),
        ("Europe/Berlin", "2026-03-29 02:00", "2026-03-29 01:59:59", "2026-03-29 03:00:00"),
        ("America/New_York", "2026-03-08 02:59:59", "2026-03-08 01:59:59", "2026-03-08 03:00:00"),
        ("Australia/Lord_Howe", "2026-10-04 02:15", "2026-10-04 01:59:59", "2026-10-04 02:30:00"),
        ("Africa/Cairo", "2026-04-24 at midnight", "2026-04-23 23:59:59", "2026-04-24 01:00:00"),
        ("Pacific/Apia", "2011-12-30", "2011-12-29 23:59:59", "2011-12-31 00:00:00"),
    ],
)
def test_a_skipped_time_is_refused(zone: str, text: str, before: str, after: str) -> None:
    """A time that the clock skips is no instant; the nearest two on either side are named, and they are adjacent."""
    code, underlined, help_ = refusal(text, ZoneInfo(zone))
    assert (code, underlined) == ("time-skipped", text)
    assert help_ == f"write {before} (before the gap) or {after} (after it)"
    assert parse_time(after, NOW, ZoneInfo(zone)) - parse_time(before, NOW, ZoneInfo(zone)) == 1


def test_days_on_into_a_gap_are_refused() -> None:
    """A distance in days that lands on a skipped time is refused, too."""
    code, underlined, _ = refusal("in 1 day", now=at("2026-03-28 02:30", BERLIN))
    assert (code, underlined) == ("time-skipped", "in 1 day")


@pytest.mark.parametrize("text", ["2026-04-24", "tomorrow", "friday"])
def test_a_day_without_midnight_begins_later(text: str) -> None:
    """A day whose midnight is skipped begins with the first time that its clock shows."""
    cairo = ZoneInfo("Africa/Cairo")
    assert read(text, cairo, at("2026-04-23 12:00", cairo)) == "Fri 2026-04-24 01:00 +0300"


def test_today_is_that_of_the_zone() -> None:
    """The same instant is another day elsewhere."""
    now = at("2026-11-20 18:00", ZoneInfo("UTC"))
    assert read("today", ZoneInfo("Pacific/Kiritimati"), now).startswith("Sat 2026-11-21")
    assert read("today", ZoneInfo("Pacific/Pago_Pago"), now).startswith("Fri 2026-11-20")


WORDS = st.sampled_from([
    "now", "today", "tomorrow", "next", "mon", "friday", "at", "on", "in", "ago", "noon", "midnight", "nov", "feb",
    "may", "20", "2026", "1st", "31", "0", "2", "99999999999", "of", "-", "/", ".", ",", ":", "+", "06:30", "6am",
    "25:00", "Z", "UTC", "+01:00", "-0500", "2026-11-20", "13/04/2026", "3.4.2026", "T", "days", "h", "min",
])  # fmt: skip
INSTANTS = st.integers(0, LAST)


@given(
    st.text() | st.lists(WORDS, max_size=8).map(" ".join) | st.lists(WORDS, max_size=6).map("".join),
    INSTANTS,
    st.sampled_from(ZONES),
)
def test_any_text_is_an_instant_or_an_error(text: str, now: int, zone: ZoneInfo) -> None:
    """No text raises anything but an error that can be shown, and none leaves the years."""
    try:
        found = parse_time(text, now, zone)
    except CrondorError as error:
        shown = str(error)
    else:
        shown = local_text(found, zone)
        assert 0 <= found <= LAST
    assert shown


@given(INSTANTS, st.sampled_from(ZONES))
def test_round_trips(epoch: int, zone: ZoneInfo) -> None:
    """ISO 8601 and what local_text shows are read as the instant that they were written from."""
    moment = datetime.fromtimestamp(epoch, zone)
    assert parse_time(local_text(epoch, zone), NOW, BERLIN) == epoch
    assert parse_time(moment.isoformat(), NOW, BERLIN) == epoch
    first_pass = int(moment.replace(fold=0).timestamp())
    assert parse_time(f"{moment.replace(tzinfo=None)}", NOW, zone) == first_pass


@given(st.integers(0, 10**7), st.integers(1, 10**7), st.sampled_from(ZONES))
def test_hours_and_minutes_grow(minutes: int, more: int, zone: ZoneInfo) -> None:
    """More minutes are a later instant, by exactly as much."""
    first, second = (parse_time(f"in {n} min", NOW, zone) for n in (minutes, minutes + more))
    assert second - first == more * 60


@given(st.integers(0, 20_000), st.integers(1, 20_000), INSTANTS, st.sampled_from(ZONES))
def test_days_grow(days: int, more: int, now: int, zone: ZoneInfo) -> None:
    """More days are a later instant that shows the same time of day."""
    assume(now + (days + more + 1) * 86_400 < LAST)
    try:
        first, second = (parse_time(f"in {n} days", now, zone) for n in (days, days + more))
    except UnreadableTime as error:
        assert error.diagnostics[0].kind == "time-skipped"  # noqa: PT017 - either outcome is right
        return
    clocks = [datetime.fromtimestamp(t, zone) for t in (now, first, second)]
    assert first < second
    assert len({c.time() for c in clocks}) == 1
    assert clocks[2].date() - clocks[1].date() == timedelta(days=more)


@pytest.mark.parametrize("tz", ["UTC", "Europe/London", "America/New_York"])
def test_the_zone_of_the_host_does_not_matter(tz: str) -> None:
    """Abbreviations that the host uses itself have no other meaning; dateutil and tzlocal load only when needed."""
    program = (
        "import sys, crondor_cli.kit.typed_times as t, crondor_cli.kit.times, datetime as d\n"
        "assert not {'dateutil', 'tzlocal'} & set(sys.modules)\n"
        "zone = d.timezone(d.timedelta(hours=5))\n"
        "print([t.parse_time(x, 0, zone) for x in ('1 Jul 2026 12:00 GMT', '2026-07-01 12:00')])\n"
    )
    environ = os.environ | {"TZ": tz, "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    assert result.stdout == "[1782907200, 1782889200]\n"


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "EST", "Etc/GMT-1"])
def test_zones_by_name(name: str) -> None:
    """Every IANA name is a zone."""
    assert find_zone(name).key == name


@pytest.mark.parametrize(
    ("name", "code", "advice"),
    [
        ("Europe/Berln", "zone-unknown", "did you mean Europe/Berlin"),
        ("europe/berlin", "zone-unknown", "did you mean Europe/Berlin?"),
        ("Berlin", "zone-unknown", "did you mean Europe/Berlin?"),
        ("new york", "zone-unknown", "did you mean America/New_York?"),
        (" UTC", "zone-unknown", "did you mean UTC?"),
        ("", "zone-blank", "IANA name"),
        ("  ", "zone-blank", "IANA name"),
        ("+01:00", "zone-offset", "IANA name"),
        ("-5", "zone-offset", "IANA name"),
        ("UTC+3", "zone-offset", "IANA name"),
        ("CET+1", "zone-unknown", ""),
        ("EST5EDT4,M3.2.0,M11.1.0", "zone-unknown", ""),
        ("../../etc/passwd", "zone-unknown", "IANA name"),
        ("/etc/passwd", "zone-unknown", "IANA name"),
        ("Europe/../UTC", "zone-unknown", ""),
        ("America", "zone-unknown", ""),  # a directory
        ("zone.tab", "zone-unknown", ""),  # a file, but no zone
        ("localtime", "zone-unknown", ""),  # another one on every host
        ("right/Europe/Berlin", "zone-unknown", ""),  # counts leap seconds
        ("\0", "zone-unknown", "IANA name"),
        ("\ud800", "zone-unknown", "IANA name"),
        ("é" * 5_000, "zone-unknown", "IANA name"),
        ("a" * 5_000, "zone-unknown", "IANA name"),
    ],
)
def test_other_names_are_refused(name: str, code: str, advice: str) -> None:
    """A name that is no zone gets an error that proposes one; nothing outside the zones is looked at."""
    with pytest.raises(UnknownZone) as caught:
        find_zone(name)
    (found,) = caught.value.diagnostics
    assert found.kind == code
    assert advice in (found.help or "")
    assert str(caught.value)


@pytest.mark.parametrize(
    ("tz", "name"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        (":Europe/Berlin", "Europe/Berlin"),
        ("/usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo"),
        (":/usr/share/zoneinfo/posix/Asia/Tokyo", "Asia/Tokyo"),
        ("EST5EDT", "EST5EDT"),
        ("", "UTC"),
        (":", "UTC"),
    ],
)
def test_the_environment_names_the_local_zone(tz: str, name: str) -> None:
    """TZ comes before the system, which is not asked."""
    assert local_zone({"TZ": tz}, pytest.fail) == (name, ZoneInfo(name))


@pytest.mark.parametrize(
    "tz", [":weird", "EST5EDT4,M3.2.0,M11.1.0", "<+03>-3", "/etc/elsewhere", "../x", "europe/berlin"]
)
def test_an_environment_without_a_name_is_refused(tz: str) -> None:
    """A TZ that is a rule or nonsense is not taken for the system's zone."""
    with pytest.raises(UnnamedZone, match="--tz") as caught:
        local_zone({"TZ": tz}, lambda: "Europe/Berlin")
    assert caught.value.diagnostics[0].span is not None


def test_the_system_names_the_local_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without TZ, and with what condor_master tells its daemons: where /etc/localtime leads to, or else tzlocal."""
    for environ in ({}, {"TZ": ":/etc/localtime"}, {"TZ": "/etc/localtime"}):
        assert local_zone(environ, lambda: "Asia/Tokyo").name == "Asia/Tokyo"
    for place, name in (("", "Asia/Tokyo"), ("posix/", "America/Argentina/Ushuaia")):
        monkeypatch.setattr("os.path.realpath", lambda _, path=f"/usr/share/zoneinfo/{place}{name}": path)
        assert local_zone({}).name == name
    monkeypatch.setattr("os.path.realpath", lambda path: path)
    monkeypatch.setattr("tzlocal.get_localzone_name", lambda: "Asia/Kathmandu")
    assert local_zone({}) == ("Asia/Kathmandu", ZoneInfo("Asia/Kathmandu"))


@pytest.mark.parametrize("answer", [None, "", "Mars/Olympus", "Factory", ZoneInfoNotFoundError("two"), OSError("no")])
def test_a_system_without_a_name_is_refused(answer: str | Exception | None) -> None:
    """A system whose zone has no name, or several, is an error that asks for one."""

    def system_name() -> str | None:
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(UnnamedZone, match="--tz"):
        local_zone({}, system_name)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "now"),
        (1, "in 1 s"),
        (-45, "45 s ago"),
        (60, "in 1 min"),
        (119, "in 1 min 59 s"),
        (3 * 3_600 + 12 * 60 + 59, "in 3 h 12 min"),
        (3 * 3_600 + 59, "in 3 h"),
        (2 * 86_400 + 4 * 3_600, "in 2 d 4 h"),
        (-2 * 86_400 - 59 * 60, "2 d ago"),
        (400 * 86_400, "in 400 d"),
    ],
)
def test_relative(seconds: int, text: str) -> None:
    """A distance is shown in two neighbouring units at most, cut off and not rounded."""
    assert relative(seconds) == text


@pytest.mark.parametrize(
    ("epoch", "zone", "text"),
    [
        (1_795_431_600, "America/New_York", "Mon 2026-11-23 06:00 -0500"),
        (1_795_431_601, "America/New_York", "Mon 2026-11-23 06:00:01 -0500"),
        (0, "UTC", "Thu 1970-01-01 00:00 +0000"),
        (0, "Africa/Monrovia", "Wed 1969-12-31 23:15:30 -004430"),
        (-62_135_596_800, "UTC", "Mon 0001-01-01 00:00 +0000"),
        (-62_135_596_801, "UTC", "epoch -62135596801"),
        (-62_135_596_800, "America/New_York", "epoch -62135596800"),
        (10**30, "UTC", f"epoch {10**30}"),
    ],
)
def test_local_text(epoch: int, zone: str, text: str) -> None:
    """An instant is shown with weekday, date, time and offset; one beyond the calendar as a number."""
    assert local_text(epoch, ZoneInfo(zone)) == text


@given(
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Monrovia", "UTC"]),
    st.integers(-(10**6), 8 * 10**9),
    st.lists(st.sampled_from([1, 60, 300, 3600, 5 * 3600, 86400, 30 * 86400, -86400]), max_size=40),
)
@example("Europe/Berlin", 0, [])
def test_a_clock_face_shows_what_each_instant_alone_is_shown_as(zone: str, first: int, steps: list[int]) -> None:
    """In any order, over midnights, clock changes and the ends of what is known of a zone."""
    info = ZoneInfo(zone)
    face = ClockFace(info)
    for epoch in accumulate(steps, initial=first - first % 60):
        assert face.text(epoch) == local_text(epoch, info)
        assert face.relative(epoch - first) == relative(epoch - first)
        for apart in (0, -60, -300, -7200, -86400, 90, 7 * 86400):
            fresh = ClockFace(info)  # it knows no offset, and asks the calendar for each instant
            assert face.beside(epoch + apart, epoch) == fresh.beside(epoch + apart, epoch)


ROUTES = """\
JOB_ROUTER_SOURCE_JOB_CONSTRAINT = true
JOB_ROUTER_ROUTE_NAMES = Pool
JOB_ROUTER_ROUTE_Pool @=end
UNIVERSE VANILLA
@end
"""
LINES = ["*/20 {hour} {day} {month} *", "30 {hour},{end} * {month} {weekday}", "*/30 */2 * {month} *"]
ASKED = [
    (zone, change)
    for zone, change in GRID
    if zone in {"Africa/Cairo", "America/St_Johns", "Antarctica/Troll", "Asia/Beirut", "Australia/Lord_Howe"}
    or zone in {"America/Havana", "America/Sao_Paulo", "Europe/Berlin", "Europe/Dublin", "Pacific/Apia"}
]


def lines(change: Change) -> list[str]:
    """Return crontab lines for the hours and days of a change."""
    low, high = change.touched
    days = sorted({low.date(), high.date()})
    values = {"hour": low.hour, "end": high.hour, "month": low.month}
    return [
        line.format(**values, day=",".join(str(day.day) for day in days), weekday=low.isoweekday() % 7)
        for line in LINES
    ]


def of_clock(line: str, zone: str, policy: Policy, change: Change) -> list[int]:
    """Return the runs from two days before a change to two days after it."""
    spec = CronSpec.from_line(line)
    return list(runs(spec, zone, policy, change.instant - 2 * DAY, change.instant + 2 * DAY))


@pytest.mark.parametrize("policy", list(Policy))
@pytest.mark.parametrize(("zone", "change"), ASKED, ids=grid_id)
def test_an_agenda_has_the_starts_of_the_clock(zone: str, change: Change, policy: Policy) -> None:
    """Its bit sets, made day by day, hold the runs of the days about a change and no other."""
    for line in lines(change):
        expected = of_clock(line, zone, policy, change)
        times = JobTimes(JobSchedule(CronSpec.from_line(line), zone=zone, policy=policy))
        for ask in (-DAY, -3600, 0, 1800):
            span = AgendaSpan(max(0, change.instant + ask), 2, zone)
            found = starts(times, first_start(times, span, span.start), span)
            within = [run for run in expected if span.start <= run < span.end]
            assert list(members(found)) == [span.minute(run) for run in within]


@pytest.mark.parametrize(("zone", "change"), some(ASKED, 6), ids=grid_id)
def test_next_prev_and_explain_say_what_the_clock_says(zone: str, change: Change) -> None:
    """The times after an hour before a change, those before an hour after it, and why there is one, in each policy."""
    for line in lines(change):
        for policy in Policy:
            expected = of_clock(line, zone, policy, change)
            low, high = change.instant - 3600, change.instant + 7200
            common = ("--crontab", line, "--tz", zone, "--policy", policy.value, "--format", "json")
            asked = ("--now", str(low), "--dialect", "manual")
            coming = [run for run in expected if run > low]
            (job,) = crondor("next", *common, *asked, "-n", str(max(1, len(coming)))).jobs
            assert [run["manual"]["time"] for run in job["runs"]][: len(coming)] == coming
            past = [run for run in expected if run < high]
            (job,) = crondor("next", "--previous", *common, "--now", str(high), "-n", str(max(1, len(past)))).jobs
            assert [run["time"] for run in job["runs"]][: len(past)] == past[::-1]
            for at in [run for run in expected if low <= run <= high][:2]:
                (job,) = crondor("explain", *common, *asked, "--at", str(at)).jobs
                assert job["at"]["fires"]


@pytest.mark.parametrize(("zone", "change"), some(ASKED, 15), ids=grid_id)
def test_a_plan_of_routes_has_the_runs_of_the_clock(zone: str, change: Change, tmp_path: Path) -> None:
    """From an hour before a change on, whatever becomes of them."""
    config, job = tmp_path / "routes.conf", tmp_path / "job.sub"
    config.write_text(ROUTES)
    for line in lines(change):
        expected = [r for r in of_clock(line, zone, Policy.COMPATIBLE, change) if r > change.instant - 3600]
        names = ("minute", "hour", "day_of_month", "month", "day_of_week")
        fields = [f"cron_{name} = {text}\n" for name, text in zip(names, line.split(), strict=True)]
        job.write_text("".join(["executable = a.sh\n", *fields, "on_exit_remove = false\ncron_window = 60\nqueue\n"]))
        asked = ("--now", str(change.instant - 3600), "--tz", zone, "-n", str(max(1, len(expected))))
        result = crondor("route", "plan", "--config", str(config), "--spec", str(job), *asked, "--format", "json")
        assert [run["time"] for run in result.data["runs"]][: len(expected)] == expected


def test_a_rare_run_behind_a_change_is_shown() -> None:
    """On the morning of the change the run of that day is next, and not that of the year after it."""
    result = crondor(
        "next", "--crontab", "30 2 4 11 *", "--tz", "America/New_York", "--now", "2012-11-04 00:30", "-n", "1"
    )
    expected = datetime(2012, 11, 4, 2, 30, tzinfo=ZoneInfo("America/New_York"))
    assert expected.strftime("%a %Y-%m-%d %H:%M %z") in result.out
