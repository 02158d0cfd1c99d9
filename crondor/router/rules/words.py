"""The words that a router's rules are made of: route macros, grid types, attributes of HTCondor and of a CE."""

from __future__ import annotations

from functools import cache

from crondor.knowledge import job_attributes, machine_attributes
from crondor.knowledge.slips import one_slip

ROUTE_MACROS = (
    *("MaxJobs", "MaxIdleJobs", "FailureRateThreshold", "JobFailureTest", "JobShouldBeSandboxed"),
    *("EditJobInPlace", "UseSharedX509UserProxy", "SharedX509UserProxy", "SendIDTokens", "TargetUniverse"),
    "GridResource",
)
"""What a route says of itself by macros (HTCondor 25.14, JobRoute::ParseRoute)."""
GRID_TYPES = ("arc", "azure", "batch", "condor", "ec2", "gce", "lsf", "naregi", "nqs", "pbs", "sge", "slurm")
"""The first word of a GridResource (HTCondor 25.14, SubmitHash::SetUniverse)."""
BATCH_SYSTEMS = ("condor", "flux", "kubernetes", "lsf", "nqs", "pbs", "sfapi", "sge", "slurm")
"""The second word behind ``batch`` (HTCondor 25.14, supported_lrms of blah.config)."""
_OF_CE = """
    batch_queue BatchProject BatchRuntime Bosco_Cream_Batch CERequirements CondorCE default_BatchProject
    default_BatchRuntime default_CERequirements default_maxMemory default_maxWallTime default_osg_environment
    default_pilot_job_env default_queue default_remote_CERequirements default_remote_NodeNumber default_remote_queue
    default_remote_SMPGranularity default_RequestCpus default_RequestGPUs default_WholeNodes default_xcount
    GlideinCpusIsGood GlideinGPUsIsGood HostNumber InputRSL JobCpus JobGPUs JobIsRunning JobMemory maxMemory
    maxWallTime minWallTime NonHTCondorResource NodeNumber orig_environment OriginalCpus OriginalGPUs OriginalMemory
    osg_environment queue remote_CERequirements remote_NodeNumber remote_OriginalMemory remote_queue
    remote_SMPGranularity RoutedJob SMPGranularity WantWholeNode WholeNodes xcount
"""
_SPELLED = {name.lower(): name for name in _OF_CE.split()}
OF_CE = frozenset(_SPELLED)
"""Attributes that HTCondor-CE's routes and their jobs know and HTCondor does not, in lower case."""


@cache
def is_known(name: str) -> bool:
    """Say whether HTCondor or a CE knows an attribute, of a job or of a machine."""
    return name.lower() in OF_CE or name in job_attributes() or name in machine_attributes()


@cache
def meant(name: str) -> str | None:
    """Return the attribute of a job that is one slip of the hand away from a name that nobody knows."""
    job, machine = job_attributes(), machine_attributes()
    if len(name) < _SHORTEST or name.lower() in OF_CE or job.is_one(name) or machine.is_one(name):
        return None  # one that a name as Request<X> stands for may be a slip all the same
    near = next((each.name for each in job.near(name)), None)
    return near or next((_SPELLED[key] for key in _SPELLED if one_slip(name.lower(), key)), None)


_SHORTEST = 6  # letters; shorter words are too near to each other
