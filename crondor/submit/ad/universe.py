"""The universe of a cluster, and what each universe asks of its jobs (HTCondor 25.14: SetUniverse and others)."""

from __future__ import annotations

import re
from typing import Final

from crondor.classad import lower
from crondor.schedule import Universe
from crondor.submit.ad import values
from crondor.submit.ad.draft import Cluster, Draft, shown

MPI: Final = 8
_NAMES: Final = (
    *("NULL", "Standard", "Pipe", "Linda", "PVM", "Vanilla", "PVMD", "Scheduler"),
    *("MPI", "Grid", "Java", "Parallel", "Local", "VM"),
)
_NUMBERS: Final = {name.lower(): number for number, name in enumerate(_NAMES) if number}
_SUPPORTED: Final = frozenset((*Universe, MPI))
_WITH_IMAGES: Final = (Universe.VANILLA, Universe.LOCAL)
_GRID_TYPES: Final = frozenset(
    ("", "blah", "batch", "pbs", "sge", "lsf", "nqs", "naregi", "condor", "arc", "ec2", "gce", "azure"),
)
_CLOUDS: Final = frozenset(("ec2", "gce", "azure"))
_NO_CONTAINERS: Final = ("instance://", "library://", "shub://")
_REMOTE: Final = (("remote_", "Remote_"), ("remote_remote_", "Remote_Remote_"))
_SLASHES: Final = re.compile(r"([/\\])[/\\]+")

NAMES: Final = (
    *("universe", "jobuniverse", "wantparallelscheduling", "grid_resource", "gridresource"),
    *(f"{prefix}{name}" for prefix, _ in _REMOTE for name in ("universe", "jobuniverse")),
    *("container_image", "containerimage", "docker_image", "dockerimage"),
    *("executable", "cmd", "transfer_executable", "transferexecutable"),
    *("machine_count", "machinecount", "node_count", "nodecount"),
    *("vm_type", "jobvmtype", "vm_memory", "jobvmmemory", "vm_checkpoint", "jobvmcheckpoint", "vm_disk", "vm_disk"),
    *("vm_networking", "jobvmnetworking", "vm_networking_type", "jobvmnetworkingtype", "vm_vnc", "jobvmvncconsole"),
    *("vm_vcpus", "jobvm_vcpus", "vm_macaddr", "jobvm_macaddr", "xen_kernel", "vm_no_output_vm"),
    *("request_memory", "requestmemory", "request_cpus", "requestcpus"),
)


def set_universe(draft: Draft) -> None:
    """Decide the universe of a cluster by its first job, and set it."""
    cluster = draft.cluster
    name = draft.written("universe", "jobuniverse")
    text = draft.command("universe", "jobuniverse") or draft.knobs.get("DEFAULT_UNIVERSE")
    number = int(Universe.VANILLA) if text is None else _number(text)
    if number == 0 and text is not None and lower(text) in {"docker", "container"}:
        number = int(Universe.VANILLA)
        cluster.is_docker = lower(text) == "docker"
        cluster.is_container = not cluster.is_docker
    if number not in _SUPPORTED:
        known = ", ".join(sorted(("container", "docker", *(universe.name.lower() for universe in Universe))))
        unknown = f"I don't know about the '{shown(text or '')}' universe."
        shows = _NAMES[number] if 0 < number < len(_NAMES) else "Unknown"
        message = f"'{shows}' is not a supported universe." if number else unknown
        draft.fault("submit-universe", name or "universe", message, f"write one of {known}")
        number = int(Universe.VANILLA)
    cluster.universe = number
    if number in _WITH_IMAGES:
        _look_for_images(draft)
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


def _number(text: str) -> int:
    """Return the number of a universe, given by number or by name; 0 for none."""
    return values.leading_integer(text) or _NUMBERS.get(lower(text), 0)


def _look_for_images(draft: Draft) -> None:
    cluster = draft.cluster
    container = draft.command("container_image", "containerimage")
    docker = draft.command("docker_image", "dockerimage")
    if cluster.is_docker:
        if container is not None:
            message = "docker universe does not allow use of container_image."
            draft.fault("submit-image", "container_image", message, "write docker_image")
    elif docker is not None and container is not None:
        message = "cannot declare both docker_image and container_image"
        draft.fault("submit-image", "docker_image", message, "remove one of them")
    elif docker is not None or container is not None:
        cluster.is_container = True
        if docker is not None:
            draft.set("WantDockerImage", value=True)


