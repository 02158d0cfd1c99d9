"""`crondor check`: what will go wrong with submit files, before submission."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from crondor.lint import RULES
from crondor_cli.check.fix import fix_files
from crondor_cli.check.run import CheckOptions, run
from crondor_cli.common.baseline_options import BaselineOptions, baseline_options
from crondor_cli.common.findings.baseline import with_baseline, write_baseline
from crondor_cli.common.findings.rules import explain_rule, list_rules
from crondor_cli.common.findings.text import print_report, print_statistics
from crondor_cli.kit.command import Command
from crondor_cli.kit.files import KINDS, FoundPath, below, inside_of, submit_files
from crondor_cli.kit.options import (
    ConfigFiles,
    ReleaseType,
    Surroundings,
    completing,
    completing_list,
    file_options,
    format_option,
    interval_option,
    now_options,
    pool_config_options,
)
from crondor_cli.kit.parallel import jobs_option
from crondor_cli.kit.progress import watch_option
from crondor_cli.kit.screen import say

if TYPE_CHECKING:
    from crondor.knowledge.releases import Release

EXAMPLE = """\
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor check job.sub"""

EPILOG = """\b
Examples:
  crondor check job.sub
  crondor check --select CRN1,CRN2 --ignore CRN203 jobs/
  crondor check --pool-config 50-site.conf job.sub
  crondor check --fix job.sub
  crondor check --fix --write jobs/*.sub
  crondor check --format sarif jobs/ > crondor.sarif
  crondor check --explain CRN204
  crondor check --baseline crondor-baseline.json --update-baseline jobs/
  crondor check --baseline crondor-baseline.json jobs/

A folder stands for the files *.sub, *.submit and *.jdl below it, without links that lead out; - for standard input.
Nothing that a file names is executed; what it includes is read, and what else it names is looked for and not opened,
only below its own folder and those of --allow-dir.

A comment `# crondor: ignore[CRN204]` silences rules for the statement below it, `ignore-file[...]` for the whole file.
select, ignore, target, strict, no-files and baseline may be set in [check] of crondor.toml: see `crondor config`.

Exit status: 0 nothing but notes, 1 an error or a warning (with --strict: a note), 2 wrong usage, or a file
that cannot be read."""


@click.command(
    "check",
    cls=Command,
    example=EXAMPLE,
    epilog=EPILOG,
)
@watch_option(here=True)
@submit_files()
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    shell_complete=completing_list(lambda _: RULES),
    help="Only rules whose code begins so (comma-separated).",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="CODES",
    shell_complete=completing_list(lambda _: RULES),
    help="No rules whose code begins so.",
)
@click.option(
    "--target",
    type=ReleaseType(),
    metavar="RELEASE",
    help="The release that the files are submitted to, as 24 or 24.3 (default: the newest).",
)
@click.option("--fix", "fix", is_flag=True, help="Show the changes that would cure what has one cure.")
@click.option("--write", is_flag=True, help="With --fix: change the files.")
@click.option("--unsafe", is_flag=True, help="With --fix: also changes of what the author asked for.")
@click.option("--explain", metavar="CODE", shell_complete=completing(lambda _: RULES), help="Explain a rule.")
@click.option("--rules", is_flag=True, help="List the rules.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of showing them.")
@baseline_options
@click.option("--strict", is_flag=True, help="Exit with 1 for notes as well.")
@click.option("--no-files", is_flag=True, help="Do not look if the files are there that a description names.")
@file_options
@now_options
@interval_option
@pool_config_options
@jobs_option
@click.option("-q", "--quiet", is_flag=True, help="Print the findings and no summary.")
@format_option("text", "concise", "json", "sarif", "github", text="How to print; concise: a line each.")
def command(
    paths: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    target: Release | None,
    fix: bool,
    write: bool,
    unsafe: bool,
    explain: str | None,
    rules: bool,
    statistics: bool,
    strict: bool,
    baseline: BaselineOptions,
    no_files: bool,
    surroundings: Surroundings,
    now: str | None,
    tz: str | None,
    schedd_interval: int,
    pool_config: ConfigFiles | None,
    jobs: int | None,
    quiet: bool,
    format_: str,
) -> None:
    """Say what condor_submit lets through, what the schedd silently changes, and what will be held.

    Every finding has a code, the place, why, and what to write instead. Without FILES those of this folder are checked.
    """
    # These take 40 ms, which --help does not need.
    if explain is not None or rules:
        explain_rule(explain) if explain is not None else list_rules()
        return
    context = click.get_current_context(silent=True)
    if (write or unsafe) and not fix:
        raise click.UsageError(f"{'--write' if write else '--unsafe'} goes with --fix", context)
    if fix and baseline.update:
        raise click.UsageError("--update-baseline writes what is found, --fix cures it: one after the other", context)
    if fix and format_ != "text":
        raise click.UsageError("--fix shows a diff, and no other --format", context)
    given = CheckOptions(
        select, ignore, surroundings, tz, schedd_interval, strict, no_files, target, pool_config, not fix
    )
    result = run(paths or _here(), given, now, jobs)
    if baseline.path is not None:
        result = with_baseline(result, baseline)
    if baseline.update:
        status = write_baseline(result, baseline)
    elif fix:
        status = fix_files(result, write=write, unsafe=unsafe)
    elif statistics:
        print_statistics(result, format_, quiet=quiet)
        status = result.status
    else:
        print_report(result, format_, quiet=quiet)
        status = result.status
    for reason in result.unread:
        say(f"Error: {reason}", err=True)
    raise click.exceptions.Exit(status)


def _here() -> tuple[str, ...]:
    """Return the submit files of this folder. Raises UsageError where there is none."""
    found = tuple(FoundPath.below(os.curdir, path.removeprefix("./")) for path in inside_of(below(os.curdir)))
    if not found:
        message = f"there is no {KINDS} in this folder: name the files to check, a folder, or - for standard input"
        raise click.UsageError(message, click.get_current_context(silent=True))
    return found
