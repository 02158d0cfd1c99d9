"""A job_queue.log as large pools have it, of any number of jobs, the same for the same arguments.

Six of ten jobs stand in a compacted beginning, whose ads are in no order; the others are submitted, run, edited and
removed after it. A fifth of the jobs have a cluster of their own, the others share clusters of up to a thousand; a
job and its cluster have 55 to 65 attributes together. One job of a hundred is a crontab job, by what its cluster has.

``python -m benchmarks.queue_logs 1000000 > job_queue.log`` writes one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

_OWNERS: Final = 40
_BORN: Final = 1_795_000_000
_CRONTAB: Final = 100  # one job of so many, in clusters of no more than fifty
_MOST_CRONTAB: Final = 50
_LONE: Final = 5  # one job of so many has a cluster of its own
_SIZES: Final = (2, 10, 50, 200, 1000)
_STATES: Final = (1, 1, 1, 2, 5)
_COMPACTED: Final = 0.6  # of the clusters

_CLUSTER: Final = """ClusterId {cluster}
In "/dev/null"
Cmd "/home/{owner}/bin/analyse-{kind}"
Err "err/{cluster}.$(Process)"
Iwd "/home/{owner}/runs/{kind}"
Out "out/{cluster}.$(Process)"
Args "--chunk {kind} --seed {seed} --out result.{cluster}.h5"
Note "two words \\\\"of {owner}\\\\""
Rank 0.0
User "{owner}@example.org"
Owner "{owner}"
QDate {time}
MyType "Job"
JobPrio {prio}
UserLog "/home/{owner}/logs/{cluster}.log"
MaxHosts 1
MinHosts 1
NumCkpts 0
DiskUsage {disk}
ImageSize {disk}
ExitStatus 0
TargetType "Machine"
TransferIn false
Environment "SEED={seed} OMP_NUM_THREADS=1"
JobUniverse 5
NumRestarts 0
RequestCpus 1
RequestDisk MAX({{ 1024,(TransferInputSizeMB + 1) * 1.25 }}) * 1024
CurrentHosts 0
ExitBySignal false
NumJobStarts 0
OnExitRemove {leaves}
RemoteSysCpu 0.0
Requirements (TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX") && (TARGET.Disk >= RequestDisk) && \
(TARGET.Memory >= RequestMemory) && (TARGET.HasFileTransfer)
CommittedTime 0
CondorVersion "$CondorVersion: 25.14.0 2026-11-20 $"
RemoteUserCpu 0.0
RequestMemory {memory}
CondorPlatform "$CondorPlatform: X86_64-Debian_12 $"
ExecutableSize 45
NumSystemHolds 0
JobNotification 0
JobSubmitMethod 0
LeaveJobInQueue false
JobLeaseDuration 2400
TotalSubmitProcs {size}
TotalSuspensions 0
CumulativeSlotTime 0
LastSuspensionTime 0
RemoteWallClockTime 0.0
ShouldTransferFiles "IF_NEEDED"
WhenToTransferOutput "ON_EXIT"
"""
_CRON: Final = """CronHour "{hour}"
CronMinute "{minute}"
DeferralTime {due}
DeferralWindow 600
ScheddInterval 60
DeferralPrepTime 300
"""


def lone_job(number: int, *, is_crontab: bool) -> str:
    """Return the records of an idle job that is alone in its cluster."""
    random = _Random(number)
    parts = _compacted(_Cluster(number, 1, is_crontab), random)
    return re.sub("(?m)^(103 .* JobStatus) [0-9]$", r"\1 1", "".join(parts))


class _Random:
    """A linear congruential generator, so that no version of Python changes the log."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def __call__(self, below: int) -> int:
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        return (self.state >> 33) % below


class _Cluster(NamedTuple):
    number: int
    size: int
    is_crontab: bool


def large_log(jobs: int, seed: int = 1) -> Iterator[str]:
    """Yield pieces of a log that leaves about so many jobs; each ends with a line end."""
    random = _Random(seed)
    clusters = _clusters(jobs, random)
    there = int(len(clusters) * _COMPACTED)
    yield "107 7 CreationTimestamp 1700000000\n"
    yield f"101 0.0 Job Machine\n103 0.0 NextClusterNum {there + 1}\n"
    for cluster in _scattered(clusters[:there]):
        yield from _compacted(cluster, random)
    steps = _Steps([cluster.number for cluster in clusters[:there] if cluster.size == 1], random)
    for cluster in clusters[there:]:
        yield _submitted(cluster, random)
        yield from steps.behind(cluster)


def _clusters(jobs: int, random: _Random) -> list[_Cluster]:
    """Return the clusters in order: as many jobs alone as one of ``_LONE``."""
    found: list[_Cluster] = []
    shared = alone = crontab = 0
    while shared + alone < jobs:
        size = 1 if alone * _LONE <= shared + alone else min(_SIZES[random(len(_SIZES))], jobs - shared - alone)
        is_crontab = crontab * _CRONTAB <= shared + alone and size <= _MOST_CRONTAB
        found.append(_Cluster(len(found) + 1, size, is_crontab))
        crontab += size if is_crontab else 0
        if size == 1:
            alone += 1
        else:
            shared += size
    return found


def _scattered(clusters: list[_Cluster]) -> list[_Cluster]:
    """Return clusters in an order like that of a hash table."""
    return sorted(clusters, key=lambda cluster: cluster.number * 2_654_435_761 % 2**32)


def _texts(cluster: _Cluster, random: _Random) -> str:
    """Return the attributes of a cluster's ad as lines without their keys."""
    number, size, is_crontab = cluster
    text = _CLUSTER.format(
        cluster=number, size=size, owner=f"user{random(_OWNERS)}", kind=number % 300, seed=random(10**9),
        time=_BORN + number, prio=random(20), disk=random(10**6), memory=128 * (1 + random(64)),
        leaves="false" if is_crontab else "true",
    )  # fmt: skip
    if is_crontab:
        text += _CRON.format(hour=random(24), minute=random(60), due=1_795_200_000 + 60 * random(1440))
    return text


def _keyed(key: str, text: str) -> str:
    """Return lines of attributes as records of an ad."""
    return f"103 {key} " + text[:-1].replace("\n", f"\n103 {key} ") + "\n"


def _compacted(cluster: _Cluster, random: _Random) -> Iterator[str]:
    """Yield the ads of a cluster as a compaction writes them, some jobs before the cluster itself."""
    number, size, _ = cluster
    key = f"0{number}.-1"
    parent = (
        f"101 {key} Job Machine\n{_keyed(key, _texts(cluster, random))}"
        f'101 {number}.-2 ClusterPvt (empty)\n103 {number}.-2 MyType "ClusterPvt"\n'
    )
    early = random(3)
    for at in range(size):
        if at == early:
            yield parent
        proc = size - 1 - at
        job = f"{number}.{proc}"
        time = _BORN + random(200_000)
        status = _STATES[random(len(_STATES))]
        held = f'HoldReason "via condor_hold (by user {number % _OWNERS})"\nHoldReasonCode 1\n' if status == 5 else ""
        runs = f'RemoteHost "slot1_{proc}@node{random(999)}.example.org"\n' if status == 2 else ""
        yield f"101 {job} Job Machine\n" + _keyed(
            job,
            f'MyType "Job"\nProcId {proc}\nJobStatus {status}\nTargetType "Machine"\n'
            f"{_global_id(number, proc)}\n{held}{runs}EnteredCurrentStatus {time}\n"
            f"NumJobStarts {random(4)}\nImageSize {random(10**6)}\nDiskUsage 45\n",
        )
    if early >= size:
        yield parent


def _global_id(number: int, proc: int) -> str:
    return f'GlobalJobId "schedd.example.org#{number}.{proc}#{_BORN + number}"'


def _submitted(cluster: _Cluster, random: _Random) -> str:
    """Return the transaction in which condor_submit makes a cluster."""
    number, size, _ = cluster
    key = f"0{number}.-1"
    parts = [f"105 \n103 0.0 NextClusterNum {number + 1}\n101 {key} Job Machine\n101 {number}.-2 ClusterPvt (empty)\n"]
    parts += [f"101 {number}.0 Job Machine\n103 {number}.0 {_global_id(number, 0)}\n"]
    parts += [_keyed(key, _texts(cluster, random)), f"103 {number}.0 ProcId 0\n"]
    for proc in range(1, size):
        job = f"{number}.{proc}"
        parts.append(f"101 {job} Job Machine\n103 {job} {_global_id(number, proc)}\n103 {job} ProcId {proc}\n")
    parts += [
        f"104 {number}.{proc} JobPreparingTasks\n103 {number}.{proc} JobStatus 1\n"
        f"103 {number}.{proc} EnteredCurrentStatus {_BORN + number}\n"
        for proc in range(size)
    ]
    return "".join([*parts, "106 \n"])


class _Steps:
    """What becomes of jobs that are there: they run, are held, edited, and leave."""

    def __init__(self, lone: list[int], random: _Random) -> None:
        self._lone = lone
        self._random = random

    def behind(self, cluster: _Cluster) -> Iterator[str]:
        """Yield what happens after the submission of a cluster: to its own jobs and to others."""
        number, size, is_crontab = cluster
        random = self._random
        time = _BORN + 300_000 + number
        for proc in range(0, size, 4):  # a quarter of them run
            job = f"{number}.{proc}"
            host = f'"slot1_{random(64)}@node{random(999)}.example.org"'
            yield (
                f"105 \n103 {job} JobStatus 2\n103 {job} EnteredCurrentStatus {time}\n103 {job} RemoteHost {host}\n"
                f"103 {job} NumJobStarts 1\n103 {job} LastJobStatus 1\n106 \n103 {job} ImageSize {random(10**6)}\n"
            )
            if proc % 8 == 0:
                yield (
                    f"105 \n103 {job} JobStatus 1\n103 {job} LastJobStatus 2\n104 {job} RemoteHost\n"
                    f"103 {job} EnteredCurrentStatus {time + 9}\n106 \n"
                )
        if is_crontab:
            yield f'105 \n103 {number}.0 CronHour "{random(24)}"\n106 #condor_qedit\n'
        if size == 1:
            self._lone.append(number)
        if random(4) == 0 and self._lone:  # one leaves, and another cluster comes and goes
            at = random(len(self._lone))
            gone, self._lone[at] = self._lone[at], self._lone[-1]
            self._lone.pop()
            yield f"105 \n103 {gone}.0 JobStatus 4\n106 \n"
            yield f"105 \n102 {gone}.0\n102 0{gone}.-1\n102 {gone}.-2\n106 #done\n"


def main() -> None:
    """Write a log to standard output."""
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    for piece in large_log(jobs):
        sys.stdout.write(piece)


if __name__ == "__main__":
    main()
