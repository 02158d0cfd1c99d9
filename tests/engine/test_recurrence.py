"""When a schedule fires: next, previous, upcoming, between, count and matches; clock changes; the schedd's chain."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from crondor.recurrence import (
    NeverRuns,
    NotASet,
    OutOfRange,
    Policy,
    Recurrence,
    ScheddAnswer,
    ScheddHangs,
    never_reason,
)
from crondor.spec import CronSpec, Dialect
from crondor.zones import UnknownZone

UTC = timezone.utc
FIRST, LAST = 0, 7289654400  # the years 1970 to 2200


def at(text: str) -> int:
    """Return the epoch seconds of an ISO time, UTC where it has no offset."""
    moment = datetime.fromisoformat(text)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def recur(line: str, zone: str = "UTC", policy: Policy | None = None, dialect: Dialect = Dialect.MANUAL) -> Recurrence:
    """Return the recurrence of a crontab line."""
    return Recurrence(CronSpec.from_line(line, dialect=dialect), zone, policy)


def shown(instants: list[int], zone: str = "UTC") -> list[str]:
    """Return epochs as local ISO times with their offset, to the minute."""
    return [datetime.fromtimestamp(i, ZoneInfo(zone)).isoformat(timespec="minutes") for i in instants]


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Fail where the body does not return: an endless loop is a failure, not a wait."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class DstCase(NamedTuple):
    """One line of golden/dst_cases.txt for one policy."""

    zone: str
    line: str
    start: str
    policy: Policy
    answers: list[str]


def _read_cases() -> list[DstCase]:
    cases = []
    for line in (Path(__file__).parents[1] / "golden" / "dst_cases.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            zone, schedule, start, policies, answers = (column.strip() for column in line.split("|"))
            named = [Policy(policy.strip()) for policy in policies.split(",")]
            cases += [DstCase(zone, schedule, start, policy, answers.split()) for policy in named]
    return cases


DST_CASES = _read_cases()


class TestClockChanges:
    """The table of clock changes, which the documentation shows as well."""

    def test_each_schedule_has_an_answer_for_every_policy(self) -> None:
        """The table leaves nobody wondering: at least twelve schedules, three policies each."""
        asked: dict[tuple[str, str, str], set[Policy]] = {}
        for case in DST_CASES:
            asked.setdefault((case.zone, case.line, case.start), set()).add(case.policy)
        assert len(asked) >= 12
        assert set(map(frozenset, asked.values())) == {frozenset(Policy)}

    @pytest.mark.parametrize("case", DST_CASES, ids=lambda case: f"{case.zone}-{case.line}-{case.policy.value}")
    def test_the_answers_are_those_of_the_table(self, case: DstCase) -> None:
        """Asked one after the other, in epoch seconds."""
        recurrence = recur(case.line, case.zone, case.policy)
        assert shown(list(islice(recurrence.upcoming(at(case.start)), len(case.answers))), case.zone) == case.answers
        when = at(case.start)
        assert shown([when := recurrence.next(when) for _ in case.answers], case.zone) == case.answers

    @pytest.mark.parametrize("case", DST_CASES, ids=lambda case: f"{case.zone}-{case.line}-{case.policy.value}")
    def test_datetimes_name_the_same_instants(self, case: DstCase) -> None:
        """An aware datetime in a fold says which pass it means."""
        recurrence = recur(case.line, case.zone, case.policy)
        moments = list(islice(recurrence.upcoming(datetime.fromisoformat(case.start)), len(case.answers)))
        assert [moment.isoformat(timespec="minutes") for moment in moments] == case.answers
        assert {str(moment.tzinfo) for moment in moments} == {case.zone}

    @pytest.mark.parametrize("case", DST_CASES, ids=lambda case: f"{case.zone}-{case.line}-{case.policy.value}")
    def test_the_way_back_is_the_same(self, case: DstCase) -> None:
        """Previous, count and matches know the same instants."""
        recurrence = recur(case.line, case.zone, case.policy)
        start, instants = at(case.start), [at(text) for text in case.answers]
        found, when = [], instants[-1] + 1
        while (when := recurrence.previous(when)) > start:
            found.append(when)
        assert found[::-1] == instants
        assert recurrence.count(start, instants[-1]) == len(instants)
        assert list(recurrence.between(start, instants[-1])) == instants
        assert all(recurrence.matches(instant) for instant in instants)
        assert not any(recurrence.matches(instant + 60 * n) for instant in instants[:1] for n in (1, 2))

    def test_manual_keeps_what_the_schedd_does(self) -> None:
        """Without a policy MANUAL is `compatible`: a run in the gap is moved by its length."""
        recurrence = recur("30 2 * * *", "America/New_York")
        assert recurrence.policy is Policy.COMPATIBLE
        answer = recurrence.next(at("2026-03-07T12:00-05:00"))
        assert shown([answer], "America/New_York") == ["2026-03-08T03:30-04:00"]
        assert recur("30 2 * * *", "America/New_York", dialect=Dialect.HTCONDOR).next(answer - 7200) == answer

    def test_unix_keeps_debians_rule(self) -> None:
        """Without a policy UNIX is `debian`: a run in the gap happens at its end."""
        recurrence = recur("30 2 * * *", "America/New_York", dialect=Dialect.UNIX)
        assert recurrence.policy is Policy.DEBIAN
        assert shown([recurrence.next(at("2026-03-07T12:00-05:00"))], "America/New_York") == ["2026-03-08T03:00-04:00"]

    @pytest.mark.parametrize("policy", list(Policy))
    @pytest.mark.parametrize("line", ["30 1 * * *", "*/7 1 * * *", "*/20 * * * *", "0 */3 * * *", "15 1,2 1 11 *"])
    def test_inside_the_second_pass_no_answer_lies_in_the_past(self, line: str, policy: Policy) -> None:
        """Peers answer 01:30 of the first pass there, 40 minutes ago."""
        recurrence = recur(line, "America/New_York", policy)
        for start in range(at("2026-11-01T01:00-05:00"), at("2026-11-01T02:00-05:00"), 150):
            assert recurrence.next(start) > start
            moment = datetime.fromtimestamp(start, ZoneInfo("America/New_York"))
            assert recurrence.next(moment).timestamp() == recurrence.next(start)


class TestInstants:
    """What is asked and answered, away from clock changes."""

    def test_the_answer_is_strictly_later(self) -> None:
        """At the instant itself the next one is meant, a second before it that one."""
        recurrence = recur("0 6 * * *")
        six = at("2026-11-25T06:00")
        assert recurrence.next(six - 1) == six
        assert recurrence.next(six) == six + 86400

    def test_previous_is_strictly_earlier(self) -> None:
        """The mirror image."""
        recurrence = recur("0 6 * * *")
        six = at("2026-11-25T06:00")
        assert recurrence.previous(six + 1) == six
        assert recurrence.previous(six) == six - 86400

    @pytest.mark.parametrize(
        ("line", "start", "answers"),
        [
            ("*/15 * * * *", "2026-11-25T10:07", ["2026-11-25T10:15", "2026-11-25T10:30"]),
            ("0 0 29 2 *", "2096-03-01T00:00", ["2104-02-29T00:00", "2108-02-29T00:00"]),
            ("59 23 31 12 *", "2026-12-31T23:59", ["2027-12-31T23:59"]),
            ("0 12 31 * *", "2026-01-31T12:00", ["2026-03-31T12:00", "2026-05-31T12:00", "2026-07-31T12:00"]),
            ("0 6 1,15 * 1", "2026-10-30T00:00", ["2026-11-01T06:00", "2026-11-02T06:00", "2026-11-09T06:00",
                                                 "2026-11-15T06:00", "2026-11-16T06:00"]),
            ("0 6 * * 1", "2026-11-25T12:00", ["2026-11-30T06:00", "2026-12-07T06:00"]),
            ("0 6 * * 0,7", "2026-11-25T12:00", ["2026-11-29T06:00", "2026-12-06T06:00"]),
            ("0 6 31 2 1", "2026-11-25T12:00", ["2027-02-01T06:00", "2027-02-08T06:00"]),  # OR: the Mondays serve
            ("0 6 1-31 * 1", "2026-11-25T12:00", ["2026-11-26T06:00", "2026-11-27T06:00"]),  # OR: every day
            ("0 6 */2 * 1", "2026-11-25T12:00", ["2026-11-27T06:00", "2026-11-29T06:00", "2026-11-30T06:00"]),
        ],
    )  # fmt: skip
    def test_answers_on_the_calendar(self, line: str, start: str, answers: list[str]) -> None:
        """Dates, weekdays, and the two together."""
        found = list(islice(recur(line).upcoming(at(start)), len(answers)))
        assert found == [at(answer) for answer in answers]

    def test_unix_ands_the_day_fields_where_one_begins_with_a_star(self) -> None:
        """`*/2` and Mondays: the Mondays on odd dates in UNIX, every odd date and every Monday in MANUAL."""
        start = at("2026-11-01T12:00")
        unix = recur("0 6 */2 * 1", dialect=Dialect.UNIX)
        assert shown(list(islice(unix.upcoming(start), 2))) == ["2026-11-09T06:00+00:00", "2026-11-23T06:00+00:00"]
        assert recur("0 6 */2 * 1").count(start, at("2026-11-09T06:00")) == 5  # 2nd, 3rd, 5th, 7th, 9th

    def test_intervals_exclude_their_start_and_include_their_end(self) -> None:
        """Neighbouring intervals share no run and lose none."""
        recurrence = recur("0 * * * *")
        ten, noon = at("2026-11-25T10:00"), at("2026-11-25T12:00")
        assert list(recurrence.between(ten, noon)) == [ten + 3600, noon]
        assert recurrence.count(ten, noon) == 2
        assert list(recurrence.between(noon, noon)) == list(recurrence.between(noon, ten)) == []
        assert recurrence.count(noon, noon) == recurrence.count(noon, ten) == 0

    @pytest.mark.parametrize(
        ("moment", "fires"),
        [("06:00:00", True), ("06:00:01", False), ("05:59:59", False), ("06:00:00.000001", False), ("18:00:00", False)],
    )
    def test_matches_is_exact(self, moment: str, fires: bool) -> None:
        """Only the full minute itself is a run."""
        recurrence = recur("0 6 * * *")
        assert recurrence.matches(datetime.fromisoformat(f"2026-11-25T{moment}+00:00")) == fires
        if "." not in moment:
            assert recurrence.matches(at(f"2026-11-25T{moment}")) == fires

    def test_a_fraction_of_a_second_is_later_than_its_second(self) -> None:
        """Half a second before the run the run is next; half a second after it, it is previous."""
        recurrence = recur("0 6 * * *")
        six = datetime(2026, 11, 25, 6, tzinfo=UTC)
        half = timedelta(milliseconds=500)
        assert recurrence.next(six - half) == six
        assert recurrence.previous(six + half) == six
        assert list(recurrence.between(six - half, six + half)) == [six]
        assert recurrence.count(six - half, six + half) == 1

    def test_a_datetime_of_another_zone_is_understood(self) -> None:
        """The answer is in the schedule's zone, whatever the question was in."""
        answer = recur("0 6 * * *", "Asia/Tokyo").next(datetime(2026, 11, 25, 12, tzinfo=ZoneInfo("America/New_York")))
        assert answer.isoformat() == "2026-11-26T06:00:00+09:00"

    def test_a_fixed_offset_is_a_zone(self) -> None:
        """A tzinfo serves as well as a name."""
        spec = CronSpec(minute="0", hour="6")
        recurrence = Recurrence(spec, timezone(timedelta(hours=5, minutes=45)))
        assert recurrence.next(at("2026-11-25T00:00")) == at("2026-11-25T00:15")

    def test_an_odd_offset_is_a_zone(self) -> None:
        """Monrovia was 44 minutes and 30 seconds behind until 1972: its full minutes lie between those of UTC."""
        recurrence = recur("0 6 * * *", "Africa/Monrovia")
        assert recurrence.next(at("1971-06-01T00:00")) == at("1971-06-01T06:44:30")
        assert recurrence.previous(at("1971-06-02T00:00")) == at("1971-06-01T06:44:30")
        assert recurrence.count(at("1972-01-06T00:00"), at("1972-01-08T00:00")) == 2

    def test_what_was_given_can_be_read(self) -> None:
        """Spec, zone and policy are kept."""
        recurrence = recur("0 6 * * *", "Asia/Tokyo", Policy.SKIP)
        assert (str(recurrence.spec), recurrence.zone.name, recurrence.policy) == ("0 6 * * *", "Asia/Tokyo", "skip")

    def test_counting_enumerates_nothing(self) -> None:
        """231 years of minutes are counted at once: a day has 1,440."""
        assert recur("* * * * *").count(FIRST, LAST - 1) == (LAST // 60) - 1
        assert recur("* * * * *", "America/New_York").count(FIRST, LAST - 1) == (LAST // 60) - 1


class TestRefusals:
    """What cannot be answered is refused, with the reason."""

    def test_a_naive_datetime_names_no_instant(self) -> None:
        """A datetime without a zone is a TypeError everywhere."""
        recurrence = recur("0 6 * * *")
        naive, aware = datetime(2026, 11, 25), datetime(2026, 11, 25, tzinfo=UTC)  # noqa: DTZ001 - the subject
        calls: list[Callable[[], object]] = [
            lambda: recurrence.next(naive),
            lambda: recurrence.previous(naive),
            lambda: recurrence.upcoming(naive),
            lambda: recurrence.between(naive, aware),
            lambda: recurrence.between(aware, naive),
            lambda: recurrence.count(naive, aware),
            lambda: recurrence.matches(naive),
        ]
        for call in calls:
            with pytest.raises(TypeError, match="without a zone"):
                call()

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ("0 0 31 2,4 *", "day 31 does not occur in months 2, 4"),
            ("0 0 30 2 *", "day 30 does not occur in month 2"),
            ("0 0 30,31 2 *", "days 30, 31 do not occur in month 2"),
            ("0 0 31 2,4,6,9,11 *", "day 31 does not occur in months 2, 4, 6, 9, 11"),
        ],
    )
    @pytest.mark.parametrize("dialect", [Dialect.MANUAL, Dialect.UNIX])
    def test_a_date_that_does_not_exist_never_runs(self, line: str, reason: str, dialect: Dialect) -> None:
        """Next and previous say why; counting and matching simply find nothing."""
        recurrence = recur(line, dialect=dialect)
        assert never_reason(recurrence.spec) == reason
        for ask in (recurrence.next, recurrence.previous, recurrence.upcoming):
            with pytest.raises(NeverRuns, match=reason) as caught:
                ask(at("2026-11-25T12:00"))
            (found,) = caught.value.diagnostics
            assert found.kind == "cron-never"
            assert found.span is not None
            assert found.span.text == line.split()[2]
        assert recurrence.count(FIRST, LAST - 1) == 0
        assert not recurrence.matches(at("2026-11-25T12:00"))

    @pytest.mark.parametrize("line", ["0 0 29 2 *", "0 0 31 2 1", "0 0 31 1,2 *", "0 0 30 2,3 *"])
    def test_a_rare_date_is_no_reason(self, line: str) -> None:
        """What happens at all happens."""
        assert never_reason(CronSpec.from_line(line)) is None
        assert recur(line).next(0) > 0

    def test_unix_dates_beside_weekdays_are_decided_too(self) -> None:
        """With AND both must hold: 31 April on a Monday never comes, 29 February on a Sunday does."""
        assert never_reason(CronSpec.from_line("0 0 31 4 *", dialect=Dialect.UNIX)) is not None
        assert never_reason(CronSpec.from_line("0 0 31 4 1", dialect=Dialect.UNIX)) is None
        leap = recur("0 0 29 2 */7", dialect=Dialect.UNIX)
        assert shown([leap.next(at("2032-03-01T00:00"))]) == ["2060-02-29T00:00+00:00"]

    @pytest.mark.parametrize("instant", [-1, LAST + 1, -(10**15), 10**15])
    def test_other_centuries_are_out_of_range(self, instant: int) -> None:
        """Questions are answered from 1970 to 2200."""
        recurrence = recur("0 6 * * *")
        for ask in (recurrence.next, recurrence.previous, recurrence.upcoming, recurrence.matches):
            with pytest.raises(OutOfRange, match="1970 to 2200"):
                ask(instant)
        with pytest.raises(OutOfRange):
            recurrence.count(0, instant)
        with pytest.raises(OverflowError):
            recurrence.next(instant)

    def test_before_the_first_run_there_is_none(self) -> None:
        """Looking back from 1970 finds no year to look at."""
        assert recur("0 0 * * *").previous(1) == 0
        with pytest.raises(OutOfRange):
            recur("0 0 1 6 *").previous(at("1970-03-01T00:00"))

    @pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Pacific/Kiritimati"])
    def test_upcoming_ends_with_the_year_2200(self, zone: str) -> None:
        """The iterator ends; it neither fails nor goes on for ever."""
        recurrence = recur("* * * * *", zone)
        with at_most(120):
            assert list(recurrence.upcoming(LAST - 180)) == [LAST - 120, LAST - 60]
            moments = list(recurrence.upcoming(datetime.fromtimestamp(LAST - 180, UTC)))
            assert [int(moment.timestamp()) for moment in moments] == [LAST - 120, LAST - 60]
            assert len(list(recur("0 0 31 12 *", zone).upcoming(at("2197-06-01T00:00")))) == 4

    def test_both_ends_of_the_range_are_the_same_for_all_questions(self) -> None:
        """What `between` yields is what `count` counts and `matches` knows, at the edges too."""
        recurrence = recur("* * * * *")
        with at_most(120):
            assert recurrence.count(LAST - 180, LAST) == len(list(recurrence.between(LAST - 180, LAST)))
        assert recurrence.previous(60) == FIRST
        assert recurrence.matches(FIRST)

    def test_an_unknown_zone_is_refused(self) -> None:
        """A misspelt zone is not UTC."""
        with pytest.raises(UnknownZone):
            recur("0 6 * * *", "America/New_Yorck")


