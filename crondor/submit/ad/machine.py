"""A job that is a virtual machine (HTCondor 25.14: SubmitHash::SetVMParams)."""

from __future__ import annotations

from typing import Final

from crondor.classad import lower
from crondor.macro.numbers import leading_int
from crondor.schedule import Universe
from crondor.submit.ad import values
from crondor.submit.ad.draft import Draft

_FLAGS: Final = (
    ("vm_checkpoint", "JobVMCheckpoint"),
    ("vm_networking", "JobVMNetworking"),
    ("vm_vnc", "JobVMVNCConsole"),
)
# $(Request_Memory) and $(Request_CPUs) stand for a command that is not given, as defaults of the language.
_MEMORY: Final = ("vm_memory", "request_memory", "requestmemory")
_PROCESSORS: Final = ("vm_vcpus", "request_cpus", "requestcpus")
_TYPE: Final = ("vm_type", "jobvmtype")
_NETWORK: Final = ("vm_networking_type", "jobvmnetworkingtype")
_ADDRESS: Final = ("vm_macaddr", "jobvm_macaddr")
_KERNEL: Final = ("xen_kernel", "vmparam_xen_kernel")
_PARAMETERS: Final = ("xen_kernel_params", "vmparam_xen_kernel_params")
_NO_FILE: Final = frozenset(("included", "vmx"))
_DISK: Final = "write vm_disk = file:device:permission"

NAMES: Final = (
    *(name for command, attribute in _FLAGS for name in (command, attribute.lower())),
    *(*_MEMORY, *_PROCESSORS, *_TYPE, *_NETWORK, *_ADDRESS, *_KERNEL, *_PARAMETERS),
    *("vm_no_output_vm", "xen_initrd", "xen_root", "vm_disk"),
)


def set_machine(draft: Draft) -> None:
    """Set what a virtual machine is."""
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
        found = values.amount(memory, values.MIB)
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
    """Set what Xen starts from; a kernel of the job's own needs a root device."""
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
    parameters = draft.command(*_PARAMETERS)
    if parameters is not None:
        draft.set("VMPARAM_Xen_Kernel_Params", _trimmed(parameters))


def _trimmed(text: str) -> str:
    """Return a text without a quote at its beginning and one at its end, of whatever kind (trim_quotes)."""
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
    disks = values.words(disk, ",")
    if not disks or any(not 2 <= one.count(":") <= 3 for one in disks):
        draft.fault("submit-vm", "vm_disk", "'vm_disk' has incorrect format.", _DISK)
