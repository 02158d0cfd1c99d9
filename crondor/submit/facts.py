"""The facts a submit description may use besides its own text, its definitions, universes, folders and errors."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Final, NamedTuple

from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span
from crondor.macro import MacroError
from crondor.macro.functions import leading_int


class SubmitHost(NamedTuple):
    """What condor_submit knows about its machine; None: unknown, and a fault if it is needed.

    The defaults are those of condor_submit 25.14 on Linux without a configuration of its own; ``_replace`` changes any
    of them. ``schedd_interval`` is in seconds; ``version`` is compared by ``if version``; ``folder`` is where
    condor_submit is started, the base of relative file names, empty if unknown.
    """

    version: str = "25.14.0"
    arch: str | None = "X86_64"
    opsys: str | None = "LINUX"
    opsysandver: str | None = None
    opsysmajorver: str | None = None
    opsysver: str | None = None
    spool: str | None = "/var/lib/condor/spool"
    islinux: bool = True
    iswindows: bool = False
    uid_domain: str = "example.org"
    filesystem_domain: str = "example.org"
    user: str = "alice"
    schedd_interval: int = 300
    folder: str = ""

    def macro(self, key: str) -> str | None:
        """Return the text of a lower-case built-in macro of the machine, None if unknown."""
        if key in {"islinux", "iswindows"}:
            return "1" if getattr(self, key) else "0"
        value: str | None = getattr(self, key)
        return value

    @property
    def version_numbers(self) -> tuple[int, int, int]:
        """Major, minor and sub-minor number."""
        major, minor, sub = (int(number) for number in self.version.split("."))
        return major, minor, sub


_BY_MOMENT = frozenset(("year", "month", "day", "submit_time"))
_BY_MACHINE = frozenset(("arch", "islinux", "iswindows", "opsys", "opsysandver", "opsysmajorver", "opsysver", "spool"))
_FIXED = {
    "taskid": "0",
    "jobid": "$(ClusterId).$(ProcId)",
    "joblistid": "$(ClusterId)",
    "request_cpus": "$(RequestCPUs)",
    "request_memory": "$(RequestMemory)",
    "vm_memory": "$(Request_Memory)",
    "vm_vcpus": "$(Request_CPUs)",
}


_CLUSTER = frozenset(("cluster", "clusterid"))


class SubmitFacts(NamedTuple):
    """The surroundings of one reading.

    ``now`` is in epoch seconds, ``zone`` the zone of $(YEAR), $(MONTH) and $(DAY). None in ``environ``, ``now``,
    ``zone`` or ``seed``: unknown, and a fault if a value needs it. ``cluster`` is the jobs' ClusterId, 1 before the
    schedd has assigned one, as with condor_submit -dry-run; ``node`` is the text of $(Node).
    """

    host: SubmitHost
    environ: Mapping[str, str] | None = None
    now: int | None = None
    zone: tzinfo | None = None
    seed: int | None = None
    cluster: int = 1
    node: str = ""

    def builtin(self, key: str) -> str | None:
        """Return the text of a built-in macro that does not depend on the job; raises MacroError if not known."""
        if key in _CLUSTER:
            return str(self.cluster)
        if key == "node":
            return self.node
        value = _FIXED.get(key)
        if value is None and key in _BY_MACHINE:
            value = self.host.macro(key)
            if value is None:
                raise _unknown(key, "machine")
        if value is None and key in _BY_MOMENT:
            value = self._moment(key)
        return value

    def _moment(self, key: str) -> str:
        if self.now is None:
            raise _unknown(key, "moment")
        if key == "submit_time":
            return str(self.now)
        if self.zone is None:
            raise _unknown(key, "moment")
        try:
            when = datetime.fromtimestamp(self.now, self.zone)
        except (OverflowError, OSError, ValueError):
            raise _unknown(key, "moment") from None
        return {"year": f"{when.year:04}", "month": f"{when.month:02}", "day": f"{when.day:02}"}[key]


def _unknown(key: str, what: str) -> MacroError:
    message = f"$({key}) depends on the {what} of submission, which crondor does not know"
    return MacroError("unknown-macro", message, "write the value out")


class Variable(NamedTuple):
    """A value that a DAG's VARS gives the jobs: the lower-case key (``my.x`` for ``+X``), the places of value and name.

    ``is_last``: it is set after the lines of the file (APPEND), otherwise before.
    """

    key: str
    text: str
    value: Span
    name: Span
    is_last: bool


_MOST = 100  # more faults mean that it is not a submit description


class InvalidSubmit(CrondorError, ValueError):
    """A submit description with a fault, or with a value that cannot be known."""


class SubmitFindings:
    """Errors and warnings in the order found; ``unknown`` are the warnings about something that was not read."""

    def __init__(self) -> None:
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []
        self.unknown: list[Diagnostic] = []

    def error(self, code: str, message: str, span: Span, help: str | None = None, fix: str | None = None) -> None:
        """Add a fault. Raises InvalidSubmit when there are too many to continue."""
        self.errors.append(Diagnostic(code, message, span=span, help=help, fix=fix))
        if len(self.errors) >= _MOST:
            last = Diagnostic("too-many-errors", f"reading stops after {_MOST} errors", span=span)
            raise InvalidSubmit([*self.errors, last])

    def warn(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        """Add a warning, up to a hundred."""
        if len(self.warnings) < _MOST:
            self.warnings.append(Diagnostic(code, message, Severity.WARNING, span, help))

    def hide(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        """Add a warning for something that HTCondor would read or run, and crondor does not, up to a hundred."""
        if len(self.unknown) < _MOST:
            self.unknown.append(Diagnostic(code, message, Severity.WARNING, span, help))

    def stop(self) -> None:
        """End the reading. Raises InvalidSubmit with all errors found."""
        self.check()

    def check(self) -> None:
        """Raise InvalidSubmit with all errors found, if there are any."""
        if self.errors:
            raise InvalidSubmit(self.errors)


class Definition(NamedTuple):
    """One assignment: the unexpanded text of the value, and the place it is written at."""

    version: int
    text: str
    span: Span


class Lost(NamedTuple):
    """A value that is replaced in the same file before a job or a line has used it."""

    key: str
    earlier: Definition
    later: Definition


class Table:
    """All assignments of a file; ``version`` counts them, so a version is a moment between two lines.

    A queue statement keeps its version, not a copy, so that a million queue statements are cheap.
    """

    def __init__(self, source: Source) -> None:
        """Start empty; ``source`` is the submit file itself, not an included one."""
        self.source = source
        self.version = 0
        self.has_prefixes = False
        self.lost: list[Lost] = []
        self._history: dict[str, list[Definition]] = {}
        self._names: dict[str, Span] = {}
        self._assigned: list[str] = []
        self._kept = 0

    def define(self, key: str, text: str, place: Span, name: Span | None = None) -> None:
        """Assign ``text`` to a lower-case key; ``place`` is the place of the value, ``name`` that of the key."""
        self.version += 1
        self._assigned.append(key)
        definition = Definition(self.version, text, place)
        history = self._history.setdefault(key, [])
        if history and history[-1].version > self._kept:
            history[-1] = definition
        else:
            history.append(definition)
        if name is not None:
            self._names.setdefault(key, name)
        self.has_prefixes = self.has_prefixes or key.startswith(PREFIX)

    def unseen(self, key: str) -> Definition | None:
        """Return the value of a key if no queue statement has kept it, so that a definition would replace it."""
        history = self._history.get(key)
        return history[-1] if history and history[-1].version > self._kept else None

    def definitions(self) -> Iterator[tuple[str, Definition]]:
        """Yield every definition that a queue statement kept, and the last of each key, by lower-case key."""
        for key, history in self._history.items():
            for definition in history:
                yield key, definition

    def assigned(self, after: int, until: int) -> frozenset[str]:
        """Return the keys that were assigned after a version, until another."""
        return frozenset(self._assigned[after:until])

    def keep(self) -> int:
        """Return the present version, and keep its values."""
        self._kept = self.version
        return self.version

    def at(self, key: str, version: int) -> Definition | None:
        """Return the value of a key at a version that was kept, or at the end of the file."""
        history = self._history.get(key)
        if not history:
            return None
        if history[-1].version <= version:
            return history[-1]
        index = bisect_right(history, version, key=_version_of)
        return history[index - 1] if index else None

    def name(self, key: str) -> Span | None:
        """Return where a key was first written, None if never."""
        return self._names.get(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)


PREFIX = "submit."
"""Prefixes of a name that are looked up first: SUBMIT is condor_submit's own name in configurations."""


