"""Ads as a large queue has them: 63 attributes, about half of them with a value that no other job has.

There are two further sets, in which 27 attributes change their type from job to job: ``types`` among literals, and
``expressions`` also to expressions and errors.
"""

from __future__ import annotations

import re

_QUEUED = 1_700_000_000
_NUMBERS = re.compile(
    "DiskUsage|ImageSize|RequestCpus|RequestDisk|JobPrio|NumJobStarts|Deferral(Window|PrepTime|Time)|ExecutableSize|"
    "CommittedTime|MaxHosts"
)
_TEXTS = re.compile("Args|Err|Out|Environment|TransferInput|Owner|AcctGroup|CronMinute|UserLog|ShouldTransferFiles")
_BOOLEANS = re.compile("ExitBySignal|TransferIn|WantRemoteIO|OnExitRemove|PeriodicRelease")


def texts(count: int) -> list[str]:
    """Return the ``-long`` texts of jobs, their attributes in the order in which condor_q prints them."""
    return [_text(number) for number in range(count)]


def types(count: int) -> list[str]:
    """Return the texts with literals of several types."""
    return [_changed(text, number, 5) for number, text in enumerate(texts(count))]


def expressions(count: int) -> list[str]:
    """Return the texts with literals, expressions and errors in turn."""
    return [_changed(text, number, 7) for number, text in enumerate(texts(count))]


def _changed(text: str, job: int, period: int) -> str:
    """Give attributes another value in most jobs, each attribute at a step of its own."""
    lines = []
    for number, line in enumerate(text.splitlines()):
        name, _, value = line.partition(" = ")
        kinds = (value,) * period
        if _NUMBERS.fullmatch(name):
            computed = (f"({value} + {job % 13})", f"ifThenElse(RequestMemory > {job},{value},0)")
            kinds = (value, f"{job % 100}.5", f'"{job % 50}"', "undefined", value, *computed)
        elif _TEXTS.fullmatch(name):
            kinds = (value, value, str(job), "undefined", value, f"strcat(Owner2,{value})", "error")
        elif _BOOLEANS.fullmatch(name):
            kinds = (value, "0", '"false"', "undefined", value, f"JobStatus == {job % 6}", f"{job % 3}.0")
        lines.append(f"{name} = {kinds[(job * (number + 3) + number) % period]}\n")
    return "".join(lines)


def _text(number: int) -> str:
    """Return the ad of one job: literals, expressions that differ in their literals, and what is the same in all."""
    cluster, proc = 1000 + number // 7, number % 7
    queued, size = _QUEUED + 13 * number, 100_000 + 37 * number
    user = f"user{number % 211}"
    return f"""\
AccountingGroup = "group_phys.{user}"
AcctGroup = "group_phys"
Args = "--seed {number * 7919} --input part-{number:07}.root"
AutoClusterId = {number // 3}
BytesRecvd = {size}.0
BytesSent = {3 * size + 1}.0
ClusterId = {cluster}
Cmd = "/home/{user}/runs/{number // 50}/analyze"
CommittedTime = 0
CompletionDate = 0
CondorPlatform = "$CondorPlatform: X86_64-AlmaLinux_9 $"
CondorVersion = "$CondorVersion: 25.14.0 2026-08-21 BuildID: UW_development $"
CronHour = "*"
CronMinute = "{number % 60}"
CumulativeRemoteSysCpu = {number % 9973}.25
CumulativeRemoteUserCpu = {number}.5
CumulativeSlotTime = {2 * number + 1}.0
CurrentHosts = 0
DeferralPrepTime = 300
DeferralTime = {queued + 3600}
DeferralWindow = {30 + number % 977}
DiskUsage = {size * 2}
DiskUsage_RAW = {size * 2 - 11}
EnteredCurrentStatus = {queued + 5}
Environment = "RUN={number} HOME=/home/{user}"
Err = "/home/{user}/logs/{cluster}.{proc}.err"
ExecutableSize = 2500
ExitBySignal = false
ExitStatus = 0
GlobalJobId = "submit.example.org#{cluster}.{proc}#{queued}"
ImageSize = {size}
Iwd = "/home/{user}/runs/{number // 50}"
JobLeaseDuration = 2400
JobNotification = 0
JobPrio = 0
JobStatus = 1
JobUniverse = 5
LeaveJobInQueue = JobStatus == 4 && (CompletionDate =?= undefined || time() - CompletionDate < {864_000 + number})
MaxHosts = 1
MinHosts = 1
MyType = "Job"
NumJobStarts = 0
OnExitHold = ExitCode =!= 0 && NumJobStarts >= {number % 10_007}
OnExitRemove = false
Out = "/home/{user}/logs/{cluster}.{proc}.out"
Owner = "{user}"
PeriodicHold = (JobStatus == 2) && (time() - EnteredCurrentStatus > {86_400 + number})
PeriodicRemove = (JobStatus == 5 && time() - EnteredCurrentStatus > {3600 + number}) || NumJobStarts > 5
PeriodicRelease = false
ProcId = {proc}
QDate = {queued}
Rank = (Memory * {number + 1}.5) + KFlops / {number + 1000}
RequestCpus = 1
RequestDisk = {size * 2}
RequestMemory = ifThenElse(MemoryUsage =!= undefined,MemoryUsage,(ImageSize + {1023 + number}) / 1024)
Requirements = (TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX") && (TARGET.Disk >= {size * 2}) \
&& (TARGET.Memory >= RequestMemory) && (TARGET.Site != "site-{number}")
ShouldTransferFiles = "IF_NEEDED"
TransferIn = false
TransferInput = "part-{number:07}.root,/home/{user}/common/{number % 1009}.cfg"
User = "{user}@submit.example.org"
UserLog = "/home/{user}/logs/{cluster}.log"
WantRemoteIO = true
WhenToTransferOutput = "ON_EXIT"
"""
