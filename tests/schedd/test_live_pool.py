"""The live adapter and a real pool: collected only where CRONDOR_TEST_POOL is set (tests/schedd/conftest.py).

Its value is the collector's address, or ``local``. The test submits one job that is held from the beginning, works on
it and removes it; nothing runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from crondor.classad.ad import ClassAd
from crondor.job_queue import JobId
from crondor.queued import JobStatus, QueuedJob
from crondor.schedd.live import LiveSchedd
from crondor.schedd.protocol import Acted, Hold

LATER = 4_102_444_800  # 2100-01-01


@pytest.fixture
def pool() -> Iterator[LiveSchedd]:
    """The schedd of the pool."""
    named = os.environ["CRONDOR_TEST_POOL"]
    with LiveSchedd(pool=None if named == "local" else named) as schedd:
        yield schedd


@pytest.fixture
def job(pool: LiveSchedd) -> Iterator[JobId]:
    """A held job, removed in the end."""
    ad = ClassAd({"Cmd": "/bin/true", "JobStatus": 5, "CronMinute": "0", "DeferralTime": LATER, "CrondorTest": 'a "b"'})
    (made,) = pool.submit([ad])
    yield made
    pool.remove(made, "end of a test")


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
