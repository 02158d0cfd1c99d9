"""`crondor route test`: test routes against the expectations in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import click

from crondor.classad.scope import Context
from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.knowledge.kinds import FileKind
from crondor.macro.files import FileRefused, Files
from crondor.router import RoutingTable
from crondor.router.compare import Unmet, chosen_of, made_jobs, record, unmet
from crondor.router.compare.expectation_files import ExpectationFile, PlacedExpectation, read_expectations, written
from crondor_cli.kit import options as opts
from crondor_cli.kit.ads import AdFindings
from crondor_cli.kit.command import Command
from crondor_cli.kit.configs import legacy_option, load_route_table, show_faults
from crondor_cli.kit.files import read_source, write_file
from crondor_cli.kit.options import Clock, ConfigFiles, Surroundings, UsageProblem
from crondor_cli.kit.printing import github_line
from crondor_cli.kit.screen import emit, say
from crondor_cli.kit.tables import plural
from crondor_cli.route.asking import JobFiles

if TYPE_CHECKING:
    from crondor_cli.route import results


def _tried(file: str, test: PlacedExpectation, found: Iterable[Unmet]) -> results.Tried:
    unmet: list[results.Unmet] = [{"what": e.what, "expected": e.expected, "found": e.found} for e in found]
    expected = test.expectation
    return {
        "file": file,
        "line": test.span.line,
        "name": expected.name,
        "route": expected.route,
        "passed": not unmet,
        "unmet": unmet,
    }


def _said(test: results.Tried) -> list[str]:
    """Return the unmet expectations, a sentence each."""
    return [f"{each['what']}: expected {each['expected']}, found {each['found']}" for each in test["unmet"]]


def _text(tests: list[results.Tried], *, quiet: bool) -> Iterator[str]:
    """Yield a block for each failed test, and the number of tests."""
    failed = [each for each in tests if not each["passed"]]
    for each in failed:
        yield printable(f"{each['file']}:{each['line']}: FAILED {each['name']}")
        yield from (printable(f"  {said}") for said in _said(each))
    if not quiet:
        verdict = f"{plural(len(failed), 'test')} failed, " if failed else ""
        yield f"{verdict}{plural(len(tests) - len(failed), 'test')} passed"


def _json(tests: list[results.Tried], **_: bool) -> Iterator[str]:
    """Yield one object; `crondor config schema route test` has the keys."""
    passed = sum(each["passed"] for each in tests)
    found: results.TestResult = {"passed": passed, "failed": len(tests) - passed, "tests": tests}
    yield json.dumps(found, indent=2)


def _junit(tests: list[results.Tried], **_: bool) -> Iterator[str]:
    """Yield JUnit XML: a suite for each file."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    failures = sum(not each["passed"] for each in tests)
    yield f'<testsuites name="crondor route test" tests="{len(tests)}" failures="{failures}" errors="0">'
    for file in dict.fromkeys(each["file"] for each in tests):
        of_file, name = [each for each in tests if each["file"] == file], _xml(file)
        failures = sum(not each["passed"] for each in of_file)
        yield f'  <testsuite name="{name}" tests="{len(of_file)}" failures="{failures}" errors="0" skipped="0">'
        for each in of_file:
            case = f'    <testcase classname="{name}" name="{_xml(each["name"])}" file="{name}" line="{each["line"]}"'
            if said := _said(each):
                yield f"{case}>"
                yield f'      <failure message="{_xml(said[0])}">{_xml(chr(10).join(said))}</failure>'
                yield "    </testcase>"
            else:
                yield f"{case}/>"
        yield "  </testsuite>"
    yield "</testsuites>"


def _github(tests: list[results.Tried], **_: bool) -> Iterator[str]:
    """Yield a workflow command for each failed test, which GitHub shows next to the line."""
    for each in tests:
        if said := _said(each):
            properties = {"title": f"route test: {each['name']}", "file": each["file"], "line": str(each["line"])}
            yield github_line("error", properties, "\n".join(said))


def _xml(value: str) -> str:
    """Return a text escaped for XML, in an element or an attribute."""
    shown = "".join(sign if sign == "\n" else printable(sign) for sign in value)
    return escape(shown).replace("\n", "&#10;")


EXAMPLE = """\
echo 'JOB_ROUTER_ROUTE_NAMES = A' > r.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS RequestMemory < 8000' >> r.conf
crondor route test --record --config r.conf -o routes.toml
crondor route test routes.toml"""

EPILOG = """\b
Examples:
  crondor route test routes.toml
  crondor route test routes.toml --config new-routes.conf
  crondor route test --record --config 50-routes.conf -o routes.toml
  crondor route test --record --config 50-routes.conf --ads queue.ads
  crondor route test routes.toml --format junit -o results.xml

\b
A test file has the expected routes and copies of jobs:
  config = ["50-routes.conf"]
  [[test]]
  name = "big jobs go to the batch system"
  job = { RequestMemory = 16000 }
  route = "Batch"
  copy = { GridResource = "batch slurm" }

Exit status: 0 all as expected, 1 a test fails or routing is switched off, 2 wrong usage, or a file that cannot
be read."""

_FORMS: dict[str, Callable[..., Iterator[str]]] = {"text": _text, "json": _json, "junit": _junit, "github": _github}


