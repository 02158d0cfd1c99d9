"""What an entrypoint's own files look like: no rule warns of what their authors mean."""

import pytest

from crondor.config import read_config
from crondor.diagnostics import Severity, Source
from crondor.lint.routes import check_routes

_AROUND = """\
JOB_ROUTER_SOURCE_JOB_CONSTRAINT = (target.x509userproxysubject =!= UNDEFINED || target.Owner =!= "") && \\
    target.JobUniverse =?= 5 && (target.ShouldTransferFiles =!= "NO")
JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = First Keep
JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = Whole Slots Graphics Room Line Minutes Ask Hold
JOB_ROUTER_TRANSFORM_First @=jrt
    SET RoutedJob True
    # a comment of a transform
    EVALMACRO is_plain unparse(Requirements) == "true"
    if $(is_plain)
        SET Requirements (RequestGpus ?: 0) >= (TARGET.Gpus ?: 0)
    endif

@jrt
JOB_ROUTER_TRANSFORM_Keep @=jrt
    DELETE PeriodicRemove
    RENAME /^AuthToken.*$/ orig_\\0
    COPY /^OnExitHold.*$/ orig_\\0
    COPY BatchRuntime orig_BatchRuntime
    COPY environment orig_environment
    COPY WantWholeNode WholeNodes
@jrt
JOB_ROUTER_TRANSFORM_Whole @=jrt
    EVALMACRO whole $(MY.WantWholeNode:False) && $(TargetUniverse) == 5
@jrt
JOB_ROUTER_TRANSFORM_Slots @=jrt
    if defined MY.xcount
        EVALSET RequestCpus xcount
    else
        EVALMACRO many ($(MY.RequestCpus:0)) > 1
        if $(many)
            # as it is
        else
            EVALSET RequestCpus $(default_xcount:1)
        endif
    endif
    EVALSET remote_SMPGranularity xcount ?: ($(default_xcount:1))
    COPY remote_SMPGranularity remote_NodeNumber
    SET JobIsRunning (JobStatus =!= 1) && (JobStatus =!= 5)
    if $(whole)
        SET JOB_GLIDEIN_Cpus "$$([TotalCpus ?: JobCpus])"
        SET GlideinCpusIsGood int(MATCH_EXP_JOB_GLIDEIN_Cpus ?: "0") isnt error
        SET JobIsRunning $(MY.JobIsRunning) && GlideinCpusIsGood
        COPY RequestCpus OriginalCpus
        SET RequestCpus TARGET.TotalCpus ?: JobCpus
    endif
@jrt
JOB_ROUTER_TRANSFORM_Graphics @=jrt
    REQUIREMENTS RequestGpus isnt undefined
    if $(whole)
        SET RequestGPUs ((TARGET.TotalGPUs ?: 0) > 0) ? TotalGPUs : JobGPUs
    endif
@jrt
JOB_ROUTER_TRANSFORM_Room @=jrt
    EVALSET RequestMemory maxMemory ?: ($(default_maxMemory:2000))
    SET JobMemory RequestMemory
    if $(whole)
        SET JOB_GLIDEIN_Memory "$$(TotalMemory:0)"
        SET RequestMemory TARGET.TotalMemory*95/100 ?: JobMemory
    endif
@jrt
JOB_ROUTER_TRANSFORM_Line @=jrt
    REQUIREMENTS BatchQueue is undefined
    if defined MY.queue
        EVALSET BatchQueue MY.queue
    else
        EVALSET BatchQueue "$(default_queue)"
    endif
@jrt
JOB_ROUTER_TRANSFORM_Minutes @=jrt
    if defined MY.maxWallTime
        EVALSET BatchRuntime 60*maxWallTime
    elif defined MY.orig_BatchRuntime
        # as it is
    elif defined default_maxWallTime
        EVALSET BatchRuntime 60*$(default_maxWallTime)
    else
        EVALSET BatchRuntime 60*$(ROUTED_JOB_MAX_TIME:4320)
    endif
@jrt
JOB_ROUTER_TRANSFORM_Ask @=jrt
    SET CondorCE 1
    if defined MY.default_CERequirements
        SET CERequirements "$(MY.default_CERequirements),CondorCE"
    else
        SET CERequirements "CondorCE"
    endif
@jrt
JOB_ROUTER_TRANSFORM_Hold @=jrt
    REQUIREMENTS minWalltime isnt undefined
    SET CondorCE_OnExitHold RemoteWallClockTime < 60*minWallTime
    SET OnExitHoldReason IfThenElse(CondorCE_OnExitHold ?: False, \\
        "The job ran for less than ($(MY.minWalltime)) min", "Job held for unknown reason.")
@jrt
JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = $(JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES) Vars
JOB_ROUTER_TRANSFORM_Vars @=end
    EVALMACRO default_env strcat("HOST=", "$(COLLECTOR_HOST)")
    if ! defined default_pilot_job_env
        default_pilot_job_env = ""
    endif
    SET osg_environment ""
    EVALSET environment mergeEnvironment("$(default_env)", osg_environment, orig_environment, $(default_pilot_job_env))
@end
"""
_POOL = """\
JOB_ROUTER_ROUTE_NAMES = Pool
JOB_ROUTER_ROUTE_Pool @=jrt
  TargetUniverse = 5
@jrt
JOB_ROUTER_SCHEDD2_SPOOL=/var/lib/condor/spool
JOB_ROUTER_SCHEDD2_NAME=$(FULL_HOSTNAME)
JOB_ROUTER_SCHEDD2_POOL=$(FULL_HOSTNAME):9618
"""
_OPTIONAL = """\
CLASSAD_USER_MAPFILE_ByUser = /etc/condor-ce/by_user.map
JOB_ROUTER_CLASSAD_USER_MAP_NAMES = $(JOB_ROUTER_CLASSAD_USER_MAP_NAMES) ByUser
JOB_ROUTER_TRANSFORM_UidAcctGroup @=jrt
   EVALMACRO groups UserMap("ByUser", Owner) ?: ""
   if defined groups
       EVALSET AcctGroup UserMap("ByUser", Owner, AcctGroup)
       EVALSET AccountingGroup join(".", AcctGroup, Owner)
   endif
@jrt
CLASSAD_USER_MAPFILE_BySubject = /etc/condor-ce/by_subject.map
JOB_ROUTER_CLASSAD_USER_MAP_NAMES = $(JOB_ROUTER_CLASSAD_USER_MAP_NAMES) BySubject
JOB_ROUTER_TRANSFORM_x509AcctGroup @=jrt
   EVALMACRO groups UserMap("BySubject", x509UserProxySubject) ?: ""
   if defined groups
       EVALSET AcctGroup UserMap("BySubject", x509UserProxySubject, AcctGroup)
   elif defined MY.x509UserProxyFirstFQAN
       EVALSET AcctGroup UserMap("BySubject", x509UserProxyFirstFQAN, AcctGroup)
   endif
@jrt
"""


