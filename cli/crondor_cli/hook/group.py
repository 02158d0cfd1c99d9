"""`crondor hook`: HTCondor's hooks; its subcommands are loaded when they are asked for."""

from __future__ import annotations

import click

from crondor_cli.kit.command import LazyGroup

COMMANDS = {
    "run": ("crondor_cli.hook.run", "Try a hook by hand: what it gets, says and causes."),
    "daemon-cron": ("crondor_cli.hook.daemon_cron", "Run a daemon's cron jobs, and show the ads they make."),
    "fetch-work": ("crondor_cli.hook.fetch_work", "Answer a startd's hooks with crontab work that is due."),
}

EPILOG = """\b
Examples:
  crondor hook run TRANSLATE_JOB ./translate --job job.ad --route Grid
  crondor hook run PREPARE_JOB ./java5 --job job.ad --format json
  crondor hook daemon-cron --config cron.conf --once"""


@click.group("hook", cls=LazyGroup, modules=COMMANDS, epilog=EPILOG, no_args_is_help=True)
def command() -> None:
    """Work with the programs that HTCondor's daemons call: hooks of the router, of fetched work, of daemon ads.

    Exit status: 0 fine, 1 a finding (a hook that fails, a configuration with a fault), 2 wrong usage.
    """
