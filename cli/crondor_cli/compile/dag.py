"""`crondor compile --dag`: the submit file of a job that runs a DAG on a schedule, and the script of its runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import click

from crondor.compile.writing.wish import LineOptions, Wish
from crondor.compiled_text import compile_text
from crondor.dag import read_dag
from crondor.dag.scheduled import ScheduledDag
from crondor.diagnostics import CrondorError, Severity, Source, printable
from crondor.submit import SubmitFile
from crondor_cli.compile.show import Asked, print_compiled, print_refusal, print_written
from crondor_cli.kit.files import FileProblem, files_of, is_dag, read_source, write_file, writes
from crondor_cli.kit.options import Surroundings
from crondor_cli.kit.schedules import read_description
from crondor_cli.kit.screen import show, usage


class DagRequest(NamedTuple):
    """The DAG file, the submit file to write (None: print it), and how its runs are started."""

    path: str
    out: str | None
    continues: bool
    overlaps: bool

    @property
    def stem(self) -> str:
        """The path of the submit file without its suffix."""
        return os.path.splitext(self.out or self.path)[0]

    @property
    def scheduled(self) -> ScheduledDag:
        """The DAG with the places of the files, relative to each other, so that they can be moved together."""
        here, folder = (os.path.realpath(os.path.dirname(each)) for each in (self.stem, self.path))
        runs = os.path.relpath(os.path.join(here, f"{self.name}.runs"), folder)
        name = os.path.basename(self.path)
        return ScheduledDag(os.path.relpath(folder, here), name, runs, self.continues, self.overlaps)

    @property
    def name(self) -> str:
        """The name of the submit file without its suffix. Raises UsageError if no submit file can have it."""
        name, suffix = os.path.splitext(os.path.basename(self.out or self.path))
        is_plain = name == name.strip() and name and not {*name} & {*"\r\n"}
        if not is_plain or (self.out is not None and suffix in {"", ".sh", ".dag"}):
            raise usage(f"'{printable(self.out or self.path)}' cannot be the submit file: --write a name like week.sub")
        return name


def schedule_dag(text: str, request: DagRequest, asked: Asked, count: int, form: str) -> None:
    """Print or write the submit file and the script.

    Raises UsageError for a file that is not a DAG or cannot be written, CrondorError for a DAG that DAGMan refuses,
    and for a schedule that cannot be expressed.
    """
    if asked.options.universe == "vanilla":
        raise usage("--dag writes a job of the local universe, which starts DAGMan on the access point")
    name, scheduled = request.name, request.scheduled
    source = Source("", "") if request.path == "-" else read_source(request.path)
    if not is_dag(source):
        raise usage(f"'{printable(request.path)}' is not a DAG file: give a file such as week.dag")
    faults = read_dag(source, files_of(request.path, asked.allow_dirs)).faults
    wrong = [each for each in faults if each.severity is Severity.ERROR]
    if wrong:
        raise CrondorError(wrong)
    schedule = asked.schedule(asked.whole(text))
    written = Source(scheduled.submit_file(schedule.text, f"{name}.sh"), request.out or f"{name}.sub")

    def read(source: Source) -> SubmitFile:
        return read_description(source, source.name, Surroundings(), asked.clock.now, asked.clock.zone)

    def wish(universe: str | None, options: LineOptions) -> Wish:
        return asked.wish(schedule, options, universe)

    try:
        made = compile_text(written, wish, read, asked.until, asked.options)
    except CrondorError as error:
        if form != "json":
            raise
        print_refusal(schedule, error, asked.clock)
        raise click.exceptions.Exit(1) from None
    if request.out is None and made.compiled is not None:
        files = {f"{name}.sub": made.text, f"{name}.sh": scheduled.script()}
        print_compiled(schedule, made.compiled, asked.clock, count, form, files)
    elif request.out is not None:
        _write(request, request.out, made.text)
        show(schedule.warnings)
        print_written(f"{printable(request.out)}, {printable(name)}.sh", made, asked.clock)


def _write(request: DagRequest, out: str, text: str) -> None:
    """Write the script and the submit file, neither of which may exist. Raises UsageError."""
    script = f"{request.stem}.sh"
    for path in (out, script):
        if os.path.lexists(path):
            message = f"'{printable(path)}' exists: remove it, or choose another name"
            update = f"; crondor compile --write {printable(out)}, without --dag, updates its schedule"
            raise FileProblem(message + (update if path == out else ""))
    write_file(script, request.scheduled.script().encode("utf-8", "surrogateescape"))
    with writes(script):
        Path(script).chmod(0o755)  # condor_submit refuses an executable that is not
    write_file(out, text.encode("utf-8", "surrogateescape"))
