"""`crondor compile`: the lines, the proof and the refusals, and a submit file's own schedule."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.running import Result, crondor
from tests.examples import examples

NOW = ("--now", "2026-12-01", "--tz", "UTC")
FILE = "# crondor: schedule = {}\nexecutable = report.sh\nrequirements = Memory > 5\non_exit_remove = false\nqueue\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


SOON = ("--until", "2027-06-01")  # it takes a while to prove what holds for years


def asked(*arguments: str) -> Result:
    """Run the command on 2026-12-01, on a host in UTC."""
    return crondor("compile", *arguments, *NOW)


def test_the_screen_has_lines_words_proof_cost_and_runs() -> None:
    """In this order."""
    screen = asked("0", "18", "*", "*", "5L").out
    parts = [
        "cron_minute = 0",
        "requirements = ",
        "asked for",
        "exact: of 290 times",
        "at which nothing runs",
        "next runs",
    ]
    places = [screen.index(part) for part in parts]
    assert places == sorted(places)


def test_what_a_schedd_may_pass_over_is_told_and_listed() -> None:
    """As CRN206 counts it: the times that lie within SCHEDD_INTERVAL after the time before."""
    screen = asked("*/2 * * * *", "--until", "2026-12-02").out
    assert "240 of them are certain with SCHEDD_INTERVAL 300 s" in " ".join(screen.split())
    assert "the schedd may pass over:\n    Tue 2026-12-01 00:04 +0000\n" in screen
    assert "... and 475 more" in screen
    Path("job.sub").write_text("executable = a\ncron_minute = */2\nqueue\n", encoding="utf-8")
    assert "up to 480 of 720 runs a day are lost" in crondor("check", "job.sub", *NOW).out
    for options, late in (
        ((), 480),
        (("--universe", "local"), 0),
        (("--schedd-interval", "120"), 0),
        (("--schedd-interval", "180"), 360),
    ):
        starts = asked("*/2 * * * *", "--until", "2026-12-02", *options, "--format", "json").data["starts"]
        assert (starts["may_be_passed_over"], starts["certain"]) == (late, 720 - late)
        assert len(starts["first_passed_over"]) == min(20, late)


def test_pasted_lines_keep_the_job_in_the_queue() -> None:
    """After its first run; the words say what the line is for."""
    for options in (("--format", "submit"), ()):
        assert "\non_exit_remove = false\n" in asked("0 9 * * *", *options, *SOON).out
    (job,) = asked("0 9 * * *", "--format", "json", *SOON).data["jobs"]
    assert job["commands"]["on_exit_remove"] == "false"
    lines = asked("0 9 * * *", "--format", "submit", *SOON).out
    Path("job.sub").write_text(f"executable = a\n{lines}queue\n", encoding="utf-8")
    assert "CRN401" not in crondor("check", "job.sub", *NOW).out


def test_words_are_not_broken_inside() -> None:
    """A list of numbers is one word."""
    minutes = ",".join(map(str, range(0, 60, 7)))
    screen = asked(f"{minutes} {','.join(map(str, range(1, 24, 3)))} {','.join(map(str, range(1, 30, 4)))} * *").out
    assert f"cron_minute = {minutes}\n" in screen
    assert not [line for line in screen.splitlines() if line.endswith(",") and line[-2].isdigit() and "=" in line]


def test_json_has_commands_and_proof() -> None:
    """Keys as the schema says."""
    found = json.loads(asked("every 2 days at 06:00", "--from", "2026-12-01", "--format", "json").out)
    assert found["exact"] is True
    assert found["reason"] is None
    (job,) = found["jobs"]
    assert job["commands"]["cron_hour"] == "6"
    assert found["proof"]["wanted"] == 914


def test_lines_alone_go_into_a_file() -> None:
    """And the file then does what was asked for."""
    lines = asked("0 18 * * 5L", "--format", "submit").out
    Path("job.sub").write_text(f"executable = a\n{lines}queue\n", encoding="utf-8")
    assert crondor("diff", "--schedule", "0 18 * * 5L", "job.sub", *NOW).status == 0


def test_a_refusal_has_its_reason_and_status_1() -> None:
    """As text and as JSON."""
    arguments = ("every minute except 2026-12-24T10:00..2026-12-24T14:00", "--window", "172800", *SOON)
    result = asked(*arguments)
    assert result.status == 1
    assert "window 172800 + SCHEDD_INTERVAL 300" in result.err
    result = asked(*arguments, "--format", "json")
    assert result.status == 1
    found = json.loads(result.out)
    assert (found["exact"], found["jobs"]) == (False, [])
    assert "172800" in found["reason"]


def test_what_is_left_out_may_stand_in_options() -> None:
    """Each --except as if it were written after."""
    one = json.loads(
        asked("every day at 09:00", "--except", "2026-12-24", "--except", "every Sunday", "--format", "json").out
    )
    two = json.loads(asked("(every day at 09:00) except (2026-12-24) except (every Sunday)", "--format", "json").out)
    assert one["jobs"] == two["jobs"]


@examples(3)
@given(
    text=st.sampled_from(
        [
            "30 2 * * *",
            "every 2 days at 06:00 from 2026-12-01",
            "(weekdays at 09:00 except 2027-01-06) or (every Friday at 11:00)",
            "0 9 * * * zone Asia/Tokyo",
            "(0 9 * * 1 from 2027-02-01) or (every Friday at 10:00 zone UTC)",
            "H 3 * * * name own",
            "H(0-29) 4 * * 1#2 policy skip",
        ]
    ),
    options=st.fixed_dictionaries(
        {"--name": st.sampled_from(["nightly", "two words", "at"])},
        optional={
            "--zone": st.sampled_from(["Europe/Berlin", "America/New_York"]),
            "--from": st.sampled_from(["2026-12-05", "2027-01-10 05:30", "2027-03-28 03:00:20"]),
            "--except": st.sampled_from(["every Sunday", "2026-12-24..2027-01-06 or first Monday of the month"]),
            "--policy": st.sampled_from(["skip", "debian"]),
            "--window": st.sampled_from(["0", "30"]),
            "--prep-time": st.sampled_from(["60", "120"]),
            "--clause": st.sampled_from(["epoch", "local"]),
            "--universe": st.sampled_from(["local", "vanilla"]),
            "--schedd-interval": st.sampled_from(["60", "300"]),
        },
    ),
)
def test_writing_twice_is_writing_once(text: str, options: dict[str, str]) -> None:
    """Whatever options are given: with them and without them the file then stays, and its line says what they said."""
    words = [*(word for pair in options.items() for word in pair), "--approximate", "--now", "2026-12-01"]
    words += ["--tz", "Europe/London", "--until", "2028-01-01"]
    Path("job.sub").write_text(FILE.format(text), encoding="utf-8")
    assert crondor("compile", "--write", "job.sub", *words).status == 0
    first = Path("job.sub").read_text(encoding="utf-8")
    for again in (words, ("--now", "2026-12-01", "--tz", "Europe/London")):
        assert "nothing was written" in crondor("compile", "--write", "job.sub", *again).out
        assert Path("job.sub").read_text(encoding="utf-8") == first
    line = first.partition("schedule = ")[2].partition("\n")[0]
    alike = (
        "--approximate",
        "--format",
        "json",
        "--now",
        "2026-12-01",
        "--tz",
        "Europe/London",
        "--until",
        "2028-01-01",
    )
    one, two = crondor("compile", text, *words, "--format", "json").data, crondor("compile", line, *alike).data
    assert one["runs"] == two["runs"]
    assert one["schedule"] == line
    found = crondor("check", "job.sub", "--format", "json", "--now", "2026-12-01", "--tz", "Europe/London")
    assert "CRN565" not in codes(found) or one["never_run"]


def test_the_zone_stays_where_the_file_is_compiled_again() -> None:
    """Without the options it was told with, a year later; the time does not move."""
    Path("job.sub").write_text(FILE.format("weekdays at 09:00"), encoding="utf-8")
    assert asked("--write", "job.sub", "--zone", "Europe/Berlin", "--window", "60", "--until", "2027-03-01").status == 0
    assert "# crondor: schedule = weekdays at 09:00 zone Europe/Berlin\n" in Path("job.sub").read_text(encoding="utf-8")
    assert crondor("compile", "--write", "job.sub", "--now", "2027-11-01", "--tz", "UTC").status == 0
    assert "\ncron_window = 60\n" in Path("job.sub").read_text(encoding="utf-8")
    for source in (("--schedule", "weekdays at 09:00 zone Europe/Berlin"), ("job.sub",)):
        found = crondor("next", *source, "-n", "3", "--now", "2027-11-01", "--tz", "UTC").out
        assert "08:00 +0000" in found, source


def test_a_start_that_words_cannot_say_is_refused() -> None:
    """In the second pass of an hour words mean the first."""
    words = ("every 90 minutes", "--from", "2027-10-31T02:30+01:00", "--now", "2026-12-01", "--tz", "Europe/Berlin")
    result = crondor("compile", *words)
    assert (result.status, "second pass" in result.err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give the schedule"),
        (("@daily", "--until", "2026-11-01"), "--until is not later"),
        (("@daily", "--zone", "Europe/Berln"), "Europe/Berlin"),
        (("@daily", "--write", "job.sub"), "# crondor: schedule = @daily"),
        (("--write", "none.sub"), "none.sub"),
        (("--write", "-"), "standard input"),
    ],
)
def test_wrong_usage_says_what_to_write(arguments: tuple[str, ...], said: str) -> None:
    """With status 2."""
    result = asked(*arguments)
    assert result.status == 2
    assert said in result.err


@pytest.mark.parametrize(
    "text", ["0 18 * * 5L except holidays:CH", "every 30 minutes except 2026-12-24T10:00..2026-12-24T14:00"]
)
def test_a_files_own_schedule_is_written_between_markers(text: str) -> None:
    """A second time changes nothing, and the file's other lines, its mode and its requirements stay."""
    path = Path("job.sub")
    path.write_text(FILE.format(text), encoding="utf-8")
    path.chmod(0o640)
    assert asked("--write", "job.sub").status == 0
    first = path.read_text(encoding="utf-8")
    before, _, rest = first.partition("# crondor: compiled lines")
    _, _, after = rest.partition("# crondor: end of compiled lines\n")
    assert before + after == FILE.format(text)
    assert path.stat().st_mode & 0o777 == 0o640
    assert "requirements = ($(requirements)) && ($(crondor_times))" in first
    result = crondor("compile", "--write", "job.sub", "--now", "2027-02-01", "--tz", "UTC")
    assert "nothing was written" in result.out
    assert path.read_text(encoding="utf-8") == first
    until = ("--until", "2028-01-01")
    assert crondor("diff", "--schedule", text, "job.sub", *until, *NOW).status == 0
    path.write_text(first.replace("cron_minute = 0", "cron_minute = 1"), encoding="utf-8")
    assert "CRN565" in crondor("check", "job.sub", *NOW).out
    assert asked("--write", "job.sub").status == 0
    assert path.read_text(encoding="utf-8") == first


