"""Changes what a recording expects, one place at a time, and replays the line: what still passes is not compared."""

import copy
import re
import string
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

from tests.golden.inputs import INPUTS, RESULTS
from tests.golden.judging import differences
from tests.golden.kinds.case import Case, NotApplicable, Replay

_FAR = 5000  # no tolerance of a replay is as wide
_LETTERS = string.ascii_letters + string.digits

Path = tuple["str | int", ...]


class Change(NamedTuple):
    """A field, without the numbers of its lists, and what was done to it: ``ads[].Cmd``, ``emptied``."""

    shape: str
    field: str
    what: str


class _Mutant(NamedTuple):
    """One place of a line: ``value`` stands there instead, or nothing at all when it is ``DROPPED``."""

    case: Case
    path: Path
    value: object


@dataclass
class Outcome:
    """How many changes of each field were noticed, and how many survived; ``lines`` were changed."""

    lines: int = 0
    noticed: Counter[Change] = field(default_factory=Counter)
    survived: Counter[Change] = field(default_factory=Counter)
    examples: dict[Change, str] = field(default_factory=dict)


DROPPED = object()


def mutate(kind: str, replay: Replay, cases: Sequence[Case], *, sample: int, changes: int, seed: int = 1) -> Outcome:
    """Change lines of a recording and replay them; the same arguments make the same changes.

    ``sample`` lines of each shape are taken, of those that pass as they are; ``changes`` at most of each shape, every
    field's first before any field's second.
    """
    rng = Random(f"{seed} {kind}")  # noqa: S311 - which places are changed is no secret
    shapes: dict[str, list[Case]] = defaultdict(list)
    for case in rng.sample(cases, len(cases)):
        shape = shape_of(kind, case)
        if len(shapes[shape]) < sample and _passes(replay, case):
            shapes[shape].append(case)
    outcome = Outcome()
    for shape, taken in shapes.items():
        outcome.lines += len(taken)
        for change, mutant in _drawn(_mutants(shape, taken, rng), changes, rng):
            if _passes(replay, _changed(mutant), or_not_applicable=True):
                outcome.survived[change] += 1
                outcome.examples.setdefault(change, f"line {mutant.case.number}: {_said(mutant)}")
            else:
                outcome.noticed[change] += 1
    return outcome


def shape_of(kind: str, case: Case) -> str:
    """Return the kind, with the shape of the line where the kind has several."""
    value = case.value if isinstance(case.value, dict) else {}
    if kind == "hooks":
        return f"{kind}:{value.get('type', 'ads' if 'daemon' in value else 'job')}"
    if kind == "queue-log":
        return f"{kind}:{'variant' if 'variant' in value else 'files' if 'files' in value else 'truth'}"
    return kind


def _passes(replay: Replay, case: Case, *, or_not_applicable: bool = False) -> bool:
    """Say whether a line passes; one that is not compared at all any more is not noticed either."""
    try:
        return not differences(replay, case)
    except NotApplicable:
        return or_not_applicable


def _mutants(shape: str, cases: Sequence[Case], rng: Random) -> Iterator[tuple[Change, _Mutant]]:
    for case in cases:
        for path, value, is_member in _places(case.value, ()):
            name = name_of(case.value, path)
            if is_input(shape, name):
                continue
            if is_member:
                yield Change(shape, name, "dropped"), _Mutant(case, path, DROPPED)
            for what, other in _others(value, rng):
                head = _head(value, other) if name == "stderr" else ""
                yield Change(shape, name + head, what), _Mutant(case, path, other)


