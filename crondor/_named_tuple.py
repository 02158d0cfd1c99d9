"""typing.NamedTuple, made in a fifth of the time: such classes were a sixth of what a short command does.

typing compiles the annotation of each field, although it stays the text that it is, and collections.namedtuple makes a
constructor and six methods for each class. Here nobody looks at annotations, the methods are written once, and the
constructor is compiled once for each number of fields: a class's own has the names of its fields put in. Modules that a
short command imports take it from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from collections import namedtuple
    from collections.abc import Iterable
    from functools import cache
    from types import CodeType, FunctionType

    _GETTER = type(namedtuple("_One", "one").one)  # noqa: PYI024 - reads an item by its number, and has no other name
    _NEW = {"_new": tuple.__new__}

    class _Fields(tuple):
        """What all such tuples do; see collections.namedtuple."""

        __slots__ = ()

        @classmethod
        def _make(cls, values: Iterable[object]) -> _Fields:
            return cls(*values)

        def _replace(self, /, **changes: object) -> _Fields:
            made = tuple.__new__(type(self), map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return made

        __replace__ = _replace

        def _asdict(self) -> dict[str, object]:
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self) -> tuple[object, ...]:
            return tuple(self)

        def __repr__(self) -> str:
            return type(self).__name__ + _form(self._fields) % tuple(self)

    @cache
    def _form(names: tuple[str, ...]) -> str:
        return f"({', '.join(f'{name}=%r' for name in names)})"

    @cache
    def _constructor(size: int) -> CodeType:
        names = "".join(f", _{number}" for number in range(size))
        made = eval(f"lambda _cls{names}: _new(_cls, ({names[2:]},))" if size else "lambda _cls: _new(_cls)", _NEW)  # noqa: S307 - our own text
        return made.__code__

    @cache
    def _getter(number: int) -> object:
        return _GETTER(number, f"Alias for field number {number}")

    class _Maker(type):
        """Makes a tuple with names of a class statement."""

        def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, object]) -> type:
            """Return the class. Raises TypeError for further bases, which a tuple with names cannot have."""
            if len(bases) != 1:
                raise TypeError(f"{name} has other bases beside NamedTuple: take typing's")
            fields = space.get("__annotations__", {})
            names = tuple(fields)
            defaults = {field: space[field] for field in names if field in space}
            code = _constructor(len(names)).replace(co_varnames=("_cls", *names))
            new = FunctionType(code, _NEW, "__new__", tuple(defaults.values()))
            new.__annotations__, new.__qualname__ = fields, f"{name}.__new__"
            doc = f"{name}({', '.join(names)})"
            made = {
                "__doc__": doc,
                "__slots__": (),
                "__match_args__": names,
                "_fields": names,
                "_field_defaults": defaults,
            }
            made |= space | {field: _getter(number) for number, field in enumerate(names)} | {"__new__": new}
            return type.__new__(type, name, (_Fields,), made)

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})

__all__ = ["NamedTuple"]
