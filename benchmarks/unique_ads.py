"""Ads as a large queue has them: 63 attributes, about half of them with a value that no other job has."""

from __future__ import annotations

_QUEUED = 1_700_000_000


def texts(count: int) -> list[str]:
    """Return the ``-long`` texts of jobs, their attributes in the order in which condor_q prints them."""
    return [_text(number) for number in range(count)]


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
