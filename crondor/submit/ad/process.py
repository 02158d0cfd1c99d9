"""How the process of a job is set up and stopped: its streams, its size, the signals sent to it (HTCondor 25.14)."""

from __future__ import annotations

from typing import Final

from crondor.schedule import Universe
from crondor.submit.ad import values
from crondor.submit.ad.draft import Draft, shown

# In the order of their numbers on Linux, whatever machine the file is read on; HTCondor has no name for some.
_ORDER: Final = (
    "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM - CHLD CONT STOP TSTP TTIN TTOU URG "
    "XCPU XFSZ - PROF WINCH IO - SYS"
)
_SIGNALS: Final = {number: f"SIG{name}" for number, name in enumerate(_ORDER.split(), 1) if name != "-"}
_KILLING: Final = (
    ("kill_sig", "KillSig"),
    ("remove_kill_sig", "RemoveKillSig"),
    ("hold_kill_sig", "HoldKillSig"),
)
_TIMEOUT: Final = ("kill_sig_timeout", "killsigtimeout")
_SIZE: Final = ("image_size", "imagesize")
_STREAMS: Final = (
    (("input", "stdin"), "stream_input", "StreamIn"),
    (("output", "stdout"), "stream_output", "StreamOut"),
    (("error", "stderr"), "stream_error", "StreamErr"),
)
_NO_FILE: Final = "/dev/null"

NAMES: Final = (
    *(name for command, attribute in _KILLING for name in (command, attribute.lower())),
    *_TIMEOUT,
    *_SIZE,
    *(name for files, command, attribute in _STREAMS for name in (*files, command, attribute.lower())),
)


def set_signals(draft: Draft) -> None:
    """Set the signals that stop a job (SubmitHash::SetKillSig); all universes but vanilla have a default."""
    for command, attribute in _KILLING:
        text = draft.command(command, attribute.lower())
        if text is None:
            if attribute == "KillSig" and draft.cluster.universe != Universe.VANILLA:
                draft.set(attribute, "SIGTERM")
            continue
        number = values.leading_integer(text)
        name = _SIGNALS.get(number) if number else text.upper()
        if name is None or name not in _SIGNALS.values():
            written = draft.written(command, attribute.lower()) or ""
            draft.fault("submit-signal", written, f"invalid signal {shown(text)}", "write SIGTERM, or its number")
        else:
            draft.set(attribute, name)
    timeout = draft.command(*_TIMEOUT)
    if timeout is not None:
        draft.set("KillSigTimeout", values.leading_integer(timeout))


def set_streams(draft: Draft) -> None:
    """Set Err and which streams are sent while the job runs; a virtual machine has no files for them."""
    for files, command, attribute in _STREAMS:
        path = draft.command(*files)
        streams = draft.flag(command, attribute.lower())
        if draft.cluster.universe == Universe.VM and (path or _NO_FILE) != _NO_FILE:
            message = "You cannot use input, ouput, and error parameters in the submit description file for vm universe"
            draft.fault("submit-vm", draft.written(*files) or "", message, "remove it")
        if path is not None and path != _NO_FILE:
            draft.set(attribute, draft.holds(attribute) if streams is None else streams)
    error = draft.command(*_STREAMS[-1][0])
    if error is not None or not draft.has("Err"):
        draft.set("Err", error or _NO_FILE)


def set_size(draft: Draft) -> None:
    """Set ImageSize in KiB where the file gives it; what the executable's size is, only the submit machine knows."""
    text = draft.command(*_SIZE)
    if text is None:
        return
    found = values.amount(text, values.KIB)
    if found is None or found.rest or found.value < 1:
        name = draft.written(*_SIZE) or ""
        draft.fault("submit-value", name, "Image Size must be positive", "write a number of KiB, or 2G")
    else:
        draft.set("ImageSize", found.value)


def check_history(draft: Draft) -> None:
    """Refuse a number of remembered machines that HTCondor cannot keep."""
    expression = draft.get("JobMachineAttrsHistoryLength")
    length = None if expression is None else values.literal_number(expression)
    if isinstance(length, int) and not 0 <= length < 2**31:
        message = f"job_machine_attrs_history_length={length} is out of bounds 0 to {2**31 - 1}"
        draft.fault("submit-value", "job_machine_attrs_history_length", message, "write a small number")
