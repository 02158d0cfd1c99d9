"""Submit descriptions: what a file asks for, read without running or guessing anything.

``read_submit(source)`` reads one; files are opened only where the caller hands over ``Files``. ``job_ads(file)`` makes
the ads of its jobs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from crondor._types import expect
from crondor.submit.facts import InvalidSubmit, SubmitHost
from crondor.submit.file import LIMIT, SubmitFile
from crondor.submit.jobs import JobGroup, Origin, QueuedItems
from crondor.submit.reader import UnreadableLines, read_submit

if TYPE_CHECKING:
    from crondor.submit.ad import JobAd

__all__ = [
    "InvalidSubmit",
    "JobGroup",
    "Origin",
    "QueuedItems",
    "SubmitFile",
    "SubmitHost",
    "UnreadableLines",
    "job_ads",
    "read_submit",
]


def job_ads(
    file: SubmitFile,
    *,
    config: Mapping[str, str] | None = None,
    in_order: bool = False,
    limit: int = LIMIT,
    cluster: int = 1,
    factory: bool = False,
    used: set[str] | None = None,
) -> Iterator[JobAd]:
    """Yield the job ads that condor_submit 25.14 would send, each with the group of jobs that have it in common.

    An ad has every attribute that depends on the file; what each job has (counters, QDate), and what only the submit
    machine can know (sizes of files, the owner), is not in it. The facts behind Requirements' defaults and the folder
    of relative file names are the file's ``host``; ``config`` has the knobs of the configuration that condor_submit
    looks at, by name. All jobs are of one ``cluster``, whose first job decides what is not set anew for those behind
    it, as in HTCondor. ``factory`` has them all made late, as condor_submit -factory has it; one ad, the cluster's,
    then stands for them. ``in_order`` keeps jobs apart that are equal and not neighbours; ``limit`` is that of
    SubmitFile.groups(). A set ``used`` is filled with the lower-case names that condor_submit looks up and finds:
    commands, and the macros that their values are made of.
    Raises InvalidSubmit, once all jobs were looked at, with all faults; the ads before the first faulty job are
    yielded.
    """
    expect("file", file, SubmitFile, "a SubmitFile", "write read_submit(Source(text))")
    from crondor.submit.ad import job_ads as make  # noqa: PLC0415 - 40 ms, and most who read a file need no ads

    return make(file, config=config, in_order=in_order, limit=limit, cluster=cluster, factory=factory, used=used)
