"""`crondor check`: files in, findings out; selection, silence, settings, fixes, and the forms for other programs."""

import json
import os
import pickle
import re
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest

from crondor.lint import RULES
from crondor.lint.submit import fixed
from crondor_cli.check import command as check_command
from crondor_cli.kit import files
from crondor_cli.kit.files import read_source
from tests.cli.conftest import Write
from tests.cli.running import PROGRAM, Result, at_now, environment, process

HEAD = "executable = /bin/true"
CLEAN = (
    HEAD,
    "cron_minute = 0",
    "cron_hour = 4",
    "cron_window = 300",
    "on_exit_remove = ExitCode == 77",
    "periodic_release = HoldReasonCode == 20",
    "queue",
)
SIXTY = (HEAD, "cron_minute = 60", *CLEAN[2:])


def check(*arguments: str, stdin: str | bytes = b"") -> Result:
    """Run `crondor check` at NOW, without the settings of any project."""
    return at_now("check", "--no-config", *arguments, stdin=stdin)


def codes(*arguments: str, stdin: str | bytes = b"") -> list[str]:
    """Return the codes found, in the order of the lines."""
    data = check("--format", "json", *arguments, stdin=stdin).data
    return [finding["code"] for file in data["files"] for finding in file["findings"]]


# What people see


def test_a_clean_file_is_quiet(write: Write) -> None:
    """One line, and 0."""
    result = check(write(*CLEAN))
    assert (result.status, result.out, result.err) == (0, "1 file checked: nothing found\n", "")


def test_a_finding_shows_place_reason_and_cure(write: Write) -> None:
    """As compilers do; the status is 1."""
    path = write(*SIXTY)
    result = check(path)
    assert result.status == 1
    assert result.lines[0].startswith(f"{path}:2:15: error: minute 60 is out of range")
    assert result.lines[0].endswith("[CRN101]")
    assert result.lines[1:3] == ["   2 | cron_minute = 60", "     |               ^^"]
    assert result.lines[-1].startswith("1 file checked: 1 error")


def test_a_cure_shows_its_lines(write: Write) -> None:
    """As a diff; what --fix makes is marked, what needs --unsafe is not."""
    result = check(write(HEAD, "cron_minutes = 0", *CLEAN[2:4], "queue"))
    heads = [line for line in result.lines if "[CRN" in line]
    assert [line for line in heads if line.endswith("[CRN501] [*]")] == heads[:1]
    assert "        - cron_minutes = 0\n        + cron_minute = 0\n" in result.out
    assert "        + on_exit_remove = false\n" in result.out
    assert "; [*] 1 fixable with --fix, " in result.lines[-1]


def test_a_line_each_and_no_summary(write: Write) -> None:
    """For editors and scripts that read lines."""
    path = write(*SIXTY)
    concise = check("--format", "concise", path).lines
    assert len(concise) == 2
    assert concise[0].startswith(f"{path}:2:15: error: minute 60 is out of range")
    assert concise[1].startswith("1 file checked")
    assert check("--format", "concise", "-q", path).lines == concise[:1]
    assert check("-q", path).lines == check(path).lines[:-1]
    assert check("-q", write(*CLEAN)).out == ""


def test_several_files_and_their_order(write: Write) -> None:
    """The findings stand in the order of the files, and the summary counts all."""
    first, second = write(*SIXTY, name="a.sub"), write(*SIXTY, name="b.sub")
    result = check(second, first, second)
    assert [line.split(":")[0] for line in result.lines if "[CRN101]" in line] == [second, first]
    assert result.lines[-1].startswith("2 files checked: 2 errors")


def test_notes_do_not_fail_but_with_strict(write: Write) -> None:
    """A note explains; --strict makes it count."""
    path = write(*[line for line in CLEAN if "window" not in line])
    assert codes(path) == ["CRN303"]
    assert check(path).status == 0
    assert check("--strict", path).status == 1


def test_files_are_looked_for_unless_told_not_to(write: Write) -> None:
    """A note where nothing is there, an error or a warning beside files that are; with --no-files nothing."""
    path = write("executable = train.sh", "input = data.csv", "queue")
    assert codes(path) == ["CRN570"]
    assert check(path).status == 0
    (Path(path).parent / "data.csv").write_text("1\n", encoding="utf-8")
    assert (
        check(path)
        .lines[0]
        .endswith("train.sh, the executable, does not exist: condor_submit refuses the job [CRN570]")
    )
    assert check(path).status == 1
    assert check("--no-files", path).out == "1 file checked: nothing found\n"


