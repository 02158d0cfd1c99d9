"""Every value that the jobs of a description have, once: what rules about values share, gathered in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from crondor.knowledge import CommandType, submit_commands
from crondor.source import Span
from crondor.submit import InvalidSubmit, JobGroup, SubmitFile

_MOST_VALUES = 100_000  # looked at, of all jobs that differ; nobody makes a mistake in the fiftieth alone
_FEWEST_JOBS = 5
_MOST_JOBS = 50


MATCHING: Final = frozenset(("requirements", "my.requirements", "rank", "my.rank", "preferences"))
"""Those that see the machine's ad beside the job's."""

_CONDITIONS: Final = frozenset(("requirements", "my.requirements"))
OF_GPUS: Final = ("require_gpus", "requiregpus", "my.requiregpus")
"""Asked of the ad of each GPU, which has its properties and nothing else."""

AMOUNTS: Final = {
    "request_memory": 1024 * 1024,
    "requestmemory": 1024 * 1024,
    "request_disk": 1024,
    "requestdisk": 1024,
}
"""The commands whose numbers may have a unit, K, M, G or T: the bytes of what a number without one counts."""

_PLAIN: Final = re.compile(r'[-+]?\d+(\.\d+)?|(?i:true|false|undefined)|"[^"\\]*"')
AMOUNT: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)[ \t]*(?P<unit>[kmgt]b?)?", re.IGNORECASE)
_UNITS: Final = {"": 0, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_DIGITS: Final = 15
_HOLE: Final = re.compile(r"\{\w*\}")  # {name}, for Python's str.format to fill; a list of one name to ClassAds
MOST: Final = 2000  # expressions of one description that are read
LONGEST: Final = 20_000  # characters of one expression; what is longer was not written by a person


class GivenValue(NamedTuple):
    """A value that some job has: the lower-case name, the expanded text, where it is written."""

    key: str
    text: str
    span: Span

    @property
    def is_literal(self) -> bool:
        """Whether the text stands in the file as it is, with no macro in it and on one line."""
        return self.span.text == self.text

    def place(self, start: int, end: int) -> Span:
        """Return where characters of the text stand: the whole value where macros were expanded in it."""
        return self.span.part(start, end) if self.is_literal else self.span


class GivenJob(NamedTuple):
    """Equal jobs of one queue statement, their values by lower-case name, and how many they are."""

    values: Mapping[str, GivenValue]
    queue: Span | None
    number: int = 1

    def first(self, *names: str) -> GivenValue | None:
        """Return the value of the first of some names that is set to something, None if none is."""
        return next((self.values[name] for name in names if name in self.values and self.values[name].text), None)


class GivenValues:
    """The values of a file's jobs; ``all`` has each once, however many jobs have it."""

    def __init__(self, file: SubmitFile | None) -> None:
        """Expand them, of no more jobs than anybody would look at; a file that cannot be read has none."""
        self.jobs = tuple(_jobs(file)) if file is not None else ()
        seen: dict[tuple[str, str, int], GivenValue] = {}
        before: Mapping[str, GivenValue] = {}
        for job in self.jobs:
            for key, value in job.values.items():
                if before.get(key) is not value:
                    seen.setdefault((key, value.text, value.span.start), value)
            before = job.values
        self.all = tuple(seen.values())
        self._named: dict[str, list[GivenValue]] = {}
        for value in self.all:
            self._named.setdefault(value.key, []).append(value)

    def of(self, names: Iterable[str]) -> Iterator[GivenValue]:
        """Yield the values of some lower-case names, in the order of the names."""
        for name in names:
            yield from self._named.get(name, ())


def _jobs(file: SubmitFile) -> Iterator[GivenJob]:
    names = {name for queue in file.queues for name in queue.arguments.variables}
    keys = (*file.keys, *sorted(names - set(file.keys)))
    limit = max(_FEWEST_JOBS, min(_MOST_JOBS + len(file.queues), _MOST_VALUES // max(1, len(keys))))
    groups = file.groups(keys, limit)
    before: Mapping[str, GivenValue] = {}
    try:
        for group in groups:
            job = _job(group, before)
            before = job.values
            yield job
    except InvalidSubmit:  # what is wrong is said by the rules about reading
        return


def _job(group: JobGroup, before: Mapping[str, GivenValue]) -> GivenJob:
    """Return equal jobs; a value that is the one of the jobs before it is the same object."""
    values = {}
    for key, text in group.values.items():
        value, span, stripped = before.get(key), group.spans[key], text.strip()
        is_same = value is not None and value.span is span and value.text == stripped
        values[key] = value if value is not None and is_same else GivenValue(key, stripped, span)
    return GivenJob(values, group.queue, group.count)


def is_expression(key: str) -> bool:
    """Say whether condor_submit puts the value of a lower-case name into the job ad as an expression."""
    if key.startswith("my.") or key in AMOUNTS:
        return True
    command = submit_commands().get(key)
    return command is not None and command.type is CommandType.EXPRESSION and command.name not in OF_GPUS


def is_plain(key: str, text: str) -> bool:
    """Say whether a value is a number, a truth value, an amount or a string alone: there is nothing to look at.

    So it is where the hole of a template stands; a string is something where a condition is asked for.
    """
    if not text or (key in AMOUNTS and AMOUNT.fullmatch(text)) or _HOLE.fullmatch(text):
        return True
    return _PLAIN.fullmatch(text) is not None and not (text[0] == '"' and key in _CONDITIONS)


def is_same(value: GivenValue, attribute: GivenValue) -> bool:
    """Say whether a request and the attribute that is written out beside it are the same amount, or text."""
    if value.text.lower() == attribute.text.lower():
        return True
    found = AMOUNT.fullmatch(value.text)
    if found is None or not attribute.text.isdecimal() or len(attribute.text) > _DIGITS:
        return False
    base = AMOUNTS.get(value.key, 1)
    unit = _UNITS[(found["unit"] or "")[:1].lower()] or base
    return float(found["number"]) * unit == int(attribute.text) * base
