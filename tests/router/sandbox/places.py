"""Folders, ads and accounts for tests of routed jobs' files; and a process that ends at its n-th change of the disk."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.job_queue import JobId
from crondor.router.sandbox import Account, Sandbox, SandboxLimits, Spool
from crondor.router.sandbox.reach import rewritten

JOB = JobId(12_345, 6)
NOBODY = Account("nobody", 61_234, 61_234)  # nobody at all: only who is root can give files to it

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away, and must ask what others may")


def me(name: str) -> Account:
    """Take any name for the account that runs the tests."""
    return Account(name, os.geteuid(), os.getegid())


def nobody(name: str) -> Account | None:
    """Know nobody alone."""
    return NOBODY if name == "nobody" else None


class Place:
    """A user's folder, a spool, and what moves files between them."""

    def __init__(self, folder: Path, **more: object) -> None:
        """Make the folders."""
        self.home = folder / "home"
        self.home.mkdir()
        self.reports: list[Diagnostic] = []
        self.spool = Spool(folder / "spool")
        options = {"accounts": me, "report": self.reports.append, "limits": SandboxLimits(), **more}
        self.sandbox = Sandbox(self.spool, [self.home], **options)  # type: ignore[arg-type]

    @property
    def inside(self) -> Path:
        """The sandbox."""
        return self.spool.place(JOB)

    def ad(self, **attributes: object) -> ClassAd:
        """Return a job of alice's in her folder, which transfers no program."""
        base = {"Owner": "alice", "Cmd": "/bin/true", "TransferExecutable": False, "Iwd": str(self.home)}
        return ClassAd({**base, **attributes})

    def put(self, name: str, data: str = "data", mode: int = 0o644) -> Path:
        """Write a file of the user's."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data)
        path.chmod(mode)
        return path

    def spooled(self, **attributes: object) -> ClassAd:
        """Prepare a copy, rewrite its ad and spool its input, as a router does; return the ad."""
        ad = self.ad(**attributes)
        edits = self.sandbox.prepared(ad)
        for name, value in edits.items():
            ad.set(name, value)
        for name, value in rewritten(ad, str(self.inside)).items():
            ad.set(name, value)
        self.sandbox.spool_in(JOB, ad)
        return ad

    def tree(self) -> list[str]:
        """Return what is in the sandbox."""
        return sorted(str(path.relative_to(self.inside)) for path in self.inside.rglob("*"))


def codes(error: pytest.ExceptionInfo[CrondorError]) -> list[str]:
    """Return the codes of an error's findings."""
    return [each.kind for each in error.value.diagnostics]


CALLS = ("open", "write", "rename", "replace", "unlink", "mkdir", "rmdir", "fchmod", "chmod", "chown", "fchown")
"""What changes the disk; a process that ends before it only reads leaves what one leaves that ends a call later."""


_OPEN = os.open


def ends_at(number: int, call: Callable[[], object]) -> bool:
    """Do something in a process that ends before its n-th change of the disk; say whether it got there.

    All that is left of it is what is on the disk.
    """
    child = os.fork()
    if child == 0:
        count = [0]
        for name in CALLS:
            setattr(os, name, _counted(getattr(os, name), count, number))
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - a process of its own must not go on with the tests
            sys.stderr.write(f"{error}\n")
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, 9), f"the process failed ({code})"
    return code == 9


def _counted(original: Callable[..., object], count: list[int], number: int) -> Callable[..., object]:
    def call(*arguments: object, **options: object) -> object:
        reads = original is _OPEN and not cast("int", arguments[1]) & (os.O_CREAT | os.O_TRUNC)
        if count[0] == number and not reads:
            os._exit(9)
        count[0] += not reads
        return original(*arguments, **options)

    return call
