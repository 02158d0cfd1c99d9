"""Requirements as condor_submit 25.14 completes them (SetRequirements), requested resources and deferral."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from crondor._schedule import ATTRIBUTES, PREP_COMMANDS, TIME_COMMANDS, WINDOW_COMMANDS
from crondor.classad import UNDEFINED, AdValue, CircularReference, ClassAdSyntaxError, UnparseForm, lower
from crondor.classad.tree import Binary, Ternary
from crondor.deferral import DEFAULT_PREP_TIME, DEFAULT_WINDOW, GATE, MACHINE_DEFERS
from crondor.job.attributes import exact_integer_of
from crondor.knowledge.words import CommandType, submit_commands
from crondor.schedule import Universe
from crondor.submit.ad import policy, transfer
from crondor.submit.ad.draft import KIB, MIB, Amount, Draft, amount, literal, literal_number, parse, shown
from crondor.submit.ad.program import image_clause
from crondor.submit.facts import MPI

DEFERRING: Final = ATTRIBUTES[:6]  # the cron fields and DeferralTime


# crondor.schedule's tables have the attributes of the commands, and their order.
def deferred_by(draft: Draft) -> str | None:
    """Return the attribute that makes a job deferred, None if it is not."""
    return next((attribute for attribute in DEFERRING if draft.has(attribute)), None)


def set_deferral(draft: Draft) -> None:
    """Set the deferral attributes of the commands; a deferred job always has a window and a prep time."""
    _set_seconds(draft, "DeferralTime", "deferral_time", TIME_COMMANDS)
    if deferred_by(draft) is None:
        return
    for attribute, command, names, default in (
        ("DeferralWindow", "deferral_window", WINDOW_COMMANDS, DEFAULT_WINDOW),
        ("DeferralPrepTime", "deferral_prep_time", PREP_COMMANDS, DEFAULT_PREP_TIME),
    ):
        if not _set_seconds(draft, attribute, command, names):
            draft.set(attribute, default)


def _set_seconds(draft: Draft, attribute: str, command: str, names: Sequence[str]) -> bool:
    """Set a time or length in seconds; the error names ``command``, whatever was written."""
    pairs = (names[at : at + 2] for at in range(0, len(names), 2))  # an empty command only hides its own other spelling
    pair = next((pair for pair in pairs if draft.command(*pair) is not None), ())
    text = draft.command(*pair)
    if text is None:
        return False
    name = draft.written(*pair)
    given = draft.expression(attribute, text, name)
    tree = draft.ad[attribute].tree if given else None
    found = literal(tree) if tree is not None else None
    length = exact_integer_of(found.value) if found is not None else 0
    if not given or length is None or length < 0:
        message = f"{command} = {shown(text)} is invalid, must eval to a non-negative integer."
        draft.fault("submit-number", name, message, "write a number of seconds from 0 up, or an expression")
    return True


REQUIREMENTS_NAMES: Final = ("requirements", "my.requirements")
_TRANSFERS: Final = frozenset((Universe.VANILLA, MPI, Universe.PARALLEL, Universe.JAVA, Universe.VM))
_APPENDED: Final[dict[int, str]] = {Universe.VANILLA: "APPEND_REQ_VANILLA", Universe.VM: "APPEND_REQ_VM"}
_OPSYS: Final = frozenset(("opsys", "opsysandver", "opsyslongname", "opsysshortname", "opsysname", "opsyslegacy"))
_STANDARD: Final = frozenset(("requestcpus", "requestdisk", "requestmemory"))
_DISK: Final = "(TARGET.Disk >= RequestDisk)"
# A starter since 25.12 reduces RequestDisk by what several jobs share.
_DISK_OR_NEWER: Final = f'(versionGE(split(TARGET.CondorVersion)[1], "25.12.0") || {_DISK})'
_NEW_TRANSFER: Final = 'versioncmp( split(TARGET.CondorVersion)[1], "8.9.7" ) >= 0'
_NETWORKS_OF_ALL: Final = frozenset(("", "host", "none", "nat"))
_CUDA: Final = re.compile(r"[ \t\n\v\f\r]*([0-9]{1,9})(?:\.[ \t\n\v\f\r]*([0-9]{1,9}))?\Z")
_SCOPES: Final = ("target.", "other.", ".left.", ".right.", ".")
_MAC_FREE: Final = (
    "((MY.VM_CkptMac =?= UNDEFINED) || (TARGET.VM_All_Guest_Macs =?= UNDEFINED)"
    ' || (stringListIMember(MY.VM_CkptMac, TARGET.VM_All_Guest_Macs, ",") == FALSE))'
)


def set_requirements(draft: Draft) -> None:
    """Set Requirements, and ScheddInterval for a deferred job."""
    if draft.command("my.requirements") is not None:
        return  # an attribute written with + or MY. is used unchanged
    written = draft.command("requirements")
    clauses = [f"({written})"] if written is not None else []
    append = draft.knobs.get(_APPENDED.get(draft.cluster.universe, "")) or draft.knobs.get("APPEND_REQUIREMENTS")
    if append is not None:
        clauses.append(f"({append})")
    is_remote = draft.cluster.universe == Universe.GRID
    if is_remote and lower(draft.cluster.grid_type) == "condor":
        is_remote = not draft.knobs.flag("SUBMIT_GENERATE_CONDOR_C_REQUIREMENTS", default=True)
    if not is_remote:
        added = _Clauses(draft, " && ".join(clauses))
        if added.is_circular:
            message = f"Requirements = {shown(written or '')} Is Circular. Did you intend to use $(Requirements) ?"
            draft.fault("submit-requirements", "requirements", message, "name the attributes of machines only")
            return
        clauses += added
    draft.expression("Requirements", " && ".join(clauses) or "TRUE", "requirements")


class _Clauses:
    """The clauses that are added to a text, in HTCondor's order, except those the text has itself."""

    def __init__(self, draft: Draft, text: str) -> None:
        self.draft = draft
        self.universe = draft.cluster.universe
        self.asked, self.is_circular = _references(text)

    def __iter__(self) -> Iterator[str]:
        yield from self._platform()
        yield from self._disk()
        if self.universe == Universe.VM:
            yield from self._machine()
        else:
            yield from self._above_one("RequestMemory", "(TARGET.Memory >= RequestMemory)")
        yield from self._resources()
        if self.draft.has("ToolDaemonCmd") and not self.asks("HasTDP"):
            yield "TARGET.HasTDP"
        if self.draft.holds("EncryptExecuteDirectory") and not self.asks("EncryptExecuteDirectory"):
            yield "TARGET.HasEncryptExecuteDirectory"
        if self.universe in _TRANSFERS:
            yield from self._transfer()
        yield from self._deferral()
        if self.draft.holds("WantFTOnCheckpoint") and not self.asks("HasSelfCheckpointTransfers"):
            yield "TARGET.HasSelfCheckpointTransfers"
        yield from self._cuda()
        if self.draft.holds("OCUWanted"):
            yield "TARGET.OCU =?= true"

    def asks(self, *names: str) -> bool:
        return bool(self.asked) and any(lower(name) in self.asked for name in names)

    def _platform(self) -> Iterator[str]:
        cluster, host = self.draft.cluster, self.draft.host
        arch = [] if self.asks("Arch") else [f'(TARGET.Arch == "{host.arch or ""}")']
        if self.universe == Universe.JAVA:
            yield "TARGET.HasJava"
        elif self.universe == Universe.VM:
            yield from arch
            yield from self._virtual()
        elif cluster.is_docker:
            yield from arch
            yield "TARGET.HasDocker"
            if (self.draft.text("DockerNetworkType") or "") not in _NETWORKS_OF_ALL:
                yield "StringListMember(My.DockerNetworkType, TARGET.DockerNetworks)"
        elif cluster.is_container:
            yield from arch
            yield "TARGET.HasContainer"
            image = self.draft.text("ContainerImage")
            if self.draft.has("DockerImage"):
                yield "TARGET.HasDockerURL"
            elif image is not None:
                yield f"TARGET.{image_clause(image)}"
        else:
            yield from arch
            if not self.asks(*_OPSYS):
                yield f'(TARGET.OpSys == "{host.opsys or ""}")'

    def _virtual(self) -> Iterator[str]:
        for name, clause in (
            ("HasVM", "(TARGET.HasVM =?= true)"),
            ("VM_Type", "(TARGET.VM_Type == MY.JobVMType)"),
            ("VM_AvailNum", "(TARGET.VM_AvailNum > 0)"),
        ):
            if not self.asks(name):
                yield clause
        if self.draft.holds("JobVMCheckpoint") and not self.asks("VM_CkptMac"):
            yield _MAC_FREE

    def _disk(self) -> Iterator[str]:
        request = self.draft.ad.get("RequestDisk")
        if self.asks("Disk"):
            if request is not None and self.universe != Universe.VM:
                yield _DISK
        elif request is not None:
            number = literal_number(request)
            if number is None or number > 0:
                yield _DISK_OR_NEWER if self.universe == Universe.VANILLA else _DISK
        else:
            yield f"(TARGET.{'TotalDisk' if self.universe == Universe.VM else 'Disk'} >= DiskUsage)"

    def _machine(self) -> Iterator[str]:
        """Yield the requirements of a virtual machine on its host."""
        draft = self.draft
        if draft.cluster.vm_type != "xen":
            yield "(TARGET.TotalMemory >= MY.JobVMMemory)"
        if not self.asks("VM_Memory"):
            yield "(TARGET.VM_Memory >= MY.JobVMMemory)"
        if draft.holds("JobVMHardwareVT") and not self.asks("VM_HardwareVT"):
            yield "TARGET.VM_HardwareVT"
        if draft.holds("JobVMNetworking"):
            if not self.asks("VM_Networking"):
                yield "TARGET.VM_Networking"
            if draft.has("JobVMNetworkingType"):
                yield 'stringListIMember(JobVMNetworkingType,TARGET.VM_Networking_Types,",")'

    def _above_one(self, attribute: str, clause: str) -> Iterator[str]:
        """Yield a clause for a request that is above 1, or not known to be a number."""
        request = self.draft.ad.get(attribute)
        if request is not None:
            number = literal_number(request)
            if number is None or number > 1:
                yield clause

    def _resources(self) -> Iterator[str]:
        if self.universe != Universe.GRID and not self.asks("Cpus"):
            yield from self._above_one("RequestCpus", "(TARGET.Cpus >= RequestCpus)")
        every = self.draft.knobs.flag("SUBMIT_GENERATE_CUSTOM_RESOURCE_REQUIREMENTS", default=True)
        ad = self.draft.ad
        for key in sorted(key for key in ad.codes if key.startswith("request")):
            tag = ad.names[key][len("Request") :]
            if key in _STANDARD or not (every or key == "requestgpus"):
                continue
            if len(tag) < 2 or tag.startswith("_") or self.asks(tag):
                continue
            clause = self._resource(ad.names[key], tag)
            if clause is not None:
                yield clause

    def _resource(self, attribute: str, tag: str) -> str | None:
        value = self.draft.value(attribute)
        if isinstance(value, str):
            return f"regexp({attribute}, TARGET.{tag})" if value else None
        if isinstance(value, bool) or not (value is UNDEFINED or (isinstance(value, (int, float)) and value > 0)):
            return None
        if self.draft.has(f"Require{tag}"):
            return f"(countMatches(MY.Require{tag},TARGET.Available{tag}) >= {attribute})"
        return f"(TARGET.{tag} >= {attribute})"

    def _transfer(self) -> Iterator[str]:
        """Yield that the machine shares the file system, or can transfer files as this job needs."""
        draft = self.draft
        domain = "(TARGET.FileSystemDomain == MY.FileSystemDomain)"
        shares = self.asks("FileSystemDomain")
        should = transfer.should(draft.text("ShouldTransferFiles") or transfer.IF_NEEDED)
        if should == transfer.NO:
            if not shares:
                yield domain
            return
        if self.asks("HasFileTransfer", "HasJobTransferPlugins"):
            return
        able = " && ".join(self._able())
        yield f"({domain} || ({able}))" if should == transfer.IF_NEEDED and not shares else f"({able})"

    def _able(self) -> Iterator[str]:
        draft = self.draft
        yield "TARGET.HasJobTransferPlugins" if draft.text("TransferPlugins") else "TARGET.HasFileTransfer"
        lists = ("EncryptInputFiles", "EncryptOutputFiles", "DontEncryptInputFiles", "DontEncryptOutputFiles")
        if draft.has(*lists) and not self.asks("HasPerFileEncryption"):
            yield "TARGET.HasPerFileEncryption"
        moment = transfer.when(draft.text("WhenToTransferOutput"))
        checkpoint = draft.text("TransferCheckpoint") is not None
        if checkpoint or draft.holds("PreserveRelativePaths") or moment == transfer.ON_SUCCESS:
            yield _NEW_TRANSFER
        if draft.holds("RequireCommonFilesTransfer"):
            yield "TARGET.HasCommonFilesTransfer >= 2"
        methods = transfer.methods(draft)
        if methods:
            draft.set("WantTransferPluginMethods", ",".join(methods))
        if not self.asks("HasFileTransferPluginMethods"):
            for method in methods:
                yield f'stringListIMember("{method}",TARGET.HasFileTransferPluginMethods)'
                self._check_keys(method)

    def _check_keys(self, method: str) -> None:
        draft = self.draft
        if lower(method) not in {"s3", "gs"} or not draft.knobs.flag("SIGN_S3_URLS", default=True):
            return
        for attribute, part in (("EC2AccessKeyId", "access_key_id"), ("EC2SecretAccessKey", "secret_access_key")):
            if not draft.has(attribute):
                message = f"[s3|gs]:// URLs require [s3|aws|gs]_{part}_file to be set."
                draft.fault("submit-transfer", "transfer_input_files", message, f"write {method}_{part}_file")

    def _deferral(self) -> Iterator[str]:
        draft = self.draft
        if deferred_by(draft) is None:
            return
        if self.universe != Universe.LOCAL:
            yield MACHINE_DEFERS
        if not draft.has("ScheddInterval"):
            interval = draft.knobs.get("SCHEDD_INTERVAL")
            if interval is None:
                draft.set("ScheddInterval", draft.host.schedd_interval)
            else:
                draft.expression("ScheddInterval", interval)
        yield GATE

    def _cuda(self) -> Iterator[str]:
        text = self.draft.text("CUDAVersion")
        if text is None:
            return
        match = _CUDA.match(text)
        if match is None:
            message = "cuda_version must be of the form 'x' or 'x.y', where x and y are positive integers."
            self.draft.fault("submit-value", "cuda_version", message, "write cuda_version = 12.1")
            return
        major = int(match[1])
        version = major * 1000 + int(match[2]) % 100 if match[2] else major * (1000 if major < 1000 else 1)
        self.draft.set("CUDAVersion", version)
        yield "CUDAVersion <= TARGET.CUDAMaxSupportedVersion"


