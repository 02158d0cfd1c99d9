"""The fields of a recording that are given to crondor and are no results: by kind (and shape), with the reason."""

from collections.abc import Mapping

from crondor.router.daemon.follow import MIRRORED

_SAID = "said about the line, for people"
_SPEC = "the schedule"
_ZONE = "the time zone"
_START = "the time to start from"
_FILE = "the name of a file to read"
_POOL = "what the pool was, did and when: no rule decides it"
_CALL = "which call of which hook it was, and when"
_ANSWER = "the answer of the hook, which crondor is given"
_DAEMON = "the daemon's own, which it hands on"
_ANSWERS_TOLD_BY_DEEDS = ("TRANSLATE_JOB", "JOB_*", "UPDATE_JOB_INFO", "PREPARE_JOB*", "REPLY_FETCH")

INPUTS: Mapping[str, Mapping[str, str]] = {
    "*": {"name": _SAID, "note": _SAID, "origin": _SAID, "upstream_defect": _SAID},
    "c*": {"source": _SAID, "suite_literal": _SAID},
    "crontab-*": {
        **dict.fromkeys(("minute", "hour", "dom", "month", "dow"), _SPEC),
        "tz": _ZONE,
        "after": _START,
        "start_epoch": _START,
    },
    "odd-specs": {"spec": _SPEC, "tz": _ZONE, "start_epoch": _START},
    "submit*": {
        "submit": "the submit description",
        "config": "the configuration",
        "files": "the files beside it",
        "args": "the command line",
    },
    "access-point": {
        "release": "the pool's release",
        "config": "its files",
        "submit": "the submit description",
        "left_out": "what is not compared",
    },
    "classad-*": {"expr": "the expression"},
    "classad-eval": {"my": "the ad", "target": "the other ad"},
    "classad-match": {"job": "an ad", "machine": "the other ad"},
    "classad-refs": {"ad": "the ad"},
    "classad-ads": {"form": "how the ads are written", "text": "the ads"},
    "queue-log:*": {"log": _FILE, "truth": _FILE, "files": _FILE, "variant": "the name of the damaged log"},
    "daemon-timeline": {
        **dict.fromkeys(("universe", "schedd_interval", "t0", "cluster", "pool"), _POOL),
        "submit": "the submit description",
        "commands[].t": "when a user did it",
        "commands[].cmd": "what a user did",
        "procs.*.EnteredCurrentStatus": "when the job was given its machine: the negotiator's",
        "procs.*.NumShadowStarts": "that the job was given a machine: the negotiator's",
    },
    "router-timeline": {
        **dict.fromkeys(("universe", "schedd_interval", "t0", "cluster", "kind"), _POOL),
        "submit": "the submit description",
        "commands[].t": "when a user did it",
        "commands[].cmd": "what a user did",
        "keyword": "whose hooks are called",
        "copies[]": "what the copy's schedd and its run wrote into it; but see RESULTS",
        "source": "what condor_submit and the schedd wrote into it; but see RESULTS",
    },
    "router-steps": {
        "job": "the job's number",
        "copies": "the copies' numbers",
        "steps[*].by": "who wrote it",
        "steps[*].job": "into which job it was written",
        "steps[pool].set": "what others wrote, which is written again",
    },
    "transforms": {
        "rules": "the rules",
        "config": "the configuration",
        "files": "the files beside it",
        "args": "the command line",
        "ads_in": "the ads",
    },
    "routes": {"config": "the configuration", "jobs": "the jobs", "options": "the command line"},
    "legacy-routes": {"mode": "the command line", "text": "the configuration", "files": "the files beside it"},
    "legacy-routed": {
        "config": "the configuration",
        "jobs": _FILE,
        "table[].Source": "which ad of which knob it is",
        "source": _SAID,
        "htcondor": _SAID,
        "diagnostics[]": _SAID,
    },
    "router-tools": {"tool": "which tool", "args": "the command line", "now": "the clock", "ads": _FILE},
    "hooks:*": {
        **dict.fromkeys(("run", "keyword", "type", "n", "t", "cwd"), _CALL),
        "rc": _ANSWER,
        "stderr": _ANSWER,
        **dict.fromkeys(
            ("env.CONDOR_*", "env._CONDOR_ANCESTOR_*", "env.HOME", "env.LOGNAME", "env.PATH", "env.USER"), _DAEMON
        ),
        **dict.fromkeys(("env._CONDOR_AssignedGPUs", "env._CONDOR_CHIRP_CONFIG"), _DAEMON),
        **dict.fromkeys(("env._CONDOR_JOB_IWD", "env._CONDOR_SLOT"), "where the job runs"),
    },
    **{f"hooks:{hook}": {"stdout": _ANSWER} for hook in _ANSWERS_TOLD_BY_DEEDS},
    "hooks:job": {
        "manager": "whose job it is",
        "job": "its name",
        "config": "the configuration",
        "output": "what the program prints and how long it sleeps",
        "first_start": "when the daemon started",
        "env_names": _DAEMON,
    },
    "hooks:ads": {"daemon": "whose ads", "t": "when they were looked at"},
}

# Fields among the inputs above that are results all the same.
_OF_COPY = ("JobStatus", "RouteName", "RoutedBy", "LeaveJobInQueue", "RemoveReason")
_OF_SOURCE = (
    *("JobStatus", "Managed", "ManagedManager", "RemoveReason", "HoldReason", "HoldReasonCode", "RoutedToJobId"),
    *MIRRORED,
)
RESULTS: Mapping[str, frozenset[str]] = {
    "router-timeline": frozenset(
        (*(f"copies[].{name}" for name in _OF_COPY), *(f"source.{name}" for name in _OF_SOURCE))
    )
}
