"""The text of a submit description that runs a crontab line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from crondor.compile.writing.marked import rewritten
from crondor.crontab.file import CrontabEntry
from crondor.crontab.import_findings import SHELL
from crondor.crontab.import_schedule import ImportedSchedule
from crondor.diagnostics import printable
from crondor.hold_codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.job.arguments import as_text, join_arguments, join_environment
from crondor.schedule import Universe
from crondor.source import Source

_PATH = "/usr/bin:/bin"  # what cron takes where the crontab names none
_SHOWN = 200


def submit_text(name: str, entry: CrontabEntry, found: ImportedSchedule, universe: Universe) -> str:
    """Return the text, with the compiled lines of its schedule. Raises InvalidArguments."""
    lines = [
        *_heading(entry),
        f"# crondor: schedule = {found.schedule.text}",
        "",
        *_program(entry, universe),
        "",
        *_mail(entry),
        *_aligned({"log": f"{name}.log", "output": f"{name}.out", "error": f"{name}.err"}),
        "",
        "# Stay in the queue after a run, and come back after a run that was missed.",
        *_aligned(
            {"on_exit_remove": "false", "periodic_release": f"(HoldReasonCode == {MISSED_DEFERRED_EXECUTION_TIME})"}
        ),
        "",
        "queue",
    ]
    return rewritten(Source("".join(f"{line}\n" for line in lines), name), found.compiled, found.options)


def command_line(entry: CrontabEntry) -> tuple[str, str]:
    """Return the shell that runs an entry, and the text it is given, standard input included."""
    shell = entry.variables.get("SHELL", SHELL)
    if entry.stdin is None:
        return shell, entry.command
    lines = " ".join(shlex.quote(line) for line in entry.stdin[:-1].split("\n"))
    return SHELL, f"printf '%s\\n' {lines} | {shlex.quote(shell)} -c {shlex.quote(entry.command)}"


def environment(entry: CrontabEntry) -> dict[str, str]:
    """Return the variables that cron sets for an entry, but for those that it takes from the user's account."""
    return {"PATH": _PATH, "SHELL": SHELL, **entry.variables}


def _heading(entry: CrontabEntry) -> Iterator[str]:
    for line in entry.comment:
        yield f"# {printable(line)}".rstrip()
    if entry.comment:
        yield "#"
    written = printable(entry.span.text)
    yield f"# {printable(entry.span.source.name)}:{entry.span.line}"
    yield f"#   {written[:_SHOWN]}{'...' if len(written) > _SHOWN else ''}"
    if entry.user is not None:
        yield f"# To be submitted by {entry.user}."


def _program(entry: CrontabEntry, universe: Universe) -> Iterator[str]:
    shell, text = command_line(entry)
    home = entry.variables.get("HOME")
    commands = {
        "universe": universe.name.lower(),
        "executable": as_text(shell),
        "arguments": join_arguments(["-c", text]),
        "environment": join_environment(environment(entry)),
        "getenv": "HOME, LOGNAME, USER",
        "initialdir": "$ENV(HOME)" if home is None else as_text(home),
    }
    if universe is not Universe.LOCAL:
        commands["transfer_executable"] = "false"
    yield from _aligned(commands)


def _mail(entry: CrontabEntry) -> Iterator[str]:
    address = entry.variables.get("MAILTO")
    if address is not None:
        wanted = {"notify_user": as_text(address), "notification": "error"} if address else {"notification": "never"}
        yield from _aligned(wanted)
        yield ""


def _aligned(commands: dict[str, str]) -> Iterator[str]:
    width = max(map(len, commands))
    for name, value in commands.items():
        yield f"{name:<{width}} = {value}"