def chain(line: str, start: str, number: int, zone: str = "UTC") -> list[ScheddAnswer]:
    """Return the first answers of the schedd, each fed into the next."""
    recurrence = recur(line, zone, dialect=Dialect.HTCONDOR)
    answers = [a for a in islice(recurrence.upcoming(at(start)), number) if isinstance(a, ScheddAnswer)]
    assert len(answers) == number
    return answers


class TestSchedd:
    """The HTCONDOR dialect: what a schedd sets as DeferralTime, defects included (docs/dialects.md)."""

    def test_day_zero(self) -> None:
        """Mondays at six, asked on a Wednesday: the last Monday, then every two minutes until the month ends."""
        first, *retries = chain("0 6 * * 1", "2026-11-25T12:00", 4)
        assert shown([first]) == ["2026-11-30T06:00+00:00"]
        assert not first.is_retry
        assert retries == [first + 120, first + 240, first + 360]
        assert all(answer.is_retry and answer.computed == first for answer in retries)

    def test_day_zero_ends_with_the_month(self) -> None:
        """In the new month the weekdays are found again."""
        recurrence = recur("0 6 * * 1", dialect=Dialect.HTCONDOR)
        assert recurrence.next(at("2026-11-30T23:56:59")) == at("2026-11-30T23:58:59")
        assert recurrence.next(at("2026-11-30T23:59:00")) == at("2026-12-07T06:00")

    def test_day_zero_on_a_wrong_weekday(self) -> None:
        """After the last Friday of November the schedd takes Monday 30 November, the day before 1 December."""
        answers = chain("0 6 * * 5", "2026-11-27T12:00", 2)
        assert shown(list(answers)) == ["2026-11-30T06:00+00:00", "2026-11-30T06:02+00:00"]
        assert [answer.is_retry for answer in answers] == [False, True]

    @pytest.mark.parametrize("line", ["0 6 * * 0-6", "0 6 * * *", "0 6 1-31 * *", "0 6 * * */2"])
    def test_seven_weekdays_are_unrestricted(self, line: str) -> None:
        """A list of all seven days is safe, and so is one that the schedd reads as empty."""
        answers = chain(line, "2026-11-29T12:00", 3)
        assert shown(list(answers)) == [f"2026-{day}T06:00+00:00" for day in ("11-30", "12-01", "12-02")]
        assert not any(answer.is_retry for answer in answers)

    def test_both_days_written_are_safe(self) -> None:
        """With a day of month the zeros are not there: OR, as the manual says."""
        assert shown(list(chain("0 6 1,15 * 1", "2026-11-25T12:00", 3))) == [
            "2026-11-30T06:00+00:00",
            "2026-12-01T06:00+00:00",
            "2026-12-07T06:00+00:00",
        ]

    def test_the_start_is_rounded_up_and_the_retry_is_not(self) -> None:
        """The next full minute can be an answer; "now + 120 s" counts from the very second."""
        recurrence = recur("* * * * *", dialect=Dialect.HTCONDOR)
        assert recurrence.next(at("2026-11-25T12:00:00")) == at("2026-11-25T12:01")
        assert recurrence.next(at("2026-11-25T12:00:59")) == at("2026-11-25T12:01")
        late = recur("0 6 * * 1", dialect=Dialect.HTCONDOR)
        assert late.next(at("2026-11-30T12:00:17")) == at("2026-11-30T12:02:17")

    def test_a_run_in_the_gap_is_moved(self) -> None:
        """As mktime does: 02:30 becomes 03:30."""
        assert shown(
            list(chain("30 2 * * *", "2026-03-07T12:00-05:00", 2, "America/New_York")), "America/New_York"
        ) == ["2026-03-08T03:30-04:00", "2026-03-09T02:30-04:00"]

    def test_between_filters_the_chain(self) -> None:
        """The answers up to a time, each asked after the one before."""
        recurrence = recur("0 6 * * 1", dialect=Dialect.HTCONDOR)
        start, end = at("2026-11-25T12:00"), at("2026-11-30T06:05")
        assert list(recurrence.between(start, end)) == [at("2026-11-30T06:00") + 120 * n for n in range(3)]

    def test_datetimes_are_answered(self) -> None:
        """Datetimes name the same instants; only epochs say whether they are retries."""
        recurrence = recur("0 6 * * 1", "Asia/Tokyo", dialect=Dialect.HTCONDOR)
        start = datetime(2026, 11, 25, 12, tzinfo=ZoneInfo("Asia/Tokyo"))
        moments = list(islice(recurrence.upcoming(start), 3))
        assert [int(m.timestamp()) for m in moments] == list(islice(recurrence.upcoming(int(start.timestamp())), 3))
        assert recurrence.next(start) == moments[0]

    def test_it_is_no_set(self) -> None:
        """Previous, count and matches have no answer, and the error says why."""
        recurrence = recur("0 6 * * *", dialect=Dialect.HTCONDOR)
        calls: dict[str, Callable[[], object]] = {
            "previous": lambda: recurrence.previous(at("2026-11-25T12:00")),
            "count": lambda: recurrence.count(0, 1),
            "matches": lambda: recurrence.matches(1),
        }
        for name, call in calls.items():
            with pytest.raises(NotASet, match=f"no `{name}`.*depend on when it is asked") as caught:
                call()
            assert isinstance(caught.value, TypeError)

    @pytest.mark.parametrize("line", ["0 0 31 2 *", "0 0 30,31 2 *", "0 0 31 2,4 */2"])
    def test_a_schedule_that_hangs_the_schedd_is_refused(self, line: str) -> None:
        """The schedd would never return; the error says so, and that the date does not exist."""
        recurrence = recur(line, dialect=Dialect.HTCONDOR)
        for ask in (recurrence.next, recurrence.upcoming):
            with pytest.raises(ScheddHangs, match="never returns") as caught:
                ask(0)
            assert isinstance(caught.value, NeverRuns)

    def test_weekdays_beside_a_date_that_never_comes_serve(self) -> None:
        """OR: the Mondays of February are found."""
        assert shown(list(chain("0 0 31 2 1", "2026-11-25T12:00", 2))) == [
            "2027-02-01T00:00+00:00",
            "2027-02-08T00:00+00:00",
        ]

    @pytest.mark.parametrize("instant", [-1, LAST, 10**15])
    def test_other_centuries_are_out_of_range(self, instant: int) -> None:
        """Questions are answered from 1970 to 2200."""
        recurrence = recur("0 6 * * *", dialect=Dialect.HTCONDOR)
        for ask in (recurrence.next, recurrence.upcoming):
            with pytest.raises(OutOfRange):
                ask(instant)

    def test_upcoming_ends_with_the_year_2200(self) -> None:
        """The chain ends as well."""
        recurrence = recur("* * * * *", dialect=Dialect.HTCONDOR)
        with at_most(120):
            assert list(recurrence.upcoming(LAST - 180)) == [LAST - 120, LAST - 60]
