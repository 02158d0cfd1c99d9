"""The queue of a pool on disk: what the pool writes into a job is durable before anything follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crondor.classad.ad import ClassAd
from crondor.job.attributes import int32
from crondor.job.status import ON_MACHINE
from crondor.job_queue import JobId, cluster_key
from crondor.pool.daemons.pool_job import PoolJob
from crondor.pool.daemons.schedd import ScheddQueue
from crondor.schedd.embedded import EmbeddedSchedd

TOKEN: Final = "CrondorRunToken"  # noqa: S105 - a name
"""The attribute that names the program of a job's run, from before its start until the job is no longer running."""


class KeptQueue(ScheddQueue):
    """The queue of an EmbeddedSchedd; ``ads`` are those of the jobs that ``take`` was called for."""

    def __init__(self, schedd: EmbeddedSchedd) -> None:
        """Take a queue that is open for writing."""
        self.embedded = schedd
        self.ads: dict[JobId, ClassAd] = {}
        self.followers = []
        self.mirror = schedd.mirror
        self.book = schedd.book

    def take(self, job: JobId) -> ClassAd:
        """Return the ad of a job in the queue, whole."""
        mirror = self.mirror
        parent = mirror.ads.get(cluster_key(job.cluster), {})
        ad = self.ads[job] = mirror.make_ad(mirror.key(job), {**parent, **mirror.own(job)})
        return ad

    def new_cluster(self) -> int:
        """Return the number of the next cluster."""
        return self.embedded.next_cluster

    def enter(self, job: JobId, ad: ClassAd) -> None:
        """Refuse: jobs come into the queue all at once, by EmbeddedSchedd.submit."""
        raise NotImplementedError(
            f"job {job} is submitted to the EmbeddedSchedd, and then taken ({len(ad)} attributes)"
        )

    def write(self, job: JobId, values: Mapping[str, object]) -> None:
        """Set attributes of a job, on the disk when it returns; the token goes with the status it belongs to."""
        ad, status = self.ads[job], values.get("JobStatus")
        stays = status is None or (status in ON_MACHINE and int32(ad, "JobStatus") in ON_MACHINE)
        if not stays and TOKEN in ad and TOKEN not in values:
            values = {**values, TOKEN: None}
        self.embedded.write(job, values)
        for name, value in values.items():
            if value is None:
                ad.pop(name, None)
            else:
                ad.set(name, value)

    def count(self, job: PoolJob, numbers: Mapping[str, int]) -> None:
        """Set attributes of a run as ``write`` does it."""
        self.write(job.id, numbers)

    def plan(self, job: PoolJob, time: int) -> None:
        """Set a DeferralTime as ``write`` does it."""
        self.write(job.id, {"DeferralTime": time})

    def leave(self, job: JobId) -> None:
        """Move a job to the history, unless it is to stay in the queue."""
        self.embedded.leave(job)
        del self.ads[job]
