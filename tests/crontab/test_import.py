"""Crontab lines as submit files: the same runs, the same command, and a word about everything else."""

import subprocess
from itertools import takewhile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import Context, Expression
from crondor.compile.meaning import read_schedule, schedule_line
from crondor.compile.writing.wish import default_end
from crondor.compiled_text import compile_text
from crondor.crontab.file import read_crontab
from crondor.crontab.import_ import Imported, ImportSettings, SubmitText, import_crontab
from crondor.diagnostics import Severity, Source
from crondor.job.attributes import split_arguments, split_environment
from crondor.lint import CheckSettings, check_submit
from crondor.recurrence import Recurrence
from crondor.schedule import COMMANDS, JobSchedule, Universe
from crondor.spec import FIELDS, CronSpec, Dialect
from crondor.submit import read_submit
from crondor.zones import zone_of
from tests.classad.helpers import ad
from tests.examples import examples

START = 1_795_195_625  # 2026-11-20, a Friday
ZONE = "Europe/Berlin"


def imported(*lines: str, has_users: bool = False, **options: Any) -> Imported:  # noqa: ANN401 - Settings has several types
    """Import lines that end with a line end."""
    source = Source("".join(f"{line}\n" for line in lines), "tab")
    return import_crontab(read_crontab(source, has_users=has_users), ImportSettings(START, **options))


def only(*lines: str, **options: Any) -> SubmitText:  # noqa: ANN401 - the same
    """Import lines of which one has a schedule."""
    (file,) = imported(*lines, **options).files
    return file


def values(file: SubmitText, *names: str) -> dict[str, str]:
    """Return what crondor's own reader makes of commands of the text."""
    (group,) = read_submit(Source(file.text)).groups(names)
    return dict(group.values)


def schedule(file: SubmitText) -> JobSchedule:
    """Return the schedule that crondor's own reader finds in the text."""
    return JobSchedule.from_submit(values(file, *COMMANDS))


def codes(file: SubmitText) -> list[str]:
    """Return the codes of the findings about a line."""
    return [finding.kind for finding in file.diagnostics]


@st.composite
def crontab_fields(draw: st.DrawFn) -> str:
    """Return five fields in all of cron's spellings."""
    texts = []
    for field in FIELDS:
        values = st.integers(field.low, field.high)
        pair = st.tuples(values, values).map(sorted)
        step = st.integers(1, field.high)
        items = [
            values.map(str),
            pair.map(lambda p: f"{p[0]}-{p[1]}"),
            st.tuples(pair, step).map(lambda p: f"{p[0][0]}-{p[0][1]}/{p[1]}"),
            step.map(lambda n: f"*/{n}"),
            st.tuples(values, step).map(lambda p: f"{p[0]}/{p[1]}"),
        ]
        if field.names:
            items.append(st.sampled_from(field.names).map(str.title))
        item = st.one_of(items)
        texts.append(draw(st.one_of(st.just("*"), item, st.lists(item, min_size=2, max_size=3).map(",".join))))
    return " ".join(texts)


def runs(file: SubmitText, end: int) -> list[int]:
    """Return when the schedd starts the jobs of a file: its own chain of answers, of which the clause lets some by."""
    found: list[int] = []
    for job in file.schedule.compiled.jobs:
        zone = job.superset.zone
        for time in takewhile(end.__ge__, map(int, job.superset.schedd.upcoming(START))):
            context = Context(now=time, zone=zone.info)
            if not job.clause or Expression(job.clause).evaluate(ad(DeferralTime=str(time)), context=context) is True:
                found.append(time)
    return sorted(found)


@examples(15)
@given(crontab_fields())
def test_the_runs_are_those_of_the_line(fields: str) -> None:
    """The schedd starts the jobs at the times of the line as cron reads it, both of its day fields at once too.

    A line that never fires has no file.
    """
    unix = CronSpec.from_line(fields, dialect=Dialect.UNIX)
    found = imported(f"{fields} run")
    if not found.files:
        assert {finding.kind for finding in found.diagnostics} <= {"cron-never", "compile-empty"}
        return
    (file,) = found.files
    end = START + (200 if unix.bits[0].bit_count() < 4 else 10) * 86400
    assert runs(file, end) == list(Recurrence(unix, "UTC").between(START, end))


