"""A tool that runs beside a job, a debugger for example (HTCondor 25.14: SubmitHash::SetTDP)."""

from __future__ import annotations

from typing import Final

from crondor.submit.ad.arguments import ArgumentList, set_more
from crondor.submit.ad.draft import Draft

_COMMAND: Final = ("tool_daemon_cmd", "tooldaemoncmd")
_FILES: Final = (
    ("ToolDaemonInput", "tool_daemon_input"),
    ("ToolDaemonOutput", "tool_daemon_output"),
    ("ToolDaemonError", "tool_daemon_error"),
)
_SUSPEND: Final = ("suspend_job_at_exec", "suspendjobatexec")
_ARGUMENTS: Final = ArgumentList(
    ("tool_daemon_arguments", "tooldaemonargs"),
    "tool_daemon_arguments2",
    ("ToolDaemonArgs", "ToolDaemonArguments"),
    "tool_daemon_args",
    "failed to parse tool daemon arguments: {0} The arguments you specified were: {1}",
)

NAMES: Final = (
    *_COMMAND,
    *(name for attribute, command in _FILES for name in (command, attribute.lower())),
    *_SUSPEND,
    *(*_ARGUMENTS.old, _ARGUMENTS.new, _ARGUMENTS.older),
)


def set_tool(draft: Draft) -> None:
    """Set what belongs to a tool, where there is one: its files, its arguments, SuspendJobAtExec."""
    if draft.string("ToolDaemonCmd", *_COMMAND) is None:
        return
    for attribute, command in _FILES:
        draft.string(attribute, command, attribute.lower())
    suspends = draft.flag(*_SUSPEND)
    if suspends is not None:
        draft.set("SuspendJobAtExec", suspends)
    set_more(draft, _ARGUMENTS)
