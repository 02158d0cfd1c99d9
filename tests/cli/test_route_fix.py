"""`crondor route check --fix`: what has one sure cure, read and checked again before it counts."""

from pathlib import Path

import pytest

from crondor.lint.rules import route_words
from tests.cli.running import Result, crondor

FAULTY = """JOB_ROUTER_SOURCE_JOB_CONSTRAINT = true
JOB_ROUTER_ROUTE_NAMES = A
JOB_ROUTER_ROUTE_A @=end
  REQUIREMENTS RequestMemory < 8000
  UNIVERSE vanilla
  MaxIdelJobs = 5
  SET request_gpus 1
  SET batch_queue short
@end
"""
CURED = FAULTY.replace("MaxIdelJobs", "MaxIdleJobs").replace("request_gpus", "RequestGPUs").replace("short", '"short"')


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a configuration that has three slips, in which the commands run."""
    monkeypatch.chdir(tmp_path)
    Path("r.conf").write_text(FAULTY, encoding="utf-8")
    return tmp_path


def check(*arguments: str, config: str = "r.conf") -> Result:
    """Check a configuration."""
    return crondor("route", "check", "--config", config, *arguments)


def test_a_fix_is_shown_with_its_finding() -> None:
    """For people and for programs."""
    found = check()
    assert found.status == 1
    assert "= fix: MaxIdleJobs in place of MaxIdelJobs (--fix)" in found.out
    assert found.lines[-1] == "1 file checked: 3 warnings; [*] 3 fixable with --fix"
    assert [each["code"] for each in check("--format", "json").data["files"][0]["findings"] if each["fix"]] == [
        "CRN627",
        "CRN629",
        "CRN635",
    ]


def test_fixing_shows_a_diff_and_writing_makes_the_change() -> None:
    """Once: a second time there is nothing left."""
    shown = check("--fix")
    assert shown.status == 1
    assert [line for line in shown.lines if line.startswith(("-  ", "+  "))] == [
        "-  MaxIdelJobs = 5",
        "-  SET request_gpus 1",
        "-  SET batch_queue short",
        "+  MaxIdleJobs = 5",
        "+  SET RequestGPUs 1",
        '+  SET batch_queue "short"',
    ]
    assert shown.err == "1 file would change; --write changes it\n"
    assert Path("r.conf").read_text(encoding="utf-8") == FAULTY
    written = check("--fix", "--write")
    assert (written.status, written.err) == (0, "1 file changed, 0 findings left\n")
    assert Path("r.conf").read_text(encoding="utf-8") == CURED
    again = check("--fix", "--write")
    assert (again.status, again.out, again.err) == (0, "", "0 files changed, 0 findings left\n")
    assert check().out == "1 file checked: nothing found\n"


def test_what_is_not_selected_or_silenced_stays() -> None:
    """As it is not shown."""
    Path("r.conf").write_text(FAULTY.replace("  SET req", "# crondor: ignore[CRN629]\n  SET req"), encoding="utf-8")
    check("--fix", "--write", "--ignore", "CRN635")
    text = Path("r.conf").read_text(encoding="utf-8")
    assert [word in text for word in ("MaxIdleJobs", "request_gpus", "batch_queue short")] == [True] * 3


@pytest.mark.parametrize(
    "text",
    [
        FAULTY.replace("SET request_gpus 1", "SET request_gpus 1\n  SET RequestGPUs 2"),  # which of them counts?
        FAULTY.replace("MaxIdelJobs = 5", "MaxIdleJob$(x) = 5"),
        FAULTY.replace("@end\n", "@end\nif\n"),  # it cannot be read
    ],
)
def test_what_is_not_sure_is_left_alone(text: str) -> None:
    """The rest is cured, and of what cannot be read nothing."""
    Path("r.conf").write_text(text, encoding="utf-8")
    check("--fix", "--write")
    after = Path("r.conf").read_text(encoding="utf-8")
    if "if\n" in text:
        assert after == text
    else:
        assert after == text.replace("MaxIdelJobs", "MaxIdleJobs").replace("short", '"short"').replace(
            "request_gpus", "request_gpus" if "RequestGPUs 2" in text else "RequestGPUs"
        )


def test_a_fix_that_brings_a_fault_to_light_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """And it is said why; the others are made."""
    sure = route_words._instead

    def wrong(*given: object) -> object:
        made = sure(*given)  # type: ignore[arg-type]
        if made is None or "GPUs" not in made.title:
            return made
        return made._replace(edits=(made.edits[0]._replace(text='"'),))

    monkeypatch.setattr(route_words, "_instead", wrong)
    shown = check().out
    assert "= fix: MaxIdleJobs" in shown
    assert "= fix: RequestGPUs" not in shown
    found = check("--fix", "--write")
    assert "= not fixed: RequestGPUs in place of request_gpus: the configuration would then have " in found.err
    assert Path("r.conf").read_text(encoding="utf-8") == CURED.replace("RequestGPUs", "request_gpus")


def test_an_included_file_is_shown_and_not_changed() -> None:
    """It may be another configuration's too."""
    Path("site.conf").write_text("include : r.conf\n", encoding="utf-8")
    found = check(config="site.conf")
    assert "did you mean MaxIdleJobs?" in found.out
    assert "--fix" not in found.out
    assert check("--fix", "--write", config="site.conf").status == 1
    assert Path("r.conf").read_text(encoding="utf-8") == FAULTY


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--write",), "--write needs --fix"),
        (("--fix", "--format", "json"), "--fix shows a diff"),
        (("--fix", "--config-root", "."), "--fix changes the files that --config names"),
        (("--fix", "--baseline", "b.json", "--update-baseline"), "one after the other"),
    ],
)
def test_what_does_not_go_together(words: tuple[str, ...], reason: str) -> None:
    """Is wrong usage."""
    found = check(*words)
    assert (found.status, reason in found.err) == (2, True)
