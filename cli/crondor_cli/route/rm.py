"""`crondor route rm`: remove routed jobs from the queue, like condor_router_rm, and honor all of its options."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import click

from crondor.diagnostics import Diagnostic, Severity, printable
from crondor.router.tools import HELD, IDLE
from crondor.schedd.embedded import EmbeddedSchedd
from crondor.schedd.live import LiveSchedd
from crondor.schedd.protocol import NotOffered
from crondor_cli.kit.configs import OneDashCommand, config_option
from crondor_cli.kit.options import Clock, ConfigFiles, QueueOptions, clock_options, format_option, schedd_options
from crondor_cli.kit.queues import acted_data, embedded_of, live_of, undone
from crondor_cli.kit.screen import say, show, usage
from crondor_cli.kit.tables import echo_json, plural
from crondor_cli.route.run import copies, copies_options, missing_copies, queue_of_copies

if TYPE_CHECKING:
    from crondor_cli.route import results


EXAMPLE = """\
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor queue submit --queue q job.sub
crondor route rm -all --queue q"""

EPILOG = """\b
Examples:
  crondor route rm -route Campus -held --live
  crondor route rm -idle -constraint 'time() - QDate > 86400' --live
  crondor route rm -all --queue ./queue --reason 'site closed'

Options have one dash or two. A job must satisfy all options; with several routes, it must be on any of them. Jobs
without RouteName are never removed. A running router releases the source of a removed copy, and routes it again if it
still matches: to stop that, change the route first.

Exit status: 0 removed, 1 a finding (no job is selected, or a job was not removed), 2 wrong usage."""

_REASON = "via crondor route rm"
_NOBODY = Diagnostic("no-job", "no routed job selected", Severity.WARNING, help="crondor route q lists the routed jobs")


@click.command("rm", example=EXAMPLE, cls=OneDashCommand, epilog=EPILOG)
@copies_options
@click.option("--all", "all_", is_flag=True, help="Remove all routed jobs (otherwise select jobs by an option).")
@click.option("--reason", metavar="TEXT", default=_REASON, help=f'The reason to record (default: "{_REASON}").')
@schedd_options
@config_option
@clock_options
@format_option("text", "json")
def command(
    jobs: tuple[str, ...],
    routes: tuple[str, ...],
    idle: bool,
    held: bool,
    constraints: tuple[str, ...],
    all_: bool,
    reason: str,
    asked: QueueOptions,
    config: ConfigFiles,
    allow_dirs: tuple[str, ...],
    clock: Clock,
    format_: str,
) -> None:
    """Remove routed jobs from the embedded queue or a live schedd's."""
    if not (all_ or jobs or routes or idle or held or constraints):
        raise usage("select jobs: -route NAME, -idle, -held, -constraint EXPR, the jobs, or -all for every routed job")
    states = [text for text, wanted in ((IDLE, idle), (HELD, held)) if wanted]
    chosen = copies(jobs, routes, states, constraints)
    asked = queue_of_copies(asked, config, allow_dirs, clock)
    if asked.kind == "log":
        message = f"the log of a queue is read only, and the configuration only names {printable(asked.log or '')}"
        raise NotOffered(Diagnostic("schedd-not-offered", message, help="give the schedd: --live, or --name NAME"))
    opened: AbstractContextManager[LiveSchedd | EmbeddedSchedd] = (
        live_of(asked) if asked.kind == "live" else embedded_of(asked.queue, clock)
    )
    with opened as schedd:
        missing = missing_copies(chosen, schedd.jobs(chosen, ["ProcId"]))
        acted = schedd.remove(chosen, reason)
    findings = [*missing, *undone(acted, "already removed, but still managed by others", "cannot be removed")]
    if not findings and not acted.done:
        findings.append(_NOBODY)
    show(findings)
    if format_ == "json":
        data: results.Removed = {"action": "rm", "constraint": chosen.text, **acted_data("rm", acted, findings)}
        echo_json(data)
    else:
        if not findings:
            say(f"All jobs matching constraint ({printable(chosen.text)}) have been marked for removal")
        say(f"{plural(acted.done, 'job')} removed")
    if findings:
        raise click.exceptions.Exit(1)
