"""Whether a live schedd can be worked with: access, interval, clock and zone, each asked for by itself."""

from collections.abc import Iterator
from datetime import timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from crondor.classad.ad import ClassAd
from crondor.schedd.live import Connection, LiveSchedd, connection_of
from tests.schedd.conftest import NOW, PATIENCE, StandIn

UTC = timezone.utc
BINDING = (
    "Failed to fetch ads, errmsg=AUTHENTICATE:1003:Failed to authenticate with any method|AUTHENTICATE:1004:Failed to"
    " authenticate using FS|FS:1004:Directory name doesn't match server's network address."
)


@pytest.fixture
def live(stand_in: StandIn) -> Iterator[LiveSchedd]:
    """A live schedd with the stand-in behind it."""
    with LiveSchedd(timeout=PATIENCE, environment=stand_in.environment) as schedd:
        yield schedd


def say(stand_in: StandIn, **changes: object) -> None:
    """Change what the stand-in's schedd is like."""
    stand_in.write({**stand_in.read(), **changes})


def codes(found: Connection, interval: int = 300) -> list[str]:
    """Return the kinds of what is found."""
    return [each.kind for each in found.findings(interval)]


def test_a_schedd_that_is_as_we_think(live: LiveSchedd, stand_in: StandIn) -> None:
    """Nothing is said, and nothing was written."""
    stand_in.add(ClassAd({"Owner": "alice"}))
    before = stand_in.read()["jobs"]
    found = connection_of(live, UTC, lambda: NOW)
    assert (found.bindings, found.release, found.machine) == ("25.14.1", "23.9.6", "ap1.example.org")
    assert [(each.level, each.user, each.methods) for each in found.access] == [
        ("READ", "alice@example.org", "FS"),
        ("WRITE", "alice@example.org", "FS"),
    ]
    assert (found.interval, found.ahead) == (300, 0)
    assert codes(found) == []
    assert stand_in.read()["jobs"] == before


@pytest.mark.parametrize("minutes", [-12 * 60, -5 * 60, -150, 0, 15, 345, 14 * 60])
def test_the_zone_is_read_off_the_answers(live: LiveSchedd, stand_in: StandIn, minutes: int) -> None:
    """To the quarter of an hour, whatever it is."""
    stand_in.add(ClassAd({"Owner": "alice"}))
    say(stand_in, offset=minutes)
    found = connection_of(live, ZoneInfo("Europe/Berlin"), lambda: NOW)
    assert [(each.theirs, each.ours) for each in found.offsets] == [(minutes, 60), (minutes, 120)]
    assert codes(found) == ["doctor-zone"]
    same = connection_of(live, timezone(timedelta(minutes=minutes)), lambda: NOW)
    assert codes(same) == []


def test_what_is_not_as_we_think(live: LiveSchedd, stand_in: StandIn) -> None:
    """Its pass and its clock."""
    stand_in.add(ClassAd({"Owner": "alice"}))
    say(stand_in, ahead=-75, knobs={"SCHEDD_INTERVAL": "60", "JOB_QUEUE_LOG": "/var/lib/condor/spool/job_queue.log"})
    found = connection_of(live, UTC, lambda: NOW)
    assert found.log == "/var/lib/condor/spool/job_queue.log"
    messages = {each.kind: each.message for each in found.findings(300)}
    assert messages["doctor-interval"] == "SCHEDD_INTERVAL is 60 s there, and crondor assumes 300 s"
    assert "75 s behind" in messages["doctor-clock"]
    assert codes(found, interval=60) == ["doctor-clock"]


def test_reading_works_and_writing_is_refused(live: LiveSchedd, stand_in: StandIn) -> None:
    """With the reason of the security layer, and what to set; the rest is asked all the same."""
    stand_in.add(ClassAd({"Owner": "alice"}))
    stand_in.fail(("ping WRITE", BINDING))
    found = connection_of(live, UTC, lambda: NOW)
    (fault,) = found.findings(300)
    assert fault.message.startswith("WRITE: the schedd cannot identify the user: authentication (FS) failed: Directory")
    assert "SEC_FS_ENFORCE_CHANNEL_BINDING" in str(fault.help)
    assert found.ahead == 0


def test_the_same_reason_is_said_once(live: LiveSchedd, stand_in: StandIn) -> None:
    """For both levels; without READ nothing more can be asked."""
    say(stand_in, ping={level: {"AuthorizationSucceeded": False} for level in ("READ", "WRITE")})
    found = connection_of(live, UTC, lambda: NOW)
    messages = [each.message for each in found.findings(300)]
    assert messages[0] == "READ: the schedd does not allow alice@example.org to do that"
    assert "query" not in stand_in.read()["calls"]
    stand_in.fail(("ping READ", BINDING), ("ping WRITE", BINDING))
    (fault,) = connection_of(live, UTC, lambda: NOW).findings(300)
    assert fault.message.startswith("READ and WRITE: ")


def test_no_job_and_no_schedd(live: LiveSchedd, stand_in: StandIn) -> None:
    """An empty queue says neither clock nor zone; nobody there is the one finding."""
    found = connection_of(live, UTC, lambda: NOW)
    assert (found.ahead, found.offsets, codes(found)) == (None, (), ["doctor-empty"])
    live.close()
    stand_in.fail(("locate None in None", "Unable to locate local daemon."))
    gone = connection_of(live, UTC, lambda: NOW)
    assert gone == Connection(fault=gone.fault)
    assert codes(gone) == ["schedd-unreachable"]
