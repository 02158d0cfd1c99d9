"""The groups of commands, with subcommands that are loaded on demand."""

from __future__ import annotations

import click

from crondor_cli.kit.command import LazyGroup

QUEUE = {
    "status": ("crondor_cli.queue.status", "List the jobs with a schedule: state, next start, trouble."),
    "recalc": ("crondor_cli.queue.status:recalc", "Show what a schedd's pass over its crontab jobs does now."),
    "submit": ("crondor_cli.queue.submit", "Submit a file to a queue."),
    "hold": ("crondor_cli.queue.acting:hold", "Put jobs of a queue on hold."),
    "release": ("crondor_cli.queue.acting:release", "Release held jobs of a queue."),
    "rm": ("crondor_cli.queue.acting:remove", "Remove jobs from a queue."),
    "edit": ("crondor_cli.queue.submit:edit", "Set attributes of jobs of a queue."),
    "history": ("crondor_cli.queue.status:history", "List jobs that have left the queue."),
    "guard": ("crondor_cli.queue.guard", "Keep DeferralTime on the manual's meaning."),
    "advertise": ("crondor_cli.queue.advertise", "Print a queue's next starts, as a Schedd Cron job does."),
}

QUEUE_EPILOG = """\b
Examples:
  crondor queue submit nightly.sub --queue q
  crondor queue status --queue q
  crondor queue status --log /var/lib/condor/spool/job_queue.log
  condor_q -all -long | crondor queue status --ads -
  crondor queue guard --live --once

Select jobs as in condor_q: 12.0, 12 for a whole cluster, an owner, or --constraint with an expression. Select the
queue with --queue, --log, --live or --ads; the default is the embedded queue of the environment variable
CRONDOR_QUEUE. `crondor next --queue PATH` lists the coming starts."""


@click.group("queue", cls=LazyGroup, modules=QUEUE, epilog=QUEUE_EPILOG, no_args_is_help=True)
def queue() -> None:
    """Show and change queues of jobs: an embedded queue on disk, a schedd's log, a live schedd, or ads.

    Exit status: 0 fine, 1 a finding (trouble, an unknown job, a queue that cannot be read), 2 wrong usage.
    """


ROUTE = {
    "show": ("crondor_cli.route.show", "Show the routing table, and the routes that are rejected."),
    "check": ("crondor_cli.route.check", "Find what is wrong with a router's configuration."),
    "explain": ("crondor_cli.route.explain", "Explain which job goes to which route, and why not."),
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

ROUTE_EPILOG = """\b
Examples:
  crondor route show --config 50-routes.conf
  crondor route check --config 10-base.conf --config 50-routes.conf
  condor_q -long | crondor route explain --config 50-routes.conf -

Several --config are read in order; later assignments win. A file may include files below its own folder; no command in
it is ever run."""


@click.group("route", cls=LazyGroup, modules=ROUTE, epilog=ROUTE_EPILOG, no_args_is_help=True)
def route() -> None:
    """Show what an HTCondor job router does with its configuration, and run a router.

    Exit status: 0 fine, 1 a finding (a rejected route, routing switched off, an error), 2 wrong usage.
    """


HOOK = {
    "run": ("crondor_cli.hook.run", "Try a hook by hand: what it gets, says and causes."),
    "daemon-cron": ("crondor_cli.hook.daemon_cron", "Run a daemon's cron jobs, and show the ads they make."),
    "fetch-work": ("crondor_cli.hook.fetch_work", "Answer a startd's hooks with crontab work that is due."),
}

HOOK_EPILOG = """\b
Examples:
  crondor hook run TRANSLATE_JOB ./translate --job job.ad --route Grid
  crondor hook run PREPARE_JOB ./java5 --job job.ad --format json
  crondor hook daemon-cron --config cron.conf --once"""


@click.group("hook", cls=LazyGroup, modules=HOOK, epilog=HOOK_EPILOG, no_args_is_help=True)
def hook() -> None:
    """Work with the programs that HTCondor's daemons call: hooks of the router, of fetched work, of daemon ads.

    Exit status: 0 fine, 1 a finding (a hook that fails, a configuration with a fault), 2 wrong usage.
    """


CLASSAD = {
    "eval": ("crondor_cli.classad.eval", "Evaluate an expression, and explain why it is not true."),
    "convert": ("crondor_cli.classad.convert", "Convert ads from one form to another."),
    "transform": ("crondor_cli.classad.transform", "Apply HTCondor's transform rules to ads."),
    "match": ("crondor_cli.classad.match", "Show whether two ads accept each other, and why not."),
}

CLASSAD_BEFORE = {"format": CLASSAD["convert"]}  # its name in 1.0

CLASSAD_EPILOG = """\b
Examples:
  crondor classad eval 'splitTime(time())'
  crondor classad eval Requirements --my job.ad --target slot.ad --explain
  crondor classad convert history --to json
  condor_q -long | crondor classad transform --rules site.rules
  crondor classad match job.ad slot.ad --explain

Ads are read in all of HTCondor's forms: -long (condor_q -long, history files), new syntax, JSON and XML; detected
by the beginning of the text."""


@click.group(
    "classad", cls=LazyGroup, modules=CLASSAD, unlisted=CLASSAD_BEFORE, epilog=CLASSAD_EPILOG, no_args_is_help=True
)
def classad() -> None:
    """Evaluate, explain, rewrite, transform and match ClassAds as HTCondor's daemons do.

    Exit status: 0 fine, 1 a finding (a text that cannot be read, no value, no match), 2 wrong usage.
    """


CONFIG = {
    "show": ("crondor_cli.config.show", "Show the settings, and where each comes from (default)."),
    "doctor": ("crondor_cli.config.doctor", "Show what is installed, and whether a schedd answers."),
    "schema": ("crondor_cli.config.schema", "Print the JSON of a command as a JSON Schema."),
    "service": ("crondor_cli.config.service", "Write a systemd unit for a command that runs for months."),
}

CONFIG_EPILOG = """\b
Examples:
  crondor config
  crondor config doctor --live
  crondor config schema next > next.schema.json
  crondor config service router --system --run-as condor -- --live"""


@click.group("config", cls=LazyGroup, modules=CONFIG, default="show", epilog=CONFIG_EPILOG)
def config() -> None:
    """Show the settings, check this installation, print JSON Schemas, and write systemd units.

    Exit status: 0 fine, 1 a finding (an installation with a fault, a unit that cannot be written), 2 wrong usage.
    """


IMPORT = {"crontab": ("crondor_cli.crontab.import_crontab", "Convert a Unix crontab to a submit file for each line.")}

IMPORT_EPILOG = """\b
Examples:
  crontab -l | crondor import crontab -
  crondor import crontab /etc/crontab -o jobs"""


@click.group("import", cls=LazyGroup, modules=IMPORT, epilog=IMPORT_EPILOG, no_args_is_help=True)
def import_() -> None:
    """Convert the schedules of other programs to submit files.

    Exit status: 0 fine, 1 a finding (a line that has no equivalent), 2 wrong usage.
    """
