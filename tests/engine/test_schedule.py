"""JobSchedule: what a job asks for, from submit commands and from attributes, by the rules of condor_submit."""

import math
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.deferral import Deferral, InvalidDeferral
from crondor.diagnostics import Source, Span
from crondor.recurrence import NeverRuns, Policy
from crondor.schedule import COMMANDS, Evaluate, ExpressionText, InvalidSchedule, JobSchedule, Universe, UnknownValue
from crondor.spec import CronSpec, Dialect, InvalidSpec

NOW = int(datetime(2026, 11, 24, 9, 30, tzinfo=timezone.utc).timestamp())
TEN = NOW + 1800
GATE = (
    "(((time() + ScheddInterval) >= (DeferralTime - DeferralPrepTime)) && (time() < (DeferralTime + DeferralWindow)))"
)


def submit(dialect: Dialect = Dialect.MANUAL, evaluate: Evaluate | None = None, /, **commands: str) -> JobSchedule:
    """Read submit commands; ``my_`` at the front of a name stands for ``my.``."""
    named = {name.replace("my_", "my.", 1): value for name, value in commands.items()}
    return JobSchedule.from_submit(named, dialect=dialect, evaluate=evaluate)


def refuse(dialect: Dialect = Dialect.MANUAL, /, **commands: str) -> list[str]:
    """Return the messages of the error for submit commands."""
    with pytest.raises(InvalidSchedule) as caught:
        submit(dialect, **commands)
    assert str(caught.value)
    return [found.message for found in caught.value.diagnostics]


def notes(job: JobSchedule) -> list[str]:
    """Return the codes of what was surprising."""
    assert all(note.help for note in job.notes)
    # A job that can never run is more than a surprise.
    assert all((note.severity == "error") == (note.kind in {"bypass", "universe-scheduler"}) for note in job.notes)
    return [note.kind for note in job.notes]


class TestCommands:
    """Which command gives a value (docs/deferral.md)."""

    def test_the_cron_commands_become_the_fields(self) -> None:
        """Each command is its field; those not given take every value."""
        job = submit(cron_minute="1", cron_hour="2", cron_day_of_month="3", cron_month="4", cron_day_of_week="5")
        assert str(job.spec) == "1 2 3 4 5"
        assert str(submit(cron_hour="6").spec) == "* 6 * * *"

    def test_the_attribute_name_is_the_only_alias(self) -> None:
        """CronMinute works as a command, cron_minutes does not."""
        assert str(submit(cronminute="5", crondayofweek="1").spec) == "5 * * * 1"
        assert submit(cron_minutes="5", cron_dow="1").spec is None

    @pytest.mark.parametrize(
        ("commands", "window", "prep_time"),
        [
            ({}, 0, 300),
            ({"cron_window": "60", "cron_prep_time": "10"}, 60, 10),
            ({"deferral_window": "60", "deferral_prep_time": "10"}, 60, 10),
            ({"deferral_window": "1", "cron_window": "60"}, 60, 300),
            ({"cron_window": "60", "deferral_window": "1"}, 60, 300),
            ({"deferral_prep_time": "1", "cron_prep_time": "10"}, 0, 10),
            ({"cronwindow": "1", "cron_window": "60"}, 60, 300),
            ({"deferralwindow": "1", "deferral_window": "60"}, 60, 300),
            ({"cronpreptime": "1", "cron_prep_time": "10"}, 0, 10),
            ({"deferral_window": "1", "cronwindow": "60"}, 60, 300),
            ({"deferralpreptime": "10"}, 0, 10),
            ({"cron_window": "0", "deferral_window": "60"}, 0, 300),
            ({"cron_window": " 60 "}, 60, 300),
        ],
    )
    @pytest.mark.parametrize("trigger", [{"cron_minute": "0"}, {"deferral_time": "1795521600"}])
    def test_cron_wins_over_deferral_and_snake_case_over_camel_case(
        self, trigger: dict[str, str], commands: dict[str, str], window: int, prep_time: int
    ) -> None:
        """Whatever the order of the lines, for a crontab as for a deferred job."""
        job = submit(**trigger, **commands)
        assert (job.window, job.prep_time, job.complete) == (window, prep_time, True)

    def test_an_empty_command_is_absent(self) -> None:
        """So is one whose macro is undefined."""
        assert submit(cron_minute="", cron_hour="6").spec == CronSpec(hour="6")
        assert not submit(cron_minute=" ", deferral_time="").is_deferred

    def test_without_a_command_nothing_is_deferred(self) -> None:
        """Such a job may run at once, and asking for its next time says so."""
        job = submit(executable="/bin/job")
        assert (job.is_deferred, job.requirements_clause(), notes(job)) == (False, None, [])
        with pytest.raises(UnknownValue, match="may run at once"):
            job.next(NOW)

    @pytest.mark.parametrize("lone", ["cron_window", "deferral_window", "cron_prep_time", "deferral_prep_time"])
    def test_window_or_prep_alone_set_nothing(self, lone: str) -> None:
        """They are not even read; a note says so."""
        job = submit(**{lone: "-1"})
        assert (job.is_deferred, job.window, job.prep_time, notes(job)) == (False, 0, 300, ["window-alone"])

    def test_both_cron_and_deferral_time(self) -> None:
        """The schedd overwrites the user's time at once; a note says so."""
        job = submit(cron_minute="0", deferral_time="2000000000")
        assert notes(job) == ["cron-and-time"]
        assert job.time == 2_000_000_000
        assert job.next(NOW).time == TEN


