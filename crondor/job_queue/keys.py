"""What the ads of a job queue are called: jobs, the clusters they belong to, and everything else the schedd keeps.

The spelling is HTCondor 25.14's (``JOB_ID_KEY``): a cluster ad is ``0<cluster>.-1``, with a leading zero.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

HEADER: Final = "0.0"
"""The ad that belongs to the queue itself; it holds NextClusterNum."""

_KEY: Final = re.compile(r"(-?[0-9]{1,10})\.(-?[0-9]{1,10})\Z").match
_JOB: Final = re.compile(r"([1-9][0-9]{0,9})\.(0|[1-9][0-9]{0,9})\Z").match
_CLUSTER_PROC: Final = -1
_MAX: Final = (1 << 31) - 1


class JobId(NamedTuple):
    """A job's number: that of its cluster, from 1, and its own in there, from 0."""

    cluster: int
    proc: int

    def __str__(self) -> str:
        """Return ``cluster.proc``, which is also the key of its ad."""
        return f"{self.cluster}.{self.proc}"

    @classmethod
    def parse(cls, text: str) -> JobId | None:
        """Return the job that a key in canonical spelling stands for; None if it is no job's."""
        match = _JOB(text)
        return None if match is None else cls(int(match[1]), int(match[2]))


def cluster_key(cluster: int) -> str:
    """Return the key of a cluster's ad."""
    return f"0{cluster}.{_CLUSTER_PROC}"


def cluster_of(key: str) -> int | None:
    """Return the cluster whose ad a key in canonical spelling stands for; None if it is no cluster's."""
    match = _KEY(key)
    if match is None or int(match[2]) != _CLUSTER_PROC or int(match[1]) <= 0:
        return None
    return int(match[1])


def is_key(key: str) -> bool:
    """Say whether a key is two numbers that HTCondor can hold; what is none it takes for ``0.0`` or another ad's."""
    match = _KEY(key)
    return match is not None and abs(int(match[1])) <= _MAX and abs(int(match[2])) <= _MAX


def canonical(key: str) -> str:
    """Return the one spelling of a key: the schedd compares the numbers, so ``1.-1`` is ``01.-1``."""
    match = _KEY(key)
    if match is None:
        return key
    cluster, second = int(match[1]), int(match[2])
    return cluster_key(cluster) if second == _CLUSTER_PROC and cluster > 0 else f"{cluster}.{second}"
