"""HTCondor's own library reads the user logs that crondor writes, and recorded ones as crondor reads them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crondor.event_log import read_events, write_event
from crondor.pool.daemons.events import events
from crondor.schedd.protocol import Hold
from tests.pool.pools import NOW, Seen

PEER = Path(__file__).with_name("event_log_peer.py")
LOGS = Path(__file__).parents[1] / "golden" / "queue_logs" / "user_logs"
Read = list[tuple[int, int, int, int, dict[str, object]]]


def read_by_htcondor(path: Path) -> Read:
    """Return what the library finds in a log."""
    environment = {**os.environ, "CONDOR_CONFIG": "/dev/null", "TZ": "UTC"}
    ended = subprocess.run(
        [sys.executable, str(PEER), str(path)], capture_output=True, text=True, check=True, timeout=120, env=environment
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
