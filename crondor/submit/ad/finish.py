"""What comes last in a job ad: defaults, common mistakes, attributes written out, job sets (HTCondor 25.14).

SetImageSize, SetAutoAttributes, ReportCommonMistakes, SetForcedAttributes, ProcessJobsetAttributes.
"""

from __future__ import annotations

from typing import Final

from crondor.classad import ClassAdSyntaxError, lower
from crondor.job.attributes import boolean_of
from crondor.schedule import Universe
from crondor.submit.ad import values
from crondor.submit.ad.draft import Draft, shown
from crondor.submit.universes import MPI

ATTRIBUTE: Final = "my."
JOB_SET: Final = "jobset."
_NAME_OF_SET: Final = f"{JOB_SET}name"
_SHORTEST_LEASE: Final = 20
_LEASED: Final = frozenset((Universe.VANILLA, Universe.JAVA, Universe.PARALLEL, Universe.VM))
_SIZE: Final = ("image_size", "imagesize")
_OF_THE_CLUSTER: Final = ("JobSetId", "JobSetName", "JobUniverse", "Owner")

NAMES: Final = _SIZE


def set_size(draft: Draft) -> None:
    """Set ImageSize in KiB where the file gives it, or the size of a virtual machine.

    What the executable's size is, only the submit machine knows.
    """
    text = draft.command(*_SIZE)
    if text is None:
        size = draft.get("ExecutableSize")
        if size is not None and not draft.has("ImageSize"):
            draft.ad.set("ImageSize", size)
        return
    found = values.amount(text, values.KIB)
    if found is None or found.value < 1:
        name = draft.written(*_SIZE) or ""
        draft.fault("submit-value", name, "Image Size must be positive", "write a number of KiB, or 2G")
    else:
        draft.set("ImageSize", found.value)


def set_automatic(draft: Draft) -> None:
    """Set what HTCondor sets where nothing else did, and correct a short lease."""
    if not draft.has("MaxHosts") and draft.cluster.universe != MPI:
        draft.set("MinHosts", 1)
        draft.set("MaxHosts", 1)
    if draft.has("SuccessCheckpointExitCode"):
        draft.set("WantFTOnCheckpoint", value=True)
    if not draft.has("MaxJobRetirementTime") and draft.holds("NiceUser"):
        draft.set("MaxJobRetirementTime", 0)
    if boolean_of(draft.value("OCUWanted")) is not None:
        draft.set("MaxJobRetirementTime", 2**31 - 1)
    lease = draft.knobs.get("JOB_DEFAULT_LEASE_DURATION")
    if draft.cluster.universe in _LEASED and not draft.has("JobLeaseDuration") and lease is not None:
        draft.expression("JobLeaseDuration", lease)
    if not draft.has("JobPrio"):
        draft.set("JobPrio", 0)
    if draft.has("JobStarterLog") and not draft.has("JobStarterDebug"):
        draft.set("JobStarterDebug", value=True)
    _correct_lease(draft)


def _correct_lease(draft: Draft) -> None:
    given = draft.get("JobLeaseDuration")
    number = None if given is None else values.literal_number(given)
    if number is not None and 1 <= number < _SHORTEST_LEASE and not draft.cluster.corrected_lease:
        draft.cluster.corrected_lease = True  # only once: a later job keeps what is too short (25.14)
        draft.set("JobLeaseDuration", _SHORTEST_LEASE)


def check_history(draft: Draft) -> None:
    """Refuse a number of remembered machines that HTCondor cannot keep."""
    expression = draft.get("JobMachineAttrsHistoryLength")
    length = None if expression is None else values.literal_number(expression)
    if isinstance(length, int) and not 0 <= length < 2**31:
        message = f"job_machine_attrs_history_length={length} is out of bounds 0 to {2**31 - 1}"
        draft.fault("submit-value", "job_machine_attrs_history_length", message, "write a small number")


def check_output(draft: Draft) -> None:
    """Refuse two places for the output."""
    if draft.has("OutputDestination") and draft.has("OutputDirectory"):
        message = "You cannot use both output_destination and output_directory in the same submit file"
        draft.fault("submit-transfer", "output_directory", message, "remove one of them")


def set_forced(draft: Draft) -> None:
    """Set the attributes that the configuration and the file write out, over all that commands have set."""
    for name in draft.knobs.attributes():
        attribute = name[1:] if name.startswith("+") else name[3:] if lower(name).startswith(ATTRIBUTE) else ""
        text = draft.knobs.get(attribute)
        if attribute and text is not None:
            draft.expression(attribute, text)
    for name in draft.named(ATTRIBUTE):
        draft.expression(_bare(draft.spelled(name)), draft.command(name) or "undefined", name)


def _bare(spelling: str) -> str:
    return spelling[len(ATTRIBUTE) :] if lower(spelling).startswith(ATTRIBUTE) else spelling.lstrip("+-")


def set_job_set(draft: Draft) -> None:
    """Set JobSetName for jobs that a JOBSET. command puts into a set; all jobs of a cluster must be in the same."""
    if draft.process > 0:
        _check_job_set(draft)
        return
    given = [name for name in draft.named(JOB_SET) if draft.command(name)]
    for name in given:
        if name != _NAME_OF_SET:
            _check_expression(draft, name)
    if given and draft.text("JobSetName") is None:
        named = draft.command(_NAME_OF_SET)
        draft.set("JobSetName", str(draft.cluster.number) if named is None else values.unquoted(named))


def _check_expression(draft: Draft, name: str) -> None:
    text = draft.commands[name]
    try:
        values.parse(text)
    except ClassAdSyntaxError:
        attribute = draft.spelled(name)[len(JOB_SET) :]
        message = f"Parse error in JOBSET expression: {attribute} = {shown(text)}"
        draft.fault("submit-expression", name, message, "write one complete ClassAd expression")


def _check_job_set(draft: Draft) -> None:
    first, mine = (ad.text("JobSetName") if "JobSetName" in ad else "" for ad in (draft.cluster.ad, draft.ad))
    if mine in {"", first}:
        return
    number = draft.cluster.number
    message = (
        f"({number}.0:{shown(first)} != {number}.{draft.process}:{shown(mine)}) "
        "All jobs from a single submission must be in the same JOBSET"
    )
    draft.fault("submit-jobset", draft.written("jobset", "jobsetname") or "", message, "name the same set for all")


def keep_to_cluster(draft: Draft) -> None:
    """Give a later job those attributes of the first that only a cluster has, whatever the file says of it."""
    for name in _OF_THE_CLUSTER if draft.process > 0 else ():
        first = draft.cluster.ad.get(name)
        if first is not None:
            draft.ad.set(name, first)
        elif draft.has(name):
            del draft.ad[name]
