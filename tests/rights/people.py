"""Users of this machine, and folders that all of them may pass, as those of pytest are not."""

import ctypes
import os
import shutil
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crondor.rights.trust import Account, current_user, is_root

IS_ROOT = is_root()
as_root = pytest.mark.skipif(not IS_ROOT, reason="only root may act for others")

ME = Account("me", current_user(), os.getegid() if hasattr(os, "getegid") else 0)
ALICE = Account("alice", 61_001, 61_001, frozenset({61_100}))
BOB = Account("bob", 61_002, 61_002)
PEOPLE = {person.name: person for person in (ME, ALICE, BOB)}


_NOBODY = 0xFFFF_FFFF
_ENTRIES = ((1, 6, _NOBODY), (2, 4, ALICE.uid), (4, 0, _NOBODY), (16, 4, _NOBODY), (32, 0, _NOBODY))
ACCESS = "system.posix_acl_access"
ACCESS_LIST = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in _ENTRIES)
"""That of a file which its owner may write, and ALICE read."""


@contextmanager
def open_folder() -> Iterator[Path]:
    """Give a new folder that everybody may pass and see."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def home(folder: Path, person: Account) -> Path:
    """Return a new folder of somebody's, where that can be; else it is of who runs the tests."""
    made = folder / person.name
    made.mkdir(mode=0o755)
    if IS_ROOT:
        os.chown(made, person.uid, person.gid)
    return made


def be(person: Account, act: Callable[[], object]) -> str:
    """Do something in a process that is somebody's altogether, and return what came of it as text."""
    return apart(lambda: become(person), act)


def apart(prepare: Callable[[], None], act: Callable[[], object]) -> str:
    """Do something in a copy of this process, after preparing it, and return what came of it as text."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            prepare()
            os.write(writer, said(act).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


def become(person: Account) -> None:
    """Be somebody from now on, in a process of one's own."""
    os.setgroups(sorted(person.groups))
    os.setgid(person.gid)
    os.setuid(person.uid)


def be_bound() -> None:
    """Give up the rights by which root passes over the modes of files; others have none, and Linux alone has these."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    head = (ctypes.c_uint32 * 2)(0x2008_0522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    rights = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then the same of those from 32 on
    libc.capget(head, rights)
    rights[0] &= ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    libc.capset(head, rights)


def said(act: Callable[[], object]) -> str:
    """Return what comes of something as text, an error too."""
    try:
        return str(act())
    except Exception as error:  # noqa: BLE001 - whatever it is, the test sees it
        return f"{type(error).__name__}: {error}"


def swapping(patch: pytest.MonkeyPatch, owner: object, name: str, swap: Callable[[], None]) -> None:
    """Have something happen once, right after a function was called: between a look and the deed that follows it."""
    original = getattr(owner, name)
    is_done = [False]

    def called(*arguments: object, **options: object) -> object:
        found = original(*arguments, **options)
        if not is_done[0]:
            is_done[0] = True
            swap()
        return found

    patch.setattr(owner, name, called)


def link_in_place(folder: Path, target: Path) -> Callable[[], None]:
    """Return what puts a link in the place of a folder, as who owns the one above it can at any moment."""

    def swap() -> None:
        folder.rename(folder.with_name(f"{folder.name}.away"))
        folder.symlink_to(target)

    return swap
