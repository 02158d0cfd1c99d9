"""Ads of jobs from anywhere (condor_q, a file, a live schedd) as a queue in memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from crondor.classad import ClassAdSyntaxError, Expression
from crondor.classad.ad import ClassAd, Place
from crondor.classad.formats.pieces import Report
from crondor.classad.printing import Format
from crondor.job.attributes import expression, int32, int32_of, job_numbers, plain, string
from crondor.job_queue.keys import JobId
from crondor.job_queue.mirror import Mirror, RecordOutcome
from crondor.job_queue.records import Op, Record
from crondor.source import Source

_MOST: Final = 10**10


def job_id(ad: ClassAd) -> JobId | None:
    """Return the number of an ad's job; None where ClusterId and ProcId are none that a job has."""
    cluster, proc = job_numbers(ad) or (0, 0)
    return JobId(cluster, proc) if 0 < cluster < _MOST and 0 <= proc < _MOST else None


def int32_in(mirror: Mirror, job: JobId, name: str) -> int | None:
    """Return what ``attributes.int32`` reads in a job of a queue; most are plain integers, which need no ad."""
    text = mirror.text(job, name)
    number = None if text is None else plain(text)
    return int32_of(number) if number is not None else int32(mirror.ad(job), name)


def owner_of(ad: ClassAd) -> str:
    """Return whose job an ad is, as a name of this machine; empty where it does not say.

    It is Owner, which schedds set themselves and let nobody change. An OsUser in a job's ad is not looked at: that of
    HTCondor 25 is in the user's record, and a schedd before that takes the attribute from any submit file.
    """
    return string(ad, "Owner") or ""


def mirror_of(ads: Iterable[ClassAd], report: Report | None = None) -> Mirror:
    """Return a queue of ads; those that are no job's are left out, and of two of one job the later one counts.

    ``report`` is called with what is wrong with a job that no queue can hold, since an attribute of it is no
    expression; it is left out. Without it that raises ClassAdSyntaxError.
    """
    mirror = Mirror()
    for ad in ads:
        job = job_id(ad)
        if job is None:
            continue
        try:
            lines = ad.print(Format.LONG).split("\n")
        except ClassAdSyntaxError as error:
            placed = _placed(error, ad, job)
            if report is None:
                raise placed from None
            report(placed.diagnostics[0])
            continue
        key = str(job)
        if key in mirror.ads:
            mirror.apply(Record(Op.DESTROY, key))
        if mirror.apply(Record(Op.NEW, key, "Job")) is RecordOutcome.DONE:
            _fill(mirror, key, lines)
    mirror.settle()
    return mirror


def _fill(mirror: Mirror, key: str, lines: Iterable[str]) -> None:
    """Put the lines of an ad into a queue that notes no changes; a record each would cost several times as much."""
    texts, low_of, values = mirror.ads[key], mirror.ads.low_of, mirror.values
    for line in lines:
        name, equals, text = line.partition(" = ")
        if equals:
            texts[low_of(key, texts, name)] = values[text]


def _placed(error: ClassAdSyntaxError, ad: ClassAd, job: JobId) -> ClassAdSyntaxError:
    """Return an error of an ad's printing with the job and the attribute it is about."""
    name = next((name for name in ad if expression(ad, name) is None), None)
    if name is None:
        return error
    place = ad.place or Place("<ad>", 1)
    try:
        Expression.parse(Source(ad.text(name), f"{place.name}:{place.line}: job {job}, {name}"))
    except ClassAdSyntaxError as placed:
        return placed
    return error
