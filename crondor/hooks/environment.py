"""The environment that HTCondor's daemons give their hooks, as recorded of 25.14.

What belongs to the daemons themselves is left out: CONDOR_INHERIT and CONDOR_PRIVATE_INHERIT (secrets of their
sockets), CONDOR_PARENT_ID, the address of the condor_procd, and the ancestors by which it finds processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

_KEPT: Final = ("CONDOR_CONFIG", "HOME", "LOGNAME", "PATH", "TZ", "USER")
_PATH: Final = "/usr/bin:/bin"


class Scratch(NamedTuple):
    """Where a starter runs a job: its scratch folder, the job's working folder, the slot's name without its host.

    ``execute`` is the folder of all scratch folders, empty for the local universe. ``exit_code`` is the job's, for
    JOB_EXIT. ``devices`` are (name, value) of assigned resources: ``("GPUs", "CUDA0")``.
    """

    folder: str
    iwd: str
    slot: str = ""
    execute: str = ""
    bin: str = "/usr/bin"
    exit_code: int | None = None
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
    return {"PATH": _PATH, **kept}


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
    if scratch.exit_code is not None:
        found["_CONDOR_MAINJOB_EXIT_CODE"] = str(scratch.exit_code)
    found |= {f"_CONDOR_Assigned{name}": value for name, value in scratch.devices}
    return found
