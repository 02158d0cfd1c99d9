"""What the command says when something is wrong, and its exit status: 0 fine, 1 a finding, 2 wrong usage."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crondor.schedule import COMMANDS as SUBMIT_COMMANDS
from crondor.submit.file import SubmitFile
from crondor_cli.main import COMMANDS
from tests.cli.conftest import Write
from tests.cli.running import NOW, ZONE, Result, at_now, crondor, process
from tests.examples import examples


def assert_usage(result: Result, *said: str) -> None:
    """Hold that the usage was wrong: status 2, nothing on stdout, and these words on stderr."""
    assert (result.status, result.out) == (2, "")
    for words in said:
        assert words in result.err


# Usage


@pytest.mark.parametrize("arguments", [["-h"], ["--help"], ["next", "-h"], ["queue", "--help"]])
def test_help_is_data(arguments: list[str]) -> None:
    """On stdout, status 0, with an example for each subcommand."""
    result = crondor(*arguments)
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith("Usage: crondor")
    assert len(arguments) == 1 or "Examples:" in result.out


def test_no_command_is_wrong_usage_and_lists_them() -> None:
    """The help, on stderr."""
    result = crondor()
    assert_usage(result, *COMMANDS)


def test_version() -> None:
    """The name and a number."""
    result = crondor("--version")
    assert result.status == 0
    assert re.fullmatch(r"crondor \d+\.\d+\.\d+\S*|crondor, not installed: run from a checkout", result.out.strip())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nxt"], "No such command 'nxt'. Did you mean next?"),
        (["prev", "job.sub"], "No such command 'prev'. It is now crondor next --previous."),
        (["schedd", "next", "-n", "3"], "No such command 'schedd next'. It is now crondor next --queue."),
        (["schedd", "status"], "No such command 'schedd'. It is now crondor queue."),
        (["route", "match"], "No such command 'match'. It is now crondor route explain."),
        (["service", "install"], "No such command 'service install'. It is now crondor config service."),
        (["submit"], f"No such command 'submit'. There are {', '.join(COMMANDS)}."),
        (["--versoin"], "Did you mean '--version'?"),
        (["next", "--spce", "job.sub"], "Did you mean '--spec'?"),
        (["next", "--dialekt", "unix"], "Did you mean '--dialect'?"),
        (["next", "--start", "tomorrow"], "Did you mean '--from'?"),
        (["check", "--output-format", "concise"], "Did you mean '--format'?"),
        (["export", "--ics"], "No such option '--ics'.\n"),
        (["export", "job.sub"], "Missing option '--to': crontab or ics\n"),
    ],
)
def test_a_mistyped_word_is_guessed(arguments: list[str], said: str) -> None:
    """Commands and options."""
    assert_usage(crondor(*arguments), said, "--help' for help.")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give the schedule in one way: FILES"),
        (["--spec", "a", "--crontab", "* * * * *"], "give the schedule in one way"),
        (["--spec", "a", "--minute", "5"], "give the schedule in one way"),
        (["--crontab", "* * * * *", "--hour", "5"], "give the schedule in one way"),
        (["a", "--crontab", "* * * * *"], "give the schedule in one way"),
        (["no.sub"], "cannot read 'no.sub': No such file"),
        (["*/5 * * * *"], "'*/5 * * * *' is not a file: put a crontab line in quotes after --crontab"),
        (["@daily"], "'@daily' is not a file: put a crontab line in quotes after --crontab: crondor "),
        (["30", "2", "*", "*", "*"], "'30' is not a file: put a crontab line in quotes after --crontab"),
        (["--crontab", "0", "6", "*", "*", "1"], "put a crontab line in quotes after --crontab"),
    ],
)
@pytest.mark.parametrize("command", ["next", "next --previous"])
def test_there_is_one_schedule(command: str, arguments: list[str], said: str) -> None:
    """Neither none nor two, and not as a bare argument."""
    assert_usage(crondor(*command.split(), *arguments), said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-n", "0"], "0 is not in the range 1<=x<=100000"),
        (["-n", "100001"], "100001 is not in the range"),
        (["-n", "ten"], "'ten' is not a valid integer"),
        (["--format", "xml"], "'xml' is not one of 'table', 'json', 'csv', 'epoch'"),
        (["--dialect", "quartz"], "'quartz' is not one of 'manual', 'htcondor', 'unix'"),
        (["--policy", "skp"], "'skp' is not one of 'compatible', 'debian', 'skip', 'kubernetes'"),
        (["--schedd-interval", "-1"], "-1 is not in the range"),
        (["--from", "03/04/2026"], "--from:1:1: error: `03/04/2026` can be read as 2026-03-04 or as 2026-04-03"),
        (["--until", "tomorow"], "--until:1:1: error: `tomorow` is not a word of a time"),
        (["--now", "12345"], "--now:1:1: error: the number `12345` alone"),
        (["--until", "yesterday"], "--until is not later than now"),
        (["--from", "tomorrow", "--until", "today 23:00"], "--until is earlier than --from"),
    ],
)
def test_a_bad_value_of_an_option_is_wrong_usage(arguments: list[str], said: str) -> None:
    """It names the option and says what would do."""
    assert_usage(crondor("next", "--minute", "5", *arguments), said)


# Zones


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("europe/berlin", "did you mean Europe/Berlin?"),
        ("Berlin", "did you mean Europe/Berlin?"),
        ("Berln", "did you mean Europe/Berlin?"),
        ("New York", "did you mean America/New_York?"),
        ("Europe/Berlni", "did you mean Europe/Berlin or "),
        ("America", "write an IANA name"),
        ("+01:00", "is an offset, and says nothing about summer time"),
        ("CST6CDT4,M3.2.0", "write an IANA name"),
        ("../../etc/passwd", "write an IANA name"),
        ("right/UTC", "write an IANA name"),
        ("x" * 1000, "too long to be the name of a zone"),
        ("", "the zone is missing"),
    ],
)
def test_an_unknown_zone_is_guessed(name: str, said: str) -> None:
    """Wrong usage, with the zones that may be meant."""
    assert_usage(crondor("next", "--at", "now", "--tz", name), "--tz:1:1: error: ", said)


@pytest.mark.parametrize("name", ["EST5EDT4,M3.2.0,M11.1.0", "Nowhere/City", "<+03>-3", "/etc/passwd", "x" * 5000])
def test_an_odd_tz_asks_for_an_option(name: str) -> None:
    """The zone of the environment has no name: --tz does, and then all is well."""
    result = crondor("next", "--minute", "5", env={"TZ": name})
    assert_usage(result, "TZ:1:1: error: the environment variable TZ is not the name of a zone", "--tz Europe/Berlin")
    assert crondor("next", "--minute", "5", "--tz", "UTC", env={"TZ": name}).status == 0


@pytest.mark.parametrize(
    ("name", "zone"), [(":Asia/Tokyo", "Asia/Tokyo"), ("", "UTC"), ("/usr/share/zoneinfo/UTC", "UTC")]
)
def test_tz_is_read_as_the_c_library_does(name: str, zone: str) -> None:
    """A colon, an empty text and a path of the zone database."""
    assert crondor("next", "--minute", "5", "--format", "json", env={"TZ": name}).jobs[0]["zone"] == zone


def test_without_tz_the_host_is_asked() -> None:
    """Its zone, or a request for --tz: one of both, and never a guess."""
    ended = process("next", "--minute", "5", "--format", "json", env={"TZ": None})
    assert ended.returncode in {0, 2}
    assert (b'"zone": "' in ended.stdout) if ended.returncode == 0 else (b"--tz" in ended.stderr)


# Submit files


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("cron_minutes", "cron_minute"),
        ("cron_dow", "cron_day_of_week"),
        ("CRON_Day_Of_Mnth", "cron_day_of_month"),
        ("cron_preptime", "cron_prep_time"),
        ("deferral_tme", "deferral_time"),
    ],
)
def test_a_misspelt_command_is_guessed(written: str, meant: str, write: Write) -> None:
    """HTCondor passes over it without a word; here it is a warning, and no finding."""
    assert meant in SUBMIT_COMMANDS
    result = at_now("next", "--spec", write(f"{written} = 5", "cron_minute = 5", "queue"), "-n", "1")
    assert result.status == 0
    assert f"job.sub:1:1: warning: HTCondor has no command {written}" in result.err
    assert f"= help: did you mean {meant}?" in result.err


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["if m == 4", "cron_minute = 1", "endif", "queue"],
            "1:1: error: m == 4 is not a valid if condition because complex conditionals are not supported",
        ),
        (["include : other.sub", "queue"], "1:1: error: can't open file other.sub: No such file or directory"),
        (["cron_minute = $(a)", "a = $(b)", "b = $(a)", "queue"], "the macro a is defined by itself: a -> b -> a"),
        (["universe = vanila", "cron_minute = 5", "queue"], "1:12: error: I don't know about the 'vanila' universe."),
        (["cron_minute = 5", "cron_window = -1", "queue"], "2:15: error: deferral_window = -1 is invalid"),
        (["universe = scheduler", "deferral_time = 1893499200", "queue"], "does not work for scheduler universe jobs"),
        (["universe = scheduler", "cron_minute = 5", "queue"], "1:12: error: a scheduler universe job is accepted"),
        (['+CronMinute = "5"', "queue"], "1:15: error: condor_submit does not see the attribute"),
        (["cron_minute: 5", "queue"], "1:12: error: condor_submit does not read a colon"),
        (["cron_minute 5", "queue"], "= help: write cron_minute = 5"),
        (['cron_minute = "5"', "queue"], "= help: write 5 without quotes"),
        (["cron_hour = $(huor:24)", "queue"], "hour 24 is out of range"),
    ],
)
def test_a_fault_of_the_file_is_a_finding(lines: list[str], said: str, write: Write) -> None:
    """Status 1, with file, line and column, and nothing on stdout but what the schedd does with it."""
    result = at_now("next", "--spec", write(*lines))
    assert result.status == 1
    assert said in result.err
    assert re.search(r"job\.sub:\d+:\d+: error: ", result.err)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("0 6 * *", "a crontab line has five fields"),
        ("0 0 6 * * * 2026", "remove seconds, years and the command"),
        ("0 6 * * * /bin/true", "remove seconds, years and the command"),
        ("", "this has no words"),
        ("@fortnightly", "CRN105"),
    ],
)
def test_a_line_of_the_wrong_length_is_a_finding(line: str, said: str) -> None:
    """The value is what is wrong, and not the way the command is used."""
    result = at_now("next", "--crontab", line)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("--crontab:1:")
    assert said in result.err


def huge(folder: Path) -> Path:
    """Return a file of 100 MB, which takes no room."""
    path = folder / "huge"
    with path.open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    return path


LINE = "cron_minute = 5\nqueue\n"
HOSTILE = [
    ("empty", b"", 1, "the file has no submit command"),
    ("only a comment", b"# nothing\n", 1, "the file has no submit command"),
    ("binary", b"\x7fELF\x02\x01\x01\x00" + bytes(range(256)) * 16, 1, "the file is not text: it has a NUL byte"),
    ("UTF-16", LINE.encode("utf-16"), 1, "the file is written in UTF-16, and HTCondor reads UTF-8"),
    ("UTF-16 without a mark", LINE.encode("utf-16-le"), 1, "UTF-16 without its mark"),
    ("UTF-32", LINE.encode("utf-32"), 1, "the file is written in UTF-32"),
    ("Latin-1", "arguments = Übung\n".encode("latin-1") + LINE.encode(), 1, "the file is not UTF-8 text: byte 0xdc"),
    ("Latin-1 in a comment", "# Übung\n".encode("latin-1") + LINE.encode(), 0, "this comment is not UTF-8 text"),
    ("byte order mark", LINE.encode("utf-8-sig"), 1, "the file begins with a byte order mark"),
    ("CRLF", LINE.replace("\n", "\r\n").encode(), 0, ""),
    ("NUL", b"cron_minute = 5\0\nqueue\n", 1, "1:16: error: the file is not text"),
    ("long field", b"cron_minute = " + b"1," * 1999 + b"99\nqueue\n", 1, "minute 99 is out of range"),
    ("long nonsense", b"cron_minute = " + b"x" * 4000 + b"\nqueue\n", 1, "is not a number"),
    ("wide range", b"cron_minute = 1-9999999999\nqueue\n", 1, "minute 9999999999 is out of range"),
    ("long number", b"cron_minute = " + b"9" * 4000 + b"\nqueue\n", 1, "is out of range"),
    ("long step", b"cron_minute = */" + b"9" * 4000 + b"\nqueue\n", 0, ""),
    ("cycle", b"a = $(b)\nb = $(a)\ncron_minute = $(a)\nqueue\n", 1, "defined by itself"),
    ("doubling", b"".join(b"m%d = $(m%d)$(m%d)\n" % (i + 1, i, i) for i in range(90))
     + b"m0 = 1\ncron_minute = $(m90)\nqueue\n", 1, "macro"),
    ("many macros", b"".join(b"m%d = 5\n" % i for i in range(20_000)) + b"cron_minute = $(m7)\nqueue\n", 0, ""),
    ("deep macros", b"".join(b"m%d = $(m%d)\n" % (i, i + 1) for i in range(5_000))
     + b"cron_minute = $(m0)\nqueue\n", 1, "macros are nested"),
    ("many jobs", b"cron_minute = 5\nqueue 5000000\n", 0, ""),
    ("many different jobs", b"cron_minute = $(Process)\nqueue 5000000\n", 1, "the values differ from job to job"),
    ("too many jobs", b"cron_minute = 5\nqueue " + b"9" * 40 + b"\n", None, ""),
    ("many queue statements", b"cron_minute = 5\n" + b"queue\n" * 3_000, 0, ""),
    ("many faults", b"nonsense\n" * 50_000, 1, "reading stops after 100 errors"),
    ("escape codes", b"cron_minute = \x1b[31m5\nqueue\n", 1, "\\x1b[31m5"),
    ("unfinished", b"cron_minute = 5\\", 1, ""),
]  # fmt: skip


@pytest.mark.parametrize(("data", "status", "said"), [case[1:] for case in HOSTILE], ids=[case[0] for case in HOSTILE])
def test_a_hostile_file_ends_fast_with_a_sentence(
    data: bytes, status: int | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No traceback and no hang, whatever the file; a terminal is not written to by its author."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(SubmitFile.groups, "__defaults__", (1000,))  # jobs one by one; 100,000 take seconds
    Path("job.sub").write_bytes(data)
    ended = crondor("next", "--spec", "job.sub", "-n", "2", "--now", NOW)
    assert "Traceback" not in ended.err
    assert said in ended.err
    assert ended.status in ({status} if status is not None else {0, 1})
    assert ended.status == 0 or ended.err
    assert "\x1b" not in ended.out + ended.err
    assert len(ended.err) < 60_000


def test_what_is_no_file_is_wrong_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing, a folder, a name that cannot be one: status 2, and why."""
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    for name, said in [
        ("missing.sub", "cannot read 'missing.sub': No such file or directory"),
        ("folder", "'folder' has no *.sub, *.submit, *.jdl"),
        ("", "cannot read '': No such file or directory"),
        ("x" * 5000, "File name too long"),
        ("\x1b[31mred", r"'\x1b[31mred' matches no file"),
        ("a/b", "cannot read 'a/b': No such file or directory"),
        ("a\0b", "cannot read 'a\\x00b'"),
    ]:
        ended = crondor("next", "--spec", name)
        assert_usage(ended, said)
        assert "\x1b" not in ended.err


