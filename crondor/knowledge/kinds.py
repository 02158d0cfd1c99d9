"""Detect the kind of a text from its contents, only if that is unambiguous."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

_HEAD: Final = 1 << 16  # characters that are examined
_CALENDAR: Final = re.compile(r"BEGIN:V(CALENDAR|EVENT)\b", re.IGNORECASE)
_QUEUE_LOG: Final = re.compile(r"10[1-7] (?:\S+ |\d|\r?\n)")
_USER_LOG: Final = re.compile(r"\d{3} \(\d+\.\d+\.\d+\) ")
_EVENT: Final = re.compile(r"EventTypeNumber")
_XML: Final = re.compile(r"<\?xml\b|<!DOCTYPE classads|<classads>|<c>", re.IGNORECASE)
_JSON: Final = re.compile(r'\[?\s*\{\s*"[A-Za-z_]\w*"\s*:')
_NEW: Final = re.compile(r"\{?\s*\[\s*[A-Za-z_]\w*\s*=")
_TESTS: Final = re.compile(r"(?m)^[ \t]*\[\[[ \t]*test[ \t]*\]\]")
_QUEUE: Final = re.compile(r"(?im)^[ \t]*queue\b(?![ \t]*[=:@(.])")
_JOB: Final = re.compile(
    r"(?im)^[ \t]*(ClusterId|ProcId|MyType|TargetType|GlobalJobId|JobStatus|JobUniverse|Owner|User|Cmd)"
    r"[ \t]*=[ \t]*[-0-9\"]"
)
_DAG: Final = re.compile(
    r"(?i)(?:JOB|FINAL|SERVICE|PROVISIONER|SUBDAG|SPLICE|PARENT|CHILD|SCRIPT|RETRY|VARS|PRIORITY|CATEGORY|MAXJOBS"
    r"|ABORT-DAG-ON|DOT|CONFIG|INCLUDE|NODE_STATUS_FILE|JOBSTATE_LOG|SET_JOB_ATTR|SUBMIT-DESCRIPTION|PRE_SKIP|DONE"
    r"|REJECT|ENV|CONNECT|PIN_IN|PIN_OUT|SAVE_POINT_FILE)[ \t]+[^ \t=:]"
)
_NODE: Final = re.compile(r"(?im)^[ \t]*(?:JOB|FINAL|SERVICE|PROVISIONER)[ \t]+[^\s=]+[ \t]+([^\s={]+)")
_BELOW: Final = re.compile(r"(?im)^[ \t]*(?:SUBDAG[ \t]+EXTERNAL|SPLICE)[ \t]+\S+[ \t]+\S")
_KNOB: Final = re.compile(
    r"(?im)^[ \t]*(?:(?:JOB_ROUTER_|JOB_TRANSFORM_|SUBMIT_REQUIREMENT_)\w+|DAEMON_LIST|LOCAL_CONFIG_(?:DIR|FILE)"
    r"|(?:SCHEDD|STARTD)_CRON_\w+)[ \t]*@?="
)
_USE: Final = re.compile(r"(?im)^[ \t]*use[ \t]+(?:ROLE|FEATURE|POLICY|SECURITY)[ \t]*:")
_RULE: Final = re.compile(
    r"(?i)(?:NAME|REQUIREMENTS|UNIVERSE|SET|EVALSET|EVALMACRO|DEFAULT|COPY|RENAME|DELETE)[ \t]+[^ \t=:]"
)
_NAMES: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun"
_FIELD: Final = rf"(?:[*0-9][-0-9*,/~]*|(?:{_NAMES})[-a-z,]*)"
_CRON: Final = re.compile(
    r"(?i)(?:@(?:reboot|yearly|annually|monthly|weekly|daily|midnight|hourly)"
    rf"|[*0-9][-0-9*,/~]*(?:[ \t]+{_FIELD}){{4}})[ \t]+\S"
)
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w*[ \t]*=")


class FileKind(Enum):
    """A kind of text; the value is its name in messages."""

    SUBMIT = "a submit file"
    ADS = "a file of ClassAds"
    CONFIG = "a configuration"
    RULES = "a file of transform rules"
    CRONTAB = "a crontab"
    CALENDAR = "a calendar"
    DAG = "a DAG"
    QUEUE_LOG = "a job_queue.log"
    USER_LOG = "the log of jobs"
    ROUTE_TESTS = "a file of route tests"


def recognised(text: str) -> FileKind | None:
    """Return the kind of a text, None if it is ambiguous or unknown."""
    head = text.removeprefix("\ufeff")[:_HEAD].lstrip()
    return _by_beginning(head) or (FileKind.ROUTE_TESTS if _TESTS.search(head) else _by_words(head))


def _by_words(head: str) -> FileKind | None:
    """Return the kind of a text by lines that no other kind has."""
    knob, queue = _KNOB.search(head), _QUEUE.search(head)
    if knob is not None and (queue is None or knob[0].strip().upper().startswith("JOB_ROUTER_")):
        return FileKind.CONFIG
    if queue is not None:
        return FileKind.SUBMIT if knob is None else None
    if _USE.search(head):
        return FileKind.CONFIG
    if len({name.lower() for name in _JOB.findall(head)}) > 1:
        return FileKind.ADS
    return _by_lines([line for each in head.split("\n") if (line := each.strip()) and line[0] != "#"], head)


def submit_files_of_dag(text: str) -> tuple[str, ...]:
    """Return the submit files that the nodes of a DAG name, each once."""
    return tuple(dict.fromkeys(_NODE.findall(text)))


def _by_beginning(head: str) -> FileKind | None:
    if _CALENDAR.match(head):
        return FileKind.CALENDAR
    if _USER_LOG.match(head):
        return FileKind.USER_LOG
    if _QUEUE_LOG.match(head):
        return FileKind.QUEUE_LOG
    if _XML.match(head) or _JSON.match(head) or _NEW.match(head):
        return FileKind.USER_LOG if _EVENT.search(head) else FileKind.ADS
    return None


def _by_lines(lines: list[str], head: str) -> FileKind | None:
    if not lines:
        return None
    if _DAG.match(lines[0]) and (_NODE.findall(head) or _BELOW.search(head)):
        return FileKind.DAG
    if any(_CRON.match(line) for line in lines) and all(_CRON.match(line) or _VARIABLE.match(line) for line in lines):
        return FileKind.CRONTAB
    return FileKind.RULES if _RULE.match(lines[0]) else None
