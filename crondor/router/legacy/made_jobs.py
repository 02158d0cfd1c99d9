"""Jobs made from the constants of routes, to try what a table does with each side of its conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice, product
from random import Random
from typing import Final

from crondor.classad.ad import ClassAd
from crondor.classad.errors import CircularReference, ClassAdSyntaxError
from crondor.classad.expression import Expression
from crondor.classad.text import lower
from crondor.classad.tree import Binary, Literal, Node, Reference, bare, nodes
from crondor.classad.unparse import print_string

BASE: Final[Mapping[str, str]] = {
    "Cmd": '"/bin/true"',
    "EnteredCurrentStatus": "0",
    "Iwd": '"/home/alice"',
    "JobStatus": "1",
    "JobUniverse": "5",
    "OnExitHold": "false",
    "Out": '"out"',
    "Owner": '"alice"',
    "QDate": "0",
    "RequestCpus": "1",
    "RequestDisk": "1024",
    "RequestMemory": "1024",
    "Requirements": "true",
}
"""What every made job has, where its variations do not say otherwise."""

MOST_JOBS: Final = 200
_MOST_VALUES = 6  # of one attribute
_FIXED = frozenset(("clusterid", "procid", "jobstatus", "owner"))
_TRUE, _FALSE = "true", "false"


def made_jobs(expressions: Iterable[Expression], most: int = MOST_JOBS, seed: int = 0) -> Iterator[ClassAd]:
    """Yield jobs: a plain one, each attribute that the expressions ask for with each of its values, and mixtures.

    The values of an attribute are the constants it is compared with, those beside them, and none. The jobs are the
    same for the same expressions and seed.
    """
    values = _values(expressions)
    plain: dict[str, str] = {}
    one_by_one = ({name: value} for name, listed in values.items() for value in listed)
    names = list(values)
    count = 1
    for listed in values.values():
        count *= len(listed)
    if count <= most:
        mixed: Iterator[dict[str, str]] = (
            dict(zip(names, chosen, strict=True)) for chosen in product(*(values[name] for name in names))
        )
    else:
        dice = Random(seed)  # noqa: S311 - a choice of examples, no secret
        mixed = ({name: dice.choice(values[name]) for name in names} for _ in range(most))
    seen: set[tuple[tuple[str, str], ...]] = set()
    number = 0
    for changes in islice(chain((plain,), one_by_one, mixed), 4 * most):
        key = tuple(sorted(changes.items()))
        if key in seen or number >= most:
            continue
        seen.add(key)
        ad = ClassAd.of_texts({**BASE, "ClusterId": "1", "ProcId": str(number)})
        for name, text in changes.items():
            if text:
                ad.set_text(name, text)
            else:
                ad.prune(name)
        number += 1
        yield ad


def _values(expressions: Iterable[Expression]) -> dict[str, list[str]]:
    """Return the values to try of each attribute, as texts; an empty one: it is not there."""
    spelled: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for expression in expressions:
        try:
            asked = expression.references().external
        except (CircularReference, ClassAdSyntaxError):
            continue
        for name in asked:
            plain = name.rpartition(".")[2]
            key = lower(plain)
            if key not in _FIXED and plain.isidentifier():
                found.setdefault(spelled.setdefault(key, plain), ["", _TRUE, "2", '"x"'])
        for node in nodes(expression.tree):
            for name, value in _compared(node):
                if lower(name) in spelled:
                    _add(found[spelled[lower(name)]], value)
    return found


def _compared(node: Node) -> Iterator[tuple[str, object]]:
    """Yield an attribute and a constant that stand on the sides of an operator, or in one call."""
    if isinstance(node, Binary):
        sides = [bare(node.left), bare(node.right)]
    else:
        sides = [bare(each) for each in getattr(node, "arguments", ())]
    names = [each.name for each in sides if isinstance(each, Reference)]
    values = [each.value for each in sides if isinstance(each, Literal)]
    yield from product(names, values)


def _add(listed: list[str], value: object) -> None:
    if isinstance(value, bool):
        texts = [_TRUE, _FALSE]
    elif isinstance(value, int):
        texts = [str(value), str(value + 1), str(value - 1)]
    elif isinstance(value, float):
        texts = [repr(value), repr(value + 1.0), repr(value - 1.0)] if abs(value) < 1e15 else []
    else:
        texts = [print_string(value)] if isinstance(value, str) else []
    for text in texts:
        if text not in listed and len(listed) < _MOST_VALUES + 4:
            listed.insert(0, text)
