"""One runner for all hooks: a bounded program with text on standard input, its paths, place and process family.

No shell is in between. The program's processes are a group of their own, and none of them outlives the call. A call
does not wait: ``start`` returns at once, ``poll`` says whether it is over, ``finish`` and ``run`` wait for that.

HTCondor: HookClientMgr::spawn.
"""

from __future__ import annotations

import errno
import functools
import os
import secrets
import selectors
import signal
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Final, NamedTuple, TypeAlias

from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable
from crondor.rights.replacing import as_account
from crondor.rights.trust import Account, account_of, current_user, owner_environment

MARK: Final = "_CRONDOR_HOOK"
"""The variable that all processes of a hook inherit, like HTCondor's ``_CONDOR_ANCESTOR_<pid>``."""

_PROC: Final = "/proc"
_ROUNDS: Final = 20  # against a process that forks faster than it is killed
_LOOKS: Final = 2000  # at a process in execve, on a busy machine
_PAUSE: Final = 0.001  # seconds between them
_NO_PROGRAM: Final = 0x4 | 0x200000  # PF_EXITING, PF_KTHREAD of the kernel's sched.h


def end_family(leader: int, mark: str, *, is_brief: bool = False) -> int:
    """Kill the remaining processes of a hook, and return how many there were besides the leader.

    ``leader`` is the number of the process group, and must not have been waited for yet: its number could then be
    another process's. Processes that have left the group are found by their mark, if there is a /proc. ``is_brief``:
    the hook was too short for process numbers to wrap; then only those started after it are checked.
    """
    found = marked = _marked(mark, leader if is_brief else 0) - {leader}
    signal_group(leader, signal.SIGKILL)
    for _ in range(_ROUNDS):
        if not marked:
            break
        for process in marked:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        marked = _marked(mark, 0) - found - {leader}
        found |= marked
    return len(found)


def signal_group(leader: int, number: signal.Signals) -> None:
    """Send a signal to a hook's process group."""
    with suppress(OSError):
        os.killpg(leader, number)


def _marked(mark: str, leader: int) -> set[int]:
    """Return the processes of this user that have the mark in their environment; 0 for ``leader``: whenever started."""
    found: set[int] = set()
    first, last = leader, _last_number()
    if leader and last == leader:
        return found
    for _ in range(_ROUNDS):
        found |= _marked_between(f"{MARK}={mark}".encode(), first, last)
        first, last = last, _last_number()
        if first == last:
            break  # none was started meanwhile by a process that ended before it was checked
    return found


def _marked_between(needle: bytes, first: int, last: int) -> set[int]:
    """Return the marked processes with numbers assigned after ``first`` and up to ``last``; 0: all."""
    user = os.geteuid()
    found: set[int] = set()
    with suppress(OSError):
        for name in os.listdir(_PROC):  # noqa: PTH208 - names are all that is needed, and there are many
            if name.isdecimal() and (not first or _is_between(int(name), first, last)):
                with suppress(OSError):
                    if user in {0, os.stat(f"{_PROC}/{name}").st_uid} and needle in _environment(name):  # noqa: PTH116
                        found.add(int(name))
    return found


def _last_number() -> int:
    """Return the number of the last process started, 0 if there is no /proc."""
    with suppress(OSError):
        return int(Path(_PROC, "loadavg").read_text(encoding="ascii").split()[-1])
    return 0


def _is_between(number: int, first: int, last: int) -> bool:
    """Return whether a number was assigned after ``first`` and up to ``last``; the counter may have wrapped."""
    return first < number <= last if last > first else number > first or number <= last


def _environment(process: str) -> bytes:
    """Return a process's environment. During execve there is none to read."""
    path = Path(_PROC, process, "environ")
    for _ in range(_LOOKS):
        environment = path.read_bytes()
        if environment or not _is_changing(process):
            break
        sleep(_PAUSE)
    return environment