def test_ends_of_lines_stay(tmp_path: Path) -> None:
    """Of Windows too."""
    path = tmp_path / "job.sub"
    path.write_bytes(FILE.format("every 2 days at 06:00 from 2026-12-01").replace("\n", "\r\n").encode())
    assert asked("--write", str(path), *SOON).status == 0
    assert b"\n" not in path.read_bytes().replace(b"\r\n", b"")


@pytest.mark.parametrize(
    "lines",
    [
        "# crondor: compiled lines until 2031-12-02T00:00Z\nqueue\n",
        "# crondor: end of compiled lines\nqueue\n",
        "# crondor: compiled lines until tomorrow\n# crondor: end of compiled lines\nqueue\n",
    ],
)
def test_markers_that_do_not_belong_together_are_left_alone(lines: str) -> None:
    """The file is not written."""
    text = f"# crondor: schedule = @daily\nexecutable = a\n{lines}"
    Path("job.sub").write_text(text, encoding="utf-8")
    result = asked("--write", "job.sub")
    assert result.status != 0
    assert "error" in result.err
    assert Path("job.sub").read_text(encoding="utf-8") == text


def test_lines_behind_the_compiled_ones_are_refused() -> None:
    """They would undo them."""
    text = FILE.format("every 2 days at 06:00 from 2026-12-01")
    Path("job.sub").write_text(text, encoding="utf-8")
    asked("--write", "job.sub", *SOON)
    end = "# crondor: end of compiled lines\n"
    for line in ("requirements = Memory > 7\n", "cron_hour = 7\n"):
        written = (
            Path("job.sub")
            .read_text(encoding="utf-8")
            .replace(end, f"{end}{line}")
            .replace("cron_hour = 6", "cron_hour = 5")
        )
        Path("other.sub").write_text(written, encoding="utf-8")
        result = asked("--write", "other.sub", *SOON)
        assert result.status == 1, line
        assert "after the compiled" in result.err
        assert Path("other.sub").read_text(encoding="utf-8") == written


