"""`crondor classad`: evaluate, rewrite and match ads; status 0 fine, 1 a finding, 2 wrong usage."""

import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from crondor_cli.groups import CLASSAD
from crondor_cli.main import COMMANDS as ALL
from crondor_cli.main import main
from tests.cli.running import separate_runner
from tests.cli.schemas import check_output

JOB = """\
MyType = "Job"
RequestMemory = 4096
Requirements = (TARGET.Arch == "X86_64") && TARGET.Memory >= RequestMemory
"""
SLOT = '[ Arch = "X86_64"; Memory = 2048; Requirements = true ]'


class Result(NamedTuple):
    """What a command left behind."""

    status: int
    out: bytes
    err: str


@pytest.fixture(autouse=True)
def _listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ALL, "classad", ("crondor_cli.groups:classad", "ClassAd expressions and ads."))


@pytest.fixture
def job(tmp_path: Path) -> str:
    """Return the path of a job's ad."""
    path = tmp_path / "job.ad"
    path.write_text(JOB)
    return str(path)


@pytest.fixture
def slot(tmp_path: Path) -> str:
    """Return the path of a slot's ad."""
    path = tmp_path / "slot.ad"
    path.write_text(SLOT)
    return str(path)


def classad(*arguments: str, stdin: bytes = b"") -> Result:
    """Run a subcommand in this process, main() included."""
    runner = separate_runner()
    with runner.isolation(stdin, env={"TZ": "Europe/Berlin"}) as (out, err, *_), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["crondor", "classad", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
    assert isinstance(end.value.code, int)
    if "--to" not in arguments:  # what format prints is the ads' own, which need be no UTF-8
        check_output(("classad", *arguments), end.value.code, out.getvalue().decode())
    return Result(end.value.code, out.getvalue(), err.getvalue().decode())


@pytest.mark.parametrize("name", CLASSAD)
def test_help_has_examples(name: str) -> None:
    """And says what the exit status means."""
    result = classad(name, "--help")
    assert (result.status, result.err) == (0, "")
    assert b"Examples:" in result.out
    assert b"Exit status:" in result.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["evl"], "Did you mean eval?"),
        (["eval"], "EXPR"),
        (["convert", "x"], "--to"),
        (["convert", "/nowhere/x", "--to", "new"], "cannot read '/nowhere/x'"),
        (["eval", "1", "--my", "/nowhere/x"], "cannot read"),
        (["eval", "1", "--my", "-", "--target", "-"], "standard input (-) can be read only once"),
        (["match", "-", "-"], "standard input (-) can be read only once"),
        (["eval", "1", "--now", "never"], "--now"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str) -> None:
    """Status 2, with a hint on stderr."""
    result = classad(*arguments)
    assert (result.status, result.out) == (2, b"")
    assert said in result.err


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["1 + 2 * 3"], "7"),
        (["x"], "undefined"),
        (["1 / 0"], "error"),
        (['strcat("a", \'b\' ?: "c")'], '"ac"'),
        (['formatTime(time(), "%F %T")', "--now", "2026-12-24 18:00"], '"2026-12-24 18:00:00"'),
        (['formatTime(time(), "%H")', "--now", "2026-12-24 18:00+01:00", "--tz", "Asia/Tokyo"], '"02"'),
        (["--", "-1 + 1"], "0"),
    ],
)
def test_eval_prints_the_value(arguments: list[str], value: str) -> None:
    """Undefined and error are values; the time is --now."""
    assert classad("eval", *arguments) == (0, f"{value}\n".encode(), "")


def test_eval_in_a_match_explains(job: str, slot: str) -> None:
    """An attribute's name alone stands for its expression."""
    result = classad("eval", "Requirements", "--my", job, "--target", slot, "--explain")
    assert result.status == 0
    assert result.out.decode().splitlines() == [
        '(TARGET.Arch == "X86_64") && TARGET.Memory >= RequestMemory -> false',
        '  TARGET.Arch == "X86_64" -> true',
        '    TARGET.Arch -> "X86_64"',
        '    "X86_64" -> "X86_64"',
        "  TARGET.Memory >= RequestMemory -> false",
        "    TARGET.Memory -> 2048",
        "    RequestMemory -> 4096",
        "",
        "not true: TARGET.Memory >= RequestMemory: 2048 >= 4096",
    ]
    data = json.loads(classad("eval", "Memory * 2", "--my", slot, "--explain", "--format", "json").out)
    assert (data["expression"], data["value"], data["reason"]) == ("Memory * 2", "4096", None)
    assert [part["value"] for part in data["parts"]] == ["2048", "2"]


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        (["1 +"], b"", "EXPR:1:4: error"),
        (["random(0)"], b"", "random()"),
        (["1", "--my", "-"], b"A = 1\nB = (\n", "<stdin>:2:6: error"),
        (["1", "--my", "-"], b"A = 1\n\nB = 2\n", "<stdin>:3:1: error: another ad"),
        (["1", "--my", "-"], b"", "there is no ad"),
        (["1", "--my", "-"], b"<c>&x;</c>", "<stdin>:1:"),
    ],
)
def test_findings_have_a_place(arguments: list[str], stdin: bytes, said: str) -> None:
    """Status 1."""
    result = classad("eval", *arguments, stdin=stdin)
    assert (result.status, result.out) == (1, b"")
    assert said in result.err


