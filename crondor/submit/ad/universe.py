"""The universe of a cluster, grid resources and virtual machines (HTCondor 25.14: SubmitHash::SetUniverse)."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from crondor.classad import lower
from crondor.macro.functions import leading_int
from crondor.schedule import Universe
from crondor.submit.ad.draft import MIB, Draft, amount, shown, words
from crondor.submit.ad.program import look_for_images
from crondor.submit.facts import COMMANDS, MPI, universe_number
from crondor.submit.facts import UNIVERSE_NAMES as UNIVERSES

_SUPPORTED: Final = frozenset((*Universe, MPI))
_WITH_IMAGES: Final = (Universe.VANILLA, Universe.LOCAL)
_GRID_TYPES: Final = frozenset(
    ("", "blah", "batch", "pbs", "sge", "lsf", "nqs", "naregi", "condor", "arc", "ec2", "gce", "azure")
)
_REMOTE: Final = (("remote_", "Remote_"), ("remote_remote_", "Remote_Remote_"))

UNIVERSE_COMMANDS: Final = (
    *(*COMMANDS, "wantparallelscheduling", "grid_resource", "gridresource"),
    *(f"{prefix}{name}" for prefix, _ in _REMOTE for name in COMMANDS),
    *("machine_count", "machinecount", "node_count", "nodecount"),
    *("vm_checkpoint", "jobvmcheckpoint", "vm_networking", "jobvmnetworking"),
)


def set_universe(draft: Draft) -> None:
    """Determine the universe of a cluster from its first job, and set it."""
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
    """Return the number of the requested universe; vanilla for docker, container and a faulty one."""
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
            draft.fault("submit-universe", draft.written(*names), message, "write the name of a universe")


def _set_grid_type(draft: Draft) -> None:
    resource = draft.command("grid_resource", "gridresource")
    if resource is None:  # SUBMIT_ATTRS does not count yet
        message = "grid_resource attribute not defined for grid universe job"
        draft.fault("submit-grid", "universe", message, "write grid_resource = batch slurm, or your own system")
        return
    draft.cluster.grid_type = resource.split(" ")[0]
    if lower(draft.cluster.grid_type) not in _GRID_TYPES:
        message = (
            f"Invalid value '{shown(draft.cluster.grid_type)}' for grid type "
            "Must be one of: condor, batch, arc, ec2, gce, or azure"
        )
        draft.fault("submit-grid", draft.written("grid_resource", "gridresource"), message, "write one of these")


def _force_transfer(draft: Draft) -> None:
    """Require file transfer for a virtual machine, whatever the file says."""
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
    """Set the attributes named by SUBMIT_ATTRS in the cluster's ad."""
    for name in draft.knobs.attributes():
        text = draft.knobs.get(name)
        if not name.startswith("+") and not lower(name).startswith("my.") and text is not None:
            kept = len(draft.faults)
            draft.expression(name, text)
            del draft.faults[kept:]  # HTCondor only logs mistakes of the administrator


# It is not checked whether key files and the like exist.
class _Kind(Enum):
    STRING = "string"
    FILE = "string, a file name from the root"
    LIST = "string, a list with commas"
    EXPRESSION = "expression"
    BOOLEAN = "boolean"


class _Command(NamedTuple):
    """A command and its attribute; a job of the grid type ``needed_by`` must have it."""

    command: str
    attribute: str
    kind: _Kind = _Kind.STRING
    needed_by: str = ""