@examples(10)
@given(crontab_fields())
def test_the_lengths_fit_between_two_runs(fields: str) -> None:
    """Neither prep time nor window reaches the next run."""
    for file in imported(f"{fields} run").files:
        gap = Recurrence(CronSpec.from_line(fields, dialect=Dialect.UNIX)).gaps().shortest
        read = schedule(file)
        options = file.schedule.options
        assert (read.prep_time, read.window) == (options.prep_time, options.window)
        assert options.prep_time is not None
        assert options.window is not None
        assert options.prep_time <= gap
        assert options.window < gap


COMMAND_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\n\0%\r"), min_size=1, max_size=40)


@given(COMMAND_TEXT)
def test_any_command_reaches_the_shell(text: str) -> None:
    """The job runs what cron would run, to the letter."""
    found = imported(f"0 6 * * * x{text}")
    (file,) = found.files
    read = values(file, "executable", "arguments")
    assert read["executable"] == "/bin/sh"
    assert split_arguments(read["arguments"]) == ["-c", f"x{text}"]


@given(st.dictionaries(st.from_regex(r"X[\w]*", fullmatch=True), COMMAND_TEXT, max_size=3))
def test_any_variable_reaches_the_job(variables: dict[str, str]) -> None:
    """PATH and SHELL as cron sets them, and those of the crontab."""
    lines = [f"{name}='{value}'" for name, value in variables.items() if "'" not in value]
    file = only(*lines, "0 6 * * * run")
    kept = {name: value for name, value in variables.items() if "'" not in value}
    expected = {"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", **kept}
    assert split_environment(values(file, "environment")["environment"]) == expected


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("cat%one%two", "one\ntwo\n"),
        (r"cat%it's 50\% \n%", "it's 50% \\n\n"),
        ("cat; echo '$(x)'%$(y)", "$(y)\n$(x)\n"),
        ("cat # a comment%-n", "-n\n"),
        ("cat%%", "\n"),
    ],
)
def test_the_shell_feeds_the_command(command: str, output: str) -> None:
    """What the job runs gives the command its standard input, and nothing of it is taken for code."""
    read = values(only(f"0 6 * * * {command}"), "executable", "arguments")
    ended = subprocess.run(
        [read["executable"], *split_arguments(read["arguments"])],
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    assert ended.stdout == output


def test_the_crontabs_shell_runs_the_command() -> None:
    """By itself, or after the shell that feeds it."""
    plain = values(only("SHELL=/bin/bash", "0 6 * * * run"), "executable", "arguments")
    assert (plain["executable"], split_arguments(plain["arguments"])) == ("/bin/bash", ["-c", "run"])
    fed = values(only("SHELL=/bin/bash", "0 6 * * * run%a"), "executable", "arguments")
    assert fed["executable"] == "/bin/sh"
    assert split_arguments(fed["arguments"])[1].endswith("| /bin/bash -c run")


@pytest.mark.parametrize("shell", ["bash", "", "/bin/sh\\", "/bin/$$(x)"])
def test_a_shell_that_cannot_be_written_is_refused(shell: str) -> None:
    """A backslash at the end would join the next line of the file to it."""
    found = imported(f"SHELL={shell}", "0 6 * * * run")
    assert found.files == []
    assert {finding.kind for finding in found.diagnostics} <= {"crontab-shell", "submit-quotes"}


@pytest.mark.parametrize("name", ["MAILTO", "HOME"])
@pytest.mark.parametrize("value", ["a\\", "$$(x)"])
def test_no_value_reaches_the_next_line(name: str, value: str) -> None:
    """What has no spelling as a plain value leaves the line without a file."""
    assert imported(f"{name}={value}", "0 6 * * * run").files == []


def test_the_file_repeats_and_is_local() -> None:
    """It stays in the queue, and runs where the crontab did."""
    file = only("0 6 * * * run")
    wanted = values(file, "universe", "on_exit_remove", "periodic_release", "log", "transfer_executable")
    assert wanted == {
        "universe": "local",
        "on_exit_remove": "false",
        "periodic_release": "(HoldReasonCode == 20)",
        "log": "run.log",
    }
    assert schedule(file).universe is Universe.LOCAL
    assert (schedule(file).prep_time, schedule(file).window) == (60, 60)


def test_the_pool_wants_more_time() -> None:
    """Vanilla jobs wait for a machine, and find their shell there."""
    file = only("0 6 * * * run", universe=Universe.VANILLA)
    assert values(file, "universe", "transfer_executable") == {"universe": "vanilla", "transfer_executable": "false"}
    assert (schedule(file).prep_time, schedule(file).window) == (300, 300)
    asked = only("0 6 * * * run", universe=Universe.VANILLA, window=7, prep_time=9)
    assert (schedule(asked).prep_time, schedule(asked).window) == (9, 7)


def test_the_home_folder() -> None:
    """The submitter's own, unless the crontab names one."""
    assert "\ninitialdir  = $ENV(HOME)\n" in only("0 6 * * * run").text
    assert values(only("HOME=/srv/$(x)", "0 6 * * * run"), "initialdir") == {"initialdir": "/srv/$(x)"}


def test_mail() -> None:
    """The address is kept, and the difference is said; an empty one means no mail."""
    file = only("MAILTO=me@example.org", "0 6 * * * run")
    assert values(file, "notify_user", "notification") == {"notify_user": "me@example.org", "notification": "error"}
    assert codes(file) == ["crontab-mail"]
    file = only('MAILTO=""', "0 6 * * * run")
    assert values(file, "notify_user", "notification") == {"notification": "never"}
    assert values(only("0 6 * * * run"), "notify_user", "notification") == {}


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (("RANDOM_DELAY=10", "0 6 * * * run"), "crontab-delay"),
        (("30 2 * * * run",), "clock-changes"),
        (("30 2 * * * run",), "crontab-ends"),
        (("-0 6 * * * run",), "crontab-silent"),
    ],
)
def test_what_is_not_the_same_is_said(lines: tuple[str, ...], code: str) -> None:
    """Each difference has a code; a line without one has none of them."""
    assert code in codes(only(*lines, zone=ZONE))
    assert codes(only("0 6 * * * run", zone=ZONE)) == []


