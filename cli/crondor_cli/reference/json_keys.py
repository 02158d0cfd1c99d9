"""A JSON Schema as tables: its objects by their paths, and of each key the type, the unit and what it means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_UNIT = re.compile(
    r" \(("
    r"epoch seconds|seconds(?:; of \w+ epoch seconds)?|from 1|a line, from 1|characters, from 1|"
    r"ISO 8601[^()]*|IANA name|megabytes|processes|(?:jobs|failures) a second"
    r")\)"
)
_REFERENCE = "#/$defs/"
_MANY = {"string": "strings", "integer": "integers", "number": "numbers", "boolean": "booleans", "array": "arrays"}


class Kind(NamedTuple):
    """What a value, or each of a list, may be: words such as ``string``, and objects by the paths at which they stand.

    A path that begins with ``$`` is the name of a definition that several commands share. ``is_nullable`` says that
    there may be null in the value's place, or in the list's.
    """

    words: tuple[str, ...]
    objects: tuple[str, ...]
    is_list: bool
    is_nullable: bool


class JsonKey(NamedTuple):
    """A key of an object."""

    name: str
    kind: Kind
    unit: str
    meaning: str
    is_optional: bool


class JsonObject(NamedTuple):
    """An object: the paths at which it stands (``jobs[].runs[]``, empty for the document itself), and its keys."""

    paths: tuple[str, ...]
    keys: tuple[JsonKey, ...]


class JsonDocument(NamedTuple):
    """One form of what a command prints: when it is printed (empty: always), what it is, and its objects.

    An object stands before those that are in it.
    """

    when: str
    kind: Kind
    objects: tuple[JsonObject, ...]


def documents(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> tuple[JsonDocument, ...]:
    """Return the forms of what a schema describes; ``shared`` are definitions that are told in one place for all."""
    forms = schema.get("oneOf", [schema])
    found = []
    for form in forms:
        reader = _Reader(schema.get("$defs", {}), shared)
        whole = reader.resolved(form)
        when = str(whole.get("description", "")) if len(forms) > 1 else ""
        found.append(JsonDocument(when, *reader.read(whole)))
    return tuple(found)


def shared_objects(shared: Mapping[str, Any]) -> dict[str, tuple[str, JsonObject]]:
    """Return the shared definitions by name: what each is, and its keys; one without keys has none."""
    reader = _Reader(shared, shared)
    return {
        name: (str(part.get("description", "")), JsonObject((name,), reader.keys(part, name)))
        for name, part in shared.items()
    }


class _Reader:
    """Goes through a schema; an object that stands at several paths is one."""

    def __init__(self, definitions: Mapping[str, Any], shared: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._shared = shared
        self._waiting: list[tuple[str, Mapping[str, Any]]] = []

    def resolved(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a part, or what it refers to."""
        return self._definitions[_name(part)] if "$ref" in part else part

    def read(self, whole: Mapping[str, Any]) -> tuple[Kind, tuple[JsonObject, ...]]:
        """Return what a document is, and its objects."""
        kind = self._kind(whole, "")
        found: dict[int, JsonObject] = {}  # by definition: of the second place only the path is told
        while self._waiting:
            path, part = self._waiting.pop(0)
            known = found.get(id(part))
            if known is not None:
                found[id(part)] = known._replace(paths=(*known.paths, path))
                continue
            rest, self._waiting = self._waiting, []
            found[id(part)] = JsonObject((path,), self.keys(part, path))
            self._waiting += rest  # what stands in an object follows it
        return kind, tuple(found.values())

    def keys(self, part: Mapping[str, Any], path: str) -> tuple[JsonKey, ...]:
        """Return the keys of an object at a path."""
        required = part.get("required", ())
        return tuple(
            self._key(name, said, f"{path}.{name}".lstrip("."), is_optional=name not in required)
            for name, said in part.get("properties", {}).items()
        )

    def _key(self, name: str, said: Mapping[str, Any], path: str, *, is_optional: bool) -> JsonKey:
        text = str(said["description"])
        unit = _UNIT.search(text)
        return JsonKey(name, self._kind(said, path), unit[1] if unit else "", _UNIT.sub("", text), is_optional)

    def _kind(self, part: Mapping[str, Any], path: str) -> Kind:
        words: list[str] = []
        objects: list[str] = []
        is_list = is_nullable = False
        for each in self._alternatives(part):
            found = self.resolved(each)
            if _is_null(found):
                is_nullable = True
            elif "$ref" in each and _name(each) in self._shared:
                objects.append(f"${_name(each)}")
            elif found.get("type") == "array":
                inner = self._kind(found["items"], f"{path}[]")
                words += [_MANY.get(word, word) for word in inner.words] + ["null"] * inner.is_nullable
                objects += inner.objects
                is_list = True
            elif "properties" in found:
                objects.append(path)
                self._waiting.append((path, found))
            else:
                words += _simple(found)
        return Kind(tuple(words), tuple(objects), is_list, is_nullable)

    @staticmethod
    def _alternatives(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Yield what a part may be, each with one type or one value."""
        for each in part.get("anyOf", [part]):
            if isinstance(each.get("type"), list):
                yield from ({**each, "type": kind} for kind in each["type"])
            elif "enum" in each:
                yield from ({"const": value} for value in each["enum"])
            else:
                yield each


def _name(part: Mapping[str, Any]) -> str:
    return str(part["$ref"]).removeprefix(_REFERENCE)


def _is_null(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "null" or ("const" in part and part["const"] is None)


def _simple(part: Mapping[str, Any]) -> list[str]:
    """Return what a value may be that holds no objects with known keys."""
    if "const" in part:
        return [f"`{part['const']}`"]
    if part.get("type") == "object":
        inner = part.get("additionalProperties")
        return [f"object of {_MANY[inner['type']]}" if isinstance(inner, dict) else "object"]
    return [str(part["type"])]
