"""What the shell is offered: zones, codes, routes and jobs; nothing on trouble, and no word on the screen."""

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from crondor_cli.main import cli

from .running import crondor

ROUTES = """\
JOB_ROUTER_ROUTE_NAMES = Small, Large
JOB_ROUTER_ROUTE_Small @=end
  UNIVERSE VANILLA
  REQUIREMENTS true
@end
JOB_ROUTER_ROUTE_Large @=end
  UNIVERSE VANILLA
  REQUIREMENTS true
@end
"""


def offered(*words: str) -> list[str]:
    """Return what is offered for the last word."""
    completer = ShellComplete(cli, {}, "crondor", "_CRONDOR_COMPLETE")
    return [item.value for item in completer.get_completions(list(words[:-1]), words[-1])]


def test_zones() -> None:
    """By their IANA names."""
    assert "Europe/Berlin" in offered("next", "--tz", "Europe/B")
    assert offered("next", "--tz", "Mars/") == []


def test_codes() -> None:
    """One, or the last of several; those of routes for routes."""
    assert "CRN101" in offered("check", "--explain", "CRN1")
    assert "CRN101,CRN208" in offered("check", "--select", "CRN101,CRN20")
    assert all(code.startswith("CRN6") for code in offered("route", "check", "--ignore", "CRN6"))
    assert offered("route", "check", "--ignore", "CRN6")


def test_codes_of_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Those of the settings here, if there is no fault in them; nothing is said of it."""
    monkeypatch.chdir(tmp_path)
    rules = '[check]\nextend = "../other.toml"\n[[check.rule]]\ncode = "SITE001"\nwhen = "true"\nmessage = "x"\n'
    (tmp_path / "crondor.toml").write_text(rules)
    assert offered("check", "--ignore", "CRN101,SI") == ["CRN101,SITE001"]
    assert offered("check", "--explain", "SI") == ["SITE001"]
    assert offered("check", "--no-config", "--select", "SI") == []
    (tmp_path / "crondor.toml").write_text(rules.replace("true", ">"))
    assert offered("check", "--select", "CRN101") == ["CRN101"]
    assert capsys.readouterr().err == ""


def test_routes(tmp_path: Path) -> None:
    """Of the configuration named before."""
    path = tmp_path / "routes.conf"
    path.write_text(ROUTES)
    assert offered("route", "apply", "--config", str(path), "--route", "") == ["Large", "Small"]
    assert offered("route", "apply", "--config", str(path), "--route", "S") == ["Small"]


def test_jobs(tmp_path: Path) -> None:
    """Of the queue named before."""
    queue, job = tmp_path / "queue", tmp_path / "job.sub"
    job.write_text("executable = /bin/true\ncron_minute = 0\nqueue 2\n")
    assert crondor("queue", "submit", "--queue", str(queue), str(job)).status == 0
    assert offered("queue", "hold", "--queue", str(queue), "1") == ["1.0", "1.1"]


@pytest.mark.parametrize(
    "words",
    [
        ("route", "apply", "--config", "nowhere.conf", "--route", ""),
        ("queue", "hold", "--queue", "nowhere", ""),
        ("queue", "status", "--live", ""),
        ("help", "no"),
    ],
)
def test_trouble_offers_nothing(
    words: tuple[str, ...], capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says nothing: the screen is the shell's. Settings that are wrong are none of its business."""
    (tmp_path / "crondor.toml").write_text("nonsense = [")
    monkeypatch.chdir(tmp_path)
    assert offered(*words) == []
    assert capfd.readouterr() == ("", "")
