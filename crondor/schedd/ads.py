"""Ads of jobs from anywhere (condor_q, a file, a live schedd) as a queue in memory."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from crondor.classad.ad import ClassAd
from crondor.classad.printing import Format
from crondor.diagnostics import CrondorError
from crondor.job_queue.keys import JobId
from crondor.job_queue.mirror import Mirror
from crondor.job_queue.records import Op, Record

_CLUSTER: Final = re.compile(r"[1-9][0-9]{0,9}").fullmatch
_PROC: Final = re.compile(r"0|[1-9][0-9]{0,9}").fullmatch


def job_id(ad: ClassAd) -> JobId | None:
    """Return the number of an ad's job; None where ClusterId and ProcId are none."""
    codes = ad.codes
    texts = codes.get("clusterid"), codes.get("procid")
    if isinstance(texts[0], str) and isinstance(texts[1], str) and _CLUSTER(texts[0]) and _PROC(texts[1]):
        return JobId(int(texts[0]), int(texts[1]))
    try:
        cluster, proc = ad.value("ClusterId"), ad.value("ProcId")
    except CrondorError:
        return None
    if not isinstance(cluster, int) or not isinstance(proc, int):
        return None
    return JobId.parse(f"{int(cluster)}.{int(proc)}")


def mirror_of(ads: Iterable[ClassAd]) -> Mirror:
    """Return a queue of ads; those that are no job's are left out, and of two of one job the later one counts.

    Raises ClassAdSyntaxError.
    """
    mirror = Mirror()
    for ad in ads:
        job = job_id(ad)
        if job is None:
            continue
        key = str(job)
        if key in mirror.ads:
            mirror.apply(Record(Op.DESTROY, key))
        mirror.apply(Record(Op.NEW, key, "Job"))
        for line in ad.print(Format.LONG).split("\n"):
            name, equals, text = line.partition(" = ")
            if equals:
                mirror.apply(Record(Op.SET, key, name, text))
    mirror.settle()
    return mirror
