"""JSON that a command prints, held against the schema that `crondor config schema` has of it."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from crondor_cli.kit.results import results, schema

OPTIONS = ("--format", "--log-format", "--to")  # what they may be told: json
_MANY = 4  # items of a list
USAGE = 2  # the exit status of what printed nothing worth a look


@cache
def validator(name: str) -> Draft202012Validator:
    """Return what validates against a schema."""
    return Draft202012Validator(schema(name))


def is_lines(name: str) -> bool:
    """Say whether a schema is that of one line among many."""
    return results()[name].title.startswith("One line each: ")


def schema_of(arguments: Sequence[str]) -> str | None:
    """Return the name of the schema of what a command line prints; None where it prints no JSON."""
    asked = any(pair[0] in OPTIONS and pair[1] == "json" for pair in pairwise(arguments))
    if not asked and not any(f"{option}=json" in arguments for option in OPTIONS):
        return None
    known = results()
    words = ["-".join(arguments[:2]), *arguments[:1]]
    return next((word for word in words if word in known), None)


def faults(name: str, document: object) -> list[str]:
    """Return what is wrong with a document, each fault with the file to edit."""
    return [
        f"{error.json_path}: {error.message}; the types of {name} (results.py) say otherwise"
        for found in validator(name).iter_errors(document)
        for error in _innermost(found)
    ]


def check_output(arguments: Sequence[str], status: int, out: str) -> None:
    """Hold what a command printed against its schema, if it printed JSON."""
    if status == USAGE or not out.strip() or (name := schema_of(arguments)) is None:
        return
    documents = [json.loads(line) for line in out.splitlines()] if is_lines(name) else [json.loads(out)]
    found = [fault for document in _of_each_shape(documents) for fault in faults(name, document)]
    assert not found, "JSON that its schema does not allow:\n" + "\n".join(found[:10])


def _of_each_shape(value: object) -> Any:  # noqa: ANN401 - JSON
    """Return JSON of whose long lists of objects one is left of each shape: the others add nothing to a validation."""
    if isinstance(value, dict):
        return {name: _of_each_shape(inner) for name, inner in value.items()}
    if isinstance(value, list) and len(value) > _MANY and isinstance(value[0], dict):
        return [_of_each_shape(item) for item in {_shape(item): item for item in reversed(value)}.values()]
    return value


def _shape(value: object) -> object:
    """Return what is equal for values that a schema allows or forbids alike."""
    if isinstance(value, dict):
        return tuple((name, _shape(inner)) for name, inner in value.items())
    if isinstance(value, list):
        return tuple(dict.fromkeys(map(_shape, value))), len(value)
    if isinstance(value, str):
        return re.sub("[0-9]", "0", value)
    return (type(value), value < 0) if isinstance(value, (int, float)) else value


def _innermost(error: ValidationError) -> Iterator[ValidationError]:
    """Yield the errors that say what is wrong: of alternatives those of the one that comes nearest."""
    branches: dict[object, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0], []).extend(_innermost(inner))
    if branches:
        depth = len(error.absolute_path)
        yield from min(branches.values(), key=lambda found: _distance(found, depth))
    else:
        yield error


def _distance(found: list[ValidationError], depth: int) -> tuple[bool, int, int]:
    """Return how far an alternative at a depth is: another type is the farthest, then one with errors at its top."""
    is_other_type = any(error.validator == "type" and error.validator_value == "null" for error in found)
    return is_other_type, sum(len(error.absolute_path) <= depth for error in found), len(found)
