"""A submit description that was read without a fault, its names, and which of them are unused."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from crondor.diagnostics import Diagnostic, Source, Span
from crondor.macro import Budget, MacroError
from crondor.macro.files import Files
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

LIMIT = 100_000


@dataclass(frozen=True, repr=False)
class SubmitFile:
    """The jobs of a submit description; ``warnings`` are likely surprises for its author.

    ``sources`` are the submit file, and the files it includes or reads rows from. ``unknown`` are the warnings about
    something hidden: a command that would be run, a file that may not be read. If there are any, HTCondor may make
    other jobs, or more. ``behind_queue`` is the first line after the first queue statement, if there is any.
    ``looked_up`` are the lower-case names used by lines of the file: in conditions, lists and the like. ``files`` are
    those it may name, None if none may be opened.
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
        """The number of jobs of all queue statements."""
        return sum(queue.jobs for queue in self.queues)

    @property
    def keys(self) -> tuple[str, ...]:
        """The lower-case names that the file assigns, ``+X`` and ``MY.X`` as ``my.x``, in order of appearance."""
        return tuple(self._table)

    def name(self, key: str) -> Span | None:
        """Return where a lower-case name is first assigned, None if it is not. Its ``text`` is the spelling to show."""
        return self._table.name(key)

    @property
    def definitions(self) -> Iterator[tuple[str, Definition]]:
        """Every value that jobs may have, by lower-case name, unexpanded and with its place."""
        return self._table.definitions()

    @property
    def lost(self) -> tuple[Lost, ...]:
        """The values that the file replaces before a job or a line uses them, outside of any if."""
        return tuple(self._table.lost)

    def provides(self, name: str) -> bool:
        """Return whether HTCondor provides a macro of that lower-case name."""
        scope = Scope(self._table, self._facts, 0, JobNumbers())
        try:
            return scope.provided(name) is not None
        except MacroError:
            return True  # its value depends on the time or place of submission

    @property
    def host(self) -> SubmitHost:
        """The facts of the machine it was read for."""
        return self._facts.host

    @property
    def now(self) -> int | None:
        """The time of submission in epoch seconds, None if unknown."""
        return self._facts.now

    @property
    def environ(self) -> Mapping[str, str] | None:
        """The submitter's environment variables, None if unknown."""
        return self._facts.environ

    def in_cluster(self, cluster: int, default_universe: str = "") -> SubmitFile:
        """Return the file as its jobs see it in a cluster, for $(ClusterId) and $(Node) in their values.

        The first job decides the universe of all: ``default_universe`` if the file does not set it.
        """
        first = next((queue for queue in self.queues if queue.jobs), None)
        node = "" if first is None else node_of_jobs(first, self._table, self._facts, default_universe)
        return replace(self, _facts=self._facts._replace(cluster=cluster, node=node))

    def groups(
        self, names: Iterable[str], limit: int = LIMIT, *, in_order: bool = False, budget: Budget | None = None
    ) -> Iterator[JobGroup]:
        """Yield the jobs; those of a queue statement that agree in all ``names`` (lower case) are one group.

        ``limit`` is how many jobs may be compared one by one if values depend on the job or the item; jobs that do not
        differ cost nothing. ``in_order``: only neighbours are one group; ``budget`` limits expansion, shared by several
        requests. A file without a queue statement yields one job, as in HTCondor 25.14. Raises InvalidSubmit, with the
        faults of all queue statements, if a value cannot be expanded, and if the limit is exceeded.
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
    """The values of one queue statement that are the same for the next: without macros, and not reassigned since."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._values: Values = {}
        self._moving: frozenset[str] | None = None
        self._version = -1

    def moved(self, names: tuple[str, ...], queue: QueuedItems) -> tuple[str, ...]:
        """Return the names whose values may differ from those of the statement before."""
        if self._moving is None or queue.arguments.items is not None or self._table.has_prefixes:
            return names
        changed = self._moving | self._table.assigned(self._version, queue.version)
        return tuple(name for name in names if name in changed)

    def joined(self, names: tuple[str, ...], fresh: Values, moved: tuple[str, ...], queue: QueuedItems) -> Values:
        """Return all values of a statement in the order of ``names``; the changed ones are ``fresh``."""
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
_ROUNDS = 4  # attributes that name attributes; after this many all are included, since long chains are slow


def groups_with_attributes(
    file: SubmitFile, names: Iterable[str], limit: int = LIMIT, cut: list[Diagnostic] | None = None
) -> list[JobGroup]:
    """Return the groups of a file for some names, for the attributes (``+X``) that their values name, and so on.

    Evaluating the values then finds all references. ``limit`` is that of SubmitFile.groups(); with a list ``cut``, only
    the jobs up to it are in the groups, and ``cut`` records that. Raises InvalidSubmit.
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
    """Yield groups up to the limit of jobs, and record in ``cut`` if it was exceeded."""
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
"""Names that condor_submit never reports as unused."""

_OF_LISTS: Final = (
    *("submitallowduplicatematches", "submit_allow_duplicate_matches", "submitmatchdirectories"),
    *("submit_match_directories", "submit_warn_empty_matches", "submit_fail_empty_matches"),
    *("submit_warn_duplicate_matches", "submit_warn_empty_fields", "submit_fail_empty_fields"),
)
_OF_AUTHENTICATION: Final = ("rendezvousdir", "rendezvous_dir", "rendezvousdirectory", "rendezvous_directory")
_INTERACTIVE: Final = ("interactive_args", "interactive_executable")
_ELSEWHERE: Final = frozenset((*_OF_AUTHENTICATION, *_INTERACTIVE))
"""Names that condor_submit looks up outside of making jobs; a dry run skips some of a real submission."""


class UnusedName(NamedTuple):
    """A name that was assigned in vain, as written; ``span`` is its place, None for a loop variable.

    ``is_variable``: condor_submit reports a queue variable, not a line.
    """

    key: str
    name: str
    span: Span | None
    is_variable: bool


def unused_names(file: SubmitFile, used: Collection[str]) -> Iterator[UnusedName]:
    """Yield what condor_submit reports as unused; ``used`` is filled by job_ads().

    It skips attributes and other names with a dot, and reports nothing if no job was made.
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
