"""The file of findings that are known: read for --baseline, written for --update-baseline."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import TypeVar

import click

from crondor.diagnostics import CrondorError, printable
from crondor.lint.baseline import Baseline, InvalidBaseline, NameOf, read_baseline
from crondor.macro import source_from_bytes
from crondor_cli.common.baseline_options import BaselineOptions
from crondor_cli.common.findings.result import STDIN, ChosenReports
from crondor_cli.kit.files import file_problem, open_given, replace_file, write_file
from crondor_cli.kit.screen import say
from crondor_cli.kit.tables import plural

_Result = TypeVar("_Result", bound=ChosenReports)
_MAX_BYTES = 64 * 1024 * 1024


def with_baseline(result: _Result, options: BaselineOptions) -> _Result:
    """Return a result that keeps quiet what the file knows. Raises UsageError for one that cannot be read."""
    if options.path is None or options.update:
        return result
    data = _read(options.path)
    if data is None:
        message = f"there is no baseline '{printable(options.path)}': --update-baseline writes it"
        raise click.UsageError(message, click.get_current_context(silent=True))
    known, name_of = _parsed(data, options.path), _names_below(options.path)
    gone = known.gone(Baseline.of(result.all_findings, name_of), _looked_at(result, name_of))
    if gone:
        verb = "is" if gone == 1 else "are"
        message = f"{plural(gone, 'finding')} of {printable(options.path)} {verb} there no more"
        say(f"{message}: --update-baseline forgets them", err=True)
    return replace(result, new=partial(known.new, name_of=name_of))


def write_baseline(result: ChosenReports, options: BaselineOptions) -> int:
    """Write the file, with what it knew of files that were not looked at; return the exit status.

    Raises UsageError for a file that is something else, or cannot be written.
    """
    path = options.path or ""
    name_of = _names_below(path)
    found = Baseline.of(result.all_findings, name_of)
    before = _read(path)
    looked_at = _looked_at(result, name_of)
    if before is not None:
        old = _parsed(before, path)
        folder = os.path.dirname(path)
        found = old.updated(found, lambda name: name not in looked_at and os.path.exists(os.path.join(folder, name)))
    _write(path, before, found.text().encode("ascii"))
    files, verb = plural(len(found.files - {""}), "file"), "is" if found.total == 1 else "are"
    say(f"{printable(path)}: {plural(found.total, 'finding')} of {files} {verb} known now")
    return 2 if result.unread else 0


def _looked_at(result: ChosenReports, name_of: NameOf) -> set[str]:
    """Return the files whose findings are all known by now, with those that were included."""
    sources = (source for report in result.reports for source in (report.source, *report.included))
    return {name_of(source.name) for source in sources}


def _names_below(path: str) -> NameOf:
    """Return what gives a file's name as seen from the folder of the baseline."""
    folder = os.path.dirname(os.path.abspath(path))

    def name_of(name: str) -> str:
        if name == STDIN or "\0" in name:
            return name
        try:
            return os.path.relpath(os.path.abspath(name), folder).replace(os.sep, "/")
        except ValueError:  # on another drive, on Windows
            return name

    return name_of


def _read(path: str) -> bytes | None:
    """Return the bytes of a file, None where there is none. Raises UsageError."""
    try:
        with open_given(path) as file:
            return file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise file_problem("read", path, error) from None


def _parsed(data: bytes, path: str) -> Baseline:
    """Return the baseline that bytes hold. Raises UsageError with the place of what is wrong."""
    try:
        return read_baseline(source_from_bytes(data, path, _MAX_BYTES))
    except CrondorError as error:
        what = error.diagnostics[0]
        place = printable(what.span.location if isinstance(error, InvalidBaseline) and what.span else path)
        message = f"{place}: {printable(what.message)}"
        raise click.UsageError(message, click.get_current_context(silent=True)) from None


def _write(path: str, before: bytes | None, after: bytes) -> None:
    if before is None:
        write_file(path, after)
    elif before != after:
        replace_file(path, before, after, "meanwhile; nothing was written")
