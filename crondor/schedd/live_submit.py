"""An ad as the bindings' submit carries it: whole, in one transaction, and nothing of theirs beside it.

Their submit makes an ad of its own from commands and sends that: it adds forty attributes, of which the starter
prefers some to the job's (Arguments to Args, Environment to Env), expands ``$(...)`` in the texts it is given, and
completes Requirements. What is given as ``MY.<name>`` comes after all that and stays, Requirements too (HTCondor 25.14:
``SubmitHash::make_job_ad``). So every attribute is given so, and those that the ad lacks are given as undefined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from crondor.classad import ClassAdSyntaxError, Expression, UnparseForm
from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.job.attributes import string
from crondor.schedd.editing import FIXED
from crondor.schedd.reading import not_offered
from crondor.source import Source

UNDEFINED: Final = Expression("undefined")
_COMMANDS: Final = {"universe": "vanilla", "executable": "/dev/null", "transfer_executable": "false"}
_PREFIX: Final = "MY."
# The schedd's, or set here where an ad has none as every schedd of this package does.
_LEFT: Final = FIXED | {"jobstatus", "jobuniverse", "owner", "user", "qdate", "enteredcurrentstatus"}
ADDED: Final = (
    "Arguments", "CommittedSlotTime", "CommittedSuspensionTime", "CommittedTime", "CondorPlatform", "CondorVersion",
    "CumulativeRemoteSysCpu", "CumulativeRemoteUserCpu", "CumulativeSlotTime", "CumulativeSuspensionTime",
    "CurrentHosts", "DiskUsage", "Environment", "Err", "ExecutableSize", "ExitBySignal", "ExitStatus",
    "FileSystemDomain", "ImageSize", "In", "Iwd", "JobLeaseDuration", "JobNotification", "JobPrio", "JobSubmitMethod",
    "LastSuspensionTime", "LeaveJobInQueue", "MaxHosts", "MinHosts", "NumCkpts", "NumJobCompletions", "NumJobStarts",
    "NumRestarts", "NumSystemHolds", "Out", "Rank", "RemoteSysCpu", "RemoteUserCpu", "RemoteWallClockTime",
    "RequestCpus", "RequestDisk", "RequestMemory", "Requirements", "ShouldTransferFiles", "SubmitVersion",
    "TotalSuspensions", "TransferErr", "TransferExecutable", "TransferIn", "TransferInputSizeMB", "TransferOut",
    "WhenToTransferOutput",
)  # fmt: skip
"""What the bindings of 25.14 add to every ad."""


def commands_of(ad: ClassAd, more: Iterable[str] = ()) -> dict[str, str]:
    """Return the commands that make the bindings submit an ad; ``more`` are names that they are known to add.

    Raises NotOffered for an ad without Cmd, and ClassAdSyntaxError.
    """
    if string(ad, "Cmd") is None:
        raise not_offered("a job without a program (Cmd) cannot be submitted", "set Cmd")
    commands = dict(_COMMANDS)
    for low, name in ad.names.items():
        if low not in FIXED:
            commands[_PREFIX + name] = _unexpanded(old_text(ad[name], name))
    commands |= {_PREFIX + name: "undefined" for name in (*ADDED, *more) if name not in ad}
    return commands


def unlike(ad: ClassAd, sent: ClassAd) -> dict[str, Expression]:
    """Return what to edit in a job so that it is the ad, where ``sent`` is what the bindings say they have sent."""
    edits = {name: ad[name] for low, name in ad.names.items() if low not in FIXED and not _is_same(ad, sent, name)}
    for low, name in sent.names.items():
        if low not in ad.names and low not in _LEFT and sent[name] != UNDEFINED:
            edits[name] = UNDEFINED
    return edits


def old_text(expression: Expression, name: str) -> str:
    """Return an expression as a schedd reads it, in old syntax, where a backslash is just that.

    Raises ClassAdSyntaxError for one that cannot be written so: the schedd would set the attribute to undefined.
    """
    text = expression.unparse(UnparseForm.OLD)
    if "\n" in text or "\r" in text:
        raise ClassAdSyntaxError(Diagnostic("schedd-text", f"{name} has a line end in it, and a schedd takes none"))
    if "\\" in text and not _reads_as(text, expression):
        message = f"{name} has a string in it that ends in a backslash, and is not the last: a schedd cannot read that"
        raise ClassAdSyntaxError(Diagnostic("schedd-text", message, help="end it otherwise, with a slash or a blank"))
    return text


def _reads_as(text: str, expression: Expression) -> bool:
    try:
        return Expression.parse(Source(text), old=True) == expression
    except ClassAdSyntaxError:
        return False


def _is_same(ad: ClassAd, sent: ClassAd, name: str) -> bool:
    return name in sent and (ad[name] == sent[name] or old_text(ad[name], name) == old_text(sent[name], name))


def _unexpanded(text: str) -> str:
    """Return a text of which the bindings' expansion of macros makes this one.

    ``$$(...)`` they leave alone; a sign of which they would make something is written ``$(DOLLAR)``. Within another
    macro that stays as it is (``$(a:$(b))``), as ``$(DOLLAR)`` itself does not: ``unlike`` finds these.
    """
    return _SIGN.sub(lambda found: found[0] if found[1] or not found[3] else f"$(DOLLAR){found[2]}(", text)


_SIGN: Final = re.compile(r"\$(\$?)(\w*)(\(?)", re.ASCII)
