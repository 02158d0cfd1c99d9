"""What a job requests: memory, disk, processors, GPUs and resources of the machine's own (HTCondor 25.14)."""

from __future__ import annotations

from typing import Final

from crondor.classad import AdValue, CircularReference, UnparseForm, lower
from crondor.classad.tree import Binary, Ternary
from crondor.knowledge.commands import CommandType, submit_commands
from crondor.submit.ad import retries, values
from crondor.submit.ad.draft import Draft, shown

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

NAMES: Final = (
    *retries.NAMES,
    *("request_cpus", "requestcpus", "request_memory", "requestmemory", "request_disk", "requestdisk"),
    *("request_gpus", "requestgpus", "require_gpus", "requiregpus"),
    *("gpus_minimum_capability", "gpusmincapability", "gpus_maximum_capability", "gpusmaxcapability"),
    *("gpus_minimum_memory", "gpusminmemory", "gpus_minimum_runtime", "gpusminruntime"),
)


def set_resources(draft: Draft) -> None:
    """Set all Request* attributes (SubmitHash::SetRequestResources)."""
    for name in draft.named(PREFIX):
        tag = draft.spelled(name)[len(PREFIX) :]
        if name in NAMES or name in _MISPRINTS or len(tag) < 2 or tag.startswith("_"):
            continue
        text = draft.command(name)
        if text is not None:
            draft.expression(f"Request{tag}", text, name)
    _set_plain(draft, "request_cpus", "RequestCpus")
    _set_gpus(draft)
    _set_amount(draft, "request_disk", "RequestDisk", values.KIB)
    _set_amount(draft, "request_memory", "RequestMemory", values.MIB)


def _requested(draft: Draft, name: str, attribute: str) -> str | None:
    """Return the text of a request: the command's, or else the configuration's where no job before had one."""
    text = draft.command(name, attribute.lower())
    if text is None and not draft.has(attribute) and lower(draft.cluster.grid_type) != "batch":
        text = draft.knobs.get(f"JOB_DEFAULT_{attribute.upper()}")
    return None if text is None or lower(text) == "undefined" else text


def _set_plain(draft: Draft, name: str, attribute: str) -> None:
    text = _requested(draft, name, attribute)
    if text is not None:
        draft.expression(attribute, text, draft.written(name, attribute.lower()) or "")


def _set_amount(draft: Draft, name: str, attribute: str, base: int) -> None:
    is_given = draft.command(name, attribute.lower()) is not None
    if attribute == "RequestMemory" and not is_given and not draft.has(attribute) and draft.has("JobVMMemory"):
        draft.expression(attribute, "MY.JobVMMemory")
        return
    text = _requested(draft, name, attribute)
    if text is None:
        return
    found = values.amount(text, base, in_list=True)
    written = draft.written(name, attribute.lower()) or ""
    if found is None:
        draft.expression(attribute, text, written)
        return
    _need_unit(draft, name, text, found)
    draft.set(attribute, found.value)
    retries.set_retries_of(draft, attribute, found.rest, base)


def _need_unit(draft: Draft, name: str, text: str, found: values.Amount) -> None:
    if not found.has_unit and lower(draft.knobs.get("SUBMIT_REQUEST_MISSING_UNITS") or "") == "error":
        unit = "kilobytes" if name == "request_disk" else "megabytes"
        message = f"{name}={shown(text)} defaults to {unit}, but must contain a units suffix (i.e K, M, G or T)"
        draft.fault("submit-value", name, message, f"write {shown(text)}M, or what you mean")


def _set_gpus(draft: Draft) -> None:
    """Set RequestGPUs, and RequireGPUs with what each must have (SubmitHash::SetRequestGpus)."""
    _set_plain(draft, "request_gpus", "RequestGPUs")
    if not draft.has("RequestGPUs"):
        return
    draft.copy_expression("RequireGPUs", "require_gpus", "requiregpus")
    for name, attribute in _LIMITS:
        draft.copy_expression(attribute, name, attribute.lower())
    memory = draft.command("gpus_minimum_memory", "gpusminmemory")
    if memory is None:
        draft.use("request_gpu_memory", "request_gpus_memory")  # looked at to warn of it, and passed over
    else:
        found = values.amount(memory, values.MIB)
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
    """Return 12010 for 12.1, and a number above 1000 as it is."""
    major, dot, minor = text.strip().partition(".")
    if not (major.isascii() and major.isdecimal() and len(major) < 10 and (not dot or minor.isdecimal())):
        return None
    if not dot:
        return int(major) if int(major) > 1000 else int(major) * 1000
    return int(major) * 1000 + int(minor) * 10 if minor.isascii() and len(minor) < 3 else None


def set_required_properties(draft: Draft) -> None:
    """Complete RequireGPUs by what the job asks of each GPU (SubmitHash::SetResourceRequirements)."""
    if not draft.has("RequestGPUs"):
        return
    own = draft.get("RequireGPUs")
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