def test_a_local_job_gets_the_short_clause() -> None:
    """By its universe, from the file too; --clause decides."""
    screen = asked("0 9 * * 1-5", "--universe", "local", *SOON).out
    assert 'formatTime(DeferralTime, "%w")' in screen
    assert "caveat" in screen
    assert "formatTime" not in asked("0 9 * * 1-5", "--universe", "local", "--clause", "epoch", *SOON).out
    Path("job.sub").write_text("universe = local\n" + FILE.format("0 9 * * 1-5"), encoding="utf-8")
    asked("--write", "job.sub", *SOON)
    assert "formatTime" in Path("job.sub").read_text(encoding="utf-8")


def test_a_file_that_may_not_be_replaced_is_said() -> None:
    """Without a traceback: one with a second name, for example, which would keep the old text."""
    Path("job.sub").write_text(FILE.format("@daily"), encoding="utf-8")
    os.link("job.sub", "other.sub")
    result = asked("--write", "job.sub")
    assert result.status == 2


def test_bytes_of_another_encoding_in_a_comment_stay() -> None:
    """The comment is skipped, and the file is written all the same."""
    path = Path("job.sub")
    path.write_bytes(b"# caf\xe9\n" + FILE.format("@daily").encode())
    assert asked("--write", "job.sub").status == 0
    assert path.read_bytes().startswith(b"# caf\xe9\n# crondor: schedule = @daily\n")


