"""A submit description that was read without a fault, its names, and which of them are unused."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from crondor.diagnostics import Diagnostic, Source, Span
from crondor.macro import Budget, MacroError
from crondor.submit.facts import Definition, InvalidSubmit, Lost, SubmitFacts, SubmitHost, Table
from crondor.submit.jobs import (
    JobGroup,
    JobLimits,
    JobNumbers,
    QueuedItems,
    Scope,
    Values,
    evaluate,
    groups,
    node_of_jobs,
)

if TYPE_CHECKING:
    from crondor.macro.files import Files

LIMIT = 100_000


@dataclass(frozen=True, repr=False)
class SubmitFile:
    """The jobs that a submit description asks for; ``warnings`` is what will surprise its author.

    ``sources`` are the submit file, and what it includes or takes rows from. ``unknown`` is the part of the warnings
    that hides something: a command that would be run, a file that may not be read. Where it is not empty, HTCondor
    may make other jobs, or more. ``behind_queue`` is the first line after the first queue statement, if there is any.
    ``looked_up`` are the lower-case names that lines of the file have asked for: in conditions, lists and the like.
    ``files`` are those it may name, None where none may be looked at.
    """

    sources: tuple[Source, ...]
    queues: tuple[QueuedItems, ...]
    warnings: tuple[Diagnostic, ...]
    unknown: tuple[Diagnostic, ...]
    _table: Table = field(compare=False)
    _facts: SubmitFacts
    behind_queue: Span | None = field(compare=False)
    looked_up: frozenset[str]
    files: Files | None = field(compare=False)

    def __repr__(self) -> str:
        return f"<SubmitFile {self.source.name!r}, {self.job_count} jobs>"

    def __hash__(self) -> int:
        return hash(self.sources)

    @property
    def source(self) -> Source:
        """The submit file itself."""
        return self.sources[0]

    @property
    def job_count(self) -> int:
        """How many jobs all queue statements make."""
        return sum(queue.jobs for queue in self.queues)

    @property
    def keys(self) -> tuple[str, ...]:
        """The lower-case names that the file assigns, ``+X`` and ``MY.X`` as ``my.x``, in order of appearance."""
        return tuple(self._table)

    def name(self, key: str) -> Span | None:
        """Return where a lower-case name is first written, None if the file does not assign it.

        Its ``text`` is the spelling to show.
        """
        return self._table.name(key)

    @property
    def definitions(self) -> Iterator[tuple[str, Definition]]:
        """Every value that jobs may have, by lower-case name, unexpanded and with its place."""
        return self._table.definitions()

    @property
    def lost(self) -> tuple[Lost, ...]:
        """The values that the file replaces before a job has them or a line looks at them, outside of any if."""
        return tuple(self._table.lost)

    def provides(self, name: str) -> bool:
        """Return whether HTCondor gives a macro of that lower-case name a value of its own accord."""
        scope = Scope(self._table, self._facts, 0, JobNumbers())
        try:
            return scope.provided(name) is not None
        except MacroError:
            return True  # what it is, only the moment or place of submission says

    @property
    def host(self) -> SubmitHost:
        """The facts of the machine it was read for."""
        return self._facts.host

    @property
    def now(self) -> int | None:
        """The moment of submission in epoch seconds, None where it is not known."""
        return self._facts.now

    @property
    def environ(self) -> Mapping[str, str] | None:
        """The submitter's environment variables, None where they are not known."""
        return self._facts.environ

    def in_cluster(self, cluster: int, default_universe: str = "") -> SubmitFile:
        """Return the file as its jobs see it in a cluster, for $(ClusterId) and $(Node) in their values.

        The first job decides the universe of all of them: it is ``default_universe`` where the file does not say it.
        """
        first = next((queue for queue in self.queues if queue.jobs), None)
        node = "" if first is None else node_of_jobs(first, self._table, self._facts, default_universe)
        return replace(self, _facts=self._facts._replace(cluster=cluster, node=node))

    def groups(
        self, names: Iterable[str], limit: int = LIMIT, *, in_order: bool = False, budget: Budget | None = None
    ) -> Iterator[JobGroup]:
        """Yield the jobs, those of a queue statement that agree in all of ``names`` (lower case) as one group.

        ``limit`` is how many jobs may be looked at one by one where values depend on the job or the item; jobs that
        do not differ cost nothing, however many they are. ``in_order``: only neighbours are one group; ``budget`` is
        what expansion may cost, shared by several requests. A file without
        a queue statement yields one job, as HTCondor 25.14 makes it. Raises InvalidSubmit, with the faults of all queue
        statements, where a value needs something that cannot be expanded, and when the limit is passed.
        """
        wanted = tuple(dict.fromkeys(names))
        limits = JobLimits(limit, budget)
        firsts = self._first_jobs(wanted, limits)
        for queue, first in firsts:
            yield from groups(queue, self._table, self._facts, first, limits, in_order=in_order)

    def _first_jobs(self, names: tuple[str, ...], limits: JobLimits) -> list[tuple[QueuedItems, Values]]:
        """Evaluate one job of each queue statement that has any, so that all faults are known at once."""
        firsts: list[tuple[QueuedItems, Values]] = []
        faults: dict[Diagnostic, None] = {}
        version, same = -1, Values()
        standing = _Standing(self._table)
        for queue in self.queues:
            item = next(queue.items(), None)
            if item is None:
                continue
            if (
                queue.arguments.items is None
                and queue.version == version
                and not any(value.varies for value in same.values())
            ):
                firsts.append((queue, same))
                continue
            limits.take(queue.span)
            scope = Scope(self._table, self._facts, queue.version, JobNumbers(queue.start, 0, item[0]), item[1])
            moved = standing.moved(names, queue)
            fresh, found = evaluate(scope, moved, queue.span, limits.budget)
            same = standing.joined(names, fresh, moved, queue)
            version = queue.version if queue.arguments.items is None else -1
            faults.update(dict.fromkeys(found))
            firsts.append((queue, same))
        if faults:
            raise InvalidSubmit(faults)
        return firsts