def test_an_unreadable_file_is_wrong_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read everything, so that the refusal is made up where it has to be."""
    path = tmp_path / "secret.sub"
    path.write_text(LINE)
    path.chmod(0)
    if os.access(path, os.R_OK):

        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(13, os.strerror(13))

        monkeypatch.setattr("os.open", refuse)
    result = crondor("next", "--no-config", "--spec", str(path))
    assert_usage(result, "Permission denied")
    assert result.err.startswith("Error: cannot read ")


def test_too_much_is_not_read(tmp_path: Path) -> None:
    """16 MiB and one byte say enough. A device is read only where the shell has opened it."""
    assert_usage(crondor("next", "--spec", "/dev/zero"), "cannot read '/dev/zero': it is not a plain file")
    path = huge(tmp_path)
    with path.open("rb") as file:
        data = file.read(17 * 1024 * 1024)
    for ended in (crondor("next", "--spec", str(path)), crondor("next", "--spec", "-", stdin=data)):
        assert ended.status == 1
        assert "the file is larger than 16777216 bytes, and crondor reads no more [CRN002]" in ended.err


def test_an_empty_stdin_holds_no_job() -> None:
    """The same as an empty file."""
    result = at_now("next", "--spec", "-", stdin=b"")
    assert (result.status, result.out) == (1, "")
    assert "<stdin>:1:1: error: the file has no submit command" in result.err


# Any text


FORMS = st.sampled_from(["table", "json", "csv", "epoch"])
PIECES = st.sampled_from(
    ["cron_minute", "cron_hour", "deferral_time", "queue", " = ", "\n", "$(", ")", "*/", "5", "-", ",", "*", "in ", "(",
     "from ", "\\\n", "+", "universe", "MY.", ":", "#", "\r", "if ", "endif", '"', "10", "@=", "\u00e9", "\x00"]
)  # fmt: skip
TEXT = st.text(max_size=60) | st.lists(PIECES, max_size=25).map("".join)
TIME_WORDS = ("next", "in", "5", "days", "monday", "2026-11-20", "06:30", "+", "ago", "at", "03/04/2026", "Z")
quickly = examples(10)


def assert_ends(result: Result) -> None:
    """Hold that the status is one of the three, and that whatever is not fine is said."""
    assert result.status in {0, 1, 2}
    assert result.status == 0 or result.err or result.out
    assert "Traceback" not in result.err


@given(TEXT, FORMS)
@example("queue in (\n", "table")
@example("cron_minute = $(x:$(y)\nqueue x,y from (\n1 2\n)\n", "json")
@quickly
def test_any_text_is_a_submit_file(text: str, form: str) -> None:
    """Read, or refused in words."""
    assert_ends(at_now("next", "--spec", "-", "-n", "2", "--format", form, stdin=text.encode("utf-8", "replace")))


@given(TEXT | st.lists(st.text("0123456789*,-/ LMON@", max_size=6), min_size=5, max_size=5).map(" ".join), FORMS)
@quickly
def test_any_text_is_a_crontab_line(text: str, form: str) -> None:
    """The same for a line, in both directions."""
    line = text.replace("\0", "")
    assert_ends(at_now("next", f"--crontab={line}", "-n", "2", "--format", form))
    assert_ends(at_now("next --previous", f"--crontab={line}"))


@given(TEXT | st.lists(st.sampled_from(TIME_WORDS)).map(" ".join))
@quickly
def test_any_text_is_a_time(text: str) -> None:
    """A time that cannot be read is wrong usage."""
    result = crondor("next", "--minute", "5", "--now", NOW, f"--from={text}", "-n", "1")
    assert_ends(result)
    assert result.status in {0, 2}


@given(TEXT | st.sampled_from([ZONE, "UTC", "Factory", "posixrules", "tzdata.zi", "America", "a/b/c/d", "..", "/"]))
@quickly
def test_any_text_is_a_zone(text: str) -> None:
    """Known, or wrong usage."""
    result = at_now("next", "--minute", "5", f"--tz={text}", "-n", "1")
    assert_ends(result)
    assert result.status in {0, 2}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ([], "Exit status: 0 fine, 1 a finding (an invalid schedule"),
        ([], "2 wrong usage"),
        (["next"], "Exit status: 0 fine, 1 a finding (invalid, never runs, past; with --strict: a difference)"),
        (["next"], "2 wrong usage."),
    ],
)
def test_the_sentence_of_the_help_on_status_is_kept(command: list[str], said: str) -> None:
    """Each help says which statuses there are."""
    assert said in " ".join(crondor(*command, "--help").out.split())


@pytest.mark.parametrize("names", [(), ("next",), ("route", "explain")])
def test_help_of_a_command_by_its_name(names: tuple[str, ...]) -> None:
    """It is what the command's own option shows."""
    shown = crondor("help", *names)
    assert (shown.status, shown.out) == (0, crondor(*names, "--help").out)