_JOBS_REQUIRE: Final = {"ec2": "EC2 jobs require a", "gce": "GCE jobs require a", "azure": "Azure jobs require an"}
_RESOURCE: Final = ("grid_resource", "gridresource")
_OF_BATCH: Final = (
    _Command("arc_rte", "ArcRte"),
    _Command("arc_resources", "ArcResources"),
    _Command("arc_application", "ArcApplication"),
    _Command("arc_data_staging", "ArcDataStaging"),
    _Command("batch_extra_submit_args", "BatchExtraSubmitArgs"),
    _Command("batch_project", "BatchProject"),
    _Command("batch_queue", "BatchQueue"),
    _Command("batch_runtime", "BatchRuntime", _Kind.EXPRESSION),
)
_OF_EC2: Final = (
    _Command("ec2_security_groups", "EC2SecurityGroups"),
    _Command("ec2_security_ids", "EC2SecurityIDs"),
    _Command("ec2_ami_id", "EC2AmiID", needed_by="ec2"),
    _Command("ec2_instance_type", "EC2InstanceType"),
    _Command("ec2_vpc_subnet", "EC2VpcSubnet"),
    _Command("ec2_vpc_ip", "EC2VpcIp"),
    _Command("ec2_elastic_ip", "EC2ElasticIp"),
    _Command("ec2_availability_zone", "EC2AvailabilityZone"),
)
_MORE_OF_EC2: Final = (
    _Command("ec2_spot_price", "EC2SpotPrice"),
    _Command("ec2_block_device_mapping", "EC2BlockDeviceMapping"),
    _Command("ec2_user_data", "EC2UserData"),
    _Command("ec2_user_data_file", "EC2UserDataFile", _Kind.FILE),
    _Command("ec2_iam_profile_arn", "EC2IamProfileArn"),
)
_OF_GCE_AND_AZURE: Final = (
    _Command("gce_auth_file", "GceAuthFile", _Kind.FILE),
    _Command("gce_account", "GceAccount"),
    _Command("gce_image", "GceImage", needed_by="gce"),
    _Command("gce_machine_type", "GceMachineType", needed_by="gce"),
    _Command("gce_metadata", "GceMetadata", _Kind.LIST),
    _Command("gce_metadata_file", "GceMetadataFile", _Kind.FILE),
    _Command("gce_preemptible", "GcePreemptible", _Kind.BOOLEAN),
    _Command("gce_json_file", "GceJsonFile", _Kind.FILE),
    _Command("azure_auth_file", "AzureAuthFile", _Kind.FILE),
    _Command("azure_image", "AzureImage", needed_by="azure"),
    _Command("azure_location", "AzureLocation", needed_by="azure"),
    _Command("azure_size", "AzureSize", needed_by="azure"),
    _Command("azure_admin_username", "AzureAdminUsername", needed_by="azure"),
    _Command("azure_admin_key", "AzureAdminKey", needed_by="azure"),
)
# Each key may be given by one of two commands.
_KEYS: Final = (
    ("EC2AccessKeyId", "ec2_access_key_id", "aws_access_key_id_file"),
    ("EC2SecretAccessKey", "ec2_secret_access_key", "aws_secret_access_key_file"),
)
_OF_THE_MACHINE: Final = "FROM INSTANCE"
_PAIR: Final = ("ec2_keypair", "ec2_keyp_air")
_PAIR_FILE: Final = ("ec2_keypair_file", "ec2_key_pair_file")
_VOLUMES: Final = ("ec2_ebs_volumes", "ec2elasticblockstoragevolumes")
_PROFILE: Final = ("ec2_iam_profile_name", "ec2iamprofilename")
_PARAMETERS: Final = ("ec2_parameter_names", "ec2paramnames")
_PARAMETER: Final = "ec2_parameter_"


class _Labels(NamedTuple):
    """Names with values that a cloud shows with an instance: prefixes of their commands and attributes."""

    command: str
    attribute: str

    @property
    def names(self) -> tuple[str, str]:
        return f"{self.command}names", f"{self.attribute.lower()}names"


_TAGS: Final = _Labels("ec2_tag_", "EC2Tag")
_CLOUD: Final = _Labels("cloud_label_", "CloudLabel")

PREFIXES: Final = (
    _PARAMETER,
    *(prefix for labels in (_TAGS, _CLOUD) for prefix in (labels.command, labels.attribute.lower())),
)
GRID_NAMES: Final = (
    *_RESOURCE,
    *(
        name
        for each in (*_OF_BATCH, *_OF_EC2, *_MORE_OF_EC2, *_OF_GCE_AND_AZURE)
        for name in (each.command, each.attribute.lower())
    ),
    *(name for attribute, *commands in _KEYS for name in (attribute.lower(), *commands)),
    *(*_PAIR, "ec2keypair", *_PAIR_FILE, "ec2keypairfile", *_VOLUMES, *_PROFILE, *_PARAMETERS, "wantnametag"),
    *(*_TAGS.names, *_CLOUD.names),
)


