"""One runner for all hooks: a program is called with text on standard input, and what it may do is bounded.

No shell is in between. The program's processes are a group of their own, and none of them outlives the call. A call
does not wait: ``start`` returns at once, ``poll`` says whether it is over, ``finish`` and ``run`` wait for that.

HTCondor: HookClientMgr::spawn.
"""

from __future__ import annotations

import errno
import os
import secrets
import selectors
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from time import monotonic
from typing import IO, Final, TypeAlias

from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable
from crondor.hooks.family import MARK, end_family, signal_group
from crondor.hooks.paths import check_path
from crondor.hooks.place import placed

Clock: TypeAlias = Callable[[], float]
"""Returns seconds that never go back."""

PIPE_BUFFER_MAX: Final = 10_240
"""Bytes of a hook's output that HTCondor 25.14 takes; then it closes the pipe (the knob of this name)."""

_READ: Final = 1 << 16
_AT_ONCE: Final = 1 << 20  # bytes taken in one poll: then others have their turn
_TICK: Final = 0.02  # seconds between two looks, where nothing says that a process has ended
_LOST: Final = 5.0  # seconds to wait for a process that has been killed
_BRIEF: Final = 1.0  # seconds in which no machine starts so many processes that their numbers begin anew
_SAID: Final = 2000  # characters of standard error in a message


@dataclass(frozen=True)
class HookLimits:
    """What a call may take.

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
    """A program and what it gets.

    ``stdin`` None: standard input is empty. ``environ`` is the whole environment (but for the mark of the runner).
    ``folder`` is the working directory, None: the caller's. ``user``: as whom it runs, where the caller may give rights
    away: with his rights, groups and environment, of ``environ`` with what is the machine's alone, and in his home
    unless ``folder`` names another place. ``name`` is what messages call it.
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
    """A call that is over.

    ``status`` is the exit status, None unless it EXITED; ``signal_number`` what ended it otherwise, if it was a
    signal. Texts keep bytes that are no UTF-8 as surrogate escapes. ``errors_dropped`` are bytes of standard error
    beyond the limit, ``left_running`` processes that it left behind and that were ended. ``seconds`` it took.
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
        """Whether the program ended by itself with status 0; a signal is a failure, which HTCondor takes for 0."""
        return self.ended is HookEnd.EXITED and self.status == 0

    @property
    def reason(self) -> str:
        """How it ended, in words."""
        if self.ended is HookEnd.EXITED:
            return f"exited with status {self.status}"
        return self.diagnostics[0].message if self.diagnostics else self.ended.value


class RunningHook:
    """A call that is under way, or over."""

    def __init__(self, call: HookCall, clock: Clock) -> None:
        """Start the program; one that cannot be started is over at once."""
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
        """How it went, as far as ``poll`` has seen: None where it has not seen the end."""
        return self._run

    def poll(self) -> HookRun | None:
        """Take what there is, end what has taken too long, and return the result if it is over."""
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
        """Take what has been printed so far: the limit of output then counts from here on."""
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
        """Return the file descriptors on which something comes when there is something to do."""
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
            hint = "see that its first line names an interpreter that is there, as #!/bin/sh"
            if isinstance(error, OSError) and error.errno == errno.E2BIG:
                hint = "shorten its arguments and its environment: Linux takes 128 KiB of each text, and 2 MiB together"
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
        """Take what is in the pipes, up to a number of bytes each."""
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
        """End what is left of it, take the last of its output, and say how it went."""
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
        """Take the clock that time limits go by."""
        self._clock = clock

    def start(self, call: HookCall) -> RunningHook:
        """Start a call; nothing is raised for a program that cannot be called, the result says so."""
        return RunningHook(call, self._clock)

    def run(self, call: HookCall) -> HookRun:
        """Make a call and wait for its end."""
        return self.start(call).finish()


def wait(running: Iterable[RunningHook], seconds: float, also: Iterable[int] = ()) -> None:
    """Wait until one of some calls has something to poll, or a file descriptor something to read, for some seconds."""
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
    """Return a file with the text, at its beginning; nobody has to be there to write it piece by piece."""
    if text is None:
        return Path(os.devnull).open("rb")
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the caller
    file.write(text.encode("utf-8", "surrogateescape"))
    file.seek(0)
    return file


def _text(data: bytes | bytearray) -> str:
    return bytes(data).decode("utf-8", "surrogateescape")


def _has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Say whether the program has ended, without taking its process number from it where that can be avoided."""
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
        found.append(Diagnostic("hook-timeout", message, help="HTCondor would wait for it without end"))
    elif run.ended is HookEnd.FLOODED:
        message = f"{shown} printed more than {limits.output} bytes and was ended"
        found.append(Diagnostic("hook-flood", message, help="print the attributes of one ad, and nothing else"))
    elif run.ended is HookEnd.CANCELLED:
        found.append(Diagnostic("hook-cancelled", f"{shown} was ended before it was done", Severity.WARNING))
    elif run.ended is HookEnd.SIGNALED:
        message = f"{shown} was ended by {_signal_name(run.signal_number)}"
        found.append(Diagnostic("hook-signal", message))
    elif run.status:
        said = f": {printable(run.stderr.strip()[:_SAID])}" if run.stderr.strip() else ""
        found.append(Diagnostic("hook-status", f"{shown} exited with status {run.status}{said}"))
    if is_lost:
        found.append(Diagnostic("hook-lost", f"{shown} does not end, not even by SIGKILL"))
    if run.left_running:
        message = f"{shown} left {run.left_running} of its processes running; they were ended"
        found.append(Diagnostic("hook-left-running", message, Severity.WARNING, help="HTCondor ends them, too"))
    if run.ended is HookEnd.EXITED and len(run.stdout) > PIPE_BUFFER_MAX:
        message = f"{shown} printed more than HTCondor takes: {PIPE_BUFFER_MAX} bytes, then it closes the pipe"
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