def _is_changing(process: str) -> bool:
    """Return whether a process without a readable environment may have one, by the fields of proc(5)."""
    fields = Path(_PROC, process, "stat").read_bytes().rpartition(b") ")[2].split()
    state, flags, env_start, env_end = fields[0], int(fields[9 - 3]), int(fields[50 - 3]), int(fields[51 - 3])
    is_empty = env_start == env_end != 0
    return state not in {b"Z", b"X"} and not flags & _NO_PROGRAM and not is_empty


PATH_FAULTS: Final = frozenset({"hook-path", "hook-missing", "hook-writable", "hook-not-executable"})
"""The codes of the findings of ``check_path``."""

_LINKS: Final = 40  # as the kernel follows


# HTCondor: validateHookPath.
def check_path(path: str, knob: str = "the hook") -> Diagnostic | None:
    """Return the objection to a program, None if there is none; ``knob`` is its name in messages.

    HTCondor's rules (validateHookPath): it exists, is not world-writable, its owner may execute it, its directory is
    not world-writable. The same applies to the directory of any link on the way, which HTCondor does not check. A path
    must be absolute, since a hook's working directory is not the caller's.
    """
    shown = f"{knob} ({printable(path)})"
    if "\0" in path or not Path(path).is_absolute():
        return _problem("hook-path", f"{shown} is not an absolute path", "write the path from / on")
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
            return _problem("hook-writable", f"{shown} is in a world-writable directory", help_text)
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


_UMASK: Final = 0o022  # a user's default, and daemons ignore other settings
_SAME: Final = -1
_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


class ProcessPlace(NamedTuple):
    """The arguments of ``subprocess.Popen``; None: the caller's, and so is a umask of -1."""

    env: Mapping[str, str]
    cwd: str | None = None
    user: int | None = None
    group: int | None = None
    extra_groups: Sequence[int] | None = None
    umask: int = _SAME


@contextmanager
def placed(environ: Mapping[str, str], folder: str | None, user: str | None) -> Iterator[ProcessPlace]:
    """Yield where a program runs; ``user`` is its user, and then only the machine's part of ``environ`` counts.

    Raises KeyError for an unknown user, and OSError.
    """
    if user is None:
        yield ProcessPlace(environ, folder)
        return
    owner = account_of(user)
    if owner is None:
        raise KeyError(f"the system knows no user {user}")
    with _entered(owner, folder) as cwd:
        env = owner_environment(environ, owner)
        yield ProcessPlace(env, cwd, owner.uid, owner.gid, sorted({owner.gid, *owner.groups}), _UMASK)


@contextmanager
def _entered(owner: Account, folder: str | None) -> Iterator[str]:
    """Yield a folder that a user may enter: ``folder``, or else the home, or the root folder. Raises OSError.

    A program changes to its folder before it changes its user, and root could be led anywhere by a link of the user's.
    So the user opens it, and the program changes to the opened folder.
    """
    for path in [folder] if folder is not None else [owner.home or "/", "/"]:
        try:
            descriptor = as_account(owner, functools.partial(os.open, path, _FOLDER))
        except OSError:
            if path == "/" or folder is not None:
                raise
            continue
        try:
            yield path if owner.uid == current_user() else f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
        return


Clock: TypeAlias = Callable[[], float]
"""Returns seconds that never go back."""

PIPE_BUFFER_MAX: Final = 10_240
"""Bytes of a hook's output that HTCondor 25.14 reads before it closes the pipe (the knob of this name)."""

_READ: Final = 1 << 16
_AT_ONCE: Final = 1 << 20  # bytes read in one poll, to be fair to others
_TICK: Final = 0.02  # seconds between two checks, if nothing signals the end of a process
_LOST: Final = 5.0  # seconds to wait for a process that has been killed
_BRIEF: Final = 1.0  # seconds in which process numbers cannot wrap
_SAID: Final = 2000  # characters of standard error in a message


@dataclass(frozen=True)
class HookLimits:
    """The limits of a call.

    After ``seconds`` it gets SIGTERM, and SIGKILL ``grace`` seconds later. More than ``output`` bytes on standard
    output end it; of standard error the first ``errors`` bytes are kept.
    """

    seconds: float = 300.0
    grace: float = 2.0
    output: int = 4 << 20
    errors: int = 64 << 10


