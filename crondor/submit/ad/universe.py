"""The universe of a cluster, and what each universe asks of its jobs (HTCondor 25.14: SubmitHash::SetUniverse)."""

from __future__ import annotations

from typing import Final

from crondor.classad import lower
from crondor.macro.numbers import leading_int
from crondor.schedule import Universe
from crondor.submit.ad.containers import look_for_images
from crondor.submit.ad.draft import Draft, shown
from crondor.submit.universes import COMMANDS, MPI, universe_number
from crondor.submit.universes import NAMES as UNIVERSES

_SUPPORTED: Final = frozenset((*Universe, MPI))
_WITH_IMAGES: Final = (Universe.VANILLA, Universe.LOCAL)
_GRID_TYPES: Final = frozenset(
    ("", "blah", "batch", "pbs", "sge", "lsf", "nqs", "naregi", "condor", "arc", "ec2", "gce", "azure"),
)
_REMOTE: Final = (("remote_", "Remote_"), ("remote_remote_", "Remote_Remote_"))

NAMES: Final = (
    *(*COMMANDS, "wantparallelscheduling", "grid_resource", "gridresource"),
    *(f"{prefix}{name}" for prefix, _ in _REMOTE for name in COMMANDS),
    *("machine_count", "machinecount", "node_count", "nodecount"),
    *("vm_checkpoint", "jobvmcheckpoint", "vm_networking", "jobvmnetworking"),
)


def set_universe(draft: Draft) -> None:
    """Decide the universe of a cluster by its first job, and set it."""
    cluster = draft.cluster
    number = cluster.universe = _universe(draft)
    if number in _WITH_IMAGES:
        look_for_images(draft)
    draft.set("JobUniverse", number)
    _set_remote(draft)
    if draft.flag("wantparallelscheduling"):
        draft.set("WantParallelScheduling", value=True)
    if number in _WITH_IMAGES:
        for wanted, attribute in ((cluster.is_docker, "WantDocker"), (cluster.is_container, "WantContainer")):
            if wanted:
                draft.set(attribute, value=True)
    elif number == Universe.GRID:
        _set_grid_type(draft)
    elif number == Universe.VM:
        _force_transfer(draft)


def _universe(draft: Draft) -> int:
    """Return the number of the universe that is asked for; the vanilla one's for docker, container and a fault."""
    cluster, vanilla = draft.cluster, int(Universe.VANILLA)
    text = draft.command(*COMMANDS) or draft.knobs.get("DEFAULT_UNIVERSE")
    if text is None:
        return vanilla
    number = universe_number(text)
    if number in _SUPPORTED:
        return number
    if number == 0 and lower(text) in {"docker", "container"}:
        cluster.is_docker = lower(text) == "docker"
        cluster.is_container = not cluster.is_docker
        return vanilla
    known = ", ".join(sorted(("container", "docker", *(universe.name.lower() for universe in Universe))))
    shows = UNIVERSES[number] if 0 < number < len(UNIVERSES) else "Unknown"
    unknown = f"I don't know about the '{shown(text)}' universe."
    message = f"'{shows}' is not a supported universe." if number else unknown
    draft.fault("submit-universe", draft.written(*COMMANDS) or "universe", message, f"write one of {known}")
    return vanilla


def _set_remote(draft: Draft) -> None:
    for prefix, attribute in _REMOTE:
        names = (f"{prefix}universe", f"{prefix}jobuniverse")
        text = draft.command(*names)
        if text is None:
            continue
        number = universe_number(text)
        if number:
            draft.set(f"{attribute}JobUniverse", number)
        else:
            message = f"Unknown {attribute}Universe of '{shown(text)}' specified"
            draft.fault("submit-universe", draft.written(*names) or "", message, "write the name of a universe")


def _set_grid_type(draft: Draft) -> None:
    resource = draft.command("grid_resource", "gridresource")
    if resource is None:  # one of SUBMIT_ATTRS does not count yet
        message = "grid_resource attribute not defined for grid universe job"
        draft.fault("submit-grid", "universe", message, "write grid_resource = batch slurm, or what you have")
        return
    draft.cluster.grid_type = resource.split(" ")[0]
    if lower(draft.cluster.grid_type) not in _GRID_TYPES:
        message = (
            f"Invalid value '{shown(draft.cluster.grid_type)}' for grid type "
            "Must be one of: condor, batch, arc, ec2, gce, or azure"
        )
        draft.fault("submit-grid", draft.written("grid_resource", "gridresource") or "", message, "write one of these")


def _force_transfer(draft: Draft) -> None:
    """Turn file transfer on for a virtual machine, whatever the file says."""
    checkpoint = draft.flag("vm_checkpoint", "jobvmcheckpoint")
    networking = draft.flag("vm_networking", "jobvmnetworking")
    is_both = checkpoint and networking
    when = lower(draft.command("whentotransferoutput", "when_to_transfer_output") or "") if is_both else ""
    if is_both and when not in {"on_exit_or_evict", "always"}:
        message = "You explicitly requested both VM checkpoint and VM networking."
        draft.fault("submit-vm", "vm_checkpoint", message, "write when_to_transfer_output = ON_EXIT_OR_EVICT as well")
    moment = "ON_EXIT_OR_EVICT" if checkpoint else "ON_EXIT"
    draft.cluster.forced |= {"shouldtransferfiles": "YES", "whentotransferoutput": moment}


def set_parallel(draft: Draft) -> None:
    """Set the number of hosts of a parallel job (SubmitHash::SetParallelParams)."""
    universe = draft.cluster.universe
    if universe in {MPI, Universe.PARALLEL} or draft.holds("WantParallelScheduling"):
        name = "machine_count" if draft.command("machine_count", "machinecount") is not None else "node_count"
        count = draft.command("machine_count", "machinecount") or draft.command("node_count", "nodecount")
        if count is not None:
            draft.set("MinHosts", leading_int(count))
            draft.set("MaxHosts", leading_int(count))
        elif not draft.has("MaxHosts"):
            draft.fault("submit-parallel", name, "No machine_count specified!", "write machine_count = 2")
        draft.set("RequestCpus", 1)
    if universe == Universe.PARALLEL:
        draft.set("WantIOProxy", value=True)
        draft.set("JobRequiresSandbox", value=True)


def start_cluster(draft: Draft) -> None:
    """Put into the cluster's ad what SUBMIT_ATTRS names."""
    for name in draft.knobs.attributes():
        text = draft.knobs.get(name)
        if not name.startswith("+") and not lower(name).startswith("my.") and text is not None:
            kept = len(draft.faults)
            draft.expression(name, text)
            del draft.faults[kept:]  # HTCondor only logs what the administrator got wrong