class TestLiterals:
    """What may stand for a number (docs/deferral.md)."""

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("0", 0),
            ("1136138400", 1136138400),
            ("-0", 0),
            ("9223372036854775807", 2**63 - 1),
            ("QDate + 60", ExpressionText("QDate + 60")),
            ("(QDate + 60)", ExpressionText("(QDate + 60)")),
            ("abc", ExpressionText("abc")),
            ("-(5)", ExpressionText("-(5)")),
            ("60*2", ExpressionText("60*2")),
            ("ifThenElse(true,1,2)", ExpressionText("ifThenElse(true,1,2)")),
            ('strcat("a")', ExpressionText('strcat("a")')),
        ],
    )
    @pytest.mark.parametrize("command", ["deferral_time", "deferral_window", "cron_prep_time"])
    def test_integers_and_expressions_pass(self, command: str, text: str, value: int | ExpressionText) -> None:
        """Non-literals pass unseen."""
        job = submit(cron_minute="0", **{command: text})
        attribute = {"deferral_time": job.time, "deferral_window": job.window, "cron_prep_time": job.prep_time}
        assert attribute[command] == value
        assert type(attribute[command]) is type(value)

    @pytest.mark.parametrize(
        "text",
        ["-1", "1.5", "1e3", '"60"', "true", "undefined", "error", "0x10", "1K", "1 2", "60 # c", "$(m)", "(1", "1)"],
    )
    @pytest.mark.parametrize(
        ("command", "named"),
        [
            ("deferral_time", "deferral_time"),
            ("deferraltime", "deferral_time"),
            ("cron_window", "deferral_window"),
            ("deferral_window", "deferral_window"),
            ("cronpreptime", "deferral_prep_time"),
            ("deferral_prep_time", "deferral_prep_time"),
        ],
    )
    def test_other_literals_are_refused_in_condor_submits_words(self, command: str, named: str, text: str) -> None:
        """The error names the deferral_ command, whichever was written."""
        expected = f"{named} = {text} is invalid, must eval to a non-negative integer."
        assert refuse(cron_minute="0", **{command: text}) == [expected]

    @pytest.mark.parametrize("text", ["9223372036854775808", "99999999999999999999", "9" * 5000])
    def test_a_literal_that_overflows_is_zero(self, text: str) -> None:
        """Above 2^63-1 HTCondor reads 0; a note says so."""
        job = submit(cron_minute="0", cron_window=text)
        assert (job.window, notes(job)) == (0, ["submit-overflow"])

    def test_all_faults_come_at_once(self) -> None:
        """Numbers, universe and cron fields are looked at before anything is raised."""
        messages = refuse(cron_minute="60", cron_hour="24", cron_window="-1", cron_prep_time="x y z(", universe="nope")
        assert len(messages) == 5

    @given(text=st.text(max_size=20), command=st.sampled_from(COMMANDS))
    def test_no_text_raises_anything_else(self, text: str, command: str) -> None:
        """Whatever stands in a command, there is a schedule or an InvalidSchedule."""
        try:
            job = JobSchedule.from_submit({"deferral_time": "5", command: text})
        except InvalidSchedule as error:
            assert all(line.isprintable() for line in str(error).split("\n"))  # noqa: PT017 - a property of the error
        else:
            assert job.is_deferred or command in {"deferral_time", "my.deferraltime"}