def set_grid(draft: Draft) -> None:
    """Set GridResource and all attributes for the other system."""
    if draft.cluster.universe != Universe.GRID:
        return
    resource = draft.string("GridResource", *_RESOURCE)
    if resource is not None:
        draft.cluster.grid_type = resource.split(" ")[0]
        if lower(resource) == "ec2":
            draft.fault("submit-grid", "grid_resource", "EC2 grid jobs require a service URL", "write it after ec2")
    _set_all(draft, _OF_BATCH)
    _set_ec2(draft)
    for labels in (_TAGS, _CLOUD):
        _set_labels(draft, labels)
    _set_all(draft, _OF_GCE_AND_AZURE)


def _is_of(draft: Draft, kind: str) -> bool:
    return lower(draft.cluster.grid_type) == kind


def _set_all(draft: Draft, commands: tuple[_Command, ...]) -> None:
    for each in commands:
        text = draft.command(each.command, each.attribute.lower())
        if text is not None:
            _set(draft, each, text)
        elif each.needed_by and _is_of(draft, each.needed_by) and not draft.has(each.attribute):
            message = f'{_JOBS_REQUIRE[each.needed_by]} "{each.command}" parameter'
            draft.fault("submit-grid", _RESOURCE[0], message, f"write {each.command} = its value")


def _set(draft: Draft, each: _Command, text: str) -> None:
    names = each.command, each.attribute.lower()
    if each.kind is _Kind.EXPRESSION:
        draft.expression(each.attribute, text, draft.written(*names))
    elif each.kind is _Kind.BOOLEAN:
        flag = draft.flag(*names)
        if flag is not None:
            draft.set(each.attribute, flag)
    elif each.kind is _Kind.LIST:
        draft.set(each.attribute, ",".join(words(text, ",")))
    else:
        draft.set(each.attribute, draft.path(text) if each.kind is _Kind.FILE else text)


def _set_ec2(draft: Draft) -> None:
    _set_keys(draft)
    pair = draft.command(_PAIR[0], "ec2keypair") or draft.command(_PAIR[1], "ec2keypair")
    if pair is not None:
        draft.set("EC2KeyPair", pair)
    file = draft.command(_PAIR_FILE[0], "ec2keypairfile") or draft.command(_PAIR_FILE[1], "ec2keypairfile")
    if file is not None and not draft.has("EC2KeyPair"):
        draft.set("EC2KeyPairFile", draft.path(file))
    _set_all(draft, _OF_EC2)
    _set_volumes(draft)
    _set_all(draft, _MORE_OF_EC2)
    profile = draft.command(*_PROFILE)
    if profile is not None and draft.has("EC2IamProfileArn"):  # 25.14 has the condition inverted
        draft.set("EC2IamProfileName", profile)
    _set_parameters(draft)


def _set_keys(draft: Draft) -> None:
    """Set the paths of both keys; one that the machine provides replaces both."""
    for attribute, command, other in _KEYS:
        key = draft.command(command, attribute.lower()) or draft.command(other, attribute.lower())
        if key is not None and lower(key) == lower(_OF_THE_MACHINE):
            for each, *_ in _KEYS:
                draft.set(each, _OF_THE_MACHINE)
        elif key is not None:
            draft.set(attribute, draft.path(key))
    if _is_of(draft, "ec2"):
        for attribute, command, other in _KEYS:
            if not draft.has(attribute):
                message = f"EC2 jobs require a '{command}' or '{other}' parameter"
                draft.fault("submit-grid", _RESOURCE[0], message, f"write {command} = its file")