def test_jobs_that_differ_share_a_finding(write: Write) -> None:
    """A thousand jobs with a value out of range are one finding, that says so."""
    path = write(HEAD, "cron_minute = 6$(Process)", *CLEAN[2:-1], "queue 10")
    (line,) = [line for line in check(path).lines if "CRN101" in line]
    assert "the same for 9 other values" in line


# Which files


def test_a_directory_stands_for_its_submit_files(write: Write, tmp_path: Path) -> None:
    """Below it, whatever the depth; hidden folders and other files are skipped."""
    (tmp_path / "deep").mkdir()
    (tmp_path / ".git").mkdir()
    for name in ("a.sub", "deep/b.submit", "deep/c.txt", ".git/d.sub"):
        write(*SIXTY, name=name)
    names = [file["name"] for file in check("--format", "json", str(tmp_path)).data["files"]]
    assert names == [str(tmp_path / "a.sub"), str(tmp_path / "deep/b.submit")]


def test_a_pipe_below_a_directory_is_passed_over(write: Write, tmp_path: Path) -> None:
    """Nobody waits for whoever may write into it; a link that leads nowhere is said."""
    path = write(*SIXTY, name="b.sub")
    os.mkfifo(tmp_path / "a.sub")
    (tmp_path / "c.sub").symlink_to(tmp_path / "nowhere")
    result = check("--format", "json", str(tmp_path))
    assert [file["name"] for file in result.data["files"]] == [path]
    assert "c.sub" in result.err


def test_a_pattern_that_no_shell_expanded(write: Write, tmp_path: Path) -> None:
    """It is expanded here."""
    write(*CLEAN, name="a.sub")
    assert check(str(tmp_path / "*.sub")).status == 0


def test_standard_input() -> None:
    """It is called <stdin>."""
    result = check("-", stdin="\n".join(SIXTY) + "\n")
    assert result.lines[0].startswith("<stdin>:2:15:")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-", "-"), "only once"),
        (("no-such-file.sub",), "cannot read"),
        (("no-such-*.sub",), "matches no file"),
        (("--write", "a.sub"), "--write needs --fix"),
        (("--unsafe", "a.sub"), "--unsafe needs --fix"),
        (("--fix", "--format", "json", "a.sub"), "--fix shows a diff"),
        (("--select", "CRN88", "a.sub"), "no rule has a code that begins with CRN88"),
        (("--ignore", "W1", "a.sub"), "no rule has a code that begins with W1"),
        (("--explain", "CRN999"), "there is no rule CRN999"),
        (("--explain", "out-of-rang"), "did you mean out-of-range?"),
    ],
)
def test_wrong_usage_says_what_is_wrong(arguments: tuple[str, ...], message: str) -> None:
    """With 2, and nothing on stdout."""
    result = check(*arguments)
    assert (result.status, result.out) == (2, "")
    assert message in result.err


def test_an_empty_directory_is_wrong_usage(tmp_path: Path) -> None:
    """Nothing checked is not everything fine."""
    result = check(str(tmp_path))
    assert result.status == 2
    assert "has no *.sub" in result.err


@pytest.mark.parametrize(
    "data", [b"\xff\xfec\0r\0", b"abc\0def\n", b"\x7f\0\xff", b""], ids=["utf16", "nul", "binary", "empty"]
)
def test_what_is_no_text_is_a_finding(data: bytes) -> None:
    """Never a traceback."""
    result = check("--format", "json", "-", stdin=data)
    assert result.status == 1
    (file,) = result.data["files"]
    assert [finding["severity"] for finding in file["findings"]] == ["error"]


# Selection and silence


def test_select_and_ignore(write: Write) -> None:
    """The longer prefix wins."""
    path = write(HEAD, "cron_minute = 60", "queue")
    everything = codes(path)
    assert {"CRN101", "CRN401"} <= set(everything)
    assert codes("--select", "CRN1", path) == ["CRN101"]
    assert codes("--select", "CRN1,crn401", path) == ["CRN101", "CRN401"]
    assert "CRN101" not in codes("--ignore", "CRN1", path)
    assert codes("--select", "CRN1", "--ignore", "CRN", path) == ["CRN101"]
    assert codes("--select", "CRN", "--ignore", "CRN101", path) == [c for c in everything if c != "CRN101"]


