"""Names that a package imports when they are first asked for, so that nobody pays for the others (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def late(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package: ``homes`` has the module of each name that comes late."""
    space = vars(sys.modules[package])

    def getattr_(name: str) -> object:
        module = homes.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        value: object = getattr(import_module(module), name)
        space[name] = value
        return value

    def dir_() -> list[str]:
        return sorted({*space, *space["__all__"]})

    return getattr_, dir_