def test_lenient_reading_is_silent() -> None:
    """As the daemons read."""
    assert classad("eval", "A", "--my", "-", "--lenient", stdin=b"A = 5\nB = (\nC = 1\n") == (0, b"5\n", "")


@pytest.mark.parametrize("form", ["long", "new", "pretty", "json", "jsonl", "xml"])
def test_format_goes_from_every_form_to_every_form(form: str) -> None:
    """Back in the -long form nothing has changed, bytes that are no UTF-8 included."""
    text = 'A = "caf\xe9 \\ x"\nB = MY.x + 1.5\n\nA = { 1,[ b = 2 ] }\n\n'.encode("latin-1")
    made = classad("convert", "-", "--to", form, stdin=text)
    assert (made.status, made.err) == (0, "")
    assert classad("convert", "-", "--to", "long", stdin=made.out) == (0, text, "")


def test_format_reports_what_it_leaves_out() -> None:
    """The good lines are written, and the status is 1."""
    result = classad("convert", "-", "--to", "new", stdin=b"A = (\nB = 1\n\nbad\n\nC = 2\n")
    assert (result.status, result.out) == (1, b"[ B = 1 ]\n[ C = 2 ]\n")
    assert "<stdin>:1:6" in result.err
    assert "<stdin>:4:1" in result.err
    lenient = classad("convert", "-", "--to", "new", "--lenient", "--from", "long", stdin=b"B = 1\nA = (\n")
    assert lenient == (0, b"[ B = 1 ]\n", "")


def test_format_orders_attributes() -> None:
    """By HTCondor's rule, by name, or as they were."""
    text = b"bb = 1\nB = 2\nAA = 3\n\n"
    orders = {"library": classad("convert", "-", "--to", "long", "--order", "library", stdin=text).out}
    orders["name"] = classad("convert", "-", "--to", "long", "--order", "name", stdin=text).out
    assert orders == {"library": b"B = 2\nAA = 3\nbb = 1\n\n", "name": b"AA = 3\nB = 2\nbb = 1\n\n"}
    assert classad("convert", "-", "--to", "long", "--order", "kept", stdin=text).out == text


def test_match_says_who_refuses_and_why(job: str, slot: str) -> None:
    """Both directions; status 1 where one refuses."""
    refused = classad("match", job, slot)
    assert refused.status == 1
    assert refused.out.decode().splitlines() == [
        f"{job} does not accept {slot}",
        "  because TARGET.Memory >= RequestMemory: 2048 >= 4096",
        f"{slot} accepts {job}",
    ]
    assert "    RequestMemory -> 4096" in classad("match", job, slot, "--explain").out.decode()
    data = json.loads(classad("match", job, slot, "--format", "json").out)
    assert (data["match"], [side["accepts"] for side in data["sides"]]) == (False, [False, True])
    accepted = classad("match", "-", slot, stdin=JOB.replace("4096", "1024").encode())
    assert (accepted.status, accepted.out.decode().splitlines()) == (
        0,
        [f"<stdin> accepts {slot}", f"{slot} accepts <stdin>"],
    )
    bare = classad("match", "-", slot, stdin=b"A = 1\n")
    assert (bare.status, "it has no Requirements" in bare.out.decode()) == (1, True)


def test_a_match_that_htcondor_answers_otherwise_is_told(tmp_path: Path) -> None:
    """A name after a subscript by a name; --faithful gives HTCondor's answer."""
    job, slot = tmp_path / "job.ad", tmp_path / "slot.ad"
    job.write_text('Requirements = TARGET.Sites["north"].Open\n')
    slot.write_text("[ Requirements = true; Sites = [ north = [ Open = true ] ] ]")
    result = classad("match", str(job), str(slot))
    assert result.status == 0
    assert f"for HTCondor {job} does not accept {slot}" in result.err
    assert classad("match", str(job), str(slot), "--faithful").status == 1
    assert classad("eval", 'Sites["north"].Open', "--my", str(slot)).out == b"true\n"
    assert classad("eval", 'Sites["north"].Open', "--my", str(slot), "--faithful").out == b"undefined\n"
    job.write_text('Requirements = TARGET.Sites["north"]["Open"]\n')
    assert classad("match", str(job), str(slot))[::2] == (0, "")