def test_help_of_no_command_is_wrong_usage() -> None:
    """What was meant, or that there is nothing below."""
    assert_usage(crondor("help", "nxt"), "Did you mean next?")
    assert_usage(crondor("help", "next", "x"), "crondor next has no commands of its own, so there is no 'x'.")


def test_a_comment_behind_a_value_has_one_cure(tmp_path: Path) -> None:
    """Whatever the value; the findings stand in the order of the lines."""
    path = tmp_path / "job.sub"
    path.write_text("executable = x\ncron_minute = 0\ncron_hour = 3   # three\ncron_window = 60 # late\nqueue\n")
    err = crondor("next", str(path)).err
    cure = "= help: a # only starts a comment at the beginning of a line: move it to its own line"
    assert err.count(cure) == 2
    assert err.index("job.sub:3:17: error") < err.index("job.sub:4:15: error")
    assert "three,at" not in err


OTHER_KINDS = {
    "x.dag": "JOB A a.sub\nJOB B b.sub\nPARENT A CHILD B\n",
    "q.ads": 'ClusterId = 1\nProcId = 0\nCronMinute = "0"\n',
    "q.json": '[{"ClusterId": 1, "CronMinute": "0"}]',
    "cron.tab": "0 6 * * 1 /bin/true\n",
    "cal.ics": "BEGIN:VCALENDAR\nEND:VCALENDAR\n",
    "r.conf": "JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A = REQUIREMENTS true\n",
    "job_queue.log": "107 1 CreationTimestamp 1700000000\n",
    "job.sub": "executable = /bin/true\ncron_minute = 0\nqueue\n",
    "x.rules": "SET A 1\n",
}