def _version_of(definition: Definition) -> int:
    return definition.version


_COMMANDS: Final = (("initialdir", "iwd"), ("initial_dir", "job_iwd"))
_SLASHES: Final = re.compile(r"([/\\])[/\\]+")

FOLDER_NAMES: Final = tuple(name for names in _COMMANDS for name in names)


# It is not checked whether files and folders exist.
def job_folder(command: Callable[..., str | None], start: str) -> str:
    """Return the absolute path of a job's folder, empty if it is relative to an unknown folder.

    ``command`` returns the value of the first of some names that is assigned, None if it is empty or none is; ``start``
    is the folder in which condor_submit is started, empty if unknown.
    """
    text = next((text for names in _COMMANDS if (text := command(*names))), start)
    if not text.startswith("/"):
        text = f"{start.rstrip('/')}/{text}" if start else ""
    return _SLASHES.sub(r"\1", text)


def full_path(path: str, folder: str) -> str:
    """Return an absolute path; a relative one is unchanged if the folder is unknown."""
    whole = path if path.startswith("/") or not folder else f"/{folder}/{path}"
    return _SLASHES.sub(r"\1", whole)


PARALLEL: Final = 11
MPI: Final = 8
UNIVERSE_NAMES: Final = (
    *("NULL", "Standard", "Pipe", "Linda", "PVM", "Vanilla", "PVMD", "Scheduler"),
    *("MPI", "Grid", "Java", "Parallel", "Local", "VM"),
)
COMMANDS: Final = ("universe", "jobuniverse")
_NUMBERS: Final = {name.lower(): number for number, name in enumerate(UNIVERSE_NAMES) if number}
_NODES: Final = {PARALLEL: "#pArAlLeLnOdE#", MPI: "#MpInOdE#"}


# HTCondor: CondorUniverseNumber.
def universe_number(text: str) -> int:
    """Return the number of a universe, given by number or by name; 0 for none (CondorUniverseNumberEx)."""
    return leading_int(text) or _NUMBERS.get(text.lower(), 0)


def node_of(universe: str) -> str:
    """Return the text of $(Node) in the jobs of a universe: the mark that the shadow replaces, or nothing."""
    return _NODES.get(universe_number(universe), "")
