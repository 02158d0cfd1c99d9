"""What becomes of a job's ad before any rule of a route: the copy begins anew, in another universe.

HTCondor: VanillaToGrid::vanillaToGrid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Code, Context
from crondor.classad.text import lower
from crondor.classad.unparse import print_string
from crondor.diagnostics import Diagnostic, Severity
from crondor.job.attributes import string
from crondor.router.table.name_changes import NameChanges
from crondor.router.table.remaps import EndlessRemaps, remapped
from crondor.router.table.route import GRID

_DELETED_NAMES = """
    ClusterId ProcId BufferBlockSize BufferSize CondorPlatform CondorVersion CoreSize GlobalJobId User OsUser QDate
    RemoteWallClockTime LastRemoteWallClockTime ServerTime AutoClusterId AutoClusterAttrs TotalSubmitProcs
    StageInFinish StageInStart UserLog UserLogUseXML DAGManNodesLog DAGManNodesMask TimerRemove SUBMIT_Iwd
"""
DELETED = tuple(_DELETED_NAMES.split())
"""What the copy does not have."""

RESET = (
    ("JobStatus", "1"),
    ("RemoteUserCpu", "0.0"),
    ("RemoteSysCpu", "0.0"),
    ("ExitStatus", "0"),
    ("CompletionDate", "0"),
    ("NumCkpts", "0"),
    ("NumRestarts", "0"),
    ("NumSystemHolds", "0"),
    ("CommittedTime", "0"),
    ("CommittedSlotTime", "0"),
    ("CumulativeSlotTime", "0"),
    ("TotalSuspensions", "0"),
    ("LastSuspensionTime", "0"),
    ("CumulativeSuspensionTime", "0"),
    ("CommittedSuspensionTime", "0"),
    ("ExitBySignal", "false"),
)
"""What the copy begins with, whatever the job has."""

UNIVERSE, OLD_UNIVERSE = "JobUniverse", "Remote_JobUniverse"
_PLAIN = re.compile(r'"([^"\\]*)"').fullmatch
_ALWAYS = (*(name for name, _ in RESET), UNIVERSE, OLD_UNIVERSE)
NAMES = (NameChanges(DELETED, _ALWAYS), NameChanges((*DELETED, "CurrentHosts"), (*_ALWAYS, "GridResource")))
"""What the conversion does to names, for a copy in the grid universe the second."""
AFTERWARDS = NameChanges(["RoutedToJobId"], ["RoutedFromJobId", "RoutedBy", "RouteName"])
"""What comes after all transforms."""


def constants(universe: int, grid_resource: str | None) -> dict[str, Code | str]:
    """Return what every copy for a universe begins with, by name in lower case."""
    codes: dict[str, Code | str] = {lower(name): text for name, text in RESET}
    codes["jobuniverse"] = str(universe)
    if universe == GRID:
        codes["gridresource"] = print_string(grid_resource or "")
    return codes


def convert(
    ad: ClassAd, universe: int, grid_resource: str | None, context: Context, *, is_sandboxed: bool
) -> list[Diagnostic]:
    """Change a copy of a job's ad into one for a universe, and return what is wrong with it.

    The ad has no parent. An ERROR among the findings: there is no JobUniverse, and no copy can be made; HTCondor's
    daemon ends there, with all its other jobs.
    """
    old = ad.codes.get("jobuniverse")
    if old is None:
        help_text = "HTCondor's job router ends at such a job, and again each time it is started; give it a JobUniverse"
        return [Diagnostic("no-universe", "the job has no JobUniverse: it cannot be routed", help=help_text)]
    codes = NAMES[universe == GRID].make(ad)
    codes.update(constants(universe, grid_resource))
    codes["remote_jobuniverse"] = old
    if universe != GRID:
        return []
    return [] if is_sandboxed else list(_unremapped(ad, context))


def _unremapped(ad: ClassAd, context: Context) -> Iterator[Diagnostic]:
    """Give Out and Err the names that TransferOutputRemaps gives them, and delete that.

    A grid job writes where its ad says; only of a sandboxed copy the output is fetched and moved.
    """
    rules = string(ad, "TransferOutputRemaps", context)
    if not rules:
        return
    ad.prune("TransferOutputRemaps")
    for name in ("Out", "Err"):
        file = string(ad, name, context)
        if file is None:
            continue
        try:
            found = remapped(rules, file)
        except EndlessRemaps:
            message = f"TransferOutputRemaps lead on from {file} without end: {name} stays as it is"
            yield Diagnostic("endless-remaps", message, Severity.WARNING, help="let each rule lead to a file itself")
            continue
        if found is not None:
            ad.set(name, found)


def forget_routing(ad: ClassAd) -> None:
    """Make a job as it is before it was ever routed, as condor_job_router_info -ignore-prior-routing does."""
    for name in ("Managed", "RoutedBy", "StageInStart", "StageInFinish"):
        if name in ad:
            del ad[name]
    ad.set("JobStatus", 1)