@pytest.mark.parametrize(
    ("arguments", "instead"),
    [
        (("next", "x.dag"), "'x.dag' is a DAG, not a submit file; write crondor next a.sub b.sub"),
        (("check", "q.ads"), "crondor next --ads q.ads"),
        (("next", "q.ads"), "crondor next --ads q.ads"),
        (("explain", "q.json"), "crondor explain --ads q.json"),
        (("preview", "cron.tab"), "crondor import crontab cron.tab"),
        (("next", "cal.ics"), "crondor next --schedule cal.ics"),
        (("check", "r.conf"), "crondor route check --config r.conf"),
        (("simulate", "job_queue.log"), "crondor queue status --log job_queue.log"),
        (("check", "x.rules"), "crondor classad transform --rules x.rules JOBS.ads"),
        (("import", "crontab", "job.sub"), "crondor check job.sub"),
        (("next", "--ads", "job.sub"), "crondor next job.sub"),
        (("classad", "convert", "--to", "json", "cron.tab"), "crondor import crontab cron.tab"),
        (("route", "check", "--config", "job.sub"), "crondor check job.sub"),
        (("route", "test", "job.sub"), "crondor check job.sub"),
        (("classad", "transform", "--rules", "job.sub", "q.ads"), "crondor check job.sub"),
        (("classad", "transform", "--rules", "x.rules", "x.dag"), "crondor check a.sub b.sub"),
        (("route", "convert", "r.conf"), "crondor route convert --config r.conf"),
        (
            ("route", "check", "--select", "CRN6", "r.conf", "b c"),
            "crondor route check --select CRN6 --config r.conf --config 'b c'",
        ),
        (("next", "0 6 * * 1"), "crondor next --crontab '0 6 * * 1'"),
        (("check", "0 6 * * 1"), "crondor next --crontab '0 6 * * 1'"),
        (("next", "every 2 hours"), "crondor next --schedule 'every 2 hours'"),
    ],
)
def test_a_file_of_another_kind_is_named_with_the_command_that_takes_it(
    arguments: tuple[str, ...], instead: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No faults of a text that was never meant to be read so."""
    monkeypatch.chdir(tmp_path)
    for name, text in OTHER_KINDS.items():
        Path(name).write_text(text, encoding="utf-8")
    result = crondor(*arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.rstrip().endswith(instead)


def test_other_files_are_checked_beside_one_of_another_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the status says that one was not read."""
    monkeypatch.chdir(tmp_path)
    for name, text in OTHER_KINDS.items():
        Path(name).write_text(text, encoding="utf-8")
    result = crondor("check", "x.rules", "job.sub")
    assert result.status == 2
    assert "1 file checked" in result.out
    assert "'x.rules' is a file of transform rules" in result.err
