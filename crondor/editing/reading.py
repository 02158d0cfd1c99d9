"""A text with all that is known of it: its lines, its jobs or knobs, and where its names come from."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from crondor.config import Configuration, read_config
from crondor.editing.kinds import TextKind
from crondor.editing.outline import Outline
from crondor.editing.settings import EditSettings
from crondor.lint.subject import CheckedFile, CheckEffort, CheckMemory
from crondor.lint.submit import read_file
from crondor.source import Source


class ReadText:
    """One version of a text in one language, read as far as somebody asks; ``outline`` serves a wrong one, too.

    ``memory`` is what the versions before it left: what they have in common with this one is not read again.
    """

    def __init__(
        self, source: Source, kind: TextKind, settings: EditSettings, memory: CheckMemory | None = None
    ) -> None:
        """Take the text; nothing is read yet."""
        self.source = source
        self.kind = kind
        self.settings = settings
        self.memory = memory
        self.outline = Outline(source, kind)

    @cached_property
    def jobs(self) -> CheckedFile:
        """A submit description as questions about it see it: its jobs, or the faults that keep it from having any."""
        return read_file(self.source, self.settings.check, self.settings.read, self.memory)

    def to_check(self) -> CheckedFile:
        """Return it for the rules, for which what questions have cost is not missing."""
        return replace(self.jobs, effort=CheckEffort())

    @cached_property
    def configuration(self) -> Configuration:
        """The knobs of a configuration."""
        settings = self.settings
        return read_config(self.source, files=settings.files, environ=settings.environ, context=settings.context)

    @cached_property
    def outlines(self) -> tuple[Outline, ...]:
        """The lines of the text, and of the files that it includes."""
        sources: tuple[Source, ...] = ()
        if self.kind is TextKind.SUBMIT and self.jobs.submit is not None:
            sources = self.jobs.submit.sources
        elif self.kind is TextKind.CONFIG:
            sources = self.configuration.sources
        others = (Outline(source, self.kind) for source in sources if source is not self.source)
        return (self.outline, *others)
