"""What can be wrong with a log or a queue, and how it is said: the line, what the schedd does there, what was kept."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from crondor.classad.formats.pieces import Piece
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.job_queue.records import BadRecord
from crondor.source import Source

_MOST = 20  # findings of one code; a log of a million bad lines gets no longer list
_AROUND = 2_000  # characters of a line on either side of the piece: a finding does not keep a line of 100 MB


class JobQueueError(CrondorError, ValueError):
    """Something about a job queue that the caller cannot go on with."""


class DamagedLog(JobQueueError):
    """A log that the schedd would not start with: a transaction in it cannot be read. The file is left as it is."""


class QueueLocked(JobQueueError):
    """Another process writes this queue."""


class QueueIO(JobQueueError, OSError):
    """The disk refused: full, read-only, gone. What was committed before is not touched by it."""


class NotAQueueLog(JobQueueError):
    """A file that has lines, and none of them is a record of a queue."""


class InvalidChange(JobQueueError):
    """A transaction asks for what no log can hold: an ad that is not there, a value that is no expression."""


class LogFindings:
    """Findings of one log in their order, at most twenty of a code and then one that counts the rest."""

    def __init__(self, name: str) -> None:
        """Begin empty; ``name`` is what people know the log by."""
        self.name = name
        self._found: list[Diagnostic] = []
        self._counts: Counter[str] = Counter()

    def take(self) -> tuple[Diagnostic, ...]:
        """Return the findings, and begin anew."""
        more = [
            Diagnostic(code, f"and {count - _MOST:,} more of this", Severity.NOTE, Source("", self.name).span())
            for code, count in self._counts.items()
            if count > _MOST
        ]
        found = (*self._found, *more)
        self._found.clear()
        self._counts.clear()
        return found

    def add(
        self,
        code: str,
        message: str,
        line: tuple[int, str],
        severity: Severity = Severity.WARNING,
        hint: str | None = None,
        piece: tuple[int, int] | None = None,
    ) -> None:
        """Note something about a line, given as its number from 1 and its text; ``piece`` of it is underlined."""
        self._counts[code] += 1
        if self._counts[code] > _MOST:
            return
        start, end = piece or (0, len(line[1]))
        first = max(0, start - _AROUND)
        text = line[1][first : start + _AROUND]
        span = Piece(text, self.name, line[0], first + 1).span(start - first, min(end - first, len(text)))
        self._found.append(Diagnostic(code, message, severity, span, hint))

    def bad_record(self, error: BadRecord, line: tuple[int, str], what: str, severity: Severity) -> None:
        """Note a line that is no record, and what becomes of it."""
        self.add("queue-log-record", f"{error}; {what}", line, severity, error.hint, (error.start, error.end))


def refused_by_disk(path: Path | str, doing: str, error: OSError, hint: str | None = None) -> QueueIO:
    """Return the error for what the operating system refused."""
    reason = error.strerror or str(error)
    span = Source("", str(path)).span()
    return QueueIO(Diagnostic("queue-io", f"{doing}: {reason}", span=span, help=hint))
