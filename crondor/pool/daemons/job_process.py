"""What a job's ad says about its process on this machine: program, arguments, environment, files, signals.

The rules are those of the manual (condor_submit) and of HTCondor 25.14's starter for the local universe. Nothing here
goes through a shell, and every text of the ad stays one argument, one variable, one path.

HTCondor: OsProc::StartJob.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, printable
from crondor.hold_codes import FAILED_TO_CREATE_PROCESS, IWD_ERROR, UNABLE_TO_OPEN_INPUT, UNABLE_TO_OPEN_OUTPUT
from crondor.job.arguments import split_arguments, split_environment
from crondor.job.attributes import int32, string
from crondor.schedd.protocol import Hold

GRACE: Final = 30  # seconds from the job's signal to SIGKILL, unless kill_sig_timeout says otherwise

_NO_FILE: Final = "/dev/null"
_CODES: Final = {
    "executable": FAILED_TO_CREATE_PROCESS,
    "input": UNABLE_TO_OPEN_INPUT,
    "output": UNABLE_TO_OPEN_OUTPUT,
    "error": UNABLE_TO_OPEN_OUTPUT,
    "initialdir": IWD_ERROR,
}
_WORDS: Final = {
    "executable": "execute",
    "input": "open the input file",
    "output": "open the output file",
    "error": "open the error file",
    "initialdir": "enter the directory",
}
_WRITE: Final = os.O_WRONLY | os.O_CREAT


class Process(NamedTuple):
    """A process to be: texts whose bytes that are no UTF-8 are surrogates.

    ``files`` are those of its standard input, output and error: what they are called, their paths, their flags.
    """

    executable: str
    argv: list[str]
    environ: dict[str, str]
    folder: str
    files: list[tuple[str, str, int]]


def process_of(ad: ClassAd) -> Process | Hold:
    """Return the process that a job asks for, or why it cannot be started."""
    folder, command = string(ad, "Iwd") or "/", string(ad, "Cmd")
    if not command:
        return Hold("The job has no executable", FAILED_TO_CREATE_PROCESS, 2)
    executable = os.path.join(folder, command)  # noqa: PTH118 - a Path would change what it is called
    try:
        arguments, environ = _arguments(ad), _environment(ad)
    except CrondorError as error:
        return Hold(
            f"Failed to execute '{printable(command)}': {error.diagnostics[0].message}", FAILED_TO_CREATE_PROCESS
        )
    appended = (string(ad, "AppendFiles") or "").replace(",", " ").split()
    files = [("input", string(ad, "In") or _NO_FILE, os.O_RDONLY)]
    for what, name in (("output", "Out"), ("error", "Err")):
        path = string(ad, name) or _NO_FILE
        files.append((what, path, _WRITE | (os.O_APPEND if path in appended else os.O_TRUNC)))
    texts = [executable, *arguments, folder, *environ, *environ.values(), *(path for _, path, _ in files)]
    if any("\0" in text for text in texts):
        return Hold(
            f"Failed to execute '{printable(command)}': a text of the job has a NUL character", FAILED_TO_CREATE_PROCESS
        )
    return Process(executable, [command, *arguments], {**environ, "_CONDOR_JOB_IWD": folder}, folder, files)


def failure(what: str, path: str, number: int, why: str = "") -> Hold:
    """Return the hold of a job whose program could not be started.

    ``number`` is the system's error number, and ``why`` what there is to say of it; empty: what the system says.
    """
    reason = f"Failed to {_WORDS[what]} '{printable(path)}' (errno={number}: '{printable(why) or os.strerror(number)}')"
    return Hold(reason, _CODES[what], number)


def failure_of(record: Mapping[str, Any]) -> Hold:
    """Return the same for what a supervisor has written down. Raises KeyError and ValueError for what none has."""
    return failure(str(record["failed"]), str(record["path"]), int(record["errno"]), str(record.get("why") or ""))


def killing_of(ad: ClassAd, attribute: str) -> tuple[int, int]:
    """Return the signal that an attribute of a job names, or KillSig, or SIGTERM; and the seconds until SIGKILL."""
    grace = int32(ad, "KillSigTimeout")
    for name in (attribute, "KillSig"):
        found = _signal(ad, name)
        if found is not None:
            return found, GRACE if grace is None or grace < 0 else grace
    return int(signal.SIGTERM), GRACE if grace is None or grace < 0 else grace


def _signal(ad: ClassAd, name: str) -> int | None:
    number, text = int32(ad, name), string(ad, name)
    if number is None and text is not None:
        known = getattr(signal.Signals, "__members__", {}).get(text.upper())
        number = None if known is None else int(known)
    return number if number is not None and 0 < number < signal.NSIG else None


def _arguments(ad: ClassAd) -> list[str]:
    text = string(ad, "Arguments")
    return split_arguments(_quoted(text)) if text is not None else (string(ad, "Args") or "").split()


def _environment(ad: ClassAd) -> dict[str, str]:
    text = string(ad, "Environment")
    return split_environment(_quoted(text) if text is not None else string(ad, "Env") or "")


def _quoted(text: str) -> str:
    """Return an attribute's text as the submit command has it, in the new syntax."""
    return '"' + text.replace('"', '""') + '"'