class TestUniverses:
    """Where deferral works (docs/deferral.md)."""

    @pytest.mark.parametrize(
        ("universe", "clause"),
        [
            ("vanilla", f"TARGET.HasJobDeferral && {GATE}"),
            ("Parallel", f"TARGET.HasJobDeferral && {GATE}"),
            ("java", f"TARGET.HasJobDeferral && {GATE}"),
            ("vm", f"TARGET.HasJobDeferral && {GATE}"),
            ("docker", f"TARGET.HasJobDeferral && {GATE}"),
            ("container", f"TARGET.HasJobDeferral && {GATE}"),
            ("5", f"TARGET.HasJobDeferral && {GATE}"),
            ("local", GATE),
            ("12", GATE),
            ("grid", None),
        ],
    )
    @pytest.mark.parametrize("trigger", [{"cron_minute": "0"}, {"deferral_time": "5"}, {"my.cronhour": '"5"'}])
    def test_what_is_added_to_requirements(self, universe: str, clause: str | None, trigger: dict[str, str]) -> None:
        """The gate everywhere, HasJobDeferral not in the local universe, nothing in the grid universe."""
        job = JobSchedule.from_submit({"universe": universe, **trigger})
        assert job.requirements_clause() == clause

    def test_vanilla_is_the_default(self) -> None:
        """As condor_submit has it without any configuration."""
        assert submit(cron_minute="0").universe is Universe.VANILLA

    def test_an_unknown_universe_is_refused(self) -> None:
        """In condor_submit's words."""
        assert refuse(cron_minute="0", universe="nope") == ["I don't know about the 'nope' universe."]

    @pytest.mark.parametrize(
        ("commands", "named"),
        [
            ({"deferral_time": "5"}, "DeferralTime"),
            ({"deferral_time": "5", "cron_hour": "1"}, "CronHour"),
            ({"deferral_time": "5", "cron_month": "1", "cron_minute": "1"}, "CronMinute"),
            ({"deferraltime": "5", "crondayofweek": "1"}, "CronDayOfWeek"),
        ],
    )
    def test_a_scheduler_universe_job_cannot_be_deferred(self, commands: dict[str, str], named: str) -> None:
        """The first attribute that is set is named, and the local universe proposed."""
        with pytest.raises(InvalidSchedule) as caught:
            submit(universe="scheduler", **commands)
        (fault,) = caught.value.diagnostics
        assert fault.message == f"{named} does not work for scheduler universe jobs."
        assert fault.help == "Consider submitting this job using the local universe, instead"

    def test_a_scheduler_universe_job_with_cron_fields_alone_is_accepted(self) -> None:
        """It never runs; a note says so."""
        assert notes(submit(universe="scheduler", cron_minute="0")) == ["universe-scheduler"]

    def test_a_grid_universe_job_waits_for_nothing(self) -> None:
        """The attributes are set without effect; a note says so."""
        job = submit(universe="grid", cron_minute="0", cron_window="60")
        assert (str(job.spec), job.window, notes(job)) == ("0 * * * *", 60, ["universe-grid"])


