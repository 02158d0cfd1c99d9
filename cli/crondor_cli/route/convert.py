"""`crondor route convert`: routes written as ClassAds as routes of today."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from crondor.config import Configuration
from crondor.config.deployed import READ_BY_TRANSFORMS
from crondor.diagnostics import Diagnostic, Severity, has_error
from crondor.lint.report import place_data
from crondor.macro.files import Files
from crondor.router.legacy import ConversionMode, Macros, NewTable, convert_as_tool, convert_table, read_legacy
from crondor.router.legacy.table import ENTRIES_CMD, Runner
from crondor.router.legacy.verifying import Verified, verify
from crondor_cli.kit.configs import ConfigCommand, config_option, files_below, load_config
from crondor_cli.kit.files import read_source, refuse_overwriting, write_texts
from crondor_cli.kit.options import ConfigFiles, format_option, output_option
from crondor_cli.kit.route_tables import one_for_each_place
from crondor_cli.kit.screen import say, show
from crondor_cli.kit.tables import plural

if TYPE_CHECKING:
    from crondor_cli.route import results

EXAMPLE = """\
echo 'JOB_ROUTER_ENTRIES = [ Name = "A"; TargetUniverse = 5 ]' \\
    | crondor route convert --config -"""

EPILOG = """\b
Examples:
  crondor route convert --config 02-old-routes.conf
  crondor route convert --config 02-old-routes.conf -o 02-routes.conf && \\
      crondor route check --config 02-routes.conf
  ./routing_table.sh > table.txt; crondor route convert --config old.conf \\
      --cmd-output table.txt
  crondor route convert --config old.conf --faithful

--ce converts for a current entrypoint: what an older HTCondor-CE generated is left out, and what its transforms read is
kept. The result is tested with generated jobs.

The result replaces JOB_ROUTER_DEFAULTS, JOB_ROUTER_ENTRIES, JOB_ROUTER_ENTRIES_FILE and JOB_ROUTER_ENTRIES_CMD; changes
of meaning are reported on stderr. The command of JOB_ROUTER_ENTRIES_CMD is never run.

Exit status: 0 all routes are converted; 1 a route, or an attribute of one, is malformed and left out; 2 wrong usage,
or a file that cannot be read or written."""


@click.command("convert", example=EXAMPLE, cls=ConfigCommand, epilog=EPILOG)
@config_option
@output_option("Where to write the new configuration.")
@click.option("--faithful", is_flag=True, help="Convert as HTCondor's own tool does, its defects included.")
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in ConversionMode]),
    help="With --faithful: print as for a file (default), or as for the configuration in use.",
)
@click.option("--cmd-output", metavar="FILE", help="What the command of JOB_ROUTER_ENTRIES_CMD printed.")
@format_option("text", "json", text="A configuration, or the routes and findings as data.")
def command(
    config: ConfigFiles,
    allow_dirs: tuple[str, ...],
    out: str,
    faithful: bool,
    mode: str | None,
    cmd_output: str | None,
    format_: str,
) -> None:
    """Convert the routes of JOB_ROUTER_ENTRIES and related knobs to knobs JOB_ROUTER_ROUTE_<name>."""
    if mode is not None and not faithful:
        raise click.UsageError("--mode says how --faithful prints: add --faithful")
    if faithful and (cmd_output is not None or format_ == "json"):
        raise click.UsageError("--faithful prints what HTCondor's tool prints: it takes no --cmd-output, no --format")
    refuse_overwriting(out, (*config.paths, *([cmd_output] if cmd_output else [])))
    configuration = load_config(config, allow_dirs)
    files = files_below(config, allow_dirs)
    if faithful:
        made = convert_as_tool(configuration, mode=ConversionMode(mode or ConversionMode.FILE.value), files=files)
        write_texts([str(made)], out)
        found: Sequence[Diagnostic] = (*configuration.diagnostics, *made.diagnostics)
        is_empty = False
    else:
        converted = _converted(configuration, files, cmd_output, is_entrypoint=config.is_entrypoint)
        table, tried = converted
        found, is_empty = (*table.diagnostics, *tried.diagnostics), not (table.routes or table.transforms)
        write_texts([str(table) if format_ == "text" else _json(table, found, tried)], out)
    if format_ == "text":
        show(one_for_each_place(found))
        _summarise(found, faithful=faithful, is_empty=is_empty)
        if not faithful and tried.jobs:
            differences = plural(len(tried.diagnostics), "difference") if tried.diagnostics else "no difference"
            jobs = plural(tried.jobs, "made job")
            say(f"tried with {jobs}, through the old routes and the new: {differences}", err=True)
    raise click.exceptions.Exit(int(has_error(found)))


def _converted(
    configuration: Configuration, files: Files, cmd_output: str | None, *, is_entrypoint: bool
) -> tuple[NewTable, Verified]:
    """Convert, and try the result with made jobs. Raises UsageError."""
    run: Runner | None = None
    if cmd_output is not None:
        printed = read_source(cmd_output).text
        if not configuration.is_set(ENTRIES_CMD):
            raise click.UsageError(f"--cmd-output: the configuration has no {ENTRIES_CMD}")

        def run(_command: str) -> str:
            return printed

    read = partial(read_legacy, configuration, files=files, run=run, without_generated=is_entrypoint)
    table = convert_table(read(macros=Macros.KEPT), READ_BY_TRANSFORMS if is_entrypoint else ())
    if not table.routes and not table.transforms:
        return table, Verified(0, ())
    return table, verify(read(), table)


def _summarise(found: Iterable[Diagnostic], *, faithful: bool, is_empty: bool) -> None:
    kept = one_for_each_place(found)
    how = "as condor_transform_ads does it, its defects included" if faithful else "differences to the old routes"
    said = _counted(each for each in kept if each.kind.startswith("legacy-"))
    say("there is no old route to convert" if is_empty and not said else f"{how}: {said or 'none'}", err=True)
    others = _counted(each for each in kept if not each.kind.startswith("legacy-"))
    if others:
        say(f"in the rest of the configuration: {others}", err=True)


def _counted(found: Iterable[Diagnostic]) -> str:
    counted = Counter(each.severity for each in found)
    return ", ".join(plural(counted[severity], severity.value) for severity in Severity if counted[severity])


def _json(table: NewTable, found: Iterable[Diagnostic], tried: Verified) -> str:
    data: results.ConvertResult = {
        "routes": [
            {
                "name": route.name,
                "was": route.entry.name,
                "knob": route.entry.knob,
                "place": place_data(route.entry.span),
                "commands": route.text.split("\n"),
            }
            for route in table.routes
        ],
        "transforms": [
            {"name": each.name, "place": place_data(each.entry.span), "commands": each.text.split("\n")}
            for each in table.transforms
        ],
        "names": list(table.names),
        "verified": {"jobs": tried.jobs, "differences": len(tried.diagnostics)},
        "macros": dict(table.macros),
        "diagnostics": [
            {
                "code": each.code,
                "severity": each.severity.value,
                "message": each.message,
                "help": each.help,
                "place": each.span and place_data(each.span),
            }
            for each in found
        ],
    }
    return json.dumps(data, indent=2) + "\n"
