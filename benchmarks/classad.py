"""The ClassAd engine against HTCondor's own library, in the same run: ``python benchmarks/classad.py``.

The peer runs in a process of its own, with the interpreter given by ``--peer`` where this one has no bindings.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import timeit
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from crondor.classad import AdValue, Context, Expression, lower, parse_expression, symmetric_match
from crondor.source import Source

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
LIMITS = {"evaluate the deferral Requirements": 2.0, "symmetric match": 2.0, "read it for the first time": 25.0}
_PEER = """
import os, sys, json, timeit
os.environ["CONDOR_CONFIG"] = "/dev/null"
import htcondor2, classad2
given = json.load(sys.stdin)
ad = lambda texts: classad2.ClassAd("[" + "; ".join(f"{name} = {text}" for name, text in texts.items()) + "]")
job, machine, text = ad(given["job"]), ad(given["machine"]), given["text"]
expression = classad2.ExprTree(text)
assert expression.eval(job, machine) is True and job.symmetricMatch(machine)
best = lambda function, number: min(timeit.repeat(function, number=number, repeat=9)) / number * 1e6
print(json.dumps([
    best(lambda: expression.eval(job, machine), 3000),
    best(lambda: job.symmetricMatch(machine), 3000),
    best(lambda: classad2.ExprTree(text), 3000),
]))
"""


def _ad(texts: dict[str, str]) -> AdValue:
    return AdValue({lower(name): text for name, text in texts.items()}, {lower(name): name for name in texts})


def _best(function: Callable[[], object], number: int) -> float:
    return min(timeit.repeat(function, number=number, repeat=9)) / number * 1e6


def measure() -> list[float]:
    """Return our microseconds."""
    job, machine, context = _ad(JOB), _ad(MACHINE), Context(now=NOW)
    expression = Expression(REQUIREMENTS)
    if expression.evaluate(job, machine, context) is not True or not symmetric_match(job, machine, context):
        raise SystemExit("benchmarks: the job and the machine do not match")
    return [
        _best(lambda: expression.evaluate(job, machine, context), 3000),
        _best(lambda: symmetric_match(job, machine, context), 2000),
        _best(lambda: parse_expression(Source(REQUIREMENTS)), 500),
    ]


def peer(python: str) -> list[float] | None:
    """Return the library's microseconds; None: it is not installed."""
    given = json.dumps({"job": JOB, "machine": MACHINE, "text": REQUIREMENTS})
    done = subprocess.run([python, "-c", _PEER], input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"no peer: {done.stderr.strip().splitlines()[-1]}")
        return None
    found: list[float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--peer", default=sys.executable, help="a Python that has HTCondor's bindings")
    theirs = peer(options.parse_args().peer)
    print(f"{'microseconds':38}{'ours':>8}{'classad2':>10}{'ratio':>8}{'limit':>8}")
    for at, (ours, (name, limit)) in enumerate(zip(measure(), LIMITS.items(), strict=True)):
        other = f"{theirs[at]:10.1f}{ours / theirs[at]:8.2f}" if theirs else f"{'-':>10}{'-':>8}"
        print(f"{name:38}{ours:8.1f}{other}{limit:8.0f}")


if __name__ == "__main__":
    main()