_OF_THE_JOB: Final = AdValue(
    {"requestmemory": "0", "vm_ckptmac": '""', "requirements": "true"},
    {"requestmemory": "RequestMemory", "vm_ckptmac": "VM_CkptMac", "requirements": "Requirements"},
)


def _references(text: str) -> tuple[frozenset[str], bool]:
    """Return the machine attributes in a text, in lower case, and whether it refers to Requirements."""
    if not text:
        return frozenset(), False
    try:
        found = parse(text).references(_OF_THE_JOB)
    except (ClassAdSyntaxError, CircularReference):
        return frozenset(), False
    external = frozenset(map(_trimmed, found.external))
    own = "requirements" in map(lower, found.internal) or "requirements" in external
    return external | ({"vm_ckptmac"} & set(map(lower, found.internal))), own


def _trimmed(name: str) -> str:
    """Return the attribute of a reference, without the scope before it and the selection after it."""
    name = lower(name)
    scope = next((scope for scope in _SCOPES if name.startswith(scope)), "")
    return re.split(r"[.\[]", name[len(scope) :])[0]


PREFIX: Final = "request_"
_MISPRINTS: Final = frozenset(each.name for each in submit_commands() if each.type is CommandType.DISABLED)
_LIMITS: Final = (("gpus_minimum_capability", "GPUsMinCapability"), ("gpus_maximum_capability", "GPUsMaxCapability"))
_PROPERTIES: Final = ("Capability", "GlobalMemoryMb", "DriverVersion", "MaxSupportedVersion")
_CLAUSES: Final = (
    ("GPUsMinCapability", "Capability", ">="),
    ("GPUsMaxCapability", "Capability", "<="),
    ("GPUsMinMemory", "GlobalMemoryMb", ">="),
    ("GPUsMinRuntime", "MaxSupportedVersion", ">="),
)

