"""Reading a Unix crontab: what cron takes for a variable, a schedule, a command, and its standard input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.crontab.file import MAX_ENTRIES, MAX_LINE, MAX_VARIABLES, CrontabFile, is_system_crontab, read_crontab
from crondor.diagnostics import Severity, Source
from crondor.spec import CronSpec, Dialect


def read(*lines: str, has_users: bool = False) -> CrontabFile:
    """Read lines that end with a line end."""
    return read_crontab(Source("".join(f"{line}\n" for line in lines), "tab"), has_users=has_users)


def codes(file: CrontabFile) -> list[str]:
    """Return the codes of all findings."""
    return [finding.kind for finding in file.diagnostics]


def test_a_line_is_a_schedule_and_a_command() -> None:
    """The command is the rest of the line, blanks inside it kept."""
    (entry,) = read("  */5 1-3\t* jan,Feb MON  run  it   now ").entries
    assert entry.spec == CronSpec.from_line("*/5 1-3 * 1,2 1", dialect=Dialect.UNIX)
    assert (entry.command, entry.stdin, entry.user) == ("run  it   now ", None, None)
    assert entry.schedule.text == "*/5 1-3\t* jan,Feb MON"
    assert (entry.schedule.line, entry.schedule.column) == (1, 3)


@pytest.mark.parametrize(
    ("written", "fields"),
    [
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
    ],
)
def test_nicknames(written: str, fields: str) -> None:
    """One word in place of five."""
    (entry,) = read(f"{written} run").entries
    assert (entry.spec, entry.command) == (CronSpec.from_line(fields, dialect=Dialect.UNIX), "run")


def test_reboot_has_no_schedule() -> None:
    """It is no fault of the crontab."""
    file = read("@reboot run")
    assert [entry.spec for entry in file.entries] == [None]
    assert file.diagnostics == ()


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("A=b", "A", "b"),
        ("A = b c  ", "A", "b c"),
        ("A=", "A", ""),
        ('A=""', "A", ""),
        ("A=' b '", "A", " b "),
        ('A = " b "', "A", " b "),
        ("A=it's", "A", "it's"),
        ("A=$HOME/bin", "A", "$HOME/bin"),
        ("A=b=c", "A", "b=c"),
        ("'A B' = c", "A B", "c"),
        ('"A"=c', "A", "c"),
        ("A=b # c", "A", "b # c"),
        ("\tA\t=\tb", "A", "b"),
        ("CRON_TZ=Asia/Tokyo", "CRON_TZ", "Asia/Tokyo"),
    ],
)
def test_variables(line: str, name: str, value: str) -> None:
    """Blanks around the sign and at the ends go, quotes around all of it too; nothing is expanded."""
    (entry,) = read(line, "* * * * * run").entries
    assert entry.variables == {name: value}
    assert entry.places[name].line == 1


def test_a_variable_holds_for_the_lines_below() -> None:
    """Each entry keeps what held where it stands."""
    first, second, third = read("* * * * * a", "A=1", "* * * * * b", "A=2", "B=3", "* * * * * c").entries
    assert [dict(entry.variables) for entry in (first, second, third)] == [{}, {"A": "1"}, {"A": "2", "B": "3"}]


@pytest.mark.parametrize("line", ["A='b", 'A="b" c', "A='b'c'"])
def test_a_quote_that_does_not_end_the_value_is_refused(line: str) -> None:
    """The quote is what is underlined."""
    file = read(line, "* * * * * run")
    assert codes(file) == ["crontab-quote"]
    assert file.diagnostics[0].span is not None
    assert file.diagnostics[0].span.text == line[2:]
    assert [dict(entry.variables) for entry in file.entries] == [{}]


@pytest.mark.parametrize(
    ("written", "command", "stdin"),
    [
        ("run", "run", None),
        (r"date +\%F", "date +%F", None),
        ("cat%one", "cat", "one\n"),
        ("cat%one%two", "cat", "one\ntwo\n"),
        ("cat%one%", "cat", "one\n"),
        ("cat%%", "cat", "\n"),
        ("cat%", "cat", None),
        (r"cat%50\% off%b", "cat", "50% off\nb\n"),
        (r"echo \a\% b%c\d", r"echo \a% b", "c\\d\n"),
    ],
)
def test_percent_signs(written: str, command: str, stdin: str | None) -> None:
    """The first one ends the command, the others are line ends of its input; with a backslash it is one."""
    (entry,) = read(f"* * * * * {written}").entries
    assert (entry.command, entry.stdin) == (command, stdin)


def test_crons_differ_about_two_backslashes() -> None:
    """A warning says how it is read."""
    file = read(r"* * * * * echo \\% b")
    assert codes(file) == ["crontab-percent"]
    assert file.entries[0].command == r"echo \% b"


def test_comments_directly_above_belong_to_a_line() -> None:
    """A blank line, a variable or another entry parts them."""
    file = read("# far", "", "# one", "#two", "* * * * * a", "* * * * * b", "# lost", "A=1", "* * * * * c")
    assert [entry.comment for entry in file.entries] == [("one", "two"), (), ()]


def test_a_system_crontab_has_users() -> None:
    """The name stands between schedule and command."""
    file = read("17 * * * * root run it", "@daily www-data x", has_users=True)
    assert [(entry.user, entry.command) for entry in file.entries] == [("root", "run it"), ("www-data", "x")]
    assert file.diagnostics == ()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/etc/crontab", True),
        ("etc/crontab", True),
        ("/etc/cron.d/backup", True),
        ("C:\\etc\\crontab", True),
        ("/home/me/crontab", False),
        ("/etc/crontab.old", False),
        ("/var/spool/cron/crontabs/me", False),
        ("-", False),
        ("", False),
    ],
)
def test_which_files_have_users(path: str, expected: bool) -> None:
    """The name decides, and nothing that is in the file."""
    assert is_system_crontab(path) is expected


@pytest.mark.parametrize(
    ("line", "has_users", "code", "piece"),
    [
        ("* * * * *", False, "crontab-command", "* * * * *"),
        ("@daily", False, "crontab-command", "@daily"),
        ("* * * * * root", True, "crontab-command", "* * * * * root"),
        ("* * * * * /bin/x y", True, "crontab-user", "/bin/x"),
        ("60 * * * * x", False, "cron-range", "60"),
        ("* * * *", False, "cron-fields", "* * * *"),
        ("@fortnightly x", False, "cron-nickname", "@fortnightly"),
        ("10~1 * * * * x", False, "schedule-hash", "10~1"),
        ("=b", False, "cron-fields", "=b"),
    ],
)
def test_lines_that_cron_refuses(line: str, has_users: bool, code: str, piece: str) -> None:
    """The fault is underlined in the crontab's own line, and the other lines are read."""
    good = "0 6 * * * root run"
    file = read(good, line, good, has_users=has_users)
    faults = [finding for finding in file.diagnostics if finding.severity is Severity.ERROR]
    assert [fault.kind for fault in faults] == [code]
    assert faults[0].span is not None
    assert (faults[0].span.text, faults[0].span.location.split(":")[:2]) == (piece, ["tab", "2"])
    assert len(file.entries) == 2


