"""The types of JSON keys: those that the pages of the commands give, and those of real output."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from crondor_cli.kit.results import schema, shared
from reference.facts import JsonKey, documents

TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "object": dict, "array": list}

Types = dict[tuple[str, str], set[str]]  # by the path of the object, and the key


def unseen(name: str, printed: Iterable[object]) -> Types:
    """Return the keys of a command's page of which real output has not all types, with the types of the page.

    null is left out on both sides: where it may stand is the schema's business.
    """
    seen: Types = defaultdict(set)
    for data in printed:
        for path, found in _objects(data):
            for key, value in found.items():
                seen[path, key] |= {kind for kind, type_ in TYPES.items() if type(value) is type_}
    return {at: types for at, types in _documented(name).items() if types != seen[at]}


def _objects(value: object, path: str = "") -> Iterator[tuple[str, dict[str, object]]]:
    """Yield every object of some JSON with its path."""
    if isinstance(value, dict):
        yield path, value
        for key, inner in value.items():
            yield from _objects(inner, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner, f"{path}[]")


def _documented(name: str) -> Types:
    found: Types = defaultdict(set)
    for form in documents(schema(name), shared()):
        for each in form.objects:
            for path in each.paths:
                for key in each.keys:
                    found[path, key.name] |= _types(key)
    return found


def _types(key: JsonKey) -> set[str]:
    """Return the types of a key, null aside; a value in backticks is one of a string or an integer."""
    if key.kind.is_list:
        return {"array"}
    values = [word for word in key.kind.words if word.startswith("`")]
    types = {word.partition(" of ")[0] for word in key.kind.words if word not in values}
    types |= {"object"} if key.kind.objects else set()
    return types | {"integer" if word.strip("`").isdigit() else "string" for word in values}
