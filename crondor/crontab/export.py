"""Jobs as lines of a Unix crontab: the schedule in cron's words, and a command that its shell reads back."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from crondor.algebra import translate
from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.spec import CronSpec, Dialect

_SHELL = "/bin/sh"
_BLANKS = " \t\r\n\v\f"


class NoCommand(CrondorError, ValueError):
    """A program that no line of a crontab can start."""


@dataclass(frozen=True)
class JobProgram:
    """What a job runs: the executable, its arguments, its variables, and the file it reads its input from."""

    executable: str
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    stdin: str | None = None


@dataclass(frozen=True)
class CronLine:
    """A schedule of any dialect and what it runs; ``comment`` goes above the line."""

    spec: CronSpec
    program: JobProgram
    comment: str = ""


def write_crontab(lines: Sequence[CronLine]) -> str:
    """Return a crontab with these lines.

    Variables that all lines share stand above them; others are set by env(1) in the command. Raises NoCommand for a
    program without a spelling, and Untranslatable for a schedule that cron cannot say.
    """
    variables = _common_variables(lines)
    texts = [f"{name}={value}\n" for name, value in (variables or {}).items()]
    for line in lines:
        spec = translate(line.spec, Dialect.UNIX)
        comment = f"# {printable(line.comment)}\n" if line.comment else ""
        texts.append(f"{comment}{spec} {_command(line.program, env=variables is None)}\n")
    return "".join(texts)


def _command(program: JobProgram, *, env: bool) -> str:
    """Return the command field; with ``env`` the command sets the variables itself."""
    words = [program.executable, *program.arguments]
    if any(re.search(r"[\n\0]", word) for word in words) or not program.executable:
        raise NoCommand(Diagnostic("export-command", "a crontab line cannot say an empty name, a line end or NUL"))
    shell = _SHELL if env else program.environment.get("SHELL", _SHELL)
    if words[:2] == [shell, "-c"] and len(words) == 3 and words[2].strip() and not (env and program.environment):
        text = words[2]
    else:
        text = shlex.join(words)
        if env and program.environment:
            text = f"env {shlex.join(f'{name}={value}' for name, value in program.environment.items())} {text}"
    if program.stdin is not None:
        text = f"{_in_shell(text)} < {shlex.quote(program.stdin)}"
    # Crons differ about a backslash before an escaped percent sign, and drop blanks at the ends.
    if "\\%" in text or text != text.strip(_BLANKS):
        text = _in_shell(text)
    return text.replace("%", "\\%")


def _in_shell(text: str) -> str:
    """Return a command that runs ``text``; in its quotes no backslash stands before a percent sign."""
    return f"{_SHELL} -c " + shlex.quote(text).replace("\\%", "\\''%")


def _common_variables(lines: Sequence[CronLine]) -> dict[str, str] | None:
    """Return the variables that all lines share, written as a crontab has them; None where that is not possible."""
    first: Mapping[str, str] = lines[0].program.environment if lines else {}
    if any(line.program.environment != first for line in lines):
        return None
    found: dict[str, str] = {}
    for name, value in first.items():
        text = _variable(value)
        if text is None or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            return None
        found[name] = text
    return found


def _variable(value: str) -> str | None:
    """Return a variable's value with the quotes that it needs, None where none do."""
    if re.search(r"[\n\0]", value):
        return None
    if value and value == value.strip(_BLANKS) and value[0] not in "'\"":
        return value
    return next((f"{quote}{value}{quote}" for quote in "\"'" if quote not in value), None)
