"""The inputs and our work of the case with transforms: 20,000 ads of 60 attributes through ten commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from statistics import median
from typing import NamedTuple

from benchmarks.classad import peer_inputs
from benchmarks.classad_ads import ADS, texts
from benchmarks.classad_peer import Peer, one_round
from crondor.classad import ClassAd, Format, read_ads, write_ads
from crondor.transform import Transform, TransformFacts, transform_ads

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
MOST = 1.0  # times what the library takes to read and write alone
_ROUNDS = 5  # of seconds each
FACTS = TransformFacts()


def transformed(whole: str) -> str:
    """Return the ``-long`` text of all ads of a ``-long`` text after the transform."""
    transform = Transform.parse(RULES)
    return "".join(write_ads(_ads(transform, whole)))


def _ads(transform: Transform, whole: str) -> Iterator[ClassAd]:
    for outcome in transform_ads((transform,), read_ads(whole, Format.LONG), FACTS):
        if outcome.ad is not None:
            yield outcome.ad


class Measured(NamedTuple):
    """Median microseconds of an ad: ours, and the library's for reading and writing alone (None without it).

    ``ratio`` is how many times the library's time ours is, the median over pairs of rounds.
    """

    ours: float
    theirs: float | None
    ratio: float | None
    missing: str | None


def measured() -> Measured:
    """Time rounds of ours and of HTCondor's library in turn."""
    ads = texts()
    whole = "\n".join(ads)
    ours, theirs = [], []
    with closing(Peer(peer_inputs(ads))) as peer:
        for _ in range(_ROUNDS):
            ours.append(one_round(lambda: transformed(whole), 1) / ADS)
            if peer.missing is None:
                theirs.append(peer.round("copy"))
    ratios = [our / their for our, their in zip(ours, theirs, strict=False)]
    if not theirs:
        return Measured(median(ours), None, None, peer.missing)
    return Measured(median(ours), median(theirs), median(ratios), None)