def test_a_hyphen_is_no_part_of_the_minute() -> None:
    """Cronie's sign for less log."""
    (entry,) = read("-*/5 * * * * run").entries
    assert (entry.is_silent, str(entry.spec)) == (True, "*/5 * * * *")


def test_what_looks_like_a_system_crontab() -> None:
    """Where every command begins with root the file is read as asked for, with a warning."""
    assert codes(read("0 6 * * * root run", "0 7 * * *\troot\trun")) == ["crontab-system"]
    assert codes(read("0 6 * * * root run", "0 7 * * *\twww-data\trun")) == ["crontab-system"]
    assert codes(read("0 6 * * * root run", "0 7 * * * run")) == []


def test_odd_line_ends() -> None:
    """Carriage returns and a missing last line end are told, and do not get into the command."""
    file = read_crontab(Source("\ufeff0 6 * * * run\r\n0 7 * * * it"))
    assert codes(file) == ["byte-order-mark", "crontab-return", "no-line-end"]
    assert [entry.command for entry in file.entries] == ["run", "it"]


def test_an_empty_crontab_is_an_error() -> None:
    """It has no line that could be carried over."""
    assert codes(read("# nothing", "A=1")) == ["crontab-empty"]


def test_bounds() -> None:
    """A line, the lines and the variables have limits, and each says so."""
    assert codes(read("* * * * * " + "x" * MAX_LINE, "* * * * * y")) == ["crontab-long"]
    file = read(*["* * * * * x"] * (MAX_ENTRIES + 5))
    assert (len(file.entries), codes(file)) == (MAX_ENTRIES, ["crontab-many"])
    file = read(*(f"A{n}=1" for n in range(MAX_VARIABLES + 1)), "* * * * * x")
    assert (len(file.entries[0].variables), codes(file)) == (MAX_VARIABLES, ["crontab-variables"])


@pytest.mark.parametrize(
    "text", ["A" + " " * 100_000 + "b", " " * 130_000, "'" * 100_000, "%" * 100_000, "\\%" * 60_000]
)
def test_hostile_lines_take_no_time(text: str) -> None:
    """Nothing is searched twice: a pattern that looks back would not end here."""
    for line in (text, f"* * * * * {text}", f"A={text}"):
        assert read(line).source.text == line + "\n"


@given(st.text(st.sampled_from("*/-,015@=\"'%\\# \t\r\nAZjanroot~\ufeff"), max_size=200), st.booleans())
def test_any_text_is_read_or_refused(text: str, has_users: bool) -> None:
    """No text raises; every finding has its place in it."""
    file = read_crontab(Source(text), has_users=has_users)
    assert all(finding.span is not None and finding.span.source is file.source for finding in file.diagnostics)
    assert file.entries or file.diagnostics