class TestAttributesInSubmitFiles:
    """`+Attr` and `MY.Attr` go around condor_submit (docs/deferral.md)."""

    @pytest.mark.parametrize("bypass", [{"my_cronminute": '"0"'}, {"my_deferraltime": "2000000000"}])
    def test_the_defaults_are_missing(self, bypass: dict[str, str]) -> None:
        """Window and prep time are not set, the clause is undefined, the job never matches; a note says so."""
        job = submit(**bypass)
        assert job.is_deferred
        assert not job.complete
        assert notes(job) == ["bypass"]

    def test_a_command_beside_them_sets_the_defaults(self) -> None:
        """One true command is enough."""
        job = submit(my_cronminute='"0"', cron_hour="6", deferral_window="60")
        assert (str(job.spec), job.window, job.prep_time, job.complete) == ("0 6 * * *", 60, 300, True)

    def test_all_attributes_written_by_hand_are_complete(self) -> None:
        """Whoever sets window and prep time as well has a job that matches."""
        job = submit(my_cronminute='"0"', my_deferralwindow="60", my_deferralpreptime="10")
        assert (job.window, job.prep_time, job.complete, notes(job)) == (60, 10, True, [])

    def test_the_attribute_wins_over_the_command(self) -> None:
        """It is set last."""
        assert str(submit(cron_minute="5", my_cronminute='"7"').spec) == "7 * * * *"

    def test_an_integer_is_no_string(self) -> None:
        """`+CronMinute = 5` is 5 in MANUAL, and `*` for the schedd."""
        assert str(submit(my_cronminute="5").spec) == "5 * * * *"
        assert str(submit(Dialect.HTCONDOR, my_cronminute="5").spec) == "* * * * *"

    def test_another_value_is_a_fault_with_its_place(self) -> None:
        """A real has no meaning in MANUAL; the file's line is shown."""
        place = Source("+CronMinute = 5.5", "job.sub").span(14)
        with pytest.raises(InvalidSchedule) as caught:
            JobSchedule.from_submit({"my.cronminute": "5.5"}, spans={"my.cronminute": place})
        (fault,) = caught.value.diagnostics
        assert (fault.kind, fault.span) == ("cron-type", place)

    def test_the_jobs_own_schedd_interval_is_kept(self) -> None:
        """ScheddInterval is set by condor_submit unless the job already has one."""
        assert submit(cron_minute="0", my_scheddinterval="60").schedd_interval == 60


class TestPlaces:
    """Faults point into the submit file."""

    FILE = "m = 61\ncron_minute = 5, 61\ncron_hour = $(m)\ncron_window = -1\ndeferraltime = -5\nuniverse = nope\n"

    def place(self, value: str) -> Span:
        """Return where a value stands in the file."""
        line = self.FILE.index(f"{value}\n")
        return Source(self.FILE, "job.sub").span(line, line + len(value))

    def faults(self, dialect: Dialect = Dialect.MANUAL, **commands: tuple[str, str]) -> list[tuple[str, str, str]]:
        """Return code, location and underlined text of the faults of commands, given as value and text in the file."""
        with pytest.raises(InvalidSchedule) as caught:
            JobSchedule.from_submit(
                {name: value for name, (value, _) in commands.items()},
                spans={name: self.place(written) for name, (_, written) in commands.items()},
                dialect=dialect,
            )
        assert all(found.span for found in caught.value.diagnostics)
        return [(f.kind, f.span.location, f.span.text) for f in caught.value.diagnostics if f.span]

    def test_a_piece_of_a_value(self) -> None:
        """Only what is wrong is underlined, at its line and column."""
        assert self.faults(cron_minute=("5, 61", "5, 61")) == [("cron-range", "job.sub:2:18", "61")]

    def test_a_value_made_by_a_macro(self) -> None:
        """The whole macro is underlined, and the message tells its value."""
        assert self.faults(cron_hour=("61", "$(m)")) == [("cron-range", "job.sub:3:13", "$(m)")]
        with pytest.raises(InvalidSchedule, match=r"hour 61 is out of range .*the value is '61'"):
            JobSchedule.from_submit({"cron_hour": "61"}, spans={"cron_hour": self.place("$(m)")})

    def test_numbers(self) -> None:
        """The value of a window is underlined."""
        found = self.faults(cron_minute=("5", "5, 61"), cron_window=("-1", "-1"))
        assert found == [("submit-number", "job.sub:4:15", "-1")]

    def test_the_universe(self) -> None:
        """The unknown name is underlined."""
        assert self.faults(universe=("nope", "nope")) == [("submit-universe", "job.sub:6:12", "nope")]

    def test_the_time_of_a_scheduler_job_however_it_is_written(self) -> None:
        """CamelCase is a place as well."""
        found = self.faults(deferraltime=("5", "-5"), universe=("scheduler", "nope"))
        assert found == [("submit-scheduler", "job.sub:5:16", "-5")]

    def test_the_schedds_own_words_are_kept(self) -> None:
        """In the HTCONDOR dialect the error carries the InvalidSpec with its hold reason."""
        with pytest.raises(InvalidSchedule) as caught:
            submit(Dialect.HTCONDOR, cron_minute="MON")
        assert isinstance(caught.value.invalid_spec, InvalidSpec)
        assert caught.value.invalid_spec.hold_reason == (
            "Invalid cron schedule parameters: Invalid parameter value 'MON' for CronMinute"
        )

    def test_quotes_stay_in_the_value(self) -> None:
        """condor_submit keeps them, so the field is wrong."""
        assert self.faults(cron_minute=('"5"', "5, 61"))[0][0] == "cron-quoted"