RESOURCE_NAMES: Final = (
    *policy.RETRY_NAMES,
    *("request_cpus", "requestcpus", "request_memory", "requestmemory", "request_disk", "requestdisk"),
    *("request_gpus", "requestgpus", "require_gpus", "requiregpus"),
    *("gpus_minimum_capability", "gpusmincapability", "gpus_maximum_capability", "gpusmaxcapability"),
    *("gpus_minimum_memory", "gpusminmemory", "gpus_minimum_runtime", "gpusminruntime"),
)


def set_resources(draft: Draft) -> None:
    """Set all Request* attributes (SubmitHash::SetRequestResources)."""
    for name in draft.named(PREFIX):
        tag = draft.spelled(name)[len(PREFIX) :]
        if name in RESOURCE_NAMES or name in _MISPRINTS or len(tag) < 2 or tag.startswith("_"):
            continue
        text = draft.command(name)
        if text is not None:
            draft.expression(f"Request{tag}", text, name)
    _set_plain(draft, "request_cpus", "RequestCpus")
    _set_gpus(draft)
    _set_amount(draft, "request_disk", "RequestDisk", KIB)
    _set_amount(draft, "request_memory", "RequestMemory", MIB)


def _requested(draft: Draft, name: str, attribute: str) -> str | None:
    """Return the text of a request: the command's, or else the configuration's if no earlier job had one."""
    text = draft.command(name, attribute.lower())
    if text is None and not draft.has(attribute) and lower(draft.cluster.grid_type) != "batch":
        text = draft.knobs.get(f"JOB_DEFAULT_{attribute.upper()}")
    return None if text is None or lower(text) == "undefined" else text


