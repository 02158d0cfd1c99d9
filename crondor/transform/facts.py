"""What a transform may see beside its text and the ad: knobs, environment, clock, files."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING

from crondor._types import Made
from crondor.classad.scope import Context

if TYPE_CHECKING:
    from crondor.macro.files import Files

VERSION = (25, 14, 0)
_MACHINE = {"arch": "X86_64", "opsys": "LINUX"}
_ALWAYS = {"islinux": "1", "iswindows": "0", "iterating": "0"}
_BASIC = {**_ALWAYS, "isclusterad": "0", "latematerialization": "0"}
_BY_KNOB = ("arch", "opsys", "opsysandver", "opsysmajorver", "opsysver")


class TransformFacts(Made):
    """The surroundings of transforms.

    ``knobs`` are the values of the configuration by name; ``environ`` is what $ENV() sees, None: not known, and a
    fault where a value needs it. ``context`` has the clock (epoch seconds) and the zone of expressions, and the seed
    that $RANDOM_CHOICE() and its like draw from. ``files`` opens what TRANSFORM ... FROM names; without it none is
    opened. ``version`` is what ``if version`` compares.
    """

    __slots__ = ("_iterating", "context", "environ", "files", "knobs", "version")

    def __init__(
        self,
        knobs: Mapping[str, str] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        context: Context | None = None,
        files: Files | None = None,
        version: tuple[int, int, int] = VERSION,
    ) -> None:
        """Take what is known; the names of knobs have no case."""
        self.knobs = {**_MACHINE, **{name.lower(): text for name, text in (knobs or {}).items()}}
        self.environ = environ
        self.context = context or Context()
        self.files = files
        self.version = version
        self._iterating = {**_ALWAYS, "rulesfile": "", **{name: self.knobs.get(name, "") for name in _BY_KNOB}}

    def __repr__(self) -> str:
        """Return the number of knobs, and what is known beside them."""
        known = [name for name in ("environ", "files") if getattr(self, name) is not None]
        return f"<TransformFacts of {len(self.knobs)} knobs{''.join(f', {name}' for name in known)}>"

    def _made_of(self) -> tuple[object, ...]:
        return self.knobs, self.environ, self.context, self.files, self.version

    def __hash__(self) -> int:
        """Hash the version alone: knobs may change."""
        return hash(self.version)

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle by all that the caller said."""
        return _made, self._made_of()

    def at(self, context: Context) -> TransformFacts:
        """Return the same surroundings with another clock."""
        made = TransformFacts.__new__(TransformFacts)
        for name in self.__slots__:
            setattr(made, name, getattr(self, name))
        made.context = context
        return made

    def defaults(self, *, iterates: bool) -> Mapping[str, str]:
        """Return the macros that HTCondor provides; a transform that iterates has others."""
        return self._iterating if iterates else _BASIC


def _made(
    knobs: Mapping[str, str],
    environ: Mapping[str, str] | None,
    context: Context,
    files: Files | None,
    version: tuple[int, int, int],
) -> TransformFacts:
    return TransformFacts(knobs, environ=environ, context=context, files=files, version=version)


class SeededDice:
    """Random numbers from the seed of a context, made when the first is drawn."""

    __slots__ = ("_random", "_seed")

    def __init__(self, seed: int) -> None:
        """Begin."""
        self._seed = seed
        self._random: Random | None = None

    def randrange(self, stop: int, /) -> int:
        """Return a number from 0 up to ``stop``, which is not included."""
        if self._random is None:
            self._random = Random(self._seed)  # noqa: S311 - a preview, no secret
        return self._random.randrange(stop)


NOTHING = TransformFacts()
