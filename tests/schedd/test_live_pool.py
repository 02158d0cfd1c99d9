"""The live adapter and a real pool: collected only where CRONDOR_TEST_POOL is set (tests/schedd/conftest.py).

Its value is the collector's address, or ``local``; whoever runs the tests must be able to submit, and to name
attributes of his jobs. Held jobs are submitted, worked on and removed; three short ones run on a machine of the pool.
"""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crondor.classad import Expression
from crondor.classad.ad import ClassAd
from crondor.config import read_config
from crondor.job.attributes import JobStatus
from crondor.job.policy import QueuedJob
from crondor.job_queue import JobId
from crondor.router.daemon import Router, RouterEvent, RouterOptions
from crondor.router.daemon.log import LogEntry
from crondor.router.table.loading import load_table
from crondor.schedd.live import LiveSchedd
from crondor.schedd.protocol import Acted, Hold, Selection
from tests.schedd.ads_to_submit import ADS, ODD

LATER = 4_102_444_800  # 2100-01-01
PATIENCE = 240  # seconds; what takes longer hangs
STEP = 0.5
# What a schedd writes into every new job (HTCondor 23.9.6 and 25.14).
ITS_OWN = {
    "clusterid", "procid", "globaljobid", "servertime", "user", "owner", "ospool", "osuser", "mytype", "targettype",
    "qdate", "jobstatus", "jobuniverse", "enteredcurrentstatus", "totalsubmitprocs", "numprocs", "jobsetid",
    "numholds", "numholdsbyreason", "hasjobadinlog", "condorversion", "initialjobstatus",
}  # fmt: skip
ROUTES = """JOB_ROUTER_NAME = crondor_test
JOB_ROUTER_SOURCE_JOB_CONSTRAINT = CrondorTest =?= "source"
JOB_ROUTER_ROUTE_NAMES = Site1
JOB_ROUTER_ROUTE_Site1 @=end
  UNIVERSE vanilla
  SET Requirements true
@end
"""
SHOW = """#!/usr/bin/python3
import json, os, sys
names = ("T_A", "T_B", "T_C", "T_D")
print(json.dumps({"argv": sys.argv[1:], "env": {name: os.environ.get(name) for name in names}}))
"""


@pytest.fixture
def pool() -> Iterator[LiveSchedd]:
    """The schedd of the pool; what is left of a test's jobs is removed."""
    named = os.environ["CRONDOR_TEST_POOL"]
    with LiveSchedd(pool=None if named == "local" else named) as schedd:
        yield schedd
        mine = 'CrondorTest =!= undefined && Owner == "{}"'.format(os.environ["USER"])
        schedd.remove(mine, "end of a test")


@pytest.fixture
def job(pool: LiveSchedd) -> JobId:
    """A held job."""
    ad = ClassAd({"Cmd": "/bin/true", "JobStatus": 5, "CronMinute": "0", "DeferralTime": LATER, "CrondorTest": 'a "b"'})
    (made,) = pool.submit([ad])
    return made


def test_a_job_is_submitted_edited_held_and_removed(pool: LiveSchedd, job: JobId) -> None:
    """What the stand-in is taken to do, the real one does."""
    (ad,) = pool.jobs(job)
    assert (ad.python("CrondorTest"), QueuedJob(ad).status) == ('a "b"', JobStatus.HELD)
    assert pool.edit_if(job, "JobStatus == 5", {"CrondorTest": "edited", "DeferralTime": LATER + 60})
    assert not pool.edit_if(job, "JobStatus == 2", {"CrondorTest": "lost"})
    (ad,) = pool.jobs(job, ["CrondorTest", "DeferralTime"])
    assert (ad.python("CrondorTest"), ad.python("DeferralTime")) == ("edited", LATER + 60)
    assert pool.hold(job, Hold("again")) == Acted(done=1)  # it was submitted on hold, and is now held by its user
    assert pool.hold(job, Hold("once more")) == Acted(already=1)