@pytest.mark.parametrize("host", ["UTC", ZONE, "America/New_York"])
def test_the_times_are_those_of_the_crontabs_own_zone(host: str) -> None:
    """Wherever the submit host is; the schedule line names it, and the clause needs no host's clock."""
    file = only("CRON_TZ=Asia/Tokyo", "0 6 * * MON-FRI run", zone=host)
    assert "# crondor: schedule = 0 6 * * MON-FRI zone Asia/Tokyo\n" in file.text
    assert "formatTime" not in file.text
    end = START + 300 * 86400
    assert runs(file, end) == list(Recurrence(CronSpec.from_line("0 6 * * 1-5"), "Asia/Tokyo").between(START, end))


def test_a_zone_that_there_is_not_has_its_place() -> None:
    """And what was meant; the line has no file, which would run at other times."""
    found = imported("CRON_TZ=Europe/Berln", "0 6 * * * run")
    (fault,) = found.diagnostics
    assert (found.files, fault.kind, fault.severity) == ([], "crontab-zone", Severity.ERROR)
    assert (fault.span and fault.span.line, fault.help) == (1, "did you mean Europe/Berlin?")


@pytest.mark.parametrize(
    ("fields", "same"),
    [
        ("5~5 6 * * *", "5 6 * * *"),
        ("0 9 ? * TUE", "0 9 * * 2"),
        ("0 22-6/2 * * *", "0 0,2,4,6,22 * * *"),
        ("0 18 * JAN,jun FRI", "0 18 * 1,6 5"),
        ("@weekly", "0 0 * * 0"),
        ("0 0 */2 * 1", "0 0 */2 * 1"),
        ("0 0 1 * */2", "0 0 1 * */2"),
    ],
)
def test_what_compile_reads_a_crontab_may_say(fields: str, same: str) -> None:
    """As the crons do that have it."""
    found = imported(f"{fields} run")
    assert found.diagnostics == []
    (file,) = found.files
    end = START + 400 * 86400
    assert runs(file, end) == list(
        Recurrence(CronSpec.from_line(same, dialect=Dialect.UNIX), "UTC").between(START, end)
    )


