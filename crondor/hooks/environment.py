"""The environment that HTCondor's daemons give their hooks, as recorded of 25.14.

What belongs to the daemons themselves is left out: CONDOR_INHERIT and CONDOR_PRIVATE_INHERIT (secrets of their
sockets), CONDOR_PARENT_ID, the address of the condor_procd, and the ancestors by which it finds processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.job.attributes import ending
from crondor.rights.accounts import MACHINES, PATH

_KEPT: Final = (*MACHINES, "HOME", "LOGNAME", "PATH", "USER")


class Scratch(NamedTuple):
    """Where a starter runs a job: its scratch folder, the job's working folder, the slot's name without its host.

    ``execute`` is the folder of all scratch folders, empty for the local universe. ``ending`` is what ``main_job_end``
    says, for JOB_EXIT. ``devices`` are (name, value) of assigned resources: ``("GPUs", "CUDA0")``.
    """

    folder: str
    iwd: str
    slot: str = ""
    execute: str = ""
    bin: str = "/usr/bin"
    ending: Mapping[str, str] = MappingProxyType({})
    devices: tuple[tuple[str, str], ...] = ()

    @property
    def job_ad(self) -> str:
        """The file with the job's ad."""
        return f"{self.folder}/.job.ad"

    @property
    def machine_ad(self) -> str:
        """The file with the slot's ad."""
        return f"{self.folder}/.machine.ad"


def daemon_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what the hooks of a router or startd see of the daemon's environment."""
    kept = {name: environ[name] for name in _KEPT if name in environ}
    return {"PATH": PATH, **kept}


def main_job_end(job: ClassAd) -> dict[str, str]:
    """Return the variable that tells JOB_EXIT how a job's program ended, by its ad: its signal or its exit code.

    It is one of the two, never both (``UserProc::PublishToEnv``, src/condor_starter.V6.1/user_proc.cpp, 25.14); none
    where the ad does not say.
    """
    found = ending(job)
    if found is None:
        return {}
    return {f"_CONDOR_MAINJOB_EXIT_{'SIGNAL' if found.by_signal else 'CODE'}": str(found.number)}


def starter_environment(base: Mapping[str, str], scratch: Scratch) -> dict[str, str]:
    """Return what a starter's hooks get beside the daemon's environment."""
    found = {
        **base,
        "BATCH_SYSTEM": "HTCondor",
        **dict.fromkeys(("TEMP", "TMP", "TMPDIR", "_CONDOR_SCRATCH_DIR"), scratch.folder),
        "_CONDOR_BIN": scratch.bin,
        "_CONDOR_JOB_AD": scratch.job_ad,
        "_CONDOR_JOB_IWD": scratch.iwd,
        "_CONDOR_JOB_PIDS": "",
        "_CONDOR_MACHINE_AD": scratch.machine_ad,
        "_CONDOR_SLOT": scratch.slot,
    }
    if scratch.execute:
        found["_CONDOR_EXECUTE"] = scratch.execute
    found |= scratch.ending
    found |= {f"_CONDOR_Assigned{name}": value for name, value in scratch.devices}
    return found
