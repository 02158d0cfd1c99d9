"""What a description says to its jobs, name by name: whatever a fix changes beside its own lines shows here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crondor.check.edit import TextChange, key_of
from crondor.check.policy_names import POLICIES
from crondor.macro import Budget
from crondor.schedule import COMMANDS
from crondor.source import Source
from crondor.spec import FIELDS
from crondor.submit import InvalidSubmit, SubmitFile

_MOST_JOBS = 200  # of each name that are looked at one by one; a fix that changes others changes one of the first
_MOST_VALUES = 20_000  # of all names together, but for one of each queue statement
_MOST_WORK = 1 << 22  # of all macros in these values, as of Budget; what is beyond says why it has none
_NAME = re.compile(r"[ \t\ufeff]*(\+?[A-Za-z_][\w.]*)[ \t]*[=:]")
_PLAIN = frozenset(name for field in FIELDS for name in (field.command, field.attribute.lower()))
_EXPRESSIONS = frozenset((*COMMANDS, *POLICIES, "requirements", "rank")) - _PLAIN - {"universe"}


class JobsValue(NamedTuple):
    """What a name comes to in some jobs of one queue statement: that and the first ProcId, how many, the text."""

    first: tuple[int, int]
    jobs: int
    text: str


Meaning = dict[str, tuple[object, ...]]


def meaning(file: SubmitFile) -> Meaning:
    """Return what each name comes to in the jobs, by its lower-case key; under the empty key how many there are.

    The job ads are made of nothing else: where only one name's values differ, only that name has changed them.
    """
    found: Meaning = {"": tuple(queue.jobs for queue in file.queues)}
    budget = Budget(_MOST_WORK)
    most = len(file.queues) + min(_MOST_JOBS, _MOST_VALUES // max(1, len(file.keys)))
    for key in file.keys:
        values: list[object] = []
        try:
            groups = file.groups((key,), most, in_order=True, budget=budget)
            values.extend(JobsValue(each.first, each.count, each.values[key]) for each in groups if key in each.values)
        except InvalidSubmit as error:
            values.append(tuple(fault.kind for fault in error.diagnostics))
        found[key] = tuple(values)
    return found


def differing(one: Meaning, other: Meaning) -> set[str]:
    """Return the names that do not mean the same in both; one that has no value anywhere is as good as none."""
    return {key for key in one.keys() | other.keys() if one.get(key, ()) != other.get(key, ())}


def touched(source: Source, change: TextChange) -> set[str]:
    """Return the keys of the statements that a change of a source writes to, takes away or puts there.

    The empty key stands for what is no assignment: a queue statement, for example.
    """
    before = ((start, end) for (start, end), _ in change.written)
    after = ((start, end) for _, (start, end) in change.written)
    return {*_keys(source.text, before), *_keys(change.text, after)}


def unreadable(file_says: Meaning, keys: Iterable[str]) -> list[str]:
    """Return which of some names have a value that should be a ClassAd expression, and is none."""
    from crondor.check.expressions import faults  # noqa: PLC0415 - the engine takes 17 ms, and few files need it

    wanted = sorted(key for key in keys if key in _EXPRESSIONS or key.startswith("my."))
    values = {(key, value.text) for key in wanted for value in file_says.get(key, ()) if isinstance(value, JobsValue)}
    return sorted({key for key, text in values if text.strip() and faults(text, key)})


def _keys(text: str, places: Iterable[tuple[int, int]]) -> Iterator[str]:
    for start, end in places:
        at = _statement(text, start)
        while at <= end:
            stop = text.find("\n", at)
            line = text[at : len(text) if stop < 0 else stop]
            name = _NAME.match(line)
            if name is not None:
                yield key_of(name[1])
            elif line.strip() and not line.lstrip().startswith("#"):
                yield ""
            if stop < 0 or stop + 1 >= end:
                break
            at = stop + 1


def _statement(text: str, at: int) -> int:
    """Return where the statement begins that a place is in: above the lines that go on behind a backslash."""
    start = text.rfind("\n", 0, at) + 1
    while start and text[: start - 1].rstrip("\r \t").endswith("\\"):
        start = text.rfind("\n", 0, start - 1) + 1
    return start