def unlike(wanted: ClassAd, found: ClassAd) -> dict[str, tuple[str, str]]:
    """Return the attributes in which a job is not the ad that was submitted."""
    lost = {
        name: (wanted.text(name), found.text(name) if name in found else "")
        for name in wanted
        if name not in found or wanted[name] != found[name]
    }
    added = {
        name: ("", found.text(name))
        for low, name in found.names.items()
        if low not in wanted.names and low not in ITS_OWN and found.text(name) != "undefined"
    }
    return lost | added


@pytest.mark.parametrize("name", [*ADS, *ODD])
def test_an_ad_arrives_attribute_for_attribute(pool: LiveSchedd, name: str) -> None:
    """Of every kind; on hold, as here, or not makes no difference."""
    ad = ClassAd({"Cmd": "/bin/true", **{**ADS, **ODD}[name], "CrondorTest": "held", "JobStatus": 5})
    (made,) = pool.submit([ad])
    (found,) = pool.jobs(made)
    assert unlike(ad, found) == {}


@pytest.mark.parametrize("text", ["C:\\dir\\new", 'a "b"', "$(HOME) $ENV(HOME)", "\ttab", "é"])
def test_an_edit_and_a_constraint_are_what_was_meant(pool: LiveSchedd, job: JobId, text: str) -> None:
    """A schedd reads old syntax, where a backslash stands for itself."""
    assert pool.edit_if(job, "true", {"Note": text})
    asked = ClassAd({"Note": text})["Note"]
    (ad,) = pool.jobs(Selection(jobs=(job,), constraint=Expression(f"Note == {asked}")))
    assert ad.python("Note") == text
    assert pool.edit_if(job, f"Note == {asked}", {"Note": "done"})


def source(tmp_path: Path, name: str, **more: object) -> ClassAd:
    """Return a job that shows its arguments and its environment, and matches no machine before it is routed."""
    return ClassAd(
        {
            "Cmd": str(tmp_path / "show"), "Iwd": str(tmp_path), "Out": f"{name}.out", "Err": f"{name}.err",
            "JobUniverse": 5, "TransferExecutable": False, "ShouldTransferFiles": "NO", "Requirements": False,
            "RequestCpus": 1, "RequestMemory": 1, "RequestDisk": 1, "CrondorTest": "source", **more,
        }
    )  # fmt: skip


def test_a_routed_copy_runs_with_its_arguments_and_environment(pool: LiveSchedd, tmp_path: Path) -> None:
    """In both syntaxes, and where there are none: the program itself says so."""
    program = tmp_path / "show"
    program.write_text(SHOW)
    program.chmod(0o755)
    v1: dict[str, object] = {"Args": 'one "two" three', "Env": "T_A=1;T_B=x y;T_C=C:\\dir\\new", "EnvDelim": ";"}
    v2 = {
        "Arguments": "one 'two three' \"four\" 'it''s'",
        "Environment": "T_A=1 'T_B=x y' T_C=C:\\dir\\new T_D='it''s'",
    }
    made = pool.submit([source(tmp_path, "v1", **v1), source(tmp_path, "v2", **v2), source(tmp_path, "none")])
    said: list[LogEntry] = []
    clock = lambda: int(time.time())  # noqa: E731, TID251 - the pool's
    router = Router(load_table(read_config(ROUTES)), pool, clock=clock, options=RouterOptions(log=said.append))
    deadline = time.monotonic() + PATIENCE
    done: set[JobId] = set()
    while not set(made) <= done and time.monotonic() < deadline:
        assert router.poll()
        done = {found for found in made if not pool.jobs(found)}
        time.sleep(STEP)
    router.close()
    assert sum(entry.what is RouterEvent.SUBMITTED for entry in said) == len(made)
    found = {name: json.loads((tmp_path / f"{name}.out").read_text()) for name in ("v1", "v2", "none")}
    assert found["v1"] == {
        "argv": ["one", '"two"', "three"],
        "env": {"T_A": "1", "T_B": "x y", "T_C": "C:\\dir\\new", "T_D": None},
    }
    assert found["v2"] == {
        "argv": ["one", "two three", '"four"', "it's"],
        "env": {"T_A": "1", "T_B": "x y", "T_C": "C:\\dir\\new", "T_D": "it's"},
    }
    assert found["none"] == {"argv": [], "env": dict.fromkeys(("T_A", "T_B", "T_C", "T_D"))}
