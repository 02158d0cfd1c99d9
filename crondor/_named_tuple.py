"""typing.NamedTuple, made in half the time: such classes were a sixth of what a short command does.

typing compiles the annotation of each field, although it stays the text that it is. Here it is not looked at; the class
is the same, that of collections.namedtuple. Modules that a short command imports take it from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from collections import namedtuple

    _OWN = frozenset(("__annotations__", "__module__", "__orig_bases__", "__qualname__"))

    class _Maker(type):
        """Makes a tuple with names of a class statement."""

        def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, object]) -> type:
            """Return the class. Raises TypeError for further bases, which a tuple with names cannot have."""
            if len(bases) != 1:
                raise TypeError(f"{name} has other bases beside NamedTuple: take typing's")
            fields = space.get("__annotations__", {})
            defaults = [space[field] for field in fields if field in space]
            made = namedtuple(name, fields, defaults=defaults, module=space["__module__"])  # noqa: PYI024 - see above
            made.__annotations__ = made.__new__.__annotations__ = dict(fields)
            made.__qualname__ = space["__qualname__"]
            for key, value in space.items():
                if key not in _OWN and key not in fields:
                    setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})

__all__ = ["NamedTuple"]
