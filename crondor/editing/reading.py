"""A text with all that is known of it: its lines, its jobs or knobs, and where its names come from."""

from __future__ import annotations

from functools import cached_property

from crondor.check.engine import read_file
from crondor.check.subject import CheckedFile
from crondor.config import Configuration, read_config
from crondor.editing.findings import EditSettings
from crondor.editing.kinds import TextKind
from crondor.editing.outline import Outline
from crondor.source import Source


class ReadText:
    """One version of a text in one language, read as far as somebody asks; ``outline`` serves a wrong one, too."""

    def __init__(self, source: Source, kind: TextKind, settings: EditSettings) -> None:
        """Take the text; nothing is read yet."""
        self.source = source
        self.kind = kind
        self.settings = settings
        self.outline = Outline(source, kind)

    @cached_property
    def jobs(self) -> CheckedFile:
        """A submit description as the rules see it: its jobs, or the faults that keep it from having any."""
        return read_file(self.source, self.settings.check, self.settings.read)

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
