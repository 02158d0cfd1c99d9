"""`crondor config doctor`: what is installed, and whether a schedd can be worked with."""

import re
from pathlib import Path

import pytest

from crondor.classad.ad import ClassAd
from tests.cli.running import crondor
from tests.schedd.conftest import StandIn

AT = ("--now", "2026-11-20 17:27:05", "--tz", "UTC")


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    """A stand-in's queue, with a job."""
    made = StandIn(tmp_path / "stand_in.json")
    made.add(ClassAd({"Owner": "alice"}))
    return made


def test_without_a_schedd_it_says_what_is_here() -> None:
    """And asks nobody."""
    result = crondor("config", "doctor", env={"CONDOR_CONFIG": "ONLY_ENV"})
    assert result.status == 0
    assert re.search(r"HTCondor's configuration +the environment's \(ONLY_ENV\)", result.out)
    assert "htcondor [htcondor]" in result.out
    data = crondor("config", "doctor", "--format", "json", env={"CONDOR_CONFIG": "/nowhere"}).data
    assert (data["live"], data["configuration"]) == (None, None)
    assert {each["extra"] for each in data["packages"]} >= {"htcondor", "ics", "lsp", "plot", "watch"}


def test_a_schedd_that_is_as_we_think(stand_in: StandIn) -> None:
    """Table and JSON say the same."""
    result = crondor("config", "doctor", "--live", *AT, env=stand_in.environment)
    assert (result.status, result.err) == (0, "")
    shown = dict(line.split("  ", 1) for line in result.lines if "  " in line)
    assert shown["WRITE"].strip() == "yes, as alice@example.org (FS)"
    assert shown["zone there"].strip() == "+0000 in January, +0000 in July"
    assert shown["clock there"].strip() == "as here"
    data = crondor("config", "doctor", "--name", "ap1", "--format", "json", *AT, env=stand_in.environment).data
    assert (data["live"]["schedd"], data["live"]["release"], data["live"]["seconds_ahead"]) == ("ap1", "23.9.6", 0)


def test_what_is_otherwise_there_is_a_finding(stand_in: StandIn) -> None:
    """With what to set, and exit status 1; the interval is that of the settings."""
    stand_in.write({**stand_in.read(), "offset": -300, "ahead": 90, "knobs": {"SCHEDD_INTERVAL": "60"}})
    result = crondor("config", "doctor", "--live", *AT, env=stand_in.environment)
    assert result.status == 1
    assert "-0500 in January (here +0000)" in result.out
    assert "schedd-interval = 60 in crondor.toml" in result.err
    assert "the schedd's clock is 90 s ahead of this one" in result.err
    settings = {**stand_in.environment, "CRONDOR_SCHEDD_INTERVAL": "60"}
    assert "schedd-interval" not in crondor("config", "doctor", "--live", *AT, env=settings).err


def test_nobody_answers(stand_in: StandIn) -> None:
    """One row, one error."""
    stand_in.path.unlink()
    result = crondor("config", "doctor", "--live", env={**stand_in.environment, "CONDOR_CONFIG": "/dev/null"})
    assert result.status == 1
    assert "does not answer" in result.out
    assert "Traceback" not in result.err


def test_a_log_that_this_user_may_not_read(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note: --live asks the schedd instead."""
    stand_in.write({**stand_in.read(), "knobs": {"JOB_QUEUE_LOG": str(stand_in.path)}})
    monkeypatch.setattr("os.access", lambda *_: False)
    result = crondor("config", "doctor", "--live", *AT, env=stand_in.environment)
    assert result.status == 0
    assert "(not readable)" in result.out
    assert "note: " in result.err
    assert "use --live to query the schedd instead" in result.err
