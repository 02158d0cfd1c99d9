"""Which jobs hand their arguments to a shell: there $, > and | mean what they mean to a shell."""

from __future__ import annotations

import re
from typing import Final

from crondor.check.given import GivenJob
from crondor.check.places import EXECUTABLE

ARGUMENTS: Final = ("arguments", "args")
_SHELL: Final = re.compile(r"(?:.*/)?(?:(?:ba|da|k|z|c|tc|fi|mk)?sh|busybox|cmd(?:\.exe)?|powershell(?:\.exe)?|pwsh)")
_CALLED: Final = re.compile(r"(?:^|[\s\"'/])(?:ba|da|k|z|c|tc)?sh[\s\"']|\beval\b|<<<")


def has_shell(job: GivenJob) -> bool:
    """Say whether a shell may read a job's arguments: the program is one, calls one, or is not known."""
    program, arguments = job.first(*EXECUTABLE), job.first(*ARGUMENTS)
    if program is None or "$$" in program.text or job.first("shell") is not None:
        return True
    return _SHELL.fullmatch(program.text) is not None or (
        arguments is not None and _CALLED.search(arguments.text) is not None
    )