class TestOptions(NamedTuple):
    """How tables are loaded."""

    config: ConfigFiles
    allow_dirs: tuple[str, ...]
    legacy: bool
    context: Context

    def table(self, named: tuple[str, ...]) -> RoutingTable:
        """Return the table of the command line, or else of some files; print its faults. Raises UsageError."""
        config = self.config._replace(paths=named) if self.config.is_host and named else self.config
        try:
            table = load_route_table(config, self.allow_dirs, self.context, legacy=self.legacy)
        except CrondorError as error:
            raise UsageProblem(error) from None
        show_faults(table)
        return table


@click.command("test", cls=Command, example=EXAMPLE, epilog=EPILOG)
@click.argument("tests", nargs=-1, metavar="[FILE]...")
@opts.config_options
@click.option("--record", "records", is_flag=True, help="Write the present results to FILE, or to -o FILE.")
@opts.ads_option
@click.option("-q", "--quiet", is_flag=True, help="Print failures and no summary.")
@legacy_option
@opts.output_option("Where to write the result, or the recorded tests.")
@opts.file_options
@opts.clock_options
@opts.format_option(*_FORMS, text="How to print the result.")
def command(
    tests: tuple[str, ...],
    config: ConfigFiles,
    records: bool,
    ads: tuple[str, ...],
    quiet: bool,
    legacy: bool,
    out: str,
    surroundings: Surroundings,
    clock: Clock,
    format_: str,
) -> None:
    """Test routes against files: the route of each job, attributes of its copy, or why no route takes it.

    A job has the attributes of its test, and defaults for the others. No route counts as full. --record writes such a
    file from the jobs of a queue (--ads), or from jobs generated from the requirements of the routes.
    """
    given = TestOptions(config, surroundings.allow_dirs, legacy, Context(now=clock.now, zone=clock.zone))
    if records:
        target = _target(tests, out)
        files = JobFiles(clock, ads, surroundings)
        files.check(config.paths)
        _write(target, _recorded(given, files, os.path.dirname(target)))
        if target == "-":
            say("-o FILE writes this to a file for crondor route test FILE", err=True)
        return
    if not tests or ads:
        raise click.UsageError("give a file of tests, or write one with --record" if not ads else "--ads: for --record")
    tried: list[results.Tried] = []
    is_enabled = True
    named = _read(tests)
    if config.is_host:
        _check_named(named, surroundings.allow_dirs)
    for file in named:
        table = given.table(file.config)
        is_enabled = is_enabled and table.is_enabled
        name = file.source.name
        tried += (_tried(name, each, unmet(table, each.expectation, given.context)) for each in file.tests)
    _write(out, _FORMS[format_](tried, quiet=quiet))
    if not is_enabled or not all(each["passed"] for each in tried):
        raise click.exceptions.Exit(1)


def _target(named: tuple[str, ...], out: str) -> str:
    """Return where --record writes: to -o FILE, or to the only FILE, which must not exist. Raises UsageError."""
    if not named:
        return out
    if len(named) > 1 or out != "-":
        raise click.UsageError("--record only writes a file of tests: give it once, with -o FILE")
    if os.path.lexists(named[0]):
        raise click.UsageError(f"'{printable(named[0])}' exists: --record -o {printable(named[0])} overwrites it")
    return named[0]


def _read(paths: tuple[str, ...]) -> list[ExpectationFile]:
    """Read all files before any test runs. Raises UsageProblem with all faults."""
    found: list[ExpectationFile] = []
    faults: list[Diagnostic] = []
    for path in paths:
        try:
            found.append(read_expectations(read_source(path, FileKind.ROUTE_TESTS)))
        except CrondorError as error:  # noqa: PERF203 - the faults of all files
            faults += error.diagnostics
    if faults:
        raise UsageProblem(CrondorError(faults))
    return found


def _check_named(files: Iterable[ExpectationFile], allow_dirs: Iterable[str]) -> None:
    """Raise UsageProblem for configuration named in a file of tests that is outside its and the working folder."""
    faults: list[Diagnostic] = []
    for file in files:
        allowed = Files((os.path.dirname(file.source.name) or ".", ".", *allow_dirs), base=".")
        for path in file.config:
            try:
                allowed.real(path)
            except FileRefused as error:  # noqa: PERF203 - the faults of all files
                found = error.diagnostics[0]
                help_text = "allow its folder with --allow-dir, or give it with --config FILE"
                faults.append(replace(found, span=file.source.span(0, 0), help=help_text))
    if faults:
        raise UsageProblem(CrondorError(faults))


def _recorded(given: TestOptions, files: JobFiles, folder: str) -> list[str]:
    """Return the lines of a file of tests in a folder, with paths of the configuration relative to it."""
    table = given.table(())
    if not table.is_enabled:
        raise click.exceptions.Exit(1)
    jobs: Iterator[tuple[str, dict[str, str | None]]]
    if files.paths:
        jobs = ((f"job {job.id}", chosen_of(table, job.ad)) for job in files.jobs(AdFindings()))
    else:
        jobs = ((_name(job.chosen), job.chosen) for job in made_jobs([table], given.context))
    seen = [os.path.relpath(path, folder or ".") if path != "-" else path for path in given.config.paths]
    return list(written(record(table, jobs, given.context), seen))


def _write(out: str, lines: Iterable[str]) -> None:
    """Write the result. Raises UsageError."""
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
    if out == "-":
        emit(data)
        return
    write_file(out, data)


def _name(chosen: dict[str, str | None]) -> str:
    """Return a name for a generated job from its chosen attributes."""
    said = [f"no {name}" if text is None else f"{name} = {text}" for name, text in chosen.items()]
    shown = ", ".join(said[:4]) + (", ..." if len(said) > 4 else "")
    return printable(shown) if shown else "the plainest job"
