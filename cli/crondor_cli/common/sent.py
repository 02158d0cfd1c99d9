"""Values on their way between processes of which one has forked the others.

A Source is one place, and two findings are the same only if they point at the same place. So a Source that was there
before the fork is sent by its number, and is the same object at the other end.
"""

from __future__ import annotations

import copyreg
import gc
import io
import pickle
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import click

from crondor.source import Source

_SOURCES: Final[list[Source]] = []


def _source(number: int) -> Source:
    return _SOURCES[number]


def _reduce_view(view: MappingProxyType[Any, Any]) -> tuple[Any, ...]:
    """Return how a mapping that nobody changes is made anew: pickle knows none."""
    return _view, (dict(view),)


def _view(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


class Sending:
    """What can be sent; to be made just before the fork."""

    def __init__(self) -> None:
        """Give numbers to the sources that are there."""
        _SOURCES[:] = [each for each in gc.get_objects() if isinstance(each, Source)]
        numbers = {id(each): number for number, each in enumerate(_SOURCES)}

        def reduce(source: Source) -> tuple[Any, ...]:
            number = numbers.get(id(source))
            return source.__reduce__() if number is None else (_source, (number,))

        kinds = {type(each) for each in _SOURCES} | {Source}
        self._table: Mapping[type, Callable[[Any], Any]] = {
            **copyreg.dispatch_table,
            **dict.fromkeys(kinds, reduce),
            MappingProxyType: _reduce_view,
        }

    def to_bytes(self, value: object) -> bytes:
        """Return a value as bytes."""
        out = io.BytesIO()
        pickler = pickle.Pickler(out, pickle.HIGHEST_PROTOCOL)
        pickler.dispatch_table = self._table
        pickler.dump(value)
        return out.getvalue()

    def sendable(self, error: Exception) -> Exception:
        """Return an error, or its words where it holds what cannot be sent."""
        try:
            self.from_bytes(self.to_bytes(error))
        except Exception:  # noqa: BLE001 - whatever an error holds
            return click.ClickException(f"{type(error).__name__}: {error}")
        return error

    @staticmethod
    def from_bytes(data: bytes) -> Any:  # noqa: ANN401 - whatever was sent
        """Return the value; bytes come from the processes of this command alone."""
        return pickle.loads(data)  # noqa: S301 - as above
