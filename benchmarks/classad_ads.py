"""Whole ads against HTCondor's own library: ``python benchmarks/classad_ads.py --peer PYTHON-WITH-BINDINGS``.

A ``-long`` ad of 60 attributes read and one attribute evaluated, and the ``-long`` text of 20,000 such ads with one
attribute changed in each. The peer runs in a process of its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, Mode, read_ads, write_ads

ADS = 20_000
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
_PEER = """
import os, sys, timeit
os.environ["CONDOR_CONFIG"] = "/dev/null"
import htcondor2, classad2
texts = open(sys.argv[1]).read().split("\\n\\n")[:-1]
old = classad2.Parser.Old if hasattr(classad2, "Parser") else classad2.ParserType.Old
def evaluate():
    for text in texts[:2000]:
        classad2.parseNext(text, old).eval("ImageSize")
def rewrite():
    found = []
    for text in texts:
        ad = classad2.parseNext(text, old)
        ad["Managed"] = "External"
        found.append(ad.printOld())
    return len("\\n".join(found))
print(min(timeit.repeat(evaluate, number=1, repeat=7)) / 2000 * 1e6)
print(min(timeit.repeat(rewrite, number=1, repeat=3)) / len(texts) * 1e6)
"""


def _text(number: int) -> str:
    own = (
        f"ClusterId = {number + 1}\nProcId = 0\nQDate = {1_700_000_000 + number}\nImageSize = {number % 977}\n"
        f'GlobalJobId = "submit.example.org#{number + 1}.0#{1_700_000_000 + number}"\n'
        f'UserLog = "/home/ann/{number}.log"\n'
    )
    return _SAME + own + "".join(f"Attribute{at} = {at}\n" for at in range(31))


def measure(texts: list[str]) -> list[float]:
    """Return our microseconds for one ad."""
    whole = "\n".join(texts)

    def evaluate() -> None:
        for text in texts[:2000]:
            next(read_ads(text, Format.LONG, Mode.LAZY)).value("ImageSize")

    def changed() -> Iterator[ClassAd]:
        for ad in read_ads(whole, Format.LONG):
            ad["Managed"] = "External"
            yield ad

    return [_best(evaluate, 7) / 2000, _best(lambda: "".join(write_ads(changed())), 3) / ADS]


def _best(function: Callable[[], object], repeat: int) -> float:
    return min(timeit.repeat(function, number=1, repeat=repeat)) * 1e6


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--peer", default=sys.executable, help="a Python that has HTCondor's bindings")
    texts = [_text(number) for number in range(ADS)]
    with tempfile.NamedTemporaryFile("w", suffix=".ads") as file:
        file.write("\n".join(texts) + "\n")
        file.flush()
        command = [options.parse_args().peer, "-c", _PEER, file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    theirs = [float(line) for line in done.stdout.split()]
    if done.returncode:
        print(f"no peer: {done.stderr.strip().splitlines()[-1]}")
        theirs = []
    print(f"{'microseconds an ad':38}{'ours':>8}{'classad2':>10}{'ratio':>8}")
    for at, (name, ours) in enumerate(
        zip(("read, one attribute evaluated", "-long to -long"), measure(texts), strict=True)
    ):
        print(f"{name:38}{ours:8.1f}" + (f"{theirs[at]:10.1f}{ours / theirs[at]:8.2f}" if theirs else ""))


if __name__ == "__main__":
    main()
