"""The ads that condor_submit sends to the schedd: those of a submit file, with what each job has.

HTCondor: SubmitHash::init_base_ad and fold_job_into_base_ad (src/condor_utils/submit_utils.cpp). The first job's ad
goes into the cluster's; a job's own ad has only what differs from it, beside ProcId and JobStatus.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.hold_codes import HOLD_CODES
from crondor.job.attributes import exact_integer, printed
from crondor.job.expressions import NEW_JOB
from crondor.submit import JobGroup
from crondor.submit.ad import JobAd

_OF_JOB: Final = ("ProcId", "JobStatus")


class Submitter(NamedTuple):
    """Who submits: the account ``owner`` of ``domain`` (UID_DOMAIN), at ``now`` (epoch seconds)."""

    owner: str
    domain: str
    now: int


class SentJob(NamedTuple):
    """An ad as it is sent: ``ad`` has what the job has itself, its parent is the cluster's.

    ``jobs`` are the jobs that have it in common but for ProcId, which is the first one's.
    """

    jobs: JobGroup
    ad: ClassAd

    def each(self) -> Iterator[ClassAd]:
        """Yield an ad for each of the jobs."""
        first = int(self.ad.text("ProcId"))
        for number in range(self.jobs.count):
            made = self.ad.copy()
            made.set("ProcId", first + number)
            yield made


def sent_jobs(made: Iterable[JobAd], submitter: Submitter, count: int) -> Iterator[SentJob]:
    """Yield the ads of one cluster, as job_ads() makes them, as they are sent; ``count`` is how many jobs there are.

    Jobs that are made late have one ad, the cluster's, which the schedd transforms as if it were that of job 0.
    """
    cluster: ClassAd | None = None
    for jobs, ad in made:
        whole = _complete(ad, submitter)
        if cluster is None:
            cluster = whole.copy()
            cluster.prune("ProcId")
            cluster.set("TotalSubmitProcs", count)
        job = ClassAd().chain(cluster)
        if "ProcId" not in ad:
            job.set("ProcId", 0)
            job.set("JobStatus", 1)
            job.set("JobFactoryId", int(ad.text("ClusterId")))
            yield SentJob(replace(jobs, count=1), job)
            continue
        for name in _OF_JOB:
            job.put(name, whole.codes[name.lower()])
        whole.set("TotalSubmitProcs", count)
        for key, name in whole.names.items():
            if key not in cluster.codes or printed(cluster, name) != printed(whole, name):
                job.put(name, whole.codes[key])
        for key, name in cluster.names.items():
            if key not in whole.codes:
                job.put(name, "undefined")
        yield SentJob(jobs, job)


def _complete(ad: ClassAd, submitter: Submitter) -> ClassAd:
    """Return an ad with what condor_submit puts into every job, and what the schedd does as soon as it has it."""
    made = ClassAd(NEW_JOB)
    made.prune("CompletionDate")  # condor_submit writes it, and a schedd does not store it
    for name, value in (
        ("QDate", submitter.now),
        ("EnteredCurrentStatus", submitter.now),
        ("JobSubmitMethod", 0),
    ):
        made.set(name, value)
    for key, name in ad.names.items():
        made.put(name, ad.codes[key])
    code = exact_integer(ad, "HoldReasonCode")
    if code is not None:
        made.set("NumHolds", 1)
        made.set("NumHoldsByReason", {HOLD_CODES.get(code, HOLD_CODES[0]): 1})
    for name, account in (("Owner", submitter.owner), ("User", f"{submitter.owner}@{submitter.domain}")):
        if name not in ad or printed(ad, name) == "undefined":
            made.set(name, account)
    return made
