"""What $(name) means for one job: loop variables, the file's definitions, and what HTCondor provides."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple, Protocol

from crondor.macro import MacroError
from crondor.source import Span
from crondor.submit.queue import Part, columns
from crondor.submit.table import Definition, Table

_FIXED = {
    "cluster": "1",  # as condor_submit -dry-run shows it: the schedd has not given a number yet
    "clusterid": "1",
    "taskid": "0",
    "node": "",
    "jobid": "$(ClusterId).$(ProcId)",
    "joblistid": "$(ClusterId)",
    "request_cpus": "$(RequestCPUs)",
    "request_memory": "$(RequestMemory)",
    "vm_memory": "$(Request_Memory)",
    "vm_vcpus": "$(Request_CPUs)",
}
_BY_MOMENT = frozenset(("year", "month", "day", "submit_time"))
_BY_MACHINE = frozenset(
    ("arch", "islinux", "iswindows", "opsys", "opsysandver", "opsysmajorver", "opsysver", "spool"),
)


class Varies(IntEnum):
    """How far a value differs between the jobs of one queue statement."""

    NOT = 0
    BY_ITEM = 1
    BY_JOB = 2


class Job(NamedTuple):
    """The numbers of one job: in its cluster, in its item, and of its item (all from 0)."""

    process: int = 0
    step: int = 0
    row: int = 0


class Live(NamedTuple):
    """The value of a loop variable for one item, and its place where it has one."""

    text: str
    span: Span | None


NOTHING = Live("", None)


class Row:
    """The loop variables of one item; a column is cut out when it is asked for."""

    __slots__ = ("_part", "_places", "_shift", "_text", "_variables")

    def __init__(self, variables: Mapping[str, int], part: Part, text: str, shift: int, width: int) -> None:
        """Take the item ``text``, which begins at ``shift`` in its part and has ``width`` columns.

        ``variables`` has the column of each variable.
        """
        self._variables = variables
        self._part = part
        self._text = text
        self._shift = shift
        self._places = columns(text, width)

    @property
    def is_blank(self) -> bool:
        """Whether the item gives no values."""
        return not self._places

    def get(self, name: str) -> Live | None:
        """Return the value of a loop variable, None for a name that is none."""
        column = self._variables.get(name)
        if column is None:
            return None
        if not self._places:
            return NOTHING
        start, end = self._places[column]
        return Live(self._text[start:end], self._part.span(self._shift + start, self._shift + end))


class LiveValues(Protocol):
    """Loop variables by their lower-case names."""

    def get(self, name: str, /) -> Live | None:
        """Return the value of a loop variable, None for a name that is none."""


class Scope:
    """The names that one job sees; ``varies`` is raised by each lookup that another job might answer otherwise."""

    __slots__ = ("job", "live", "table", "varies", "version")

    def __init__(self, table: Table, version: int, job: Job, live: LiveValues | None = None) -> None:
        """Look into ``table`` as it was at ``version``."""
        self.table = table
        self.version = version
        self.job = job
        self.live = live
        self.varies = Varies.NOT

    def assigned(self, key: str) -> Live | Definition | None:
        """Return the loop variable or else the assignment of that name."""
        value = self.live.get(key) if self.live is not None else None
        if value is not None:
            self._note(Varies.BY_ITEM)
            return value
        return self.table.at(key, self.version)

    def lookup(self, key: str) -> str | None:
        """Return the unexpanded text of a name; raises MacroError for one that only condor_submit can know."""
        value = self.assigned(key)
        if value is not None:
            return value.text
        if key in {"process", "procid"}:
            self._note(Varies.BY_JOB)
            return str(self.job.process)
        if key == "step":
            self._note(Varies.BY_JOB)
            return str(self.job.step)
        if key in {"row", "itemindex"}:
            self._note(Varies.BY_ITEM)
            return str(self.job.row)
        if key == "submit_file":
            return self.table.source.name
        if key in _BY_MOMENT or key in _BY_MACHINE:
            known = "moment" if key in _BY_MOMENT else "machine"
            message = f"$({key}) depends on the {known} of submission, which crondor does not know"
            raise MacroError("unknown-macro", message, "write the value out")
        return _FIXED.get(key)

    def _note(self, varies: Varies) -> None:
        self.varies = max(self.varies, varies)