def _batch(system: str) -> str:
    return (
        f"JOB_ROUTER_ROUTE_NAMES = {system}\nJOB_ROUTER_ROUTE_{system} @=jrt\n"
        f'  TargetUniverse = 9\n  GridResource = "batch {system.lower()}"\n@jrt\n'
    )


def warned(text: str) -> list[str]:
    """Return the codes of the warnings and errors."""
    findings = check_routes(read_config(Source(text, "ce.conf"))).reports[0].findings
    return [each.diagnostic.code for each in findings if each.diagnostic.severity in {Severity.WARNING, Severity.ERROR}]


@pytest.mark.parametrize("route", [_POOL, _POOL + _OPTIONAL, *map(_batch, ("Slurm", "PBS", "LSF", "SGE"))])
def test_what_an_entrypoint_ships_is_meant(route: str) -> None:
    """The transforms around routes with variables of theirs, a route for each batch system, and groups to choose."""
    assert warned(_AROUND + route) == []


def test_an_entrypoint_without_routes_lacks_those_alone() -> None:
    """What its transforms read of them, they will define."""
    assert warned(_AROUND) == ["CRN607"]


@pytest.mark.parametrize(
    ("was", "now", "code"),
    [
        ("NAMES = Pool", "NAMES = Pol", "CRN609"),
        ("TRANSFORM_UidAcctGroup", "TRANSFORM_UidAcctGrup", "CRN609"),
        ("JOB_ROUTER_CLASSAD_USER_MAP_NAMES", "JOB_ROUTER_CLASSAD_USERMAP_NAMES", "CRN604"),
        ("RequestMemory maxMemory", "RequestMemry maxMemory", "CRN628"),
        ("JOB_ROUTER_SCHEDD2_SPOOL", "JOB_ROUTER_SHEDD2_SPOOL", "CRN604"),
    ],
)
def test_a_slip_in_such_a_file_is_found(was: str, now: str, code: str) -> None:
    """What is skipped is the shape, and no rule."""
    text = _AROUND + _POOL + _OPTIONAL
    assert was in text
    assert code in warned(text.replace(was, now, 1))
