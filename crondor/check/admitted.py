"""What an access point makes of the jobs of a description, found out once for all rules that ask.

The engine takes a while to load: this is imported where there is an access point to ask about.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from crondor.access_point import AccessPoint, Admission, Submitter, Verdict, sent_jobs
from crondor.check.made import spellings
from crondor.diagnostics import Diagnostic
from crondor.source import Span
from crondor.submit import InvalidSubmit, JobGroup, SubmitFile, job_ads

_MOST_JOBS: Final = 50  # looked at one by one


class AdmittedJob(NamedTuple):
    """Jobs that are alike, and what becomes of the first."""

    jobs: JobGroup
    admission: Admission

    def place(self, *attributes: str) -> Span | None:
        """Return where the first of some attributes is set in the description, else the queue statement."""
        for attribute in attributes:
            for name in spellings(attribute):
                if name in self.jobs.spans:
                    return self.jobs.spans[name]
        return self.jobs.queue


class Admitted(NamedTuple):
    """All jobs, what condor_submit refuses, and what refuses their number."""

    jobs: tuple[AdmittedJob, ...] = ()
    faults: tuple[Diagnostic, ...] = ()
    limit: Verdict | None = None


def admitted(submit: SubmitFile, access_point: AccessPoint, now: int) -> Admitted:
    """Return what becomes of the jobs of a description that is submitted at ``now`` (epoch seconds)."""
    limit = access_point.too_many(submit)
    found: list[AdmittedJob] = []
    host, knobs = submit.host, access_point.submit_knobs
    who = Submitter(host.user, knobs.get("uid_domain") or host.uid_domain, now)
    try:
        made = job_ads(submit, config=knobs, limit=_MOST_JOBS + len(submit.queues))
        for sent in sent_jobs(made, who, submit.job_count):
            found.append(AdmittedJob(sent.jobs, access_point.admit(sent.ad)))
            if len(found) >= _MOST_JOBS:
                break
    except InvalidSubmit as error:
        return Admitted(tuple(found), error.diagnostics, limit)
    return Admitted(tuple(found), (), limit)