DEFAULT_LIMITS: Final = HookLimits()


@dataclass(frozen=True)
class HookCall:
    """A program and its input.

    ``stdin`` None: standard input is empty. ``environ`` is the whole environment (except the runner's mark). ``folder``
    is the working directory, None: the caller's. ``user``: the user it runs as, if the caller may change users: with
    that user's rights, groups and environment, only the machine's part of ``environ``, and in the home unless
    ``folder`` is given. ``name`` is its name in messages.
    """

    path: str
    arguments: tuple[str, ...] = ()
    stdin: str | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    folder: str | None = None
    limits: HookLimits = DEFAULT_LIMITS
    user: str | None = None
    name: str = "the hook"


class HookEnd(Enum):
    """How a call came to its end."""

    EXITED = "exited"
    SIGNALED = "signaled"
    TIMED_OUT = "timed-out"
    FLOODED = "flooded"
    NOT_STARTED = "not-started"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class HookRun:
    """A finished call.

    ``status`` is the exit status, None unless it EXITED; ``signal_number`` is the signal that ended it otherwise, if
    any. Texts have bytes that are not UTF-8 as surrogate escapes. ``errors_dropped`` are bytes of standard error beyond
    the limit, ``left_running`` processes that it left behind and that were killed. ``seconds`` is its duration.
    """

    call: HookCall
    ended: HookEnd
    status: int | None = None
    signal_number: int | None = None
    stdout: str = ""
    stderr: str = ""
    errors_dropped: int = 0
    left_running: int = 0
    seconds: float = 0.0
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def succeeded(self) -> bool:
        """Whether the program ended by itself with status 0; a signal is a failure, but HTCondor reads it as 0."""
        return self.ended is HookEnd.EXITED and self.status == 0

    @property
    def reason(self) -> str:
        """How it ended, in words."""
        if self.ended is HookEnd.EXITED:
            return f"exited with status {self.status}"
        return self.diagnostics[0].message if self.diagnostics else self.ended.value


