"""How the process of a job is set up and stopped: its streams and the signals sent to it (HTCondor 25.14)."""

from __future__ import annotations

from typing import Final, NamedTuple

from crondor.job.attributes import boolean_of
from crondor.macro.numbers import leading_int
from crondor.schedule import Universe
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


class _Stream(NamedTuple):
    """The commands of a stream, and its attributes: the file, and whether it is transferred or streamed."""

    files: tuple[str, str]
    stream: str
    transfer: str
    file_attribute: str
    stream_attribute: str
    transfer_attribute: str


_STREAMS: Final = (
    _Stream(("input", "stdin"), "stream_input", "transfer_input", "In", "StreamIn", "TransferIn"),
    _Stream(("output", "stdout"), "stream_output", "transfer_output", "Out", "StreamOut", "TransferOut"),
    _Stream(("error", "stderr"), "stream_error", "transfer_error", "Err", "StreamErr", "TransferErr"),
)
_NO_FILE: Final = "/dev/null"

NAMES: Final = (
    *(name for command, attribute in _KILLING for name in (command, attribute.lower())),
    *_TIMEOUT,
    *(
        name
        for each in _STREAMS
        for name in (
            *each.files,
            each.stream,
            each.stream_attribute.lower(),
            each.transfer,
            each.transfer_attribute.lower(),
        )
    ),
)


def set_signals(draft: Draft) -> None:
    """Set the signals that stop a job (SubmitHash::SetKillSig); all universes but vanilla have a default."""
    for command, attribute in _KILLING:
        text = draft.command(command, attribute.lower())
        if text is None:
            if attribute == "KillSig" and draft.cluster.universe != Universe.VANILLA:
                draft.set(attribute, "SIGTERM")
            continue
        number = leading_int(text)
        name = _SIGNALS.get(number) if number else text.upper()
        if name is None or name not in _SIGNALS.values():
            written = draft.written(command, attribute.lower()) or ""
            draft.fault("submit-signal", written, f"invalid signal {shown(text)}", "write SIGTERM, or its number")
        else:
            draft.set(attribute, name)
    timeout = draft.command(*_TIMEOUT)
    if timeout is not None:
        draft.set("KillSigTimeout", leading_int(timeout))


def set_streams(draft: Draft) -> None:
    """Set In, Out and Err, and how each travels (SubmitHash::SetStdin, SetStdout and SetStderr of 25.14).

    A stream without a file is /dev/null, and is not transferred; a virtual machine has no files for them.
    """
    for each in _STREAMS:
        _set_stream(draft, each)


def _set_stream(draft: Draft, each: _Stream) -> None:
    before = boolean_of(draft.value(each.transfer_attribute)) is not False
    given = draft.flag(each.transfer, each.transfer_attribute.lower())
    transfers = before if given is None else given
    is_changed = transfers != before
    streams = draft.flag(each.stream, each.stream_attribute.lower())
    if streams is None:
        streams = draft.holds(each.stream_attribute)
    path = draft.command(*each.files)
    if path is not None or not draft.has(each.file_attribute):
        path = path or _NO_FILE
        if path == _NO_FILE:
            transfers = streams = False
        elif draft.cluster.universe == Universe.VM:
            message = "You cannot use input, ouput, and error parameters in the submit description file for vm universe"
            draft.fault("submit-vm", draft.written(*each.files) or "", message, "remove it")
        draft.set(each.file_attribute, path)
    if transfers:
        draft.set(each.stream_attribute, streams)
    if is_changed or not transfers:
        draft.set(each.transfer_attribute, transfers)
