"""Codes of faults, the same in every command, in JSON and in comments; and HTCondor's hold codes.

A reader names a fault by its kind, as precisely as it can (`cron-digit`); users look up, silence and select the code of
the rule, which has a page (`CRN106`). A kind without a rule is its own code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    # Reading a submit description
    "CRN001": ("colon", "bad-name", "no-statement", "empty-file", "heredoc", "include", "use", "too-many-errors"),
    "CRN002": ("not-text", "not-utf8", "odd-comment", "too-large"),
    "CRN003": ("runs-command",),
    "CRN004": ("file-outside", "unknown-include", "unknown-items"),
    "CRN005": ("macro-cycle", "macro-depth", "macro-size", "macro-work", "macro-function"),
    "CRN006": ("no-queue",),
    "CRN007": ("after-queue",),
    "CRN008": ("queue-zero", "queue-empty", "blank-row", "comment-row", "table-header", "no-match"),
    "CRN009": ("comment-in-line",),
    "CRN010": ("byte-order-mark", "no-line-end"),
    "CRN011": ("error-statement", "warning-statement"),
    "CRN012": ("too-many-jobs", "too-many-variants", "queue-many"),
    "CRN013": ("conditional",),
    "CRN014": (
        *("queue-count", "queue-included", "queue-keyword", "queue-list"),
        *("queue-slice", "queue-table", "queue-twice", "queue-variables"),
    ),
    "CRN015": ("file-missing", "file-special", "file-many"),
    "CRN016": ("unknown-environment", "unknown-macro", "unknown-random", "unknown-template", "unknown-time"),
    # What condor_submit refuses in a job
    "CRN017": (
        *("submit-arguments", "submit-disabled", "submit-environment", "submit-executable", "submit-expression"),
        *("submit-grid", "submit-image", "submit-jobset", "submit-limits", "submit-parallel", "submit-quotes"),
        *("submit-requirements", "submit-service", "submit-signal", "submit-transfer", "submit-value", "submit-vm"),
    ),
    # Cron fields
    "CRN101": ("cron-range",),
    "CRN103": ("cron-reversed",),
    "CRN104": ("cron-name",),
    "CRN105": ("cron-nickname",),
    "CRN106": ("cron-character", "cron-unsupported", "cron-digit", "cron-macro", "cron-comment"),
    "CRN107": ("cron-quoted",),
    "CRN108": ("cron-blank",),
    "CRN109": ("cron-empty-item", "cron-empty"),
    "CRN110": ("cron-single-step",),
    "CRN111": ("cron-step-zero",),
    "CRN114": ("cron-type",),
    "CRN115": ("cron-syntax", "cron-more", "cron-none"),
    "CRN116": ("schedd-character", "schedd-step", "schedd-empty"),
    "CRN201": ("cron-never",),
    # Deferral time, window, prep time
    "CRN301": ("submit-number",),
    "CRN302": ("submit-overflow",),
    "CRN307": ("time-past",),
    "CRN309": ("cron-and-time",),
    "CRN310": ("window-alone",),
    "CRN311": ("deferral-time", "deferral-length"),
    "CRN312": ("expression-syntax",),
    "CRN313": ("expression-target",),
    "CRN314": ("expression-clock",),
    "CRN315": ("expression-job",),
    "CRN316": ("circle-job",),
    "CRN405": ("submitted-on-hold",),
    # Commands and universes
    "CRN501": ("submit-misspelt",),
    "CRN502": ("bypass",),
    "CRN503": ("submit-scheduler",),
    "CRN504": ("universe-scheduler",),
    "CRN505": ("universe-grid",),
    "CRN506": ("submit-universe",),
    "CRN567": ("schedule-policy",),
    # The job router's configuration
    "CRN601": (
        *("config-error", "config-heredoc", "config-if", "config-include", "config-line"),
        *("config-long", "config-many", "config-name", "config-text", "config-use"),
    ),
    "CRN602": ("config-command", "config-hidden", "config-template"),
    "CRN603": ("config-comment", "config-words", "config-colon", "config-nested", "config-warning"),
    "CRN604": ("route-knob-unknown",),
    "CRN605": ("route-knob-removed",),
    "CRN606": ("knob-value", "route-router-name"),
    "CRN607": ("route-names", "route-many"),
    "CRN608": ("route-transform",),
    "CRN611": ("route-missing", "route-empty", "route-name", "route-short"),
    "CRN613": ("route-classad",),
    "CRN614": ("route-requirements",),
    "CRN615": ("route-twice",),
    "CRN621": ("keyword-assigned",),
    "CRN623": ("requirements-target", "evalset-target"),
    "CRN630": ("circle",),
    "CRN642": ("route-limit",),
    "CRN643": ("route-expression", "route-universe", "route-macro"),
    "CRN644": ("route-grid-resource",),
    # DAG files
    "CRN801": ("dag-syntax", "dag-reject"),
    "CRN802": ("dag-unknown",),
    "CRN803": ("dag-twice",),
    "CRN804": ("dag-file",),
    "CRN805": ("dag-cycle",),
    "CRN806": ("dag-recursive", "dag-limit"),
    "CRN807": ("dag-role",),
    "CRN808": ("dag-waits",),
    "CRN809": ("dag-queues",),
    "CRN810": ("dag-replaced",),
}
CODES: Final[Mapping[str, str]] = {kind: code for code, kinds in KINDS.items() for kind in kinds}

USER_REQUEST: Final = 1
JOB_POLICY: Final = 3
JOB_POLICY_UNDEFINED: Final = 5
FAILED_TO_CREATE_PROCESS: Final = 6
UNABLE_TO_OPEN_OUTPUT: Final = 7
UNABLE_TO_OPEN_INPUT: Final = 8
IWD_ERROR: Final = 14
SUBMITTED_ON_HOLD: Final = 15
SPOOLING_INPUT: Final = 16
HOOK_PREPARE_JOB_FAILURE: Final = 19
MISSED_DEFERRED_EXECUTION_TIME: Final = 20
INVALID_CRON_SETTINGS: Final = 25
SYSTEM_POLICY: Final = 26
JOB_DURATION_EXCEEDED: Final = 46
JOB_EXECUTE_EXCEEDED: Final = 47
