"""What an editor's answers about a text depend on beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from crondor.classad import Context
from crondor.lint import CheckSettings, Finding
from crondor.macro.files import Files
from crondor.source import Source
from crondor.submit import SubmitFile, read_submit


class HintKind(Enum):
    """What may stand in grey behind a line."""

    NEXT_RUN = "next-run"
    MACROS = "macros"


@dataclass(frozen=True)
class EditSettings:
    """What the findings of a text depend on beside it.

    ``check`` is that of `crondor check`; ``read`` reads a submit description, ``files`` are those that a configuration
    may include, ``environ`` is what $ENV() of a configuration sees. ``chosen`` and ``ignored`` are codes, or what they
    begin with. ``new`` leaves out what is known already. ``hints`` are those that are shown.
    """

    check: CheckSettings
    read: Callable[[Source], SubmitFile] = read_submit
    files: Files | None = None
    environ: Mapping[str, str] | None = None
    chosen: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    new: Callable[[Iterable[Finding]], list[Finding]] | None = None
    hints: frozenset[HintKind] = frozenset((HintKind.NEXT_RUN,))

    @property
    def context(self) -> Context:
        """The clock and the zone of expressions."""
        zone = self.check.zone
        return Context(now=self.check.now) if isinstance(zone, str) else Context(now=self.check.now, zone=zone)