def test_a_comment_silences_the_statement_below(write: Write) -> None:
    """And no other; over continuations too."""
    ignore = "# crondor: ignore[CRN101]"
    assert codes(write(HEAD, ignore, "# why", "cron_minute = \\", "  60", *CLEAN[2:])) == []
    assert codes(write(ignore, *SIXTY)) == ["CRN901", "CRN101"]
    assert codes(write(*SIXTY, "# crondor: ignore-file[CRN1]")) == []


def test_silenced_findings_are_counted(write: Write) -> None:
    """In JSON; and the status is 0."""
    result = check("--format", "json", write("# crondor: ignore-file[CRN101]", *SIXTY))
    assert result.status == 0
    assert result.data["files"][0]["silenced"] == 1


def test_a_wrong_comment_is_a_finding(write: Write) -> None:
    """It would silence nothing, and nobody would know."""
    assert codes(write("# crondor: ignore CRN101", *CLEAN)) == ["CRN902"]
    assert codes(write("# crondor: ignore[CRN888]", *CLEAN)) == ["CRN902"]


# Rules on paper


def test_rules_are_listed_and_explained() -> None:
    """Each code has a line and a page."""
    listed = check("--rules").lines
    assert [line.split()[0] for line in listed] == sorted(RULES)
    for code, rule in RULES.items():
        assert check("--explain", code).lines[0] == f"# {code} {rule.name}: {rule.title}"
    for code, rule in [*RULES.items()][::9]:
        assert check("--explain", rule.name).out == check("--explain", code.lower()).out


# Forms for programs


def test_json_says_where_and_how_to_fix(write: Write) -> None:
    """Lines and columns count from 1, the end is excluded."""
    path = write(HEAD, "cron_minutes = 0", *CLEAN[2:])
    (finding,) = check("--format", "json", "--select", "CRN501", path).data["files"][0]["findings"]
    place = {"file": path, "line": 2, "column": 1, "end_line": 2, "end_column": 13}
    assert finding["place"] == place
    assert finding["fix"] == {
        "title": "write cron_minute",
        "safe": True,
        "edits": [{"place": place, "text": "cron_minute"}],
    }


def test_statistics(write: Write) -> None:
    """Rules by how often they found something."""
    paths = [write(*SIXTY, name=f"{n}.sub") for n in range(3)]
    assert check("--statistics", *paths).lines[0] == "3  CRN101  out-of-range: a value outside its field"
    data = check("--statistics", "--format", "json", *paths).data
    assert data["statistics"][0] == {
        "code": "CRN101",
        "name": "out-of-range",
        "severity": "error",
        "count": 3,
        "files": 3,
        "fixable": 0,
    }


def test_sarif(write: Write) -> None:
    """The parts that code scanning reads."""
    path = write(*SIXTY)
    log: Any = check("--format", "sarif", path).data
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "CRN101"
    location = result["locations"][0]["physicalLocation"]
    assert location["region"] == {"startLine": 2, "startColumn": 15, "endLine": 2, "endColumn": 17}
    assert location["artifactLocation"]["uri"].endswith("job.sub")
    assert result["level"] == "error"


def test_github_annotations_cannot_be_broken_out_of(write: Write) -> None:
    """A line each, whatever the file is called or says."""
    path = write("cron_minutes%0A::error::x,y = 1", *SIXTY, name="a,b:c.sub")
    lines = check("--format", "github", path).lines
    assert all(re.match(r"::(error|warning|notice) [^:]*::", line) for line in lines)
    assert "a%2Cb%3Ac.sub" in lines[0]


FOR_A_RUNNER = (
    "::add-mask::a",
    "cron_minute = 60 ##[error]b ##vso[task.setvariable]c ###[warning]d",
    "  ::stop-commands::e",
)


