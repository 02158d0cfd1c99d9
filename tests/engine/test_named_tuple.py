"""The tuples with names of short commands: the same as typing's, made in half the time."""

from __future__ import annotations

import inspect
import pickle
import types
import typing

import pytest

from crondor._named_tuple import NamedTuple


class Ours(NamedTuple):
    """A pair."""

    left: int
    right: str | None = None

    @property
    def both(self) -> tuple[int, str | None]:
        """The two."""
        return self.left, self.right

    @classmethod
    def of(cls, left: int) -> Ours:
        """Make one."""
        return cls(left)


class Theirs(typing.NamedTuple):
    """A pair."""

    left: int
    right: str | None = None


def test_such_a_class_is_what_typing_makes() -> None:
    """Fields, defaults, name, module, texts of annotations, signature and printed form are the same."""
    for asked in ("_fields", "_field_defaults", "__doc__", "__module__", "__slots__"):
        assert getattr(Ours, asked) == getattr(Theirs, asked)
    assert Ours.__qualname__ == "Ours"
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)
    assert str(inspect.signature(Ours)) == "(left: 'int', right: 'str | None' = None)"
    assert repr(Ours(1)) == "Ours(left=1, right=None)"
    assert Ours(1) == (1, None)
    assert Ours(1)._replace(right="a") == Ours(1, "a")
    assert Ours.of(2).both == (2, None)
    assert pickle.loads(pickle.dumps(Ours(3, "b"))) == Ours(3, "b")  # noqa: S301 - our own


def test_wrong_classes_and_values_are_refused() -> None:
    """Further bases, missing and unknown fields are a TypeError, attributes cannot be set."""
    with pytest.raises(TypeError, match="other bases"):
        types.new_class("Both", (NamedTuple, dict))
    with pytest.raises(TypeError):
        Ours()  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Ours(1).left = 2  # type: ignore[misc]