def _set_remote(draft: Draft) -> None:
    for prefix, attribute in _REMOTE:
        names = (f"{prefix}universe", f"{prefix}jobuniverse")
        text = draft.command(*names)
        if text is None:
            continue
        number = _number(text)
        if number:
            draft.set(f"{attribute}JobUniverse", number)
        else:
            message = f"Unknown {attribute}Universe of '{shown(text)}' specified"
            draft.fault("submit-universe", draft.written(*names) or "", message, "write the name of a universe")


def _set_grid_type(draft: Draft) -> None:
    resource = draft.command("grid_resource", "gridresource")
    if resource is None:
        resource = draft.text("GridResource")
    if resource is None:
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
    when = lower(draft.command("whentotransferoutput", "when_to_transfer_output") or "")
    if checkpoint and networking and when not in {"on_exit_or_evict", "always"}:
        message = "You explicitly requested both VM checkpoint and VM networking."
        draft.fault("submit-vm", "vm_checkpoint", message, "write when_to_transfer_output = ON_EXIT_OR_EVICT as well")
    moment = "ON_EXIT_OR_EVICT" if checkpoint else "ON_EXIT"
    draft.cluster.forced |= {"shouldtransferfiles": "YES", "whentotransferoutput": moment}


def set_executable(draft: Draft) -> None:
    """Set Cmd and the images of a job (SubmitHash::SetExecutable); whether files exist is not looked at."""
    cluster = draft.cluster
    _set_images(draft)
    if draft.command("shell") is not None:
        draft.set("Cmd", "/bin/sh")
        draft.set("TransferExecutable", value=False)
        return
    text = draft.command("executable", "cmd")
    is_name = cluster.universe == Universe.VM or (
        cluster.universe == Universe.GRID and lower(cluster.grid_type) in _CLOUDS
    )
    if text is None:
        if draft.has("Cmd"):
            return
        if not (cluster.is_docker or cluster.is_container):
            message = "No 'executable' parameter was provided"
            draft.fault("submit-executable", "executable", message, "write executable = the program to run")
            return
        is_name = True
    transfer = draft.command("transfer_executable", "transferexecutable")
    stays = transfer is not None and transfer[0] in "fF"
    if transfer is None and _stays_in_the_image(draft, text):
        stays = True
    if stays or is_name:
        draft.set("TransferExecutable", value=False)
    path = text or ""
    draft.set("Cmd", path if stays or is_name else _full(path, draft.host.folder))


def _full(path: str, folder: str) -> str:
    """Return a path from the root, where the folder condor_submit is started in is known."""
    whole = path if path.startswith("/") or not folder else f"{folder}/{path}"
    return _SLASHES.sub(r"\1", whole)


def _stays_in_the_image(draft: Draft, path: str | None) -> bool:
    in_image = draft.cluster.is_docker or draft.cluster.is_container
    knob = "SUBMIT_CONTAINER_NEVER_XFER_ABSOLUTE_CMD"
    return in_image and (path or "").startswith("/") and draft.knobs.flag(knob, default=False)


def _set_images(draft: Draft) -> None:
    cluster = draft.cluster
    if not (cluster.is_docker or cluster.is_container):
        return
    docker = draft.command("docker_image", "dockerimage")
    if docker is not None:
        image = values.unquoted(docker)
        draft.set("DockerImage", image)
        if not image:
            where = "" if cluster.is_docker else " for container universe"
            draft.fault("submit-image", "docker_image", f"'{docker}' is not a valid docker_image{where}", "name it")
    elif cluster.is_docker and not draft.has("DockerImage"):
        draft.fault("submit-image", "universe", "docker jobs require a docker_image", "write docker_image = its name")
    if cluster.is_container:
        _set_container(draft)


def _set_container(draft: Draft) -> None:
    text = draft.command("container_image", "containerimage")
    if text is None:
        if not draft.has("ContainerImage", "DockerImage"):
            message = "container jobs require a container_image or docker_image"
            draft.fault("submit-image", "universe", message, "write container_image = its file or address")
        return
    image = values.unquoted(text)
    if not image or image.startswith(_NO_CONTAINERS):
        name = draft.written("container_image", "containerimage") or ""
        draft.fault(
            "submit-image", name, f"'{shown(image)}' is not a valid container image", "name a file or docker://"
        )
        return
    draft.set("ContainerImage", image)
    kinds = {"HasDockerURL": "WantDockerImage", "HasSIF": "WantSIF", "HasSandboxImage": "WantSandboxImage"}
    draft.set(kinds[image_clause(image)], value=True)


def image_clause(image: str) -> str:
    """Return the machine attribute that an image needs."""
    image = image.strip()
    if image.startswith("docker:"):
        return "HasDockerURL"
    return "HasSIF" if image.endswith(".sif") else "HasSandboxImage"


