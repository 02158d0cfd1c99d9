"""The inputs and our work of the cases with whole ads: a ``-long`` ad read for one attribute, and 20,000 rewritten."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.classad import ClassAd, Format, ReadMode, read_ads, write_ads

ADS = 20_000
FEW = 2000  # of them in a round of reading
_SAME = """\
AccountingGroup = "group_phys.ann"
Arguments = "-c date;' 'sleep' '1"
Cmd = "/home/ann/bin/analyze"
CompletionDate = 0
CumulativeSlotTime = 22.0
DiskUsage = 30000000
Environment = ""
Err = "/dev/null"
ExitBySignal = false
Iwd = "/home/ann/work"
JobPrio = 0
JobStatus = 1
JobUniverse = 5
LeaveJobInQueue = false
MyType = "Job"
OnExitHold = false
Owner = "ann"
PeriodicHold = ( JobStatus == 2 ) && ( time() - EnteredCurrentStatus > 86400 )
Rank = 0.0
RequestCpus = 1
RequestMemory = ifThenElse(MemoryUsage =!= undefined,MemoryUsage,(ImageSize + 1023) / 1024)
Requirements = (TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX") && (TARGET.Memory >= RequestMemory)
User = "ann@submit.example.org"
"""


def texts() -> list[str]:
    """Return the ``-long`` texts of ads of 60 attributes, no two alike."""
    return [_text(number) for number in range(ADS)]


def _text(number: int) -> str:
    own = (
        f"ClusterId = {number + 1}\nProcId = 0\nQDate = {1_700_000_000 + number}\nImageSize = {number % 977}\n"
        f'GlobalJobId = "submit.example.org#{number + 1}.0#{1_700_000_000 + number}"\n'
        f'UserLog = "/home/ann/{number}.log"\n'
    )
    return _SAME + own + "".join(f"Attribute{at} = {at}\n" for at in range(31))


def read_some(ads: list[str]) -> None:
    """Read some ads, each by itself, and evaluate one attribute."""
    for text in ads[:FEW]:
        next(read_ads(text, Format.LONG, ReadMode.LAZY)).value("ImageSize")


def rewrite(ads: list[str]) -> str:
    """Return the ``-long`` text of all ads with one attribute changed in each."""
    return "".join(write_ads(_changed("\n".join(ads))))


def _changed(whole: str) -> Iterator[ClassAd]:
    for ad in read_ads(whole, Format.LONG):
        ad["Managed"] = "External"
        yield ad