@pytest.mark.parametrize("line", ["arguments = a\fqueue\n", "arguments = a \\\n  queue b\n", "x = 1\u2028queue\n"])
def test_a_queue_inside_a_value_is_none(line: str) -> None:
    """A line ends at its line feed alone, and not at all after a backslash."""
    text = FILE.format("0 18 * * 5L").replace("queue\n", f"{line}queue\n")
    Path("job.sub").write_text(text, "utf-8", newline="")
    assert asked("--write", "job.sub").status == 0
    written = Path("job.sub").read_text("utf-8")
    assert line in written
    assert written.endswith("# crondor: end of compiled lines\nqueue\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("+Requirements = Memory > 5\n", "+Requirements"),
        ("MY.requirements = Memory > 5\n", "+Requirements"),
        ("if false\nrequirements = Memory > 5\nendif\n", "not a valid expression"),
    ],
)
def test_requirements_that_would_undo_the_clause_are_refused(line: str, said: str) -> None:
    """The file is left as it is."""
    text = FILE.format("0 18 * * 5L").replace("requirements = Memory > 5\n", line)
    Path("job.sub").write_text(text, encoding="utf-8")
    result = asked("--write", "job.sub")
    assert result.status == 1
    assert said in result.err
    assert Path("job.sub").read_text(encoding="utf-8") == text


def test_jobs_of_one_file_keep_their_own_prep_times() -> None:
    """One that needs no other than HTCondor's says so, since the line above it stands for all that follow."""
    text = "every minute except 2026-12-24T10:00..2026-12-24T10:02"
    options = ("--approximate", "--window", "172800", "--until", "2027-02-01")
    Path("job.sub").write_text(FILE.format(text), encoding="utf-8")
    result = asked("--write", "job.sub", *options)
    assert (result.status, "NOT exact" in result.out) == (0, True)
    assert "172800" in result.lines[1]
    jobs = json.loads(asked(text, *options, "--format", "json").out)["jobs"]
    given = [job["commands"].get("cron_prep_time", "300") for job in jobs]
    assert len(set(given)) == 2
    for lines in (Path("job.sub").read_text(encoding="utf-8"), asked(text, *options, "--format", "submit").out):
        said = [line.rpartition(" ")[2] for line in lines.splitlines() if line.startswith("cron_prep_time")]
        assert said == given


CALENDAR = """\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//x//
{}END:VCALENDAR
"""
EVENT = "BEGIN:VEVENT\nUID:{0}\nDTSTART:{0}\nDURATION:PT2H\nEND:VEVENT\n"


def codes(result: Result) -> list[str]:
    """Return the codes of a check's findings that are about the schedule line."""
    (file,) = result.data["files"]
    return [each["code"] for each in file["findings"] if each["code"].startswith("CRN56")]


def test_check_reads_the_calendar_that_a_schedule_names() -> None:
    """A new downtime makes the lines unfit; an end that comes near is told, and what it is of."""
    events = EVENT.format("20261224T080000Z") + EVENT.format("20300601T080000Z")
    Path("down.ics").write_text(CALENDAR.format(events), encoding="utf-8")
    Path("job.sub").write_text(FILE.format("every day at 09:00 except down.ics"), encoding="utf-8")
    assert asked("--write", "job.sub").status == 0
    check = ("check", "job.sub", "--format", "json", *NOW)
    assert codes(crondor(*check)) == []
    Path("down.ics").write_text(CALENDAR.format(events + EVENT.format("20270301T080000Z")), encoding="utf-8")
    assert codes(crondor(*check)) == ["CRN565"]
    assert "2027-03-01 09:00" in crondor(*check).out
    late = crondor("check", "job.sub", "--format", "json", "--now", "2030-05-01", "--tz", "UTC")
    assert codes(late) == ["CRN566"]
    assert "the last event of down.ics" in late.out
    Path("down.ics").write_text("not a calendar", encoding="utf-8")
    assert codes(crondor(*check)) == ["CRN567"]
    Path("down.ics").unlink()
    assert codes(crondor(*check)) == ["CRN567"]
    assert codes(crondor(*check, "--no-files")) == []


