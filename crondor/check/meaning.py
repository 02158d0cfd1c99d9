"""What a description says to its jobs, name by name: whatever a fix changes beside its own lines shows here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from crondor.check.edit import TextChange, key_of
from crondor.check.job_policy import POLICIES
from crondor.schedule import COMMANDS
from crondor.source import Source
from crondor.spec import FIELDS
from crondor.submit import InvalidSubmit, SubmitFile

_MOST_JOBS = 200  # of each name that are looked at one by one; a fix that changes others changes one of the first
_NAME = re.compile(r"[ \t\ufeff]*(\+?[A-Za-z_][\w.]*)[ \t]*[=:]")
_PLAIN = frozenset(name for field in FIELDS for name in (field.command, field.attribute.lower()))
_EXPRESSIONS = frozenset((*COMMANDS, *POLICIES, "requirements", "rank")) - _PLAIN - {"universe"}

Meaning = dict[str, tuple[object, ...]]


def meaning(file: SubmitFile) -> Meaning:
    """Return what each name comes to in the jobs, by its lower-case key; under the empty key how many there are.

    The job ads are made of nothing else: where only one name's values differ, only that name has changed them.
    """
    found: Meaning = {"": tuple(queue.jobs for queue in file.queues)}
    for key in file.keys:
        values: list[object] = []
        try:
            groups = file.groups((key,), _MOST_JOBS + len(file.queues), in_order=True)
            values.extend((each.first, each.count, each.values[key]) for each in groups if key in each.values)
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


def is_expression(key: str) -> bool:
    """Say whether the values of a name are ClassAd expressions, wherever they are set."""
    return key in _EXPRESSIONS or key.startswith("my.")


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