def test_random_times_are_chosen_by_the_jobs_name() -> None:
    """The same for ever, another for each job, as the schedule line says."""
    one, two = imported("0~59 3 * * * /opt/one", "0~59 3 * * * /opt/two").files
    assert "# crondor: schedule = 0~59 3 * * * name one\n" in one.text
    assert schedule(one).spec != schedule(two).spec
    assert only("0~59 3 * * * /opt/one").text == one.text.replace("tab:1", "tab:1")


@pytest.mark.parametrize(
    ("host", "lines"),
    [("UTC", ("0 6 * * 1 run",)), (ZONE, ("30 2 * * * run",)), (ZONE, ("CRON_TZ=Asia/Tokyo", "0~59 3 */2 * 1 run"))],
)
def test_the_file_is_one_that_compile_has_written(host: str, lines: tuple[str, ...]) -> None:
    """Compiled again it stays as it is, and check finds that it does what its line says."""
    file = only(*lines, zone=host)
    source = Source(file.text, "run.sub")
    line = schedule_line(source)
    assert line is not None
    own = read_schedule(line, zone=host)
    end = default_end(START)
    made = compile_text(
        source, lambda universe, options: options.wish(own, zone_of(host), START, end, universe=universe), read_submit
    )
    assert (made.compiled, made.text) == (None, file.text)
    report = check_submit(source, CheckSettings(START, host, files=False))
    assert not [each for each in report.findings if each.diagnostic.code.startswith("CRN56")]


def test_what_has_no_equivalent_is_an_error() -> None:
    """@reboot, and dates that do not occur, which would hang a schedd."""
    found = imported("@reboot run", "0 0 30 2 * run", "0 6 * * * run")
    assert [finding.kind for finding in found.diagnostics] == ["crontab-reboot", "cron-never"]
    assert len(found.files) == 1


def test_a_user_column_is_told() -> None:
    """In the file and as a note."""
    (file,) = imported("0 6 * * * backup run", has_users=True).files
    assert "# To be submitted by backup.\n" in file.text
    assert codes(file) == ["crontab-user"]


def test_names_say_what_runs() -> None:
    """The command's name where it says something, the line's number otherwise; no two alike."""
    commands = ["/usr/bin/Sync.sh -a", "sync", "cd / && x", "A=1 x", "sync-2", "[ -x /x ] && x", "../..", "sync", '"x"']
    found = imported(*(f"0 6 * * * {command}" for command in commands))
    names = [file.name for file in found.files]
    assert names == ["Sync", "sync-2", "line-3", "line-4", "sync-2-5", "line-6", "line-7", "sync-8", "line-9"]
    assert len({name.lower() for name in names}) == len(names)


def test_comments_become_the_heading() -> None:
    """Those directly above; control characters are shown and do nothing."""
    text = only("# Backs up\x1b[31m", "# the disks \\", "0 6 * * * run").text
    head = "# Backs up\\x1b[31m\n# the disks \\\n#\n# tab:3\n#   0 6 * * * run\n"
    assert text.startswith(f"{head}# crondor: schedule = 0 6 * * *\n\nuniverse ")
    assert schedule(only("# the disks \\", "0 6 * * * run")).spec is not None


def test_much_is_refused_before_the_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large variables are repeated in every file: the sum has a limit."""
    monkeypatch.setattr("crondor.crontab.import_.MAX_TEXT", 1 << 20)
    lines = [f"A{n}={'x' * 2000}" for n in range(20)] + ["0 6 * * * run"] * 100
    found = imported(*lines)
    assert [finding.kind for finding in found.diagnostics] == ["crontab-many"]
    assert sum(len(file.text) for file in found.files) <= 1 << 20
