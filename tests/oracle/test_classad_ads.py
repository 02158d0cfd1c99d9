"""Random ``-long`` texts, good and broken, give the ads that HTCondor's own library finds in them."""

import importlib.util
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from crondor.classad import ClassAdSyntaxError
from crondor.classad.formats import Format, ReadMode, read_ads
from crondor.classad.tree import attribute_order
from crondor.event_log import read_events, write_event
from crondor.pool.daemons.events import events
from crondor.schedd.protocol import Hold
from tests.oracle.test_classad import answers
from tests.pool.pools import NOW, Seen
from tests.rows import rows

PEER = Path(__file__).with_name("classad_ads_peer.py")
SEEDS = int(os.environ.get("CRONDOR_FUZZ_SEEDS", "2"))
CASES = 1000
NAMES = [
    "A",
    "b",
    "Cmd",
    "cmd",
    "LongName",
    "_x1",
    "a b",
    "[A",
    "*** Offset",
    "'q'",
    "-x",
    "",
    "x\t",
    "/* c */ A",
    "1a",
]
VALUES = rows("oracle/values")
SIGNS = [" = ", " = ", " = ", " = ", "=", " =  ", "  =\t", " == ", " ", "\t=", " =?= "]
ENDS = [
    "\n",
    "\n",
    "\n",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "\n\n",
    " \n",
    "\n \n",
    "\n\n\n",
    "\n# c\n",
    "\n  # c = 1\n",
    "\n\t\n",
]


def _text(dice: random.Random) -> str:
    wild = dice.random() < 0.6
    parts = []
    for _ in range(dice.randrange(1, 7)):
        if wild:
            parts += [dice.choice(["", "", "", " ", "\t"]), dice.choice(NAMES), dice.choice(SIGNS), dice.choice(VALUES)]
            parts.append(dice.choice(ENDS))
        else:
            parts += [dice.choice(NAMES[:6]), " = ", dice.choice(VALUES), dice.choice(["\n", "\n", "\n", "\n\n"])]
    if dice.random() < 0.2:
        parts.pop()
    return "".join(parts)


def _ours(text: str) -> dict[str, object]:
    try:
        found = list(read_ads(text, Format.LONG, ReadMode.DAEMON))
    except ClassAdSyntaxError:
        return {"error": ""}
    ads = [{name: str(ad[name]) for name in sorted(ad, key=attribute_order)} for ad in found]
    return {"ads": ads, "old": [ad.print(Format.LONG) for ad in found]}


@pytest.mark.skipif(importlib.util.find_spec("htcondor2") is None, reason="HTCondor's bindings exist for Linux only")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_texts_give_the_same_ads(seed: int) -> None:
    """The same ads with the same attributes and the same ``-long`` text, or an error on both sides."""
    dice = random.Random(seed)  # noqa: S311 - test data
    texts = [_text(dice) for _ in range(CASES)]
    for text, recorded in zip(texts, answers(texts, PEER), strict=True):
        if "skip" not in recorded:
            assert _ours(text) == recorded, repr(text)


PEER_EVENT_LOG = Path(__file__).with_name("event_log_peer.py")
LOGS = Path(__file__).parents[1] / "golden" / "queue_logs" / "user_logs"
Read = list[tuple[int, int, int, int, dict[str, object]]]


def read_by_htcondor(path: Path) -> Read:
    """Return what the library finds in a log."""
    environment = {**os.environ, "CONDOR_CONFIG": "/dev/null", "TZ": "UTC"}
    ended = subprocess.run(
        [sys.executable, str(PEER_EVENT_LOG), str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env=environment,
    )
    return [(kind, cluster, proc, int(time), values) for kind, cluster, proc, time, values in json.loads(ended.stdout)]


def test_the_log_of_a_simulated_job_is_read(tmp_path: Path) -> None:
    """All kinds of events that a world tells, with their reasons and codes."""
    seen = Seen("cron_minute = 0\non_exit_remove = NumJobStarts >= 2").at(3610)
    pool, job = seen.pool, seen.jobs[0]
    pool.suspend(job)
    seen.at(3700)
    pool.resume(job)
    seen.at(3800)
    pool.hold(job, Hold("via condor_hold (by user alice)\n...\n005 (001.000.000) forged"))
    pool.release(job, "via condor_release (by user alice)")
    seen.at(7300)
    other = Seen("cron_minute = 0\non_exit_remove = false").at(3605)
    other.pool.vacate(other.jobs[0])
    other.pool.remove(other.jobs[0], "via condor_rm (by user alice)")
    written = [event for happening in (*seen.happened, *other.happened) for event in events(happening)]
    path = tmp_path / "job.log"
    path.write_text("".join(map(write_event, written)), encoding="utf-8")
    found = read_by_htcondor(path)
    assert [(kind, cluster, proc, time) for kind, cluster, proc, time, _ in found] == [
        (event.number, event.cluster, event.proc, event.time) for event in written
    ]
    assert {kind for kind, *_ in found} == {0, 1, 4, 5, 9, 10, 11, 12, 13, 40}
    held = next(values for kind, _, _, _, values in found if kind == 12)
    assert (held["HoldReasonCode"], held["HoldReasonSubCode"]) == (1, 0)
    assert str(held["HoldReason"]).startswith("via condor_hold (by user alice)")
    requeued = next(values for kind, _, _, _, values in found if kind == 4)
    assert requeued["TerminatedAndRequeued"] is True
    assert found[0][3] == NOW


@pytest.mark.parametrize("name", ["event_text.log", "event_router.log", "event_xml.log", "event_json.log"])
def test_recorded_logs_are_read_alike(name: str) -> None:
    """Number, job and time of each event, and every attribute that crondor takes from it."""
    ours = list(read_events((LOGS / name).read_text(encoding="utf-8"), name=name))
    theirs = read_by_htcondor(LOGS / name)
    assert [(e.number, e.cluster, e.proc, int(e.time)) for e in ours] == [found[:4] for found in theirs]
    for event, (_, _, _, _, values) in zip(ours, theirs, strict=True):
        known = {key: value for key, value in event.attributes.items() if key in values}
        assert known == {key: values[key] for key in known}, event
        if event.head:  # the library drops some of what an ad has
            assert event.attributes.keys() - values.keys() <= {"ExecuteProps"}, event