def _set_volumes(draft: Draft) -> None:
    text = draft.command(*_VOLUMES)
    if text is None:
        return
    name = draft.written(*_VOLUMES)
    volumes = words(text, ",")
    if not volumes or any(volume.count(":") != 1 for volume in volumes):
        message = "'ec2_ebs_volumes' has incorrect format."
        draft.fault("submit-grid", name, message, "write ec2_ebs_volumes = vol-35bcc15e:hda1,vol-35bcc16f:hda2")
    elif not draft.has("EC2AvailabilityZone"):
        message = "'ec2_ebs_volumes' requires 'ec2_availability_zone'"
        draft.fault("submit-grid", name, message, "write ec2_availability_zone = the zone of the volumes")
    else:
        draft.set("EC2ElasticBlockStorageVolumes", text)


def _set_parameters(draft: Draft) -> None:
    """Set a parameter for each command with the prefix, with its text unchanged, and list their names."""
    names = words(draft.command(*_PARAMETERS) or draft.text("EC2ParamNames") or "")
    for command in draft.named(_PARAMETER):
        if command == _PARAMETERS[0]:
            continue
        name = draft.spelled(command)[len(_PARAMETER) :]
        draft.set(f"EC2Param_{name}", draft.command(command) or "")
        if lower(name) not in {lower(known).replace(".", "_") for known in names}:
            names.append(name)
    if names:
        draft.set("EC2ParamNames", ", ".join(names))


def _set_labels(draft: Draft, labels: _Labels) -> None:
    """Set an attribute for each label, and list their names; an EC2 instance gets the name of its executable."""
    listed = f"{labels.attribute}Names"
    names = words(draft.command(*labels.names) or draft.text(listed) or "")
    for command in draft.named(labels.command, labels.attribute.lower()):
        prefix = labels.command if command.startswith(labels.command) else labels.attribute
        name = draft.spelled(command)[len(prefix) :]
        if name and not lower(name).startswith("names") and lower(name) not in map(lower, names):
            names.append(name)
    for name in names:
        attribute = f"{labels.attribute}{name}"
        draft.string(attribute, f"{labels.command}{name}".lower(), attribute.lower())
    if _is_of(draft, "ec2") and "name" not in map(lower, names) and draft.flag("wantnametag") is not False:
        program = draft.text("Cmd")
        if program is not None:
            draft.set(f"{labels.attribute}Name", program)
    if names:
        draft.set(listed, ",".join(names))


_FLAGS: Final = (
    ("vm_checkpoint", "JobVMCheckpoint"),
    ("vm_networking", "JobVMNetworking"),
    ("vm_vnc", "JobVMVNCConsole"),
)
# $(Request_Memory) and $(Request_CPUs) are the defaults of commands that are not given.
_MEMORY: Final = ("vm_memory", "request_memory", "requestmemory")
_PROCESSORS: Final = ("vm_vcpus", "request_cpus", "requestcpus")
_TYPE: Final = ("vm_type", "jobvmtype")
_NETWORK: Final = ("vm_networking_type", "jobvmnetworkingtype")
_ADDRESS: Final = ("vm_macaddr", "jobvm_macaddr")
_KERNEL: Final = ("xen_kernel", "vmparam_xen_kernel")
_XEN_PARAMETERS: Final = ("xen_kernel_params", "vmparam_xen_kernel_params")
_NO_FILE: Final = frozenset(("included", "vmx"))
_DISK: Final = "write vm_disk = file:device:permission"

MACHINE_NAMES: Final = (
    *(name for command, attribute in _FLAGS for name in (command, attribute.lower())),
    *(*_MEMORY, *_PROCESSORS, *_TYPE, *_NETWORK, *_ADDRESS, *_KERNEL, *_XEN_PARAMETERS),
    *("vm_no_output_vm", "xen_initrd", "xen_root", "vm_disk"),
)


