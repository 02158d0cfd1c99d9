"""The ClassAd engine and its readers against HTCondor's own library, round by round in one run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from statistics import median
from typing import NamedTuple

from benchmarks.classad_ads import ADS, FEW, read_some, rewrite, texts
from benchmarks.classad_peer import LOOPS, Peer, one_round
from crondor.classad import AdValue, Context, Expression, lower, parse_expression, symmetric_match
from crondor.diagnostics import Source

NOW = 1_700_000_000
REQUIREMENTS = (
    '(TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX") && '
    '(versionGE(split(TARGET.CondorVersion)[1],"25.12.0") || (TARGET.Disk >= RequestDisk)) && '
    "(TARGET.Memory >= RequestMemory) && "
    "((TARGET.FileSystemDomain == MY.FileSystemDomain) || (TARGET.HasFileTransfer)) && TARGET.HasJobDeferral && "
    "(((time() + ScheddInterval) >= (DeferralTime - DeferralPrepTime)) && (time() < (DeferralTime + DeferralWindow)))"
)
JOB = {
    "RequestDisk": "DiskUsage",
    "DiskUsage": "100",
    "RequestMemory": "ifThenElse(MemoryUsage isnt undefined,MemoryUsage,( ImageSize + 1023 ) / 1024)",
    "ImageSize": "100",
    "FileSystemDomain": '"example.org"',
    "ScheddInterval": "300",
    "DeferralTime": "4000000000",
    "DeferralPrepTime": "4000000000",
    "DeferralWindow": "0",
    "Requirements": REQUIREMENTS,
}
MACHINE = {
    "Arch": '"X86_64"',
    "OpSys": '"LINUX"',
    "CondorVersion": '"$CondorVersion: 25.14.1 2026-09-01 $"',
    "Disk": "1000000",
    "Memory": "16000",
    "FileSystemDomain": '"node.example.org"',
    "HasFileTransfer": "true",
    "HasJobDeferral": "true",
    "Start": "true",
    "Requirements": "START && (TARGET.RequestMemory <= Memory) && (WithinResourceLimits =!= false)",
    **{f"Attribute{number}": str(number) for number in range(100)},
}
_ROUNDS = 15
_ROUNDS_REWRITE = 5  # of seconds each


class Case(NamedTuple):
    """One thing to measure: the peer's name for it, our work, how many items that is, and how many times its time."""

    name: str
    key: str
    work: Callable[[], object]
    items: int
    most: float


class Measured(NamedTuple):
    """Median microseconds of one item, ours and the library's (None where it is not installed).

    ``ratio`` is how many times the library's time ours is, the median over pairs of rounds: a slow moment of the
    machine slows both of a pair.
    """

    case: Case
    ours: float
    theirs: float | None
    ratio: float | None


def measured() -> Iterator[Measured | str]:
    """Yield why there is no peer, if there is none, and each case; a round of ours, a round of theirs, in turn."""
    ads = texts()
    inputs = peer_inputs(ads)
    with closing(Peer(inputs)) as peer:
        if peer.missing is not None:
            yield peer.missing
        for case in _cases(ads):
            ours, theirs = [], []
            for _ in range(_ROUNDS_REWRITE if case.key == "rewrite" else _ROUNDS):
                ours.append(one_round(case.work, LOOPS[case.key]) / case.items)
                if peer.missing is None:
                    theirs.append(peer.round(case.key))
            ratios = [our / their for our, their in zip(ours, theirs, strict=False)]
            yield Measured(case, median(ours), *((median(theirs), median(ratios)) if theirs else (None, None)))


def peer_inputs(ads: list[str]) -> dict[str, object]:
    """Return what the peer is given at its start."""
    return {"job": JOB, "machine": MACHINE, "text": REQUIREMENTS, "texts": ads, "few": FEW}


def _cases(ads: list[str]) -> Iterator[Case]:
    job, machine, context = _ad(JOB), _ad(MACHINE), Context(now=NOW)
    expression = Expression(REQUIREMENTS)
    if expression.evaluate(job, machine, context) is not True or not symmetric_match(job, machine, context):
        raise ValueError("the job and the machine do not match")
    number = len(MACHINE)
    yield Case(
        f"Requirements, machine of {number} attributes",
        "requirements",
        lambda: expression.evaluate(job, machine, context),
        1,
        2,
    )
    yield Case("symmetric match", "match", lambda: symmetric_match(job, machine, context), 1, 2)
    size = len(REQUIREMENTS)
    yield Case(f"{size} characters read for the first time", "parse", lambda: parse_expression(_SOURCE), 1, 25)
    yield Case("-long ad of 60, read lazily, 1 evaluated", "read", lambda: read_some(ads), FEW, 1)
    yield Case(f"{ADS:,} ads, -long to -long, 1 changed", "rewrite", lambda: rewrite(ads), ADS, 1)


_SOURCE = Source(REQUIREMENTS)


def _ad(given: dict[str, str]) -> AdValue:
    return AdValue({lower(name): text for name, text in given.items()}, {lower(name): name for name in given})