class RunningHook:
    """A running or finished call."""

    def __init__(self, call: HookCall, clock: Clock) -> None:
        """Start the program; if it cannot be started, the call is over at once."""
        self.call = call
        self._clock = clock
        self._began = clock()
        self._started = monotonic()
        self._mark = secrets.token_hex(8)
        self._output = bytearray()
        self._errors = bytearray()
        self._errors_dropped = 0
        self._ended: HookEnd | None = None
        self._deadline = self._began + call.limits.seconds
        self._is_killed = False
        self._streams: dict[IO[bytes], bytearray] = {}
        self._run: HookRun | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._watch = -1
        problem = check_path(call.path, call.name)
        if problem is None:
            problem = self._start()
        if problem is not None:
            self._run = HookRun(call, HookEnd.NOT_STARTED, diagnostics=(problem,))

    @property
    def result(self) -> HookRun | None:
        """Its result, as of the last ``poll``: None if it has not ended."""
        return self._run

    def poll(self) -> HookRun | None:
        """Read the output, end it after its time limit, and return the result if it is over."""
        if self._run is not None or self._process is None:
            return self._run
        self._drain(_AT_ONCE)
        if _has_exited(self._process):
            return self._conclude(self._process)
        now = self._clock()
        if self._is_killed:
            if now >= self._deadline:  # not even SIGKILL has ended it
                return self._conclude(self._process)
        elif len(self._output) > self.call.limits.output:
            self._kill(HookEnd.FLOODED, now)
        elif now >= self._deadline:
            if self._ended is None:
                self._ended = HookEnd.TIMED_OUT
                self._deadline = now + self.call.limits.grace
                signal_group(self._process.pid, signal.SIGTERM)
            else:
                self._kill(self._ended, now)
        return self._run

    def take(self) -> bytes:
        """Return the output so far: the limit of output then counts from here."""
        taken = bytes(self._output)
        self._output.clear()
        return taken

    def send(self, number: signal.Signals) -> None:
        """Send the program a signal; SIGTERM and SIGKILL go to all its processes."""
        if self._run is None and self._process is not None:
            if number in {signal.SIGTERM, signal.SIGKILL}:
                signal_group(self._process.pid, number)
            else:
                with suppress(OSError):
                    os.kill(self._process.pid, number)

    def finish(self) -> HookRun:
        """Wait until it is over, which the limits see to, and return the result; Ctrl-C meanwhile ends it."""
        try:
            while (run := self.poll()) is None:
                wait([self], _TICK if self._watch < 0 else max(_TICK, min(1.0, self._deadline - self._clock())))
        except BaseException:
            if self._run is None and self._process is not None:
                self._kill(HookEnd.CANCELLED, self._clock())
                self._conclude(self._process)
            raise
        return run

    def cancel(self) -> HookRun:
        """End it now, and return the result."""
        if self._run is None:
            self._kill(HookEnd.CANCELLED, self._clock())
        return self.finish()

    def waits_for(self) -> list[int]:
        """Return the file descriptors that become readable when there is something to do."""
        if self._run is not None:
            return []
        return [*(stream.fileno() for stream in self._streams), *([self._watch] if self._watch >= 0 else [])]

    def _start(self) -> Diagnostic | None:
        call = self.call
        try:
            with _input(call.stdin) as given, placed(call.environ, call.folder, call.user) as place:
                self._process = subprocess.Popen(  # noqa: S603 - the configuration names it, and check_path looked
                    [call.path, *call.arguments],
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                    env={**place.env, MARK: self._mark},
                    cwd=place.cwd,
                    user=place.user,
                    group=place.group,
                    extra_groups=place.extra_groups,
                    umask=place.umask,
                )
        except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            reason = error.diagnostics[0].message if isinstance(error, CrondorError) else reason
            hint = "check that its first line names an existing interpreter, such as #!/bin/sh"
            if isinstance(error, OSError) and error.errno == errno.E2BIG:
                hint = "shorten its arguments and its environment: Linux allows 128 KiB for each text, and 2 MiB in all"
            message = f"{call.name} ({printable(call.path)}) cannot be started: {reason}"
            return Diagnostic("hook-start", message, help=hint)
        for stream, kept in ((self._process.stdout, self._output), (self._process.stderr, self._errors)):
            if stream is None:
                raise AssertionError("both are pipes")
            os.set_blocking(stream.fileno(), False)
            self._streams[stream] = kept
        with suppress(OSError, AttributeError):  # Linux only
            self._watch = os.pidfd_open(self._process.pid)
        return None

    def _drain(self, most: int) -> None:
        """Read the pipes, up to a number of bytes each."""
        for stream, kept in list(self._streams.items()):
            taken = 0
            while taken < most:
                try:
                    data = os.read(stream.fileno(), _READ)
                except BlockingIOError:
                    break
                if not data:
                    del self._streams[stream]
                    stream.close()
                    break
                taken += len(data)
                self._keep(kept, data)

    def _keep(self, kept: bytearray, data: bytes) -> None:
        limits = self.call.limits
        room = max(0, (limits.output + 1 if kept is self._output else limits.errors) - len(kept))
        kept += data[:room]
        if kept is self._errors:
            self._errors_dropped += len(data) - len(data[:room])

    def _kill(self, ended: HookEnd, now: float) -> None:
        self._ended = ended
        self._is_killed = True
        self._deadline = now + _LOST
        if self._process is not None:
            signal_group(self._process.pid, signal.SIGKILL)

    def _conclude(self, process: subprocess.Popen[bytes]) -> HookRun:
        """Kill its remaining processes, read the rest of its output, and return the result."""
        left = end_family(process.pid, self._mark, is_brief=monotonic() - self._started < _BRIEF)
        self._drain(self.call.limits.output + 1)
        for stream in self._streams:
            stream.close()
        self._streams.clear()
        if self._watch >= 0:
            os.close(self._watch)
            self._watch = -1
        code = process.poll()
        if self._ended is None and len(self._output) > self.call.limits.output:
            self._ended = HookEnd.FLOODED
        ended = self._ended or (HookEnd.EXITED if code is not None and code >= 0 else HookEnd.SIGNALED)
        run = HookRun(
            self.call,
            ended,
            status=code if ended is HookEnd.EXITED else None,
            signal_number=-code if code is not None and code < 0 else None,
            stdout=_text(self._output[: self.call.limits.output]),
            stderr=_text(self._errors),
            errors_dropped=self._errors_dropped,
            left_running=left,
            seconds=self._clock() - self._began,
        )
        self._run = replace(run, diagnostics=tuple(_diagnostics(run, is_lost=code is None)))
        return self._run


