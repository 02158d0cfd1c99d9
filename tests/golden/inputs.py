"""The fields of a recording that are given to crondor and are no results: by kind (and shape), with the reason."""

from collections.abc import Mapping

_SAID = "said about the line, for people"
_SPEC = "the schedule"
_ZONE = "the time zone"
_START = "the time to start from"
_FILE = "the name of a file to read"
_POOL = "what the pool was, did and when: no rule decides it"
_CALL = "which call of which hook it was, and when"
_ANSWER = "the answer of the hook, which crondor is given"

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
    "router-tools": {"tool": "which tool", "args": "the command line", "now": "the clock", "ads": _FILE},
    "hooks:*": {
        **dict.fromkeys(("run", "keyword", "type", "n", "t", "cwd"), _CALL),
        "rc": _ANSWER,
        "stderr": _ANSWER,
    },
    "hooks:job": {
        "manager": "whose job it is",
        "job": "its name",
        "config": "the configuration",
        "output": "what the program prints and how long it sleeps",
        "first_start": "when the daemon started",
    },
    "hooks:ads": {"daemon": "whose ads", "t": "when they were looked at"},
}
