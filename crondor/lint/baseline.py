"""Baselines: known findings that are not reported, as a text to keep with the files.

A finding is identified by its file, its code, and the text of its line: moved lines or a reworded message make no new
finding; a more severe finding with the same code is new.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source
from crondor.lint.rule import ORDER, Finding

VERSION = 1
_MARK = "crondor_baseline"  # key whose value is the version of the format
_LONGEST = 200  # characters of a line that are stored
_MOST = 1_000_000  # upper limit for the count of one line

NameOf = Callable[[str], str]


class InvalidBaseline(CrondorError, ValueError):
    """A text that is not a baseline."""


class KnownFinding(NamedTuple):
    """What identifies a finding: the file's name in the baseline, the code, and the stripped text of the line."""

    file: str
    code: str
    line: str

    @classmethod
    def of(cls, finding: Finding, name_of: NameOf) -> KnownFinding:
        """Return the identity of a finding; ``name_of`` maps a source's name to the file's name in the baseline."""
        span = finding.diagnostic.span
        if span is None:
            return cls("", finding.diagnostic.code, "")
        return cls(name_of(span.source.name), finding.diagnostic.code, _line(span.source.line(span.line)))

    @property
    def fingerprint(self) -> str:
        """A short hash that does not change when the line moves."""
        return _digest("\0".join(self))[:32]


class _Known(NamedTuple):
    number: int
    severity: Severity


class Baseline(NamedTuple):
    """Known findings and how many there are of each."""

    entries: Mapping[KnownFinding, _Known]

    @classmethod
    def of(cls, findings: Iterable[Finding], name_of: NameOf) -> Baseline:
        """Return the baseline of exactly these findings."""
        counted: Counter[KnownFinding] = Counter()
        gravest: dict[KnownFinding, Severity] = {}
        for finding in findings:
            known, severity = KnownFinding.of(finding, name_of), finding.diagnostic.severity
            counted[known] += 1
            gravest[known] = min(severity, gravest.get(known, severity), key=ORDER.__getitem__)
        return cls({known: _Known(number, gravest[known]) for known, number in counted.items()})

    @property
    def total(self) -> int:
        """Number of known findings."""
        return sum(entry.number for entry in self.entries.values())

    @property
    def files(self) -> frozenset[str]:
        """Files that the baseline mentions."""
        return frozenset(known.file for known in self.entries)

    def new(self, findings: Iterable[Finding], name_of: NameOf) -> list[Finding]:
        """Return the findings that are not known; if there are more equal ones than known, the last are new."""
        left = {known: entry.number for known, entry in self.entries.items()}
        new = []
        for finding in findings:
            known = KnownFinding.of(finding, name_of)
            if left.get(known, 0) and ORDER[finding.diagnostic.severity] >= ORDER[self.entries[known].severity]:
                left[known] -= 1
            else:
                new.append(finding)
        return new

    def gone(self, found: Baseline, files: Collection[str]) -> int:
        """Return how many known findings of some files are not in ``found``."""
        pairs = ((known, entry.number) for known, entry in self.entries.items() if known.file in files)
        counts = {known: entry.number for known, entry in found.entries.items()}
        return sum(max(0, count - counts.get(known, 0)) for known, count in pairs)

    def updated(self, found: Baseline, keep: Callable[[str], bool]) -> Baseline:
        """Return ``found``, plus the known findings of the files in ``keep``."""
        kept = {known: entry for known, entry in self.entries.items() if keep(known.file)}
        return Baseline({**kept, **found.entries})

    def text(self) -> str:
        """Return the baseline as JSON, one line per finding in the order of files and lines, for readable diffs."""
        rows = [
            {**known._asdict(), "severity": entry.severity.value, "count": entry.number}
            for known, entry in sorted(self.entries.items())
        ]
        lines = ",".join(f"\n    {json.dumps(row)}" for row in rows)
        return f'{{\n  "{_MARK}": {VERSION},\n  "findings": [{lines}{chr(10) + "  " if rows else ""}]\n}}\n'


def read_baseline(source: Source) -> Baseline:
    """Read what ``Baseline.text`` writes. Raises InvalidBaseline."""
    try:
        data = json.loads(source.text)
    except RecursionError:
        raise _refused(source, "the file is nested too deeply") from None
    except ValueError as error:
        raise _refused(source, f"this is not JSON: {error}", getattr(error, "pos", 0)) from None
    if not isinstance(data, dict) or _MARK not in data:
        raise _refused(source, f"this is not a baseline: it has no key {_MARK}")
    if data[_MARK] != VERSION:
        raise _refused(source, f"this crondor reads baselines of version {VERSION}; this file has {data[_MARK]!r}")
    rows = data.get("findings")
    if not isinstance(rows, list):
        raise _refused(source, "findings must be a list")
    entries: dict[KnownFinding, _Known] = {}
    for number, row in enumerate(rows, 1):
        entry = _entry(row)
        if entry is None:
            raise _refused(source, f"finding {number} of the list is not a finding: {repr(row)[:_LONGEST]}")
        entries[entry[0]] = entry[1]
    return Baseline(entries)


def _entry(row: object) -> tuple[KnownFinding, _Known] | None:
    if not isinstance(row, dict):
        return None
    texts: Any = [row.get(key) for key in KnownFinding._fields]
    count = row.get("count", 1)
    if not all(isinstance(text, str) for text in texts) or type(count) is not int or not 0 < count <= _MOST:
        return None
    try:
        return KnownFinding(*texts), _Known(count, Severity(row.get("severity", "error")))
    except ValueError:
        return None


def _line(text: str) -> str:
    """Return the text of a line with blanks normalized; a long line is cut and gets a hash."""
    line = " ".join(text.split())
    if len(line) <= _LONGEST:
        return line
    return f"{line[:_LONGEST]} ... {_digest(line)[:16]}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _refused(source: Source, message: str, at: int = 0) -> InvalidBaseline:
    hint = "crondor check --baseline FILE --update-baseline creates one"
    return InvalidBaseline(Diagnostic("baseline", message, span=source.span(at, at + 1), help=hint))
