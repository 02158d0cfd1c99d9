"""What $(name) means for one job: loop variables, the file's definitions, and what HTCondor provides.

HTCondor: SubmitHash::submit_param, SubmitHash::setup_macro_defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import NamedTuple, Protocol

from crondor.macro import Around, Budget, MacroError, expand
from crondor.macro.items import Item, Layout
from crondor.source import Span
from crondor.submit.facts import JobDice, SubmitFacts
from crondor.submit.folders import job_folder
from crondor.submit.table import PREFIX, Definition, Table


class Varies(IntEnum):
    """How far a value differs between the jobs of one queue statement."""

    NOT = 0
    BY_ITEM = 1
    BY_JOB = 2


class JobNumbers(NamedTuple):
    """The numbers of one job: in its cluster, in its item, and of its item (all from 0)."""

    process: int = 0
    step: int = 0
    row: int = 0


class Live(NamedTuple):
    """The value of a loop variable for one item, and its place where it has one."""

    text: str
    span: Span | None


NOTHING = Live("", None)


class ItemRow:
    """The loop variables of one item; a column is cut out when it is asked for."""

    __slots__ = ("_part", "_places", "_shift", "_text", "_variables")

    def __init__(self, variables: Mapping[str, int], item: Item, layout: Layout) -> None:
        """Take an item; ``variables`` has the column of each variable, the last one of a name that comes twice."""
        self._variables = variables
        self._part = item.part
        self._text = item.text
        self._shift = item.start
        self._places = layout.columns(item.text, max(variables.values(), default=-1) + 1)

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


class Origin(NamedTuple):
    """A macro that a value was made of: its lower-case name, and the place of its text; None: HTCondor provides it.

    ``is_included`` says that the place is not in the submit file itself.
    """

    name: str
    span: Span | None
    is_included: bool = False

    def __str__(self) -> str:
        """Return words for a message: ``from $(hour), defined at line 3``."""
        if self.span is None:
            return f"from $({self.name}), which HTCondor provides"
        place = f" of {self.span.source.name}" if self.is_included else ""
        return f"from $({self.name}), defined at line {self.span.line}{place}"


class Scope:
    """The names that one job sees; ``varies`` is raised by each lookup that another job might answer otherwise.

    ``used`` gathers the macros that were looked up.
    """

    __slots__ = ("facts", "has_folder", "job", "live", "table", "used", "varies", "version")

    def __init__(
        self, table: Table, facts: SubmitFacts, version: int, job: JobNumbers, live: LiveValues | None = None
    ) -> None:
        """Look into ``table`` as it was at ``version``."""
        self.has_folder = True
        self.table = table
        self.facts = facts
        self.version = version
        self.job = job
        self.live = live
        self.varies = Varies.NOT
        self.used: dict[str, Origin] = {}

    def assigned(self, key: str) -> Live | Definition | None:
        """Return the loop variable or else the assignment of that name, one that begins with SUBMIT. first."""
        if self.table.has_prefixes:
            prefixed = self.table.at(PREFIX + key, self.version)
            if prefixed is not None:
                return prefixed
        value = self.live.get(key) if self.live is not None else None
        if value is not None:
            self._note(Varies.BY_ITEM)
            return value
        return self.table.at(key, self.version)

    def lookup(self, key: str) -> str | None:
        """Return the unexpanded text of a name; raises MacroError for one that only condor_submit can know."""
        value = self.assigned(key)
        if value is not None:
            if key not in self.used:
                self.used[key] = self.origin(key, value.span)
            return value.text
        text = self.provided(key)
        if text is not None:
            self.used.setdefault(key, Origin(key, None))
        return text

    def origin(self, key: str, span: Span | None) -> Origin:
        """Return where a name has its text from."""
        return Origin(key, span, span is not None and span.source is not self.table.source)

    def around(self, name: str, soft: Callable[[MacroError], None]) -> Around:
        """Return what the functions in the value of ``name`` may see; ``soft`` takes failures that are passed over."""
        facts = self.facts
        dice = None
        if facts.seed is not None:
            dice = JobDice(facts.seed, f"{self.job.process} {name}", self._drawn)
        return Around(facts.environ, dice, self.folder, None, facts.now, soft)

    def folder(self) -> str:
        """Return what $Ff() puts before a relative path: the folder of the job, nothing before there is any job."""
        return job_folder(self._command, self.facts.host.folder) if self.has_folder else ""

    def _command(self, *names: str) -> str | None:
        """Return the value of the first of some commands that is assigned; $Ff() in it has no folder."""
        for name in names:
            value = self.assigned(name)
            if value is not None:
                around = self.around(name, _ignore)._replace(folder="")
                return expand(value.text, self.lookup, Budget(), around) or None
        return None

    def provided(self, key: str) -> str | None:
        """Return what HTCondor itself gives a name, None if nothing; raises MacroError where crondor cannot know it."""
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
        return self.facts.builtin(key)

    def _drawn(self) -> None:
        self._note(Varies.BY_JOB)

    def _note(self, varies: Varies) -> None:
        self.varies = max(self.varies, varies)


def _ignore(_: MacroError) -> None:
    """Pass over a failure: whoever asks for the value itself says it."""