def set_machine(draft: Draft) -> None:
    """Set the attributes of a virtual machine."""
    cluster = draft.cluster
    if cluster.universe != Universe.VM:
        return
    kind = draft.command(*_TYPE)
    if kind is not None:
        cluster.vm_type = lower(kind)
        draft.set("JobVMType", cluster.vm_type)
    else:
        cluster.vm_type = draft.text("JobVMType") or ""
    for command, attribute in _FLAGS:
        given = draft.flag(command, attribute.lower())
        if given is not None or not draft.has(attribute):
            draft.set(attribute, bool(given))
    if draft.holds("JobVMNetworking"):
        draft.string("JobVMNetworkingType", *_NETWORK)
    _set_size(draft)
    draft.string("JobVM_MACADDR", *_ADDRESS)
    keeps = draft.flag("vm_no_output_vm")
    if keeps is not None:
        draft.set("VMPARAM_No_Output_VM", keeps)
    if cluster.vm_type == "vmware":
        draft.fault("submit-vm", "vm_type", "A vm_type of 'vmware' is no longer supported", "write kvm or xen")
    if cluster.vm_type == "xen":
        _set_kernel(draft)
    if cluster.vm_type in {"xen", "kvm"}:
        _set_disk(draft)


def _set_size(draft: Draft) -> None:
    """Set memory in MiB and processors; a suspended machine needs its memory on disk, which is its ExecutableSize."""
    memory = draft.command(*_MEMORY)
    if memory is not None:
        found = amount(memory, MIB)
        if found is None or found.value <= 0:
            message = "vm_memory is incorrectly specified"
            draft.fault("submit-vm", "vm_memory", message, "for 128 megabytes, write 128")
            return
        draft.set("JobVMMemory", found.value)
    size = draft.value("JobVMMemory")
    if not isinstance(size, int):
        message = "vm_memory cannot be found. Please specify vm_memory for vm universe in your submit description file."
        draft.fault("submit-vm", "universe", message, "write vm_memory = its megabytes")
        return
    draft.set("ExecutableSize", int(size) * 1024)
    processors = draft.command(*_PROCESSORS)
    if processors is not None or not isinstance(draft.value("JobVM_VCPUS"), int):
        draft.set("JobVM_VCPUS", max(1, leading_int(processors or "")))


def _set_kernel(draft: Draft) -> None:
    """Set the kernel of Xen; a job's own kernel needs a root device."""
    kernel = draft.string("VMPARAM_Xen_Kernel", *_KERNEL) or draft.text("VMPARAM_Xen_Kernel")
    if kernel is None:
        draft.fault("submit-vm", "vm_type", "'xen_kernel' cannot be found.", "write xen_kernel = included")
        return
    if lower(kernel) == "vmx":
        draft.set("JobVMHardwareVT", value=True)
    is_file = lower(kernel) not in _NO_FILE
    if draft.string("VMPARAM_Xen_Initrd", "xen_initrd") is not None and not is_file:
        message = "To use xen_initrd, xen_kernel should be a real kernel file."
        draft.fault("submit-vm", "xen_initrd", message, "remove it, or name the file of a kernel")
    if is_file and draft.string("VMPARAM_Xen_Root", "xen_root") is None:
        draft.fault("submit-vm", "xen_kernel", "'xen_root' cannot be found.", "write xen_root = its device")
    parameters = draft.command(*_XEN_PARAMETERS)
    if parameters is not None:
        draft.set("VMPARAM_Xen_Kernel_Params", _trimmed(parameters))


def _trimmed(text: str) -> str:
    """Return a text without a quote at its beginning and one at its end, of any kind (trim_quotes)."""
    if len(text) < 2:
        return text
    text = text[1:] if text[0] in "\"'" else text
    return text[:-1] if text[-1] in "\"'" else text


def _set_disk(draft: Draft) -> None:
    disk = draft.string("VMPARAM_vm_Disk", "vm_disk")
    if disk is None:
        if not draft.has("VMPARAM_vm_Disk"):
            draft.fault("submit-vm", "vm_type", "'<vm>_disk' cannot be found.", _DISK)
        return
    disks = words(disk, ",")
    if not disks or any(not 2 <= one.count(":") <= 3 for one in disks):
        draft.fault("submit-vm", "vm_disk", "'vm_disk' has incorrect format.", _DISK)