class TestAttributes:
    """From a job ad, as Python values."""

    def test_strings_and_integers(self) -> None:
        """Names have no case; the ad's own ScheddInterval wins."""
        ad = {
            "CRONMINUTE": "0",
            "CronHour": "*/2",
            "DeferralWindow": 60,
            "deferralpreptime": 10,
            "ScheddInterval": 5,
            "JobUniverse": 12,
            "Cmd": "/bin/job",
        }
        job = JobSchedule.from_attributes(ad, schedd_interval=300)
        assert job.spec == CronSpec(minute="0", hour="*/2")
        assert (job.window, job.prep_time, job.schedd_interval, job.complete) == (60, 10, 5, True)
        assert job.universe is Universe.LOCAL

    @pytest.mark.parametrize(
        ("ad", "complete"),
        [
            ({"CronMinute": "0"}, False),
            ({"CronMinute": "0", "DeferralWindow": 0}, False),
            ({"CronMinute": "0", "DeferralPrepTime": 300}, False),
            ({"DeferralTime": 5, "DeferralWindow": 0, "DeferralPrepTime": 300}, True),
        ],
    )
    def test_a_missing_window_or_prep_time_is_seen(self, ad: dict[str, object], complete: bool) -> None:
        """Requirements are undefined then; the numbers are the defaults."""
        job = JobSchedule.from_attributes(ad)
        assert (job.complete, job.window, job.prep_time) == (complete, 0, 300)

    def test_a_time_without_cron_fields(self) -> None:
        """A deferred job; None is an absent attribute."""
        job = JobSchedule.from_attributes({"DeferralTime": TEN, "CronMinute": None, "DeferralWindow": 60})
        assert (job.spec, job.next(NOW)) == (None, Deferral(TEN, 60))

    def test_nothing(self) -> None:
        """An ad without any of them is not deferred."""
        assert not JobSchedule.from_attributes({"Cmd": "/bin/job", "DeferralWindow": 5}).is_deferred

    def test_an_integer_field(self) -> None:
        """An integer is that value in MANUAL and every value in HTCONDOR."""
        assert str(JobSchedule.from_attributes({"CronMinute": 5}).spec) == "5 * * * *"
        assert str(JobSchedule.from_attributes({"CronMinute": 5}, dialect=Dialect.HTCONDOR).spec) == "* * * * *"

    def test_an_invalid_field_is_refused(self) -> None:
        """As the spec refuses it."""
        with pytest.raises(InvalidSpec, match="out of range"):
            JobSchedule.from_attributes({"CronMinute": "60"})

    def test_an_expression_is_evaluated_when_it_is_asked_for(self) -> None:
        """At the time of the question."""
        job = JobSchedule.from_attributes(
            {"DeferralTime": ExpressionText("QDate + 60")}, evaluate=lambda _, now: now // 10 * 10 + 60
        )
        assert job.time == ExpressionText("QDate + 60")
        assert job.next(1005).time == 1060

    def test_a_string_is_no_time(self) -> None:
        """A string in DeferralTime is held for (code 20), even one of digits: it is not an expression."""
        job = JobSchedule.from_attributes({"DeferralTime": "2000000000"}, evaluate=as_classad)
        with pytest.raises(UnknownValue, match="code 20"):
            job.next(NOW)

    def test_a_real_time_runs(self) -> None:
        """The starter takes a real DeferralTime as well, and nothing has to be evaluated for it."""
        assert JobSchedule.from_attributes({"DeferralTime": TEN + 0.5}).next(NOW).time == TEN


def as_classad(text: str, now: int) -> object:
    """Evaluate what the tests need of ClassAds: numbers, strings, QDate and sums; None for anything unknown."""
    if text.startswith('"'):
        return text[1:-1]
    total = 0
    for term in text.strip("()").split("+"):
        word = term.strip()
        if word not in {"QDate", "time()"} and not word.isdecimal():
            return None
        total += int(word) if word.isdecimal() else now
    return total