class _Standing:
    """The values of one queue statement that hold for the next one: without macros, and not assigned anew since."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._values: Values = {}
        self._moving: frozenset[str] | None = None
        self._version = -1

    def moved(self, names: tuple[str, ...], queue: QueuedItems) -> tuple[str, ...]:
        """Return the names whose values may be others than those of the statement before."""
        if self._moving is None or queue.arguments.items is not None or self._table.has_prefixes:
            return names
        changed = self._moving | self._table.assigned(self._version, queue.version)
        return tuple(name for name in names if name in changed)

    def joined(self, names: tuple[str, ...], fresh: Values, moved: tuple[str, ...], queue: QueuedItems) -> Values:
        """Return all values of a statement, those that have moved being ``fresh``, in the order of ``names``."""
        found = fresh
        if len(moved) < len(names):
            known = {**self._values, **dict.fromkeys(moved), **fresh}
            found = {name: value for name in names if (value := known.get(name)) is not None}
        self._values, self._version = found, queue.version
        self._moving = None
        if queue.arguments.items is None:
            texts = {name: definition.text for name in moved if (definition := self._table.at(name, queue.version))}
            self._moving = frozenset(name for name in moved if name == "item" or "$" in texts.get(name, ""))
        return found


_WORD = r"[a-z_][a-z0-9_]*"
_ROUNDS = 4  # attributes that name attributes; after so many all are taken, or a long chain takes long


def groups_with_attributes(
    file: SubmitFile, names: Iterable[str], limit: int = LIMIT, cut: list[Diagnostic] | None = None
) -> list[JobGroup]:
    """Return the groups of a file for some names, for the attributes (``+X``) that their values name, and so on.

    Whoever evaluates the values then finds all they refer to. ``limit`` is that of SubmitFile.groups(); with a list
    ``cut`` to say so in, only the jobs up to it are in the groups. Raises InvalidSubmit.
    """
    wanted = tuple(names)
    own = {key.removeprefix("my."): key for key in file.keys if key.startswith("my.") and key not in wanted}
    rounds = 0
    while True:
        groups = list(_until(file.groups(wanted, limit), cut))
        if not own:
            return groups
        texts = {text for group in groups for text in group.values.values()}
        words = {word for text in texts for word in re.findall(_WORD, text.lower())}
        more = tuple(own.pop(word) for word in sorted(words & own.keys()))
        if not more:
            return groups
        rounds += 1
        wanted += more
        if rounds == _ROUNDS:
            wanted += tuple(own.values())
            own = {}


def _until(groups: Iterator[JobGroup], cut: list[Diagnostic] | None) -> Iterator[JobGroup]:
    """Yield groups up to the limit of jobs, and note in ``cut`` that it was passed."""
    try:
        yield from groups
    except InvalidSubmit as error:
        if cut is None or any(fault.kind != "too-many-variants" for fault in error.diagnostics):
            raise
        cut[:] = error.diagnostics


_SILENT: Final = frozenset(
    (
        *("dag_status", "failed_count", "job", "retry", "process", "cluster"),
        *("submitwarnemptymatches", "submitfailemptymatches", "submitwarnduplicatematches"),
        *("submitwarnemptyfields", "submitfailemptyfields"),
    )
)
"""Names of which condor_submit never says that they were unused."""

_OF_LISTS: Final = (
    *("submitallowduplicatematches", "submit_allow_duplicate_matches", "submitmatchdirectories"),
    *("submit_match_directories", "submit_warn_empty_matches", "submit_fail_empty_matches"),
    *("submit_warn_duplicate_matches", "submit_warn_empty_fields", "submit_fail_empty_fields"),
)
_OF_AUTHENTICATION: Final = ("rendezvousdir", "rendezvous_dir", "rendezvousdirectory", "rendezvous_directory")
_INTERACTIVE: Final = ("interactive_args", "interactive_executable")
_ELSEWHERE: Final = frozenset((*_OF_AUTHENTICATION, *_INTERACTIVE))
"""What condor_submit looks up outside of making jobs; a dry run does not look at what a real submission does."""


class UnusedName(NamedTuple):
    """A name that was assigned in vain, as it is written; ``span`` is where, None for a loop variable.

    ``is_variable``: condor_submit speaks of a queue variable, and not of a line.
    """

    key: str
    name: str
    span: Span | None
    is_variable: bool


def unused_names(file: SubmitFile, used: Collection[str]) -> Iterator[UnusedName]:
    """Yield what condor_submit says was unused; ``used`` is what job_ads() gathered.

    It passes over attributes and whatever else has a dot in its name, and says nothing where no job was made.
    """
    if not file.job_count:
        return
    has_lists = any(queue.arguments.items is not None for queue in file.queues)
    taken = {*used, *file.looked_up, *_SILENT, *_ELSEWHERE, *(_OF_LISTS if has_lists else ())}
    for key in file.keys:
        if key not in taken and "." not in key:
            span = file.name(key)
            yield UnusedName(key, span.text if span else key, span, is_variable=False)
    assigned = set(file.keys)
    for variable in dict.fromkeys(name for queue in file.queues for name in queue.arguments.variables):
        if variable not in taken and variable not in assigned and "." not in variable:
            yield UnusedName(variable, variable, None, is_variable=True)