def set_grid(draft: Draft) -> None:
    """Set GridResource (the beginning of SubmitHash::SetGridParams)."""
    if draft.cluster.universe != Universe.GRID:
        return
    resource = draft.command("grid_resource", "gridresource")
    if resource is None:
        return
    draft.set("GridResource", resource)
    draft.cluster.grid_type = resource.split(" ")[0]
    if lower(resource) == "ec2":
        draft.fault("submit-grid", "grid_resource", "EC2 grid jobs require a service URL", "write it behind ec2")


def set_machine(draft: Draft) -> None:
    """Set what a virtual machine is (SubmitHash::SetVMParams), as far as Requirements and acceptance need it."""
    cluster = draft.cluster
    if cluster.universe != Universe.VM:
        return
    kind = draft.command("vm_type", "jobvmtype")
    if kind is not None:
        cluster.vm_type = lower(kind)
        draft.set("JobVMType", cluster.vm_type)
    else:
        cluster.vm_type = draft.text("JobVMType") or ""
    for command, attribute in (
        ("vm_checkpoint", "JobVMCheckpoint"),
        ("vm_networking", "JobVMNetworking"),
        ("vm_vnc", "JobVMVNCConsole"),
    ):
        given = draft.flag(command, attribute.lower())
        if given is not None or not draft.has(attribute):
            draft.set(attribute, bool(given))
    network = draft.command("vm_networking_type", "jobvmnetworkingtype")
    if network is not None and draft.holds("JobVMNetworking"):
        draft.set("JobVMNetworkingType", network)
    _set_size(draft)
    _set_disk(draft)


def _set_size(draft: Draft) -> None:
    memory = draft.command("vm_memory", "jobvmmemory", "request_memory", "requestmemory")
    if memory is not None:
        found = values.amount(memory, values.MIB)
        if found is None or found.value <= 0 or found.rest:
            message = "vm_memory is incorrectly specified"
            draft.fault("submit-vm", "vm_memory", message, "for 128 megabytes, write 128")
            return
        draft.set("JobVMMemory", found.value)
    elif not draft.has("JobVMMemory"):
        message = "vm_memory cannot be found. Please specify vm_memory for vm universe in your submit description file."
        draft.fault("submit-vm", "universe", message, "write vm_memory = its megabytes")
    processors = draft.command("vm_vcpus", "jobvm_vcpus", "request_cpus", "requestcpus")
    if processors is not None or not draft.has("JobVM_VCPUS"):
        draft.set("JobVM_VCPUS", max(1, values.leading_integer(processors or "")))


def _set_disk(draft: Draft) -> None:
    cluster = draft.cluster
    if cluster.vm_type == "vmware":
        draft.fault("submit-vm", "vm_type", "A vm_type of 'vmware' is no longer supported", "write kvm or xen")
    if cluster.vm_type == "xen":
        kernel = draft.command("xen_kernel", "vmparam_xen_kernel")
        if kernel is None and not draft.has("VMPARAM_Xen_Kernel"):
            draft.fault("submit-vm", "vm_type", "'xen_kernel' cannot be found.", "write xen_kernel = included")
        elif kernel is not None:
            draft.set("VMPARAM_Xen_Kernel", kernel)
            if lower(kernel) == "vmx":
                draft.set("JobVMHardwareVT", value=True)
    if cluster.vm_type not in {"xen", "kvm"}:
        return
    disk = draft.command("vm_disk")
    if disk is None:
        if not draft.has("VMPARAM_vm_Disk"):
            draft.fault(
                "submit-vm", "vm_type", "'<vm>_disk' cannot be found.", "write vm_disk = file:device:permission"
            )
        return
    disks = values.words(disk, ",")
    if not disks or any(not 2 <= one.count(":") <= 3 for one in disks):
        draft.fault("submit-vm", "vm_disk", "'vm_disk' has incorrect format.", "write vm_disk = file:device:permission")
    draft.set("VMPARAM_vm_Disk", disk)


def set_parallel(draft: Draft) -> None:
    """Set the number of hosts of a parallel job (SubmitHash::SetParallelParams)."""
    universe = draft.cluster.universe
    if universe in {MPI, Universe.PARALLEL} or draft.holds("WantParallelScheduling"):
        name = "machine_count" if draft.command("machine_count", "machinecount") is not None else "node_count"
        count = draft.command("machine_count", "machinecount") or draft.command("node_count", "nodecount")
        if count is not None:
            draft.set("MinHosts", values.leading_integer(count))
            draft.set("MaxHosts", values.leading_integer(count))
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


__all__ = ["MPI", "NAMES", "Cluster", "image_clause", "set_executable", "set_grid", "set_machine"]
