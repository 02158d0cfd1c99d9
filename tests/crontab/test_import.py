"""Crontab lines as submit files: the same runs, the same command, and a word about everything else."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from datetime import timezone
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crondor.algebra import same_meaning
from crondor.classad import Context, Expression
from crondor.crontab.file import read_crontab
from crondor.crontab.import_ import Imported, ImportSettings, SubmitText, import_crontab
from crondor.job.arguments import split_arguments, split_environment
from crondor.recurrence import Recurrence
from crondor.schedule import COMMANDS, JobSchedule, Universe
from crondor.source import Source
from crondor.spec import FIELDS, CronSpec, Dialect
from crondor.submit import read_submit
from tests.classad.helpers import ad

START = 1_795_195_625  # 2026-11-20, a Friday
ZONE = "Europe/Berlin"


def imported(*lines: str, has_users: bool = False, **options: Any) -> Imported:  # noqa: ANN401 - Settings has several types
    """Import lines that end with a line end."""
    source = Source("".join(f"{line}\n" for line in lines), "tab")
    return import_crontab(read_crontab(source, has_users=has_users), ImportSettings(**options))


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


def allowed(file: SubmitText, times: list[int]) -> Iterator[int]:
    """Yield the times at which the requirements clause holds; the evaluating host is in UTC."""
    assert file.schedule.requirements is not None
    clause = Expression(file.schedule.requirements)
    for time in times:
        if clause.evaluate(ad(DeferralTime=str(time)), context=Context(now=time, zone=timezone.utc)) is True:
            yield time


@settings(max_examples=100, deadline=None)
@given(crontab_fields())
def test_the_runs_are_those_of_the_line(fields: str) -> None:
    """Read back by crondor, in MANUAL, the file has the line's runs; with an AND of days those that its clause lets by.

    A line that never fires has no file. Where the schedd reads otherwise than the manual, nothing but day 0 is left.
    """
    unix = CronSpec.from_line(fields, dialect=Dialect.UNIX)
    found = imported(f"{fields} run")
    if not found.files:
        assert [finding.kind for finding in found.diagnostics] == ["cron-never"]
        return
    (file,) = found.files
    read = schedule(file).spec
    assert read == file.schedule.spec
    assert read is not None
    if not file.schedule.is_joined:
        assert same_meaning(unix, read)
        assert (file.schedule.requirements is None) == ("day-zero" not in codes(file))
        return
    assert "crontab-and" in codes(file)
    end = START + 2000 * 86400
    times = list(islice(Recurrence(read).between(START, end), 200))
    unix_runs = Recurrence(unix)
    assert list(allowed(file, times)) == [time for time in times if unix_runs.matches(time)]


@settings(max_examples=40, deadline=None)
@given(crontab_fields())
def test_the_lengths_fit_between_two_runs(fields: str) -> None:
    """Neither prep time nor window reaches the next run."""
    for file in imported(f"{fields} run").files:
        gap = Recurrence(CronSpec.from_line(fields, dialect=Dialect.UNIX)).gaps().shortest
        read = schedule(file)
        assert (read.prep_time, read.window) == (file.prep_time, file.window)
        assert file.prep_time <= gap
        assert file.window < gap


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
    """By itself, or behind the shell that feeds it."""
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
    assert (file.prep_time, file.window) == (60, 60)


def test_the_pool_wants_more_time() -> None:
    """Vanilla jobs wait for a machine, and find their shell there."""
    file = only("0 6 * * * run", universe=Universe.VANILLA)
    assert values(file, "universe", "transfer_executable") == {"universe": "vanilla", "transfer_executable": "false"}
    assert (file.prep_time, file.window) == (300, 300)
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
        (("CRON_TZ=Asia/Tokyo", "0 6 * * * run"), "crontab-zone"),
        (("RANDOM_DELAY=10", "0 6 * * * run"), "crontab-delay"),
        (("0 6 * * MON run",), "crontab-respelt"),
        (("0 6 */2 * * run",), "crontab-respelt"),
        (("0 6 * * 1 run",), "day-zero"),
        (("0 6 */2 * 1 run",), "crontab-and"),
        (("30 2 * * * run",), "clock-changes"),
        (("-0 6 * * * run",), "crontab-silent"),
    ],
)
def test_what_is_not_the_same_is_said(lines: tuple[str, ...], code: str) -> None:
    """Each difference has a code; a line without one has none of them."""
    assert code in codes(only(*lines, zone=ZONE, zone_name=ZONE))
    assert codes(only("0 6 * * * run", zone=ZONE, zone_name=ZONE)) == []


def test_the_zone_of_the_submit_host_is_no_difference() -> None:
    """CRON_TZ may name it."""
    assert codes(only(f"CRON_TZ={ZONE}", "0 6 * * * run", zone=ZONE, zone_name=ZONE)) == []


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
    assert text.startswith("# Backs up\\x1b[31m\n# the disks \\\n#\n# tab:3\n#   0 6 * * * run\n\nuniverse ")
    assert schedule(only("# the disks \\", "0 6 * * * run")).spec is not None


def test_much_is_refused_before_the_memory_is_full() -> None:
    """Large variables are repeated in every file: the sum has a limit."""
    lines = [f"A{n}={'x' * 100_000}" for n in range(20)] + ["0 6 * * * run"] * 100
    found = imported(*lines)
    assert [finding.kind for finding in found.diagnostics] == ["crontab-many"]
    assert sum(len(file.text) for file in found.files) <= 64 * 1024 * 1024