def _places(value: object, path: Path) -> Iterator[tuple[Path, object, bool]]:
    """Yield what stands in a line, and whether it has a name of its own there."""
    if path:
        yield path, value, isinstance(path[-1], str)
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _places(inner, (*path, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _places(inner, (*path, number))


def _others(value: object, rng: Random) -> Iterator[tuple[str, object]]:
    """Yield what could have been recorded instead: ``what`` was done, and the value."""
    if isinstance(value, bool):
        yield "flipped", not value
    elif isinstance(value, (int, float)):
        yield "by one", value + 1
        yield "far off", value + _FAR
    elif isinstance(value, (str, list, dict)) and value:
        yield "emptied", type(value)()
        if isinstance(value, list):
            yield "shortened", value[:-1]
        letters = [match.start() for match in re.finditer(r"\w", value)] if isinstance(value, str) else []
        if letters and isinstance(value, str):
            at = rng.choice(letters)
            yield "a letter", value[:at] + rng.choice(_LETTERS.replace(value[at], "")) + value[at + 1 :]


def _head(text: object, other: object) -> str:
    """Return what begins the message of a tool in which a text was changed, in braces: ``{WARNING}``."""
    if not isinstance(text, str) or not isinstance(other, str):
        return ""
    at = next((n for n, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), 0)
    heads = re.findall(r"(?:^|\n|(?<=\S)(?=WARNING: ))(ERROR|WARNING|Warning)\b", text[: at + 8] if other else text)
    return "{" + (heads[-1] if heads else "").upper() + "}"


def _drawn(mutants: Iterator[tuple[Change, _Mutant]], most: int, rng: Random) -> Iterator[tuple[Change, _Mutant]]:
    """Yield so many mutants, one of each change in turn."""
    by_change: dict[Change, list[_Mutant]] = defaultdict(list)
    for change, mutant in mutants:
        by_change[change].append(mutant)
    turns = [(change, rng.sample(found, len(found))) for change, found in by_change.items()]
    rng.shuffle(turns)
    while turns and most > 0:
        for change, found in turns[:most]:
            yield change, found.pop()
        most -= len(turns)
        turns = [turn for turn in turns if turn[1]]


def name_of(line: object, path: Path) -> str:
    """Return a path without its numbers; a member of a list that says who wrote it has that in the brackets."""
    made, inner = "", line
    for step in path:
        inner = inner[step]  # type: ignore[index]  # the path leads through lists and objects
        if isinstance(step, int):
            by = inner.get("by", "") if isinstance(inner, dict) else ""
            made += f"[{by}]"
        else:
            step_name = "#" if re.fullmatch(r"[0-9.]+", step) else step
            made += f".{step_name}" if made else step_name
    return made


def is_input(shape: str, name: str) -> bool:
    """Say whether a field is given to crondor, and no result."""
    return name not in RESULTS.get(shape, frozenset()) and any(
        covers(kind, shape) and (covers(given, name) or covers(f"{given}[.[]*", name))
        for kind, fields in INPUTS.items()
        for given in fields
    )


def covers(pattern: str, name: str) -> bool:
    """Say whether a name is that of a pattern, in which ``*`` stands for anything and ``[.[]`` for a dot or bracket."""
    made = re.escape(pattern).replace(r"\[\.\[\]", "[.[]").replace(r"\*", ".*")
    return re.fullmatch(made, name, re.DOTALL) is not None


def _changed(mutant: _Mutant) -> Case:
    line = copy.deepcopy(mutant.case.value)
    inner: object = line
    for step in mutant.path[:-1]:
        inner = inner[step]  # type: ignore[index]  # as above
    if mutant.value is DROPPED:
        del inner[mutant.path[-1]]  # type: ignore[attr-defined]  # as above
    else:
        inner[mutant.path[-1]] = mutant.value  # type: ignore[index]  # as above
    return replace(mutant.case, value=line)


def _said(mutant: _Mutant) -> str:
    inner: object = mutant.case.value
    for step in mutant.path:
        inner = inner[step]  # type: ignore[index]  # as above
    other = "dropped" if mutant.value is DROPPED else ascii(mutant.value)
    return _around(ascii(inner), other) + " -> " + _around(other, ascii(inner))


def _around(text: str, other: str, width: int = 60) -> str:
    """Return a text shortened to where it parts from another."""
    at = next((n for n, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))
    start = max(0, at - width // 2)
    return ("..." if start else "") + text[start : start + width] + ("..." if start + width < len(text) else "")