def test_until_says_that_no_downtime_comes_behind_the_last() -> None:
    """Without it the file is known until its last event ends; with it the rest is free, and check agrees."""
    Path("down.ics").write_text(CALENDAR.format(EVENT.format("20261224T080000Z")), encoding="utf-8")
    words = ("every day at 09:00 except down.ics", "--format", "json")
    near = asked(*words).data
    assert (near["until"]["local"], near["until"]["reason"]) == (
        "2026-12-24T10:00:00+00:00",
        "the last event of down.ics ends 2026-12-24 10:00",
    )
    far = asked(*words, "--until", "2028-01-01")
    assert (far.data["exact"], far.data["until"]["local"]) == (True, "2028-01-01T00:00:00+00:00")
    assert "after it there is taken to be none" in far.err
    Path("job.sub").write_text(FILE.format("every day at 09:00 except down.ics"), encoding="utf-8")
    assert asked("--write", "job.sub", "--until", "2028-01-01").status == 0
    assert codes(crondor("check", "job.sub", "--format", "json", *NOW)) == []
    Path("down.ics").write_text(CALENDAR.format(EVENT.format("20270324T080000Z")), encoding="utf-8")
    assert codes(crondor("check", "job.sub", "--format", "json", *NOW)) == ["CRN565"]


def test_check_reads_no_calendar_outside_of_the_folder(tmp_path: Path) -> None:
    """It is skipped, unless its folder is allowed; what else is wrong with the line is told."""
    Path("jobs").mkdir()
    Path("down.ics").write_text(CALENDAR.format(EVENT.format("20261224T080000Z")), encoding="utf-8")
    text = FILE.format("every day at 09:00 except ../down.ics").replace("queue", "cron_minute = 5\nqueue")
    Path("jobs/job.sub").write_text(text, encoding="utf-8")
    check = ("check", "jobs/job.sub", "--format", "json", *NOW)
    assert codes(crondor(*check)) == []
    assert codes(crondor(*check, "--allow-dir", str(tmp_path))) == ["CRN565", "CRN566"]
    stdin = crondor("check", "-", "--format", "json", *NOW, stdin=text)
    assert codes(stdin) == []
    Path("jobs/job.sub").write_text(text.replace("every day", "every dey"), encoding="utf-8")
    assert codes(crondor(*check)) == ["CRN567"]


def test_check_bounds_what_it_reads_of_a_calendar() -> None:
    """A large one is told, not read."""
    Path("down.ics").write_text(CALENDAR.format(EVENT.format("20261224T080000Z") * 20_000), encoding="utf-8")
    Path("job.sub").write_text(FILE.format("every day at 09:00 except down.ics"), encoding="utf-8")
    result = crondor("check", "job.sub", "--format", "json", *NOW)
    assert codes(result) == ["CRN567"]
    assert "down.ics" in result.out


@pytest.mark.parametrize(("name", "reason"), [("nope.ics", "No such file"), ("folder.ics", "not a plain file")])
def test_the_help_for_a_calendar_that_cannot_be_read_fits(name: str, reason: str, tmp_path: Path) -> None:
    """It is an .ics file's name already: what is missing is the file."""
    (tmp_path / "folder.ics").mkdir()
    found = crondor("compile", str(tmp_path / name))
    assert (found.status, reason in found.err) == (1, True)
    assert "help: name an existing .ics file that you may read" in found.err


@pytest.mark.parametrize(
    "text", ["every 90 minutes", "every 2 days at 06:00", "every 3 weeks on Friday at 6:30, 18:00"]
)
def test_what_is_proposed_can_be_compiled(text: str) -> None:
    """And it keeps all that was said."""
    proposed = crondor("compile", text, *NOW, *SOON).err.split("help: write `")[1].split("`")[0]
    assert proposed.startswith(text.split(" at ", maxsplit=1)[0])
    assert (" at " in proposed) == (" at " in text)
    assert crondor("compile", proposed, *NOW, *SOON).status == 0
