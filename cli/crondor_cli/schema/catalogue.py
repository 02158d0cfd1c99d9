"""The JSON Schemas of what commands print as JSON: a hand-kept document each, in the folder `documents`.

What several of them need stands in common.json, and is put into the `$defs` of a schema that is read. Whoever adds a
key to the JSON of a command adds it to its document: the tests validate all that they see.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SUFFIX = ".json"
_COMMON = "common"
_FOLDER = files("crondor_cli.schema") / "documents"
_REFERENCE = re.compile(r"#/\$defs/(\w+)")


def names() -> list[str]:
    """Return the names of the schemas, those of their commands with hyphens between the words."""
    found = {each.name.removesuffix(_SUFFIX) for each in _FOLDER.iterdir() if each.name.endswith(_SUFFIX)}
    return sorted(found - {_COMMON})


def title(name: str) -> str:
    """Return what a document is, in a few words."""
    return str(_document(name)["title"])


def shared() -> dict[str, Any]:
    """Return the definitions that several schemas need, by name."""
    return _document(_COMMON)


def schema(name: str) -> dict[str, Any]:
    """Return a schema that needs no other file. Raises FileNotFoundError for a name that there is not."""
    document = _document(name)
    own = document.pop("$defs", {})
    common = shared()
    needed: dict[str, Any] = {}
    waiting = [*_references(document), *own]
    while waiting:
        each = waiting.pop()
        if each not in needed:
            needed[each] = own[each] if each in own else common[each]
            waiting += _references(needed[each])
    order = [each for each in (*own, *common) if each in needed]
    return {"$schema": DIALECT, **document, "$defs": {each: needed[each] for each in order}}


def _document(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((_FOLDER / f"{name}{_SUFFIX}").read_text(encoding="utf-8"))
    return found


def _references(part: object) -> Iterator[str]:
    """Yield the names of the definitions that a part of a schema refers to."""
    return (found[1] for found in _REFERENCE.finditer(json.dumps(part)))
