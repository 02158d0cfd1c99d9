"""HoldReasonCode: the numbers by which HTCondor says why a job is held (25.14: condor_holdcodes.h)."""

from __future__ import annotations

from typing import Final

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

HOLD_CODES: Final = {
    0: "Unspecified",
    1: "UserRequest",
    2: "GlobusGramError",
    3: "JobPolicy",
    4: "CorruptedCredential",
    5: "JobPolicyUndefined",
    6: "FailedToCreateProcess",
    7: "UnableToOpenOutput",
    8: "UnableToOpenInput",
    9: "UnableToOpenOutputStream",
    10: "UnableToOpenInputStream",
    11: "InvalidTransferAck",
    12: "TransferOutputError",
    13: "TransferInputError",
    14: "IwdError",
    15: "SubmittedOnHold",
    16: "SpoolingInput",
    17: "JobShadowMismatch",
    18: "InvalidTransferGoAhead",
    19: "HookPrepareJobFailure",
    20: "MissedDeferredExecutionTime",
    21: "StartdHeldJob",
    22: "UnableToInitUserLog",
    23: "FailedToAccessUserAccount",
    24: "NoCompatibleShadow",
    25: "InvalidCronSettings",
    26: "SystemPolicy",
    27: "SystemPolicyUndefined",
    28: "GlexecChownSandboxToUser",
    29: "PrivsepChownSandboxToUser",
    30: "GlexecChownSandboxToCondor",
    31: "PrivsepChownSandboxToCondor",
    32: "MaxTransferInputSizeExceeded",
    33: "MaxTransferOutputSizeExceeded",
    34: "JobOutOfResources",
    35: "InvalidDockerImage",
    36: "FailedToCheckpoint",
    43: "PreScriptFailed",
    44: "PostScriptFailed",
    45: "SingularityTestFailed",
    46: "JobDurationExceeded",
    47: "JobExecuteExceeded",
    48: "HookShadowPrepareJobFailure",
    49: "CannotSwitchPrimaryGroup",
}
"""The names of all, by which NumHoldsByReason counts."""
