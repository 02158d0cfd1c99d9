"""The inputs and our work of the case with transforms: 20,000 ads of 60 attributes through ten commands."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.classad_ads import texts
from crondor.classad import ClassAd, Format, read_ads, write_ads
from crondor.transform import Facts, Transform, transform_ads

RULES = """\
NAME bench
REQUIREMENTS JobUniverse == 5 && JobStatus == 1
site_queue = long
SET Managed "External"
DEFAULT Queue "$(site_queue)"
EVALSET MemoryUsed RequestCpus * 1024 + ImageSize
COPY Requirements OrigRequirements
RENAME LeaveJobInQueue WantsToStay
DELETE PeriodicHold
EVALMACRO mem RequestCpus * 2000
SET RequestMemory $(mem)
SET BatchName "$(MY.Owner)-$(MY.ClusterId)"
DELETE /^Attribute1[0-4]$/
"""
COMMANDS = 10
FACTS = Facts()


def transformed(whole: str) -> str:
    """Return the ``-long`` text of all ads of a ``-long`` text after the transform."""
    transform = Transform.parse(RULES)
    return "".join(write_ads(_ads(transform, whole)))


def _ads(transform: Transform, whole: str) -> Iterator[ClassAd]:
    for outcome in transform_ads((transform,), read_ads(whole, Format.LONG), FACTS):
        if outcome.ad is not None:
            yield outcome.ad


def inputs() -> str:
    """Return the ads as one text."""
    return "\n".join(texts())