@pytest.mark.parametrize("runner", ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"])
@pytest.mark.parametrize(
    "options", [[], ["--fix"], *(["--format", form] for form in ("concise", "json", "sarif", "github"))]
)
def test_no_text_of_a_file_is_a_command_of_a_runner(write: Write, options: list[str], runner: str) -> None:
    """GitHub takes ``::name::`` at the start of a line and ``##[name]`` anywhere in it; others are alike."""
    path = write(HEAD, FOR_A_RUNNER[0], "cron_hours = 1", *FOR_A_RUNNER[1:], "queue")
    plain = check(*options, path)
    result = at_now("check", "--no-config", *options, path, env={runner: "true"})
    assert result.status == plain.status
    for line in (result.out + result.err).splitlines():
        is_own = "github" in options and re.match(r"::(error|warning|notice) title=CRN", line)
        assert is_own or not line.lstrip().startswith("::")
        assert not re.search(r"##(vso|teamcity)?\[", line)
    if "json" in options:
        assert result.data == plain.data
    if not options:
        assert "##[error]b" in plain.out
        assert "#\\u0023[error]b #\\u0023vso[task" in result.out


# Fixes


def test_fix_shows_a_diff_and_changes_nothing(write: Write) -> None:
    """Which patch(1) can apply."""
    path = write(HEAD, "cron_minutes = 0", *CLEAN[2:])
    before = Path(path).read_text(encoding="utf-8")
    result = check("--fix", path)
    assert result.status == 1
    assert "-cron_minutes = 0\n+cron_minute = 0\n" in result.out
    assert "--write changes it" in result.err
    assert Path(path).read_text(encoding="utf-8") == before


def test_write_changes_the_file_and_keeps_its_mode(write: Write) -> None:
    """Nothing else in it changes."""
    path = Path(write(HEAD, "cron_minutes = 0", *CLEAN[2:]))
    path.chmod(0o750)
    result = check("--fix", "--write", str(path))
    assert (result.status, result.out) == (0, f"{path}: write cron_minute\n")
    assert result.err == "1 file changed, 0 findings left\n"
    assert path.read_text(encoding="utf-8") == "\n".join(CLEAN) + "\n"
    assert path.stat().st_mode & 0o777 == 0o750
    assert sorted(p.name for p in path.parent.iterdir()) == ["job.sub"]


def test_nothing_below_a_folder_leads_out_of_it(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is it shown nor changed: a link to a file or a folder, also where no shell has expanded a pattern."""
    (tmp_path / "r" / "inner").mkdir(parents=True)
    secret = Path(write(HEAD, "cron_minutes = 0", *CLEAN[2:], name="secret.sub"))
    before = secret.read_bytes()
    Path(write(*CLEAN, name="r/a.sub")).chmod(0o644)
    (tmp_path / "r" / "s.sub").symlink_to("../secret.sub")
    (tmp_path / "r" / "t.sub").symlink_to("s.sub")
    (tmp_path / "r" / "inside.sub").symlink_to("a.sub")
    (tmp_path / "r" / "way").symlink_to("..")
    (tmp_path / "r" / "round").symlink_to(".")
    monkeypatch.chdir(tmp_path)
    for arguments in (["r"], ["r/*.sub"], ["r/**/*.sub"], ["r/**/*.sub", "r/*.sub"], ["--spec", "r"]):
        for more in ([], ["--fix", "--write"]):
            result = check(*more, *arguments)
            assert "cron_minutes" not in result.out + result.err
            assert "r/s.sub:1:1: warning: this link leads out of r and is ignored" in result.err
            assert result.status == 0
            assert (secret.read_bytes(), (tmp_path / "r" / "s.sub").is_symlink()) == (before, True)
    assert "r/way/secret.sub:1:1: warning: this link leads out" in check("r/*/*.sub").err
    monkeypatch.chdir(tmp_path / "r")
    assert "s.sub:1:1: warning: this link leads out of . and is ignored" in check().err
    assert [each["name"] for each in check("--format", "json").data["files"]] == ["a.sub", "inside.sub"]


def test_a_file_that_becomes_a_link_out_is_not_read(write: Write, tmp_path: Path) -> None:
    """Between the look into the folder and the reading."""
    (tmp_path / "r").mkdir()
    secret, path = write(*SIXTY, name="secret.sub"), Path(write(*CLEAN, name="r/a.sub"))
    found = files.find([str(tmp_path / "r")])
    path.unlink()
    path.symlink_to(secret)
    with pytest.raises(click.UsageError, match="it leads out of"):
        read_source(found[0])
    copy = pickle.loads(pickle.dumps(found[0]))  # noqa: S301 - as another process gets it
    with pytest.raises(click.UsageError, match="it leads out of"):
        read_source(copy)


def test_a_link_is_not_written_to(write: Write, tmp_path: Path) -> None:
    """It is read where it is named, and whoever wants the file changed names the file."""
    path = Path(write(HEAD, "cron_minutes = 0", *CLEAN[2:]))
    link = tmp_path / "link.sub"
    link.symlink_to(path)
    before = path.read_bytes()
    result = check("--fix", "--write", str(link))
    assert (result.status, path.read_bytes(), link.is_symlink()) == (2, before, True)
    assert f"Error: cannot write '{link}': it is a link to {path}, and links are not written to" in result.err
    assert check("--fix", "--write", str(path)).status == 0


def test_line_ends_stay(tmp_path: Path) -> None:
    """A file of Windows stays one."""
    path = tmp_path / "job.sub"
    path.write_bytes("\r\n".join([HEAD, "cron_minutes = 0", *CLEAN[2:], ""]).encode())
    check("--fix", "--write", str(path))
    assert path.read_bytes() == ("\r\n".join(CLEAN) + "\r\n").encode()


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""], ids=["unix", "windows", "none"])
def test_every_byte_that_no_cure_is_about_stays(tmp_path: Path, end: bytes) -> None:
    """Umlauts, blanks at ends of lines, ends of both kinds, a last line without one."""
    lines = [b"# K\xc3\xa4se \t ", HEAD.encode() + b"\r", b"cron_minutes = 0 ", *(line.encode() for line in CLEAN[2:])]
    before = b"\n".join(lines) + end
    path = tmp_path / "job.sub"
    path.write_bytes(before)
    check("--fix", "--write", "--select", "CRN501", str(path))
    after = before.replace(b"cron_minutes", b"cron_minute")
    assert path.read_bytes() == after
    path.write_bytes(
        b"\xef\xbb\xbf" + before
    )  # with which condor_submit reads no line of it: the mark has its own cure
    check("--fix", "--write", "--select", "CRN501,CRN010", str(path))
    assert path.read_bytes() == after


def test_latin_1_in_a_comment_is_checked_and_cured_and_stays_so(tmp_path: Path) -> None:
    """HTCondor takes the bytes as they are; the diff has them, too, so that patch(1) takes it."""
    before = b"# K\xe4se\n"
    path = tmp_path / "job.sub"
    path.write_bytes(before + f"{HEAD}\ncron_minutes = 0\nqueue\n".encode())
    found = check("--format", "json", str(path)).data["files"][0]["findings"]
    said = [(each["severity"], each["place"]["line"], each["place"]["column"]) for each in found]
    assert ("warning", 1, before.index(b"\xe4") + 1) in said
    assert "CRN501" in {each["code"] for each in found}
    shown = process("check", "--no-config", "--fix", str(path)).stdout
    assert b" " + before + f" {HEAD}\n-cron_minutes = 0\n+cron_minute = 0\n queue\n".encode() in shown
    assert "[CRN002]" in check("--fix", "--write", str(path)).err
    assert path.read_bytes() == before + f"{HEAD}\ncron_minute = 0\nqueue\n".encode()


@pytest.mark.parametrize(
    "data", ["queue\n".encode("utf-16"), "queue\n".encode("utf-32"), b"a\0\n", b"\xff\xfe\xff", b"a = \xe4\n"]
)
def test_what_is_no_text_is_not_written_to(tmp_path: Path, data: bytes) -> None:
    """Nobody knows what its letters are."""
    path = tmp_path / "job.sub"
    path.write_bytes(data)
    assert check("--fix", "--write", "--unsafe", str(path)).status == 1
    assert path.read_bytes() == data


def test_a_line_that_is_added_ends_as_its_neighbours(tmp_path: Path) -> None:
    """In a file with ends of both kinds, too."""
    path = tmp_path / "job.sub"
    lines = (HEAD, "cron_minute = 0", "cron_hour = 6", "cron_day_of_week = 1")
    path.write_bytes("\n".join(lines).encode() + b"\r\nqueue\n")
    check("--fix", "--write", str(path))
    assert [line[-1:] == b"\r" for line in path.read_bytes().split(b"\n")] == [False] * 3 + [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_file_that_cannot_be_written_keeps_no_other(write: Write, tmp_path: Path) -> None:
    """The others are cured, and the status is 2."""
    faulty = (HEAD, "cron_minutes = 0", *CLEAN[2:])
    first, second, third = (Path(write(*faulty, name=f"{name}.sub")) for name in "abc")
    (tmp_path / "other.sub").hardlink_to(second)
    result = check("--fix", "--write", str(first), str(second), str(third))
    assert result.status == 2
    assert [line for line in result.err.splitlines() if line.startswith("Error: cannot write")]
    assert "2 files changed, 2 findings left" in result.err
    texts = [path.read_text(encoding="utf-8") for path in (first, second, third)]
    assert ["cron_minutes" in text for text in texts] == [False, True, False]


def test_links_that_lead_nowhere_are_one_line(tmp_path: Path) -> None:
    """One to a file that is gone, and one to itself."""
    for name, target in (("gone.sub", "nothing.sub"), ("round.sub", "round.sub")):
        (tmp_path / name).symlink_to(target)
        result = check("--fix", "--write", str(tmp_path / name))
        assert (result.status, len(result.err.splitlines())) == (2, 1)


def test_why_a_cure_is_left_out_is_said(write: Write) -> None:
    """Below its finding."""
    path = write(HEAD, "cron_minutes = 60", *CLEAN[2:])
    result = check("--fix", "--write", path)
    assert (
        "    = not fixed: write cron_minute: the file would then have CRN101 (minute 60 is out of range" in result.err
    )
    assert result.err.endswith("0 files changed, 2 findings left\n")


def test_only_fixes_that_are_made_are_counted_and_offered(write: Write) -> None:
    """Of two cures, the one that would write a wrong value is not promised."""
    path = write(HEAD, "cron_minutes = 60", "cron_hour = '4'", *CLEAN[3:])
    shown = check(path)
    assert "[*] 1 fixable with --fix" in shown.out
    assert "= fix: write cron_hour" in shown.out
    assert "= fix: write cron_minute" not in shown.out
    before = Path(path).read_text(encoding="utf-8")
    check("--fix", "--write", path)
    assert Path(path).read_text(encoding="utf-8") == before.replace("'4'", "4")


def test_unsafe_fixes_wait_for_their_option(write: Write) -> None:
    """What changes the author's wish is not done unasked."""
    path = write(HEAD, "cron_minute = 0", "cron_hour = 2", "queue")
    assert "on_exit_remove" not in check("--fix", path).out
    result = check("--fix", "--unsafe", path)
    assert "+on_exit_remove = false" in result.out
    assert "+periodic_release = (HoldReasonCode == 20)" in result.out


def test_standard_input_cannot_be_written() -> None:
    """But its diff can be shown."""
    text = "\n".join([HEAD, "cron_minutes = 0", *CLEAN[2:]]) + "\n"
    assert "+cron_minute = 0" in check("--fix", "-", stdin=text).out
    assert check("--fix", "--write", "-", stdin=text).status == 2


def test_a_file_that_changed_meanwhile_is_left_alone(write: Write) -> None:
    """What somebody else has written is not lost."""
    path = Path(write(HEAD, "cron_minutes = 0", *CLEAN[2:]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            check_command,
            "fixed",
            lambda *a, **k: (path.write_text("somebody else's\n", encoding="utf-8"), fixed(*a, **k))[1],
        )
        result = check("--fix", "--write", str(path))
    assert result.status == 2
    assert "has changed" in result.err
    assert path.read_text(encoding="utf-8") == "somebody else's\n"


# The process


def test_a_closed_pipe_is_no_error(write: Write) -> None:
    """Whoever reads the first line only has seen enough."""
    paths = [write(*SIXTY, name=f"{n}.sub") for n in range(50)]
    command = subprocess.run(
        ["/bin/bash", "-c", '"$@" | head -1', "-", *PROGRAM, "check", "--no-config", *paths],
        capture_output=True,
        check=False,
        timeout=60,
        env=environment(),
    )
    assert command.stderr == b""
    assert len(command.stdout.splitlines()) == 1


def test_many_files_in_one_process(write: Write) -> None:
    """A bar is for people who watch: none here."""
    paths = [write(*CLEAN, name=f"{n}.sub") for n in range(70)]
    result = process("check", "--no-config", *paths)
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout == b"70 files checked: nothing found\n"


def test_json_is_one_object(write: Write) -> None:
    """Also without findings."""
    data = json.loads(check("--format", "json", write(*CLEAN)).out)
    assert data["summary"] == {"error": 0, "warning": 0, "note": 0}


# More of what people meet


def test_a_file_that_cannot_be_read_does_not_keep_the_others(write: Write) -> None:
    """The others are checked, and the status is 2."""
    result = check(write(*SIXTY), "no-such-file.sub", "nor-this.sub")
    assert result.status == 2
    assert "[CRN101]" in result.out
    assert [line.partition(":")[0] for line in result.err.splitlines()] == ["Error", "Error"]


def test_a_finding_in_a_shared_file_is_said_once(write: Write) -> None:
    """Of two descriptions that include it."""
    write("cron_minute = 60", name="common.sub")
    paths = [write(HEAD, "include : common.sub", *CLEAN[2:], name=f"{name}.sub") for name in "ab"]
    assert check(*paths).out.count("[CRN101]") == 1


def test_sarif_names_files_below_the_root_and_absolute_ones(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative name is one below %SRCROOT%; an absolute one is an address of its own."""
    path = write(*SIXTY, name="a b.sub")
    monkeypatch.chdir(tmp_path)
    places = [
        check("--format", "sarif", name).data["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        for name in ("./a b.sub", path)
    ]
    relative, absolute = (place["artifactLocation"] for place in places)
    assert relative == {"uri": "a%20b.sub", "uriBaseId": "%SRCROOT%"}
    assert absolute["uri"].startswith("file:///")
    assert absolute["uri"].endswith("/a%20b.sub")


def test_sarif_changes_the_file_that_a_fix_changes(write: Write) -> None:
    """Also where the finding is of an included file."""
    write("cron_minute = 0", name="common.sub")
    path = write(HEAD, "include : common.sub", "cron_hour = 4", "cron_window = 300", "queue")
    (result,) = check("--format", "sarif", path).data["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("common.sub")
    assert result["fixes"][0]["artifactChanges"][0]["artifactLocation"]["uri"].endswith("job.sub")


def test_without_files_those_of_the_folder_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As linters do; where there is none, that is said."""
    monkeypatch.chdir(tmp_path)
    empty = check()
    assert (empty.status, empty.out) == (2, "")
    assert "there is no *.sub, *.submit, *.jdl in this folder" in empty.err
    (tmp_path / "a.sub").write_text("executable = /bin/date\ncron_minute = 70\nqueue\n")
    assert check().lines[0].startswith("a.sub:2:")


NEW = ("executable = /bin/true", "request_memory = 2GB", "retry_request_memory = 8GB", "queue")


def test_the_release_that_a_file_is_for(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--target, the setting, and the newest without either."""
    name = write(*NEW)
    assert codes(name) == []
    older = check("--target", "24", name)
    assert older.status == 1
    assert "retry_request_memory came with 25.2: HTCondor 24 ignores it as unused [CRN508]" in older.out
    assert codes("--target", "25.2", name) == []
    write("[check]", "target = 24", name="crondor.toml")
    monkeypatch.chdir(tmp_path)
    assert at_now("check", name).status == 1
    assert at_now("check", "--target", "25", name).status == 0


@pytest.mark.parametrize(
    ("release", "message"),
    [
        ("latest", "'latest' is not a release of HTCondor: write 24, or 24.3"),
        ("26", "crondor knows the releases from 23.0 to 25.14, not 26"),
        ("25.15", "crondor knows the releases from 23.0 to 25.14, not 25.15"),
        ("10.0", "crondor knows the releases from 23.0 to 25.14, not 10.0"),
    ],
)
def test_what_is_no_release(write: Write, release: str, message: str) -> None:
    """It says which are known."""
    result = check("--target", release, write(*NEW))
    assert result.status == 2
    assert message in result.err