def _set_plain(draft: Draft, name: str, attribute: str) -> None:
    text = _requested(draft, name, attribute)
    if text is not None:
        draft.expression(attribute, text, draft.written(name, attribute.lower()))


def _set_amount(draft: Draft, name: str, attribute: str, base: int) -> None:
    is_given = draft.command(name, attribute.lower()) is not None
    if attribute == "RequestMemory" and not is_given and not draft.has(attribute) and draft.has("JobVMMemory"):
        draft.expression(attribute, "MY.JobVMMemory")
        return
    text = _requested(draft, name, attribute)
    if text is None:
        return
    found = amount(text, base, in_list=True)
    written = draft.written(name, attribute.lower())
    if found is None:
        draft.expression(attribute, text, written)
        return
    _need_unit(draft, name, text, found)
    draft.set(attribute, found.value)
    policy.set_retries_of(draft, attribute, found.rest, base)


def _need_unit(draft: Draft, name: str, text: str, found: Amount) -> None:
    if not found.has_unit and lower(draft.knobs.get("SUBMIT_REQUEST_MISSING_UNITS") or "") == "error":
        unit = "kilobytes" if name == "request_disk" else "megabytes"
        message = f"{name}={shown(text)} defaults to {unit}, but must contain a units suffix (i.e K, M, G or T)"
        draft.fault("submit-value", name, message, f"write {shown(text)}M, or what you mean")