class HookRunner:
    """Calls hooks, and counts time by one clock."""

    def __init__(self, clock: Clock = monotonic) -> None:
        self._clock = clock

    def start(self, call: HookCall) -> RunningHook:
        """Start a call; failures to start are in the result, not raised."""
        return RunningHook(call, self._clock)

    def run(self, call: HookCall) -> HookRun:
        """Make a call and wait for its end."""
        return self.start(call).finish()


def wait(running: Iterable[RunningHook], seconds: float, also: Iterable[int] = ()) -> None:
    """Wait until one of some calls can be polled, or a file descriptor is readable, for some seconds."""
    with selectors.DefaultSelector() as selector:
        for number in also:
            selector.register(number, selectors.EVENT_READ)
        has_watch = True
        for hook in running:
            for number in hook.waits_for():
                selector.register(number, selectors.EVENT_READ)
            has_watch = has_watch and hook._watch >= 0  # noqa: SLF001 - of this module
        selector.select(max(0.0, seconds if has_watch else min(seconds, _TICK)))


def _input(text: str | None) -> IO[bytes]:
    """Return a file with the text, at its beginning, so that nothing has to be written piece by piece."""
    if text is None:
        return Path(os.devnull).open("rb")
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the caller
    file.write(text.encode("utf-8", "surrogateescape"))
    file.seek(0)
    return file


def _text(data: bytes | bytearray) -> str:
    return bytes(data).decode("utf-8", "surrogateescape")


def _has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Return whether the program has ended, without releasing its process number if possible."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _diagnostics(run: HookRun, *, is_lost: bool) -> list[Diagnostic]:
    call, limits = run.call, run.call.limits
    shown = f"{call.name} ({printable(call.path)})"
    found = []
    if run.ended is HookEnd.TIMED_OUT:
        message = f"{shown} was still running after {limits.seconds:g} s and was ended"
        found.append(Diagnostic("hook-timeout", message, help="HTCondor would wait for it endlessly"))
    elif run.ended is HookEnd.FLOODED:
        message = f"{shown} printed more than {limits.output} bytes and was ended"
        found.append(Diagnostic("hook-flood", message, help="print only the attributes of one ad"))
    elif run.ended is HookEnd.CANCELLED:
        found.append(Diagnostic("hook-cancelled", f"{shown} was ended before it was done", Severity.WARNING))
    elif run.ended is HookEnd.SIGNALED:
        message = f"{shown} was ended by {_signal_name(run.signal_number)}"
        found.append(Diagnostic("hook-signal", message))
    elif run.status:
        said = f": {printable(run.stderr.strip()[:_SAID])}" if run.stderr.strip() else ""
        found.append(Diagnostic("hook-status", f"{shown} exited with status {run.status}{said}"))
    if is_lost:
        found.append(Diagnostic("hook-lost", f"{shown} does not end, not even after SIGKILL"))
    if run.left_running:
        message = f"{shown} left {run.left_running} of its processes running; they were ended"
        found.append(Diagnostic("hook-left-running", message, Severity.WARNING, help="HTCondor ends them, too"))
    if run.ended is HookEnd.EXITED and len(run.stdout) > PIPE_BUFFER_MAX:
        message = f"{shown} printed more than HTCondor reads: {PIPE_BUFFER_MAX} bytes, then it closes the pipe"
        hint = "set PIPE_BUFFER_MAX for the daemon, or print less"
        found.append(Diagnostic("hook-output-long", message, Severity.WARNING, help=hint))
    return found


def _signal_name(number: int | None) -> str:
    if number is None:
        return "a signal"
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
