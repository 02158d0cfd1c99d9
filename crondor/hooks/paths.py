"""Whether a program may be called as a hook: nobody else could have put it there or changed it.

HTCondor: validateHookPath.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final

from crondor.diagnostics import Diagnostic, printable

PATH_FAULTS: Final = frozenset({"hook-path", "hook-missing", "hook-writable", "hook-not-executable"})
"""The codes of what ``check_path`` finds."""

_LINKS: Final = 40  # as the kernel follows


def check_path(path: str, knob: str = "the hook") -> Diagnostic | None:
    """Return what speaks against a program, None if nothing does; ``knob`` is what messages call it.

    HTCondor's rules (validateHookPath): it exists, is not world-writable, its owner may execute it, its directory is
    not world-writable. Nor may the directory of any link on the way to it be, which HTCondor leaves open. A path must
    be absolute, since a hook's working directory is not the caller's.
    """
    shown = f"{knob} ({printable(path)})"
    if "\0" in path or not Path(path).is_absolute():
        return _problem("hook-path", f"{shown} is no absolute path", "write the path from / on")
    step, left = Path("/"), list(reversed(Path(path).parts[1:]))
    links = 0
    while left:
        name = left.pop()
        if name == "..":
            step = step.parent
            continue
        try:
            is_open = step.stat().st_mode & stat.S_IWOTH
            found = (step / name).lstat()
            target = (step / name).readlink() if stat.S_ISLNK(found.st_mode) else None
        except OSError as error:
            return _problem("hook-missing", f"{shown}: {error.strerror}", "name a program that is there")
        if is_open and (target is not None or not left):
            help_text = f"chmod o-w {printable(str(step))}, or keep the program elsewhere"
            return _problem("hook-writable", f"{shown} lies in a world-writable directory", help_text)
        links += target is not None
        if links > _LINKS:
            return _problem("hook-missing", f"{shown}: too many levels of symbolic links", "name the program itself")
        if target is None:
            step /= name
        else:
            step = Path("/") if target.is_absolute() else step
            left += reversed([part for part in target.parts if part != "/"])
    return _check_file(step, shown)


def _check_file(path: Path, shown: str) -> Diagnostic | None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return _problem("hook-missing", f"{shown}: {error.strerror}", "name a program that is there")
    if not stat.S_ISREG(mode):
        return _problem("hook-path", f"{shown} is not a plain file", "name a program")
    if mode & stat.S_IWOTH:
        return _problem("hook-writable", f"{shown} is world-writable", f"chmod o-w {printable(str(path))}")
    if not mode & stat.S_IXUSR:
        return _problem("hook-not-executable", f"{shown} is not executable", f"chmod u+x {printable(str(path))}")
    return None


def _problem(code: str, message: str, help_text: str) -> Diagnostic:
    return Diagnostic(code, message, help=help_text)