def _set_gpus(draft: Draft) -> None:
    """Set RequestGPUs, and RequireGPUs with the requirements on each (SubmitHash::SetRequestGpus)."""
    _set_plain(draft, "request_gpus", "RequestGPUs")
    if not draft.has("RequestGPUs"):
        return
    draft.copy_expression("RequireGPUs", "require_gpus", "requiregpus")
    for name, attribute in _LIMITS:
        draft.copy_expression(attribute, name, attribute.lower())
    memory = draft.command("gpus_minimum_memory", "gpusminmemory")
    if memory is None:
        draft.command("request_gpu_memory", "request_gpus_memory")  # looked up for a warning, otherwise ignored
    else:
        found = amount(memory, MIB)
        if found is None:
            draft.copy_expression("GPUsMinMemory", "gpus_minimum_memory", "gpusminmemory")
        else:
            _need_unit(draft, "gpus_minimum_memory", memory, found)
            draft.set("GPUsMinMemory", found.value)
    runtime = draft.command("gpus_minimum_runtime", "gpusminruntime")
    if runtime is not None:
        version = _version(runtime)
        if version is None:
            draft.copy_expression("GPUsMinRuntime", "gpus_minimum_runtime", "gpusminruntime")
        else:
            draft.set("GPUsMinRuntime", version)


def _version(text: str) -> int | None:
    """Return 12010 for 12.1; a number above 1000 is unchanged."""
    major, dot, minor = text.strip().partition(".")
    if not (major.isascii() and major.isdecimal() and len(major) < 10 and (not dot or minor.isdecimal())):
        return None
    if not dot:
        return int(major) if int(major) > 1000 else int(major) * 1000
    return int(major) * 1000 + int(minor) * 10 if minor.isascii() and len(minor) < 3 else None


def set_required_properties(draft: Draft) -> None:
    """Add to RequireGPUs what the job requires of each GPU (SubmitHash::SetResourceRequirements)."""
    if not draft.has("RequestGPUs"):
        return
    own = draft.ad.get("RequireGPUs")
    asked: set[str] = set()
    if own is not None:
        properties = AdValue(dict.fromkeys(map(lower, _PROPERTIES), "1"), {lower(name): name for name in _PROPERTIES})
        try:
            asked = {lower(name) for name in own.references(properties).internal}
        except CircularReference:
            asked = set()
    clauses = [
        f"{name} {operator} {attribute}"
        for attribute, name, operator in _CLAUSES
        if draft.has(attribute) and lower(name) not in asked
    ]
    if not clauses:
        return
    if own is not None:
        text = own.unparse(UnparseForm.OLD)
        loose = isinstance(own.tree, Ternary) or (isinstance(own.tree, Binary) and own.tree.op == "||")
        clauses.insert(0, f"({text})" if loose else text)
    draft.expression("RequireGPUs", " && ".join(clauses))
