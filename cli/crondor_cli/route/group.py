"""`crondor route`: a job router's routes; its subcommands are loaded when they are asked for."""

from __future__ import annotations

import click

from crondor_cli.kit.command import LazyGroup

COMMANDS = {
    "show": ("crondor_cli.route.show", "Show the routing table, and the routes that are rejected."),
    "check": ("crondor_cli.route.check", "Find what is wrong with a router's configuration."),
    "explain": ("crondor_cli.route.explain", "Explain which job goes on which route, and why not."),
    "apply": ("crondor_cli.route.apply", "Print the routed ads of jobs, or what changes."),
    "diff": ("crondor_cli.route.diff", "Compare what two configurations do with jobs."),
    "test": ("crondor_cli.route.expect", "Test whether routes do what a file expects."),
    "plan": ("crondor_cli.route.plan", "List the coming runs of scheduled jobs, and their routes."),
    "run": ("crondor_cli.route.run", "Run a job router over a queue."),
    "status": ("crondor_cli.route.status", "Show the state of the routes, and why jobs are not routed."),
    "q": ("crondor_cli.route.q", "List the routed jobs of a queue, and their states."),
    "history": ("crondor_cli.route.history", "List routed jobs that have left the queue, by route."),
    "rm": ("crondor_cli.route.rm", "Remove routed jobs from a queue."),
    "convert": ("crondor_cli.route.convert", "Convert routes written as ClassAds to today's syntax."),
}

EPILOG = """\b
Examples:
  crondor route show --config 50-routes.conf
  crondor route check --config 10-base.conf --config 50-routes.conf
  condor_q -long | crondor route explain --config 50-routes.conf -

Several --config are read in order; later assignments win. A file may include files below its own folder; no command in
it is ever run."""


@click.group("route", cls=LazyGroup, modules=COMMANDS, epilog=EPILOG, no_args_is_help=True)
def command() -> None:
    """Show what an HTCondor job router does with its configuration, and run one.

    Exit status: 0 fine, 1 a finding (a rejected route, routing switched off, an error), 2 wrong usage.
    """
