"""Jobs as crontab lines: read back, they have the same runs and the same command."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.algebra import same_meaning
from crondor.crontab.file import CronLine, JobProgram, NoCommand, read_crontab, write_crontab
from crondor.crontab.import_ import ImportSettings, import_crontab
from crondor.diagnostics import Source
from crondor.spec import CronSpec
from tests.examples import examples

DAILY = CronSpec.from_line("0 6 * * *")
PRINT = "import sys; sys.stdout.write(repr(sys.argv[1:]))"
WORDS = st.lists(st.text(st.sampled_from("'\"\\%$`() \t;#&x!~*é-\r"), max_size=8), max_size=4)
FIELDS = st.tuples(
    st.sampled_from(["*", "*/7", "0", "1-50/7", "5,20"]),
    st.sampled_from(["*", "*/5", "2", "8-17/4"]),
    st.sampled_from(["*", "*/2", "1", "1-31", "2-30/3", "1,*"]),
    st.sampled_from(["*", "*/5", "2,6"]),
    st.sampled_from(["*", "*/2", "1-5", "7", "0-6"]),
).map(" ".join)


@given(FIELDS)
def test_the_runs_are_those_of_the_job(fields: str) -> None:
    """As cron reads the line, it fires when the manual says that the job runs."""
    spec = CronSpec.from_line(fields)
    (entry,) = read_crontab(Source(write_crontab([CronLine(spec, JobProgram("x"))]))).entries
    assert entry.spec is not None
    assert same_meaning(entry.spec, spec)


@examples(10)
@given(WORDS, st.sampled_from([{}, {"A": "1"}, {"A": " '\" "}]))
def test_the_shell_gives_the_program_its_arguments(words: list[str], variables: dict[str, str]) -> None:
    """Cron's reading of the line, run by the shell, is the program with its arguments."""
    program = JobProgram(sys.executable, ("-c", PRINT, *words), variables)
    (entry,) = read_crontab(Source(write_crontab([CronLine(DAILY, program)]))).entries
    assert entry.stdin is None
    ended = subprocess.run(["/bin/sh", "-c", entry.command], capture_output=True, check=True, timeout=20)
    assert ended.stdout.decode() == repr(words)


@given(st.text(st.sampled_from("'\"\\%$`() \t;#&x!"), max_size=12))
def test_there_and_back(text: str) -> None:
    """An imported command that is exported is the command again, if not always in the same words."""
    written = "x" + text.replace("%", "\\%")
    if "\\\\%" in written or written != written.rstrip():
        return
    line = f"0 6 * * * {written}\n"
    (file,) = import_crontab(read_crontab(Source(line)), ImportSettings(1_795_195_625)).files
    program = JobProgram("/bin/sh", ("-c", file.entry.command))
    assert write_crontab([CronLine(DAILY, program)]) == line


def test_shared_variables_stand_above() -> None:
    """With quotes where cron needs them."""
    program = JobProgram("/bin/x", (), {"A": "1", "B": " b ", "C": "", "D": '"', "SHELL": "/bin/sh"})
    text = write_crontab([CronLine(DAILY, program, "one"), CronLine(DAILY, program)])
    assert text == 'A=1\nB=" b "\nC=""\nD=\'"\'\nSHELL=/bin/sh\n# one\n0 6 * * * /bin/x\n0 6 * * * /bin/x\n'
    for entry in read_crontab(Source(text)).entries:
        assert entry.variables == program.environment


def test_other_variables_are_set_by_the_command() -> None:
    """Where they differ, or cron has no spelling for a value."""
    lines = [CronLine(DAILY, JobProgram("/bin/x", (), {"A": value})) for value in ("1", "2 3")]
    assert write_crontab(lines) == "0 6 * * * env A=1 /bin/x\n0 6 * * * env 'A=2 3' /bin/x\n"
    odd = CronLine(DAILY, JobProgram("/bin/sh", ("-c", "echo $A"), {"A": "\"' "}))
    (entry,) = read_crontab(Source(write_crontab([odd]))).entries
    ended = subprocess.run(["/bin/sh", "-c", entry.command], capture_output=True, check=True, timeout=20)
    assert ended.stdout == b"\"'\n"


def test_standard_input_comes_from_its_file() -> None:
    """Of all that the command holds."""
    text = write_crontab([CronLine(DAILY, JobProgram("/bin/sh", ("-c", "cat; cat"), {}, "a b"))])
    assert text == "0 6 * * * /bin/sh -c 'cat; cat' < 'a b'\n"


@pytest.mark.parametrize("program", [JobProgram(""), JobProgram("x", ("a\nb",)), JobProgram("x\0")])
def test_what_has_no_spelling(program: JobProgram) -> None:
    """A line end would begin another line of the crontab."""
    with pytest.raises(NoCommand):
        write_crontab([CronLine(DAILY, program)])


def test_a_comment_stays_one_line() -> None:
    """Whatever the name of the file."""
    assert write_crontab([CronLine(DAILY, JobProgram("x"), "a\n* * * * * rm")]) == "# a\\n* * * * * rm\n0 6 * * * x\n"
