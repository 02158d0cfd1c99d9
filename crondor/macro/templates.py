"""The names that ``use CATEGORY : NAME`` knows in HTCondor 25.14; what they set is HTCondor's own matter.

HTCondor: read_meta_config.
"""

from __future__ import annotations

_NAMES = {
    "EXPERIMENTAL": "CollectorNode HAD HADFixedPort HADReplication HADSharedPort",
    "FEATURE": (
        "ADSTASH AssignAccountingGroup AssignProjectName ChildCollector CommonCloudAttributesAWS"
        " CommonCloudAttributesGoogle ContinuousCronHook DefaultCheckpointDestination GANGLIA GPUs GPUsMonitor"
        " HPC_ANNEX JobsHaveInstanceIDs KRB LIBRARIAN Monitor OAUTH OneShotCronHook PartitionableSlot PelicanCache"
        " PelicanRetryPolicy PeriodicCronHook POLICY_EXPR_FRAGMENTS POLICY_HOURS_TO_START REMOTE_CONFIG"
        " REMOTE_RUNTIME_CONFIG ScheddCronContinuous ScheddCronOneShot ScheddCronPeriodic ScheddUsermapFile"
        " SetJobAttrFromUsermap StartdCronContinuous StartdCronOneShot StartdCronPeriodic StaticSlots"
        " TESTINGMODE_POLICY_VALUES UWCS_DESKTOP_POLICY_VALUES"
    ),
    "POLICY": (
        "ALWAYS_RUN_JOBS DESKTOP DESKTOP_HOURS DESKTOP_IDLE HOLD_IF_CPUS_EXCEEDED HOLD_IF_DISK_EXCEEDED"
        " HOLD_IF_MEMORY_EXCEEDED HOLD_IF_RUNTIME_EXCEEDS LIMIT_JOB_RUNTIMES OnlyRegisteredCheckpointDestinations"
        " PREEMPT_IF PREEMPT_IF_CPUS_EXCEEDED PREEMPT_IF_DISK_EXCEEDED PREEMPT_IF_MEMORY_EXCEEDED"
        " PREEMPT_IF_RUNTIME_EXCEEDS STARTD_PUBLISH_CpusUsage UWCS_DESKTOP WANT_HOLD_IF"
    ),
    "ROLE": (
        "CentralManager Execute Personal Submit get_htcondor_central_manager get_htcondor_execute get_htcondor_submit"
    ),
    "SECURITY": (
        "FIPS HOST_BASED STRONG USER_BASED WITH_AUTHENTICATION get_htcondor_idtokens recommended recommended_v24_0"
        " recommended_v9_0"
    ),
    "UPGRADE": "DISCARD DISCARDIF DISCARDIFX DISCARDX DISCARD_VMWARE",
}
TEMPLATES = {category: tuple(names.split()) for category, names in _NAMES.items()}
"""The names of each category."""

KNOWN = frozenset(f"{category}.{name}".lower() for category, names in TEMPLATES.items() for name in names)
"""``category.name`` in lower case."""


def is_template(use: str) -> bool:
    """Whether ``if defined use`` holds: for a category, and for ``CATEGORY:NAME`` where it has that name."""
    category, _, name = use.partition(":")
    key = f"{category.strip().lower()}.{name.strip().lower()}"
    return key in KNOWN or (not name and category.strip().upper() in TEMPLATES)