class TestExpressions:
    """Values that have to be evaluated first."""

    def test_qdate_plus_sixty(self) -> None:
        """Evaluated through the injected function, with the time of the question."""
        job = submit(Dialect.MANUAL, as_classad, deferral_time="(QDate + 60)", deferral_window="60 + 60")
        assert job.next(NOW) == Deferral(NOW + 60, 120)

    def test_without_an_engine_it_is_said_clearly(self) -> None:
        """The attribute and the reason are named."""
        with pytest.raises(UnknownValue, match=r"DeferralTime = QDate \+ 60 .* nothing to evaluate it with"):
            submit(deferral_time="QDate + 60").next(NOW)
        with pytest.raises(UnknownValue, match="DeferralWindow"):
            submit(cron_minute="0", cron_window="60*2").next(NOW)

    @pytest.mark.parametrize("value", [-1, "60", None, True, math.nan, math.inf, [60], -0.5 - 1])
    def test_a_value_that_is_no_number_of_seconds_is_refused(self, value: object) -> None:
        """Negative, string, undefined, boolean: the starter holds such a job, and the error says so."""
        job = submit(Dialect.MANUAL, lambda _text, _now: value, deferral_time="x")
        with pytest.raises(UnknownValue, match="code 20"):
            job.next(NOW)

    def test_a_real_is_cut_to_seconds(self) -> None:
        """A real DeferralTime runs."""
        assert submit(Dialect.MANUAL, lambda _text, now: now + 60.75, deferral_time="x").next(NOW).time == NOW + 60

    @pytest.mark.parametrize(
        "job", [submit(deferral_time="0"), submit(Dialect.MANUAL, lambda *_: 0, deferral_time="x")]
    )
    def test_a_time_of_zero_is_none(self, job: JobSchedule) -> None:
        """The starter holds a job whose DeferralTime is not positive."""
        with pytest.raises((UnknownValue, InvalidDeferral), match="code 20"):
            job.next(NOW)


class TestNext:
    """The next run as the schedd computes it."""

    def test_a_crontab_job(self) -> None:
        """The schedule's next time with window and prep time."""
        job = submit(cron_minute="0", cron_window="60", cron_prep_time="120")
        assert job.next(NOW) == Deferral(TEN, 60, 120, 300)

    def test_a_deferred_job_keeps_its_time(self) -> None:
        """Also when it is past: nothing computes another one."""
        assert submit(deferral_time=str(TEN)).next(TEN + 10**6).time == TEN

    def test_zone_policy_interval_and_dialect_are_arguments(self) -> None:
        """None of them stands in a submit file."""
        job = JobSchedule.from_submit(
            {"cron_minute": "30", "cron_hour": "2"}, zone="America/New_York", policy=Policy.DEBIAN, schedd_interval=60
        )
        run = job.next(int(datetime(2026, 3, 8, tzinfo=timezone.utc).timestamp()))
        assert datetime.fromtimestamp(run.time, timezone.utc).isoformat() == "2026-03-08T07:00:00+00:00"
        assert run.schedd_interval == 60
        day_zero = JobSchedule.from_submit({"cron_minute": "0", "cron_day_of_week": "1"}, dialect=Dialect.HTCONDOR)
        late = int(datetime(2026, 11, 30, 23, 30, tzinfo=timezone.utc).timestamp())
        assert day_zero.next(late).time == late + 120

    def test_a_schedule_that_never_fires_is_refused_when_asked(self) -> None:
        """Reading it is fine; a time there is none."""
        job = submit(cron_day_of_month="31", cron_month="2")
        with pytest.raises(NeverRuns, match="day 31 does not occur in month 2"):
            job.next(NOW)

    def test_two_jobs_that_ask_for_the_same_are_equal(self) -> None:
        """A schedule is a value; the evaluation is not part of it."""
        assert submit(cron_minute="*/20") == submit(Dialect.MANUAL, as_classad, cron_minute="*/20,40")
        assert submit(cron_minute="0") != submit(cron_minute="0", cron_window="5")


def test_missed_times_are_not_made_up() -> None:
    """After days the next time is the next one from now."""
    job = submit(cron_minute="0", cron_window="60")
    assert job.next(NOW + 3 * 86400).time == TEN + 3 * 86400
