"""`crondor route check`: what is wrong with a job router's configuration."""

from __future__ import annotations

import click

from crondor.lint.routes import ROUTE_RULES
from crondor_cli.common.baseline_options import BaselineOptions, baseline_options
from crondor_cli.common.findings.baseline import with_baseline, write_baseline
from crondor_cli.common.findings.rules import explain_rule, list_rules
from crondor_cli.common.findings.text import print_report, print_statistics
from crondor_cli.kit.configs import ConfigCommand
from crondor_cli.kit.options import (
    ConfigFiles,
    completing,
    completing_list,
    config_options,
    format_option,
    include_option,
    now_options,
)
from crondor_cli.route.check_run import RouteCheckOptions, fix_files, is_fixable, run

EXAMPLE = """\
echo 'JOB_ROUTER_ROUTE_NAMES = A' > r.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS true' >> r.conf
crondor route check --config r.conf"""

EPILOG = """\b
Examples:
  crondor route check --config 50-routes.conf
  crondor route check --config 10-base.conf --config 50-routes.conf \\
      --ignore CRN644
  crondor route check --config 50-routes.conf --fix
  crondor route check --config 50-routes.conf --fix --write
  crondor route check --config 50-routes.conf --format sarif > crondor.sarif
  crondor route check --explain CRN621

Files are read in their order, later lines win. A file may include files below its own folder and those of
--allow-dir; no command in it is ever run.

A comment `# crondor: ignore[CRN632]` silences rules for the line below it, also inside a route; `ignore-file[...]`
for the whole file.

Exit status: 0 nothing but notes, 1 an error or a warning (with --strict: a note), 2 wrong usage, or a file
that cannot be read."""


@click.command(
    "check",
    example=EXAMPLE,
    cls=ConfigCommand,
    epilog=EPILOG,
)
@config_options
@include_option
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    shell_complete=completing_list(lambda _: ROUTE_RULES),
    help="Only rules whose code begins so (comma-separated).",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="CODES",
    shell_complete=completing_list(lambda _: ROUTE_RULES),
    help="No rules whose code begins so.",
)
@click.option("--fix", "fix", is_flag=True, help="Show the changes that would cure what has one cure.")
@click.option("--write", is_flag=True, help="With --fix: change the files.")
@click.option("--explain", metavar="CODE", shell_complete=completing(lambda _: ROUTE_RULES), help="Explain a rule.")
@click.option("--rules", is_flag=True, help="List the rules.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of showing them.")
@baseline_options
@click.option("--strict", is_flag=True, help="Exit with 1 for notes as well.")
@click.option("-q", "--quiet", is_flag=True, help="Print the findings and no summary.")
@format_option("text", "concise", "json", "sarif", "github", text="How to print; concise: a line each.")
@now_options
def command(
    config: ConfigFiles,
    allow_dirs: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fix: bool,
    write: bool,
    explain: str | None,
    rules: bool,
    statistics: bool,
    strict: bool,
    baseline: BaselineOptions,
    quiet: bool,
    format_: str,
    now: str | None,
    tz: str | None,
) -> None:
    """Say what HTCondor refuses, what it leaves out without a word, and what routes otherwise than it reads.

    Every finding has a code, the place, why, and what to write instead.
    """
    if explain is not None or rules:
        explain_rule(explain) if explain is not None else list_rules(ROUTE_RULES)
        return
    _check_options(config, fix=fix, write=write, updates=baseline.update, format_=format_)
    result = run(config, RouteCheckOptions(allow_dirs, select, ignore, strict, not fix), now, tz)
    status = result.status
    if baseline.path is not None:
        result = with_baseline(result, baseline)
        status = write_baseline(result, baseline) if baseline.update else result.status
    if baseline.update:
        pass
    elif fix:
        status = fix_files(result, write=write)
    elif statistics:
        print_statistics(result, format_, quiet=quiet)
    else:
        print_report(result, format_, quiet=quiet)
    raise click.exceptions.Exit(status)


def _check_options(config: ConfigFiles, *, fix: bool, write: bool, updates: bool, format_: str) -> None:
    """Refuse what does not go together. Raises UsageError."""
    reason = None
    if write and not fix:
        reason = "--write goes with --fix"
    elif fix and updates:
        reason = "--update-baseline writes what is found, --fix cures it: one after the other"
    elif fix and format_ != "text":
        reason = "--fix shows a diff, and no other --format"
    elif fix and not is_fixable(config):
        reason = "--fix changes the files that --config names"
    if reason is not None:
        raise click.UsageError(reason, click.get_current_context(silent=True))
