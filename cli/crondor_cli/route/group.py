"""`crondor route`: a job router's routes; its subcommands are loaded when they are asked for."""

from __future__ import annotations

import click

from crondor_cli.common.lazy_group import LazyGroup

COMMANDS = {
    "show": ("crondor_cli.route.show", "The routing table, and the routes that are rejected."),
    "check": ("crondor_cli.route.check", "What is wrong with a router's configuration, or will surprise."),
    "match": ("crondor_cli.route.match", "Which job goes on which route."),
    "explain": ("crondor_cli.route.explain", "For each job and route: matched, or the reason why not."),
    "apply": ("crondor_cli.route.apply", "The routed ads of jobs, or what changes."),
    "diff": ("crondor_cli.route.diff", "What another configuration does otherwise with jobs."),
    "test": ("crondor_cli.route.expect", "Whether routes do what a file expects."),
    "plan": ("crondor_cli.route.plan", "The coming runs of scheduled jobs, and the route of each."),
    "run": ("crondor_cli.route.run", "Run a job router over a queue."),
    "status": ("crondor_cli.route.status", "How the routes stand, and why jobs are not routed now."),
    "q": ("crondor_cli.route.q", "The routed jobs of a queue, and a summary of their states."),
    "history": ("crondor_cli.route.history", "Routed jobs that have left the queue, by route."),
    "rm": ("crondor_cli.route.rm", "Remove routed jobs from a queue."),
    "convert": ("crondor_cli.route.convert", "Routes written as ClassAds as routes of today."),
}

EPILOG = """\b
Examples:
  crondor route show --config 50-routes.conf
  crondor route check --config 10-base.conf --config 50-routes.conf
  condor_q -long | crondor route explain --config 50-routes.conf -

Several --config are read in their order, later assignments win. A file may include files below its own folder; no
command in it is ever run."""


@click.group(
    "route",
    cls=LazyGroup,
    modules=COMMANDS,
    epilog=EPILOG,
    no_args_is_help=True,
    short_help="A job router: its routes, who goes where and why not; run one.",
)
def command() -> None:
    """Show what an HTCondor job router does with its configuration and why, and be one.

    Exit status: 0 fine, 1 a finding (a rejected route, routing switched off, an error), 2 wrong usage.
    """
