"""A startd's user and the owners of jobs as several users of the machine, as far as this process may be them.

Where the tests run as root, each acts in a process with his own rights. Where not, the tests' own user plays them all:
he is kept from the journal while he is another, and the files that he leaves count as that other's.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crondor.classad import ClassAd
from crondor.hooks.fetch.journal import Journal, RunRecord
from crondor.hooks.fetch.source import KEY, FetchableJob, Heard, WorkSource
from crondor.hooks.kinds import HookType
from crondor.rights.trust import Account
from tests.rights.people import IS_ROOT, be, become, said

NOON = 1_795_608_000  # 2026-11-25 12:00 UTC
LENGTHS = {"DeferralPrepTime": 600, "DeferralWindow": 900}
STARTD = os.geteuid() if hasattr(os, "geteuid") else 0
USERS = {"alice": STARTD + 54321, "bob": STARTD + 54322}


class Party:
    """One state folder and the users around it. The jobs of alice run at each full hour."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        """Have nothing offered yet."""
        self.state = folder / "state"
        self.patch = patch
        self.left: dict[tuple[int, int], int] = {}  # whose each file is
        patch.setattr("crondor.hooks.fetch.journal.user_id", USERS.get)
        if not IS_ROOT:
            patch.setattr("crondor.hooks.fetch.journal._writer", lambda found: self.left.get(mark(found), found.st_uid))

    @property
    def folder(self) -> Path:
        """The folder of reports."""
        return self.state / "reports"

    def source(self, *names: str) -> WorkSource:
        """Return the jobs as a new process has them."""
        job = {"Cmd": "/bin/true", "Owner": "alice", "Iwd": "/", "JobUniverse": 5, "CronMinute": "0", **LENGTHS}
        return WorkSource(
            [FetchableJob(name, ClassAd(job)) for name in names or ("a.sub#0",)], Journal(self.state), "UTC"
        )

    def fetch(self, *names: str, now: int = NOON) -> str:
        """Be the startd that asks for work; return which run it gets, empty: none."""
        job = self.source(*names).offer(None, now).job
        return "" if job is None else str(job.value(KEY))

    def run(self, key: str = f"a.sub#0@{NOON}") -> RunRecord:
        """Return what the journal says of a run."""
        return Journal(self.state).read()[key]

    def tell(self, hook: HookType, key: str = f"a.sub#0@{NOON}", now: int = NOON + 1, **more: object) -> Heard:
        """Be a hook that tells of a run."""
        reason = "exit" if hook is HookType.JOB_EXIT else ""
        job = ClassAd({KEY: key, "JobState": "Running", "ExitCode": 3})
        return self.source().hear(hook, job, now, reason=str(more.get("reason", reason)))

    def be(self, user: str, act: Callable[[], object]) -> str:
        """Do something as another user, and return what came of it as text."""
        if not IS_ROOT:
            with self.playing(user):
                return said(act)
        return be(Account(user, USERS[user], USERS[user]), act)

    def become(self, user: str) -> None:
        """Be another user from now on, in a process of one's own."""
        if IS_ROOT:
            become(Account(user, USERS[user], USERS[user]))
        else:
            self.patch.setattr(Journal, "_open", _not_permitted)

    @contextmanager
    def playing(self, user: str) -> Iterator[None]:
        """Play another user."""
        before = self._files()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Journal, "_open", _not_permitted)
            yield
        self.left |= dict.fromkeys(self._files() - before, USERS[user])

    def _files(self) -> set[tuple[int, int]]:
        return {mark(path.lstat()) for path in self.folder.iterdir()} if self.folder.is_dir() else set()


def mark(found: os.stat_result) -> tuple[int, int]:
    """Return what tells a file from all others."""
    return found.st_ino, found.st_ctime_ns


def _not_permitted(*_: object, **__: object) -> int:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
