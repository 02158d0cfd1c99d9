"""A program of its own, one for each run: it starts the job's program, outlives who asked for it, and keeps its end.

``python -I -S supervisor.py FOLDER`` reads a request (JSON) from its standard input, and writes into the folder

    TOKEN.started   who keeps and who runs, on the disk before the program begins; there can be only one such file, and
                    whoever makes it first decides whether the program runs: a supervisor, or somebody who calls it off
    TOKEN.ended     how it ended, or why it could not be started

One line of JSON on its standard output says that the program has begun, or why not; the end of the output says that the
supervisor has gone. Nothing but the standard library's smallest parts is imported: it starts in some milliseconds.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import time

TYPE_CHECKING = False  # importing typing takes longer than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Record = dict[str, Any]

_BITS = 0o666
_ENDINGS = tuple(each for each in signal.Signals if each.name in {"SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"})
_PR_SET_CHILD_SUBREAPER = 36  # prctl(2)
_ROUNDS = 2000  # attempts to find remaining processes; faster forks, or processes hanging in the kernel, stay
_PAUSE = 0.001  # seconds between them


class _FailedStart(Exception):
    """A file or program that cannot be opened or run."""

    def __init__(self, what: str, path: str, error: OSError) -> None:
        super().__init__(what)
        self.record = {"failed": what, "path": path, "errno": error.errno or 0, "why": error.strerror}


def start_time(pid: int) -> str:
    """Return when a process started, in the kernel's ticks since boot; empty if it does not exist or is a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - pathlib takes longer than all of this
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in {b"Z", b"X"} else fields[19].decode()


def publish(folder: str, name: str, record: object) -> bool:
    """Make a file with a record, on disk on return; return whether it did not exist yet."""
    path = f"{folder}/{name}"
    temporary = f"{path}.{os.getpid()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    text = json.dumps(record).encode()
    try:
        if os.write(descriptor, text) != len(text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301 - half a record is none
        os.fsync(descriptor)
    except OSError:
        os.unlink(temporary)  # noqa: PTH108 - the same
        raise
    finally:
        os.close(descriptor)
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        os.unlink(temporary)  # noqa: PTH108 - the same
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)
    return True


def main() -> None:
    """Supervise one program."""
    folder = sys.argv[1]
    _adopt()
    text = sys.stdin.buffer.read()
    if not text:
        return  # it was not needed
    request = json.loads(text)
    token = request["token"]
    for each in _ENDINGS:
        signal.signal(each, signal.SIG_IGN)
    try:
        ended = _keep(folder, token, request)
    except _FailedStart as failed:
        ended = failed.record
        _say(ended)
    if ended is not None:
        publish(folder, f"{token}.ended", ended)


def _keep(folder: str, token: str, request: Record) -> Record | None:
    """Start the program, wait for it, and return how it ended; None if it was cancelled."""
    files = _open(request)
    gate, failure = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(request, files, gate, failure)
    for descriptor in (*files, gate[0], failure[1]):
        os.close(descriptor)
    me = os.getpid()
    record = {
        "supervisor": [me, start_time(me)],
        "program": [pid, start_time(pid)],
        "boot": boot(),
        "job": request["job"],
        "killing": request["killing"],
    }
    if not publish(folder, f"{token}.started", record):
        os.close(gate[1])
        os.waitpid(pid, 0)
        return None
    os.write(gate[1], b"g")
    os.close(gate[1])
    number = b""
    while piece := os.read(failure[0], 64):
        number += piece
    if number:
        os.waitpid(pid, 0)
        raise _FailedStart("executable", request["argv"][0], OSError(int(number), os.strerror(int(number))))
    _say({"pid": pid})
    while (other := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)) and other.si_pid != pid:
        os.waitpid(other.si_pid, 0)
    _end_family(pid)
    _, status, usage = os.wait4(pid, 0)
    ended = {"user": usage.ru_utime, "system": usage.ru_stime}
    if os.WIFSIGNALED(status):
        return {**ended, "signal": os.WTERMSIG(status)}
    return {**ended, "code": os.WEXITSTATUS(status)}


def _adopt() -> None:
    """Become the parent of every orphaned process of the program, new sessions included (Linux)."""
    try:
        import ctypes  # noqa: PLC0415 - a Python can be without it

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def _end_family(pid: int) -> None:
    """Kill what a finished program left running, while its process number is still reserved."""
    _kill(os.killpg, pid)
    for _ in range(_ROUNDS):
        left = [child for child in _children() if child != pid]
        if not left:
            return
        for child in left:
            _kill(os.kill, child)
            os.waitpid(child, os.WNOHANG)
        time.sleep(_PAUSE)


def _kill(send: Callable[[int, int], None], number: int) -> None:
    try:  # noqa: SIM105 - contextlib takes longer to import than this
        send(number, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _children() -> list[int]:
    me = os.getpid()
    try:
        with open(f"/proc/{me}/task/{me}/children", "rb") as file:  # noqa: PTH123 - as above
            return [int(number) for number in file.read().split()]
    except OSError:
        return []


def boot() -> str:
    """Return the identity of this boot of the machine."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:  # noqa: PTH123 - the same
            return file.read().strip()
    except OSError:
        return ""


def _say(record: object) -> None:
    try:  # noqa: SIM105 - the same
        os.write(1, json.dumps(record).encode() + b"\n")
    except OSError:
        pass


def _open(request: Record) -> list[int]:
    """Go to the program's folder, and return its open files."""
    try:
        _enter(request["folder"])
    except OSError as error:
        raise _FailedStart("initialdir", request["folder"], error) from None
    found: list[int] = []
    for what, path, flags in request["files"]:
        try:
            is_again = what == "error" and path == request["files"][1][1]
            found.append(os.dup(found[1]) if is_again else _opened(path, flags))
        except OSError as error:  # noqa: PERF203 - there are three files
            raise _FailedStart(what, path, error) from None
    return found


def _enter(folder: str) -> None:
    if os.geteuid() != 0:
        os.chdir(_bytes(folder))
        return
    descriptor = _opened(folder, os.O_RDONLY)
    os.fchdir(descriptor)
    os.close(descriptor)


def _opened(path: str, flags: int) -> int:
    """Open a file of the program. The owner of its folder could make root write elsewhere by a link."""
    if os.geteuid() != 0:
        return os.open(_bytes(path), flags | os.O_NOCTTY, _BITS)
    rights = os.path.abspath(os.path.join(__file__, "..", "..", "..", "rights"))  # noqa: PTH100, PTH118 - as above
    sys.path.insert(0, rights)
    try:
        walk = __import__("walk")  # it has no dependencies; importing the package takes longer than starting a program
    finally:
        sys.path.remove(rights)
    descriptor: int = walk.open_own(os.fsdecode(_bytes(path)), flags | os.O_NOCTTY, _BITS)
    return descriptor


def _become(request: Record, files: list[int], gate: tuple[int, int], failure: tuple[int, int]) -> None:
    """Become the program once the gate is open; never return."""
    try:
        os.close(gate[1])
        os.setsid()
        if not os.read(gate[0], 1):
            os._exit(127)
        for number, descriptor in enumerate(files):
            os.dup2(descriptor, number)
        for each in (*_ENDINGS, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(each, signal.SIG_DFL)
        argv = [_bytes(text) for text in request["argv"]]
        environ = {_bytes(name): _bytes(text) for name, text in request["environ"].items()}
        os.execve(_bytes(request["executable"]), argv, environ)  # noqa: S606 - this is what it is for
    except OSError as error:
        os.write(failure[1], str(error.errno).encode())
    finally:
        os._exit(127)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


if __name__ == "__main__":
    main()
