"""Calendar events against what systemd-analyze said of them."""

import json
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from typing import NamedTuple, cast
from zoneinfo import ZoneInfo

import pytest

from crondor.compile.calendar_event import parse_event
from crondor.compile.meaning import read_schedule
from crondor.compile.walls import InvalidSchedule, Remarks
from crondor.diagnostics import Source

RECORDING = Path(__file__).parents[1] / "golden" / "calendar_events" / "systemd.jsonl"
MOST = 12  # runs that were recorded of each
# Where crondor does otherwise than systemd 252, and why.
SKIPPED_BY_SYSTEMD = ("*-*-2/7 03:00",)  # a repetition of days loses the first after January: systemd/systemd#40260
REFUSED_BY_SYSTEMD = (
    "*-3~6,15,24 2..6/4:32",
)  # each item of a list counted from the end has a lower bound than the last


class Recorded(NamedTuple):
    """What systemd-analyze calendar said of a text."""

    text: str
    zone: str
    after: int
    normal: str | None
    runs: list[int]


def _utc(text: str) -> int:
    return int(datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=timezone.utc).timestamp())


def _read(line: str) -> Recorded:
    found = cast("dict[str, object]", json.loads(line))
    zone = str(found["zone"])
    wall = datetime.strptime(str(found["after"]), "%Y-%m-%d %H:%M:%S").replace(tzinfo=ZoneInfo(zone))
    runs = [_utc(str(each)) for each in cast("list[str]", found.get("runs_utc", []))]
    return Recorded(str(found["text"]), zone, int(wall.timestamp()), cast("str | None", found.get("normal")), runs)


RECORDED = [_read(line) for line in RECORDING.read_text("utf-8").splitlines()]


def test_the_recording_has_what_is_promised() -> None:
    """Two hundred texts that systemd reads, and some that it refuses."""
    assert sum(each.normal is not None for each in RECORDED) >= 200
    assert sum(each.normal is None for each in RECORDED) >= 20


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda each: each.text)
def test_an_event_is_read_as_systemd_reads_it(recorded: Recorded) -> None:
    """Refused or not, the normal form, and the next twelve runs."""
    if recorded.normal is None and recorded.text not in REFUSED_BY_SYSTEMD:
        with pytest.raises(InvalidSchedule):
            read_schedule(recorded.text, zone=recorded.zone)
        return
    remarks = Remarks()
    event = parse_event(Source(recorded.text).span(), remarks)
    assert not remarks.errors
    schedule = read_schedule(recorded.text, zone=recorded.zone)
    found = list(islice(schedule.between(recorded.after, 1 << 40), MOST))
    if recorded.text in SKIPPED_BY_SYSTEMD:
        assert set(recorded.runs) < {*found, *recorded.runs[-1:]}
    elif recorded.text not in REFUSED_BY_SYSTEMD:
        assert str(event) == recorded.normal
        assert found == recorded.runs


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("70..01-*-*", "1970..2001-*-* 00:00:00"),
        ("99,26-12-24 9:00", "1999,2026-12-24 09:00:00"),
        ("*:10..14/7", "*-*-* *:10:00"),
        ("*:10..30/99", "*-*-* *:10:00"),
        ("*:10..30/8", "*-*-* *:10..26/8:00"),
        ("@0", "1970-01-01 00:00:00 UTC"),
        ("@1796169600", "2026-12-02 00:00:00 UTC"),
        ("@1796169600.0 UTC", "2026-12-02 00:00:00 UTC"),
    ],
)
def test_what_later_versions_of_systemd_read_has_their_normal_form(text: str, normal: str) -> None:
    """Years of two digits, ranges with room for one step or none, and seconds since 1970."""
    remarks = Remarks()
    assert str(parse_event(Source(text).span(), remarks)) == normal
    assert remarks.errors == []


def test_an_epoch_is_an_instant_in_any_zone() -> None:
    """And one that has seconds, or lies outside the years, is a fault."""
    for zone in ("UTC", "Asia/Tokyo"):
        assert read_schedule("@1796169600", zone=zone).next(0) == 1_796_169_600
    for text in ("@1796169601", "@99999999999960", "@1796169600 Asia/Tokyo"):
        with pytest.raises(InvalidSchedule):
            read_schedule(text, zone="UTC")
