"""What nobody knows before a job is submitted, and expressions evaluated all the same.

The schedd's own ad (its counters, its address) and what only the submit machine can tell of the job (sizes of files,
proxies) are not known. An expression that asks for one of them is evaluated with several values in its place; where
they make no difference, as in ``JOB.RequestCpus > 64 || SCHEDD.TotalRunningJobs > 100`` of a large job, it has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from crondor.classad import print_string
from crondor.classad.ad import ClassAd
from crondor.classad.errors import CircularReference, ClassAdSyntaxError
from crondor.classad.expression import Expression
from crondor.classad.scope import Context, Value
from crondor.classad.text import lower
from crondor.classad.tree import Literal, Reference, nodes
from crondor.job.attributes import result

OF_JOB: Final = frozenset(
    (
        *("executablesize", "executablesize_raw", "imagesize", "imagesize_raw", "diskusage", "diskusage_raw"),
        *("transferinputsizemb", "globaljobid"),
        *("x509userproxysubject", "x509userproxyemail", "x509userproxyvoname", "x509userproxyfqan"),
        *("x509userproxyfirstfqan", "x509userproxyexpiration"),
    )
)
"""Attributes of a job that depend on the submit machine, in lower case."""

# From the manual's list of the schedd's attributes (25.14), and what every daemon's ad has.
_OF_SCHEDD: Final = (
    *("autoclusters", "collectorhost", "condorversion", "condorplatform", "daemonstarttime", "daemoncoredutycycle"),
    *("daemonlastreconfigtime", "detectedcpus", "detectedmemory", "effectiveflocklist", "filesystemdomain"),
    *("jobqueuebirthdate", "machine", "maxjobsrunning", "maxjobssubmitted", "maxjobsperowner", "maxjobspersubmission"),
    *("monitorselfage", "monitorselfcpuusage", "monitorselfimagesize", "monitorselfresidentsetsize", "myaddress"),
    *("mycurrenttime", "name", "numjobstartsdelayed", "numpendingclaims", "numusers", "numowners"),
    *("publicnetworkipaddr", "scheddipaddr", "startlocaluniverse", "startscheduleruniverse", "statslastupdatetime"),
    *("totalflockedjobs", "totalheldjobs", "totalidlejobs", "totaljobads", "totallocaljobsidle", "totalremovedjobs"),
    *("totallocaljobsrunning", "totalrunningjobs", "totalschedulerjobsidle", "totalschedulerjobsrunning"),
    *("transferqueueuserexpr", "updateinterval", "updatesequencenumber", "virtualmemory", "uiddomain", "wantresad"),
)
_BY_PREFIX: Final = (
    *("jobsaccum", "jobsbadput", "jobscompleted", "jobsexit", "jobsrestart", "jobsrunning", "jobsshadow", "jobsshould"),
    *("jobsstarted", "jobssubmitted", "jobssizes", "recentjobs", "recentstats", "recentshadows", "shadowsr"),
    *("filetransfer", "transferqueue", "monitorself"),
)
_TEXTS: Final = ("x509", "globaljobid", "name", "machine", "version", "platform", "domain", "addr", "host", "flocklist")
_SCOPES: Final = frozenset(("schedd", "my"))
_NUMBERS: Final = ("0", "1", "1000000000")
_STRINGS: Final = ('""', '"?"')
_TURNS: Final = 6
_MOST_NAMES: Final = 1000
_MOST_LITERALS: Final = 20


def schedd_ad(known: Mapping[str, object]) -> ClassAd:
    """Return the schedd's ad as far as it is known, in which SCHEDD and JOB are names of the two ads of a match."""
    ad = ClassAd({"MyType": "Scheduler", **known})
    ad.set_text("SCHEDD", "MY")
    ad.set_text("JOB", "TARGET")
    return ad


def asked_with(expression: Expression, job: ClassAd, schedd: ClassAd, context: Context) -> Iterator[Value]:
    """Yield the value of an expression in the schedd's ad, with a job as TARGET.

    Where it asks for what is not known, there are several values, one for each that was tried.
    """
    found = _unknown(expression, job, schedd)
    if not found.of_schedd and not found.of_job:
        yield result(expression, schedd, context, job)
        return
    for turn in range(_TURNS + len(found.literals)):
        mine, theirs = schedd.copy(), ClassAd().chain(job)
        for ad, names in ((mine, found.of_schedd), (theirs, found.of_job)):
            for name in names:
                tried = _tried(name, found.literals)
                ad.set_text(name, tried[min(turn, len(tried) - 1)])
        yield result(expression, mine, context, theirs)


def _tried(name: str, literals: tuple[str, ...]) -> tuple[str, ...]:
    """Return values that an unknown attribute may have: numbers or strings where it is known which.

    What it is compared with stands in the expression: the literals are tried, too.
    """
    strings = (*_STRINGS, *(text for text in literals if text[:1] == '"'))
    if name.startswith("x509"):
        return ("undefined", *strings)
    if any(part in name for part in _TEXTS):
        return strings
    numbers = (*_NUMBERS, *(text for text in literals if text[:1] != '"'))
    return numbers if name in OF_JOB or is_of_schedd(name) else ("undefined", *numbers, *strings)


class _Unknown(NamedTuple):
    """Attributes of the schedd and of the job that nobody knows, and literals that they may be compared with."""

    of_schedd: set[str]
    of_job: set[str]
    literals: tuple[str, ...]


def _unknown(expression: Expression, job: ClassAd, schedd: ClassAd) -> _Unknown:
    """Return what an expression leads to, through attributes of the job, and nobody knows."""
    literals: dict[str, None] = {}
    of_schedd: set[str] = set()
    of_job: set[str] = set()
    seen: set[str] = set()
    waiting = [(expression, True)]
    while waiting and len(seen) < _MOST_NAMES:
        each, is_schedds = waiting.pop()
        try:
            tree = each.tree
        except (ClassAdSyntaxError, CircularReference):
            continue
        for node in nodes(tree):
            if (
                isinstance(node, Literal)
                and len(literals) < _MOST_LITERALS
                and isinstance(node.value, (int, float, str))
            ):
                literals[print_string(node.value) if isinstance(node.value, str) else str(node.value).lower()] = None
            if not isinstance(node, Reference):
                continue
            name = lower(node.name)
            scope = lower(node.scope.name) if isinstance(node.scope, Reference) and node.scope.scope is None else ""
            is_mine = scope in _SCOPES if is_schedds else scope in {"target", "schedd"}
            if is_schedds and name not in schedd and (is_mine or (not scope and is_of_schedd(name))):
                of_schedd.add(name)
            elif not is_mine and name in OF_JOB and name not in job:
                of_job.add(name)
            elif not is_mine and name in job and name not in seen:
                seen.add(name)
                try:
                    waiting.append((job[name], False))
                except ClassAdSyntaxError:
                    continue
    return _Unknown(of_schedd, of_job, tuple(literals))


def is_of_schedd(name: str) -> bool:
    """Say whether a schedd's ad has an attribute of a lower-case name, where it is not the job that has it."""
    return name in _OF_SCHEDD or name.startswith(_BY_PREFIX)
