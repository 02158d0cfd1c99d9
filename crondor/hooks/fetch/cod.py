"""What the ad of a fetched job must have: the manual's COD Application Attributes."""

from __future__ import annotations

from typing import Final

from crondor.classad.ad import ClassAd
from crondor.classad.values import UNDEFINED
from crondor.diagnostics import Diagnostic, Severity
from crondor.job import attributes

_TEXTS: Final = ("Cmd", "Owner", "Iwd", "In", "Out", "Err", "Args", "Arguments", "Env", "Environment", "JarFiles")
_PATHS: Final = ("Cmd", "Iwd")
_NUMBERS: Final = ("JobUniverse", "KillSig", "RequestCpus", "RequestMemory", "RequestDisk", "ClusterId", "ProcId")
_KINDS: Final = (
    (_TEXTS, attributes.string, "string", "write it in double quotes"),
    (_NUMBERS, attributes.number, "number", "write a number"),
)
_UNIVERSES: Final = (5, 10)
_REQUESTS: Final = ("RequestCpus", "RequestMemory", "RequestDisk")


def check_cod(job: ClassAd, *, is_partitionable: bool = False) -> list[Diagnostic]:
    """Return what is wrong with the ad of a job that FETCH_WORK offers.

    Cmd and Owner are required, and RequestCpus, RequestMemory and RequestDisk for a partitionable slot (others get 1
    of each from the startd). Nothing transfers files: Cmd and Iwd are paths on the machine.
    """
    required = ("Cmd", "Owner", *(_REQUESTS if is_partitionable else ()))
    hint = "FETCH_WORK must print it: the starter cannot do without"
    found = [_fault(f"the job has no {name}", hint) for name in required if name not in job]
    found += [
        _fault(f"{name} = {job.text(name)} is no {kind}", help_text)
        for names, read, kind, help_text in _KINDS
        for name in names
        if name in job and read(job, name) is None
    ]
    found += [
        _fault(f"{name} = {job.text(name)} is no full path", "write a path of the execute machine")
        for name in _PATHS
        if not (attributes.string(job, name) or "/").startswith("/")
    ]
    if attributes.value(job, "JobUniverse") is UNDEFINED:
        message = "the job has no JobUniverse"
        found.append(Diagnostic("cod-universe", message, Severity.WARNING, help="print JobUniverse = 5"))
    elif attributes.int32(job, "JobUniverse") not in _UNIVERSES:
        message = f"JobUniverse = {job.text('JobUniverse')}: only 5 (vanilla) and 10 (java) are known to work"
        found.append(Diagnostic("cod-universe", message, Severity.WARNING))
    return found


def _fault(message: str, help_text: str) -> Diagnostic:
    return Diagnostic("cod-attribute", message, help=help_text)
