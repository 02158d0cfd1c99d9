"""The command `crondor`: its subcommands by name, loaded on demand."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import NoReturn, TextIO

import click

from crondor.diagnostics import CrondorError
from crondor_cli.kit.command import LazyGroup, installed_version, shared_options
from crondor_cli.kit.screen import say, show_error

# Name -> the module whose `command` it is, and one line of help: listing the commands imports no module.
COMMANDS = {
    "next": ("crondor_cli.next.command", "Show when jobs run, are matched, and start at the latest."),
    "explain": ("crondor_cli.explain.command", "Explain what a schedule means, and why it fires or not."),
    "diff": ("crondor_cli.diff.command", "Compare two schedules, or two readings of one."),
    "compile": ("crondor_cli.compile.command", "Write any schedule as lines for a submit file, proven."),
    "agenda": ("crondor_cli.agenda.command", "List the coming days of all jobs of some files."),
    "check": ("crondor_cli.check.command", "Find what will go wrong with submit files, before submission."),
    "preview": ("crondor_cli.preview.command", "Show the ad that the schedd makes of a job, or its refusal."),
    "simulate": ("crondor_cli.simulate.command", "Simulate a pool: which runs are on time, late, missed, held."),
    "run": ("crondor_cli.run.command", "Run the jobs of a submit file on this machine."),
    "import": ("crondor_cli.groups:import_", "Convert a Unix crontab to submit files."),
    "export": ("crondor_cli.crontab.export_command", "Convert a schedule to lines for Unix cron, or to a calendar."),
    "plan": ("crondor_cli.plan.command", "Show what a folder of submit files would change in a queue."),
    "apply": ("crondor_cli.plan.command:apply", "Change a queue to what a folder of submit files has."),
    "queue": ("crondor_cli.groups:queue", "Show and change the jobs of a queue; submit to it, guard it."),
    "monitor": ("crondor_cli.monitor.command", "Report what was due, what started, and why the rest did not."),
    "route": ("crondor_cli.groups:route", "Show, check, test and run the routes of a job router."),
    "hook": ("crondor_cli.groups:hook", "Try HTCondor's hooks, run cron jobs, fetch work."),
    "classad": ("crondor_cli.groups:classad", "Evaluate, rewrite, transform and match ClassAds."),
    "config": ("crondor_cli.groups:config", "Show settings, check the installation, print JSON Schemas."),
    "lsp": ("crondor_cli.lsp.command", "Run a language server: findings and help while you write."),
    "mcp": ("crondor_cli.mcp.command", "Serve read-only tools to language models."),
}
UNLISTED = {"help": ("crondor_cli.help", "Show what a command does and takes, as its --help.")}

SETTINGS = {"help_option_names": ["--help", "-h"], "max_content_width": 80}


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        version = installed_version()
        say(f"crondor {version}" if version else "crondor, not installed: run from a checkout")
        ctx.exit()


EPILOG = """\b
To begin with:
  crondor next --spec nightly.sub      when the job will run
  crondor check nightly.sub            what will go wrong, and how to fix it
  crondor simulate nightly.sub         which runs will be late or missed
  crondor route explain --config routes.conf nightly.sub
                                       which route takes the job, and why
  crondor COMMAND --help               all options, with examples"""


@click.group(
    cls=LazyGroup, modules=COMMANDS, unlisted=UNLISTED, epilog=EPILOG, context_settings=SETTINGS, no_args_is_help=True
)
@click.option(
    "-V", "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version."
)
def cli() -> None:
    """Show when HTCondor jobs run and where they go: crontab and deferral, queues, routes, hooks, ClassAds.

    If the daemons differ from the manual, both are shown.

    Exit status: 0 fine, 1 a finding (an invalid schedule, a schedule that never fires, a difference with --strict), 2
    wrong usage.
    """


cli.params += shared_options()


def main() -> NoReturn:
    """Run the command line; a closed pipe and Ctrl-C end it quietly."""
    stdout, stderr, status = sys.stdout, sys.stderr, 0
    if isinstance(stdout, io.TextIOWrapper) and stdout.errors == "strict":
        stdout.reconfigure(errors="backslashreplace")  # a file's name must not cause a failure
    try:
        status = _status()
        if stdout is not None:
            stdout.flush()
    except KeyboardInterrupt:
        status = 130
    except OSError as error:
        status = _unwritten(error, stdout, stderr) or status
    except SystemExit:
        if sys.stdout is stdout:
            raise  # shell completion is done
        status = _unwritten(BrokenPipeError(), stdout, stderr)  # click has handled the closed pipe, and replaced stdout
    sys.exit(status)


def script() -> NoReturn:
    """Run the command line as a program: exit at once, since freeing all objects takes 6 of 73 ms."""
    try:
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def _status() -> int:
    try:
        status = cli.main(prog_name="crondor", standalone_mode=False)
    except click.Abort:
        return 130
    except click.ClickException as error:
        said = io.StringIO()
        error.show(said)
        say(said.getvalue(), err=True, nl=False)
        return error.exit_code
    except CrondorError as error:
        show_error(error)
        return 1
    return status if isinstance(status, int) else 0


def _unwritten(error: OSError, *streams: TextIO) -> int:
    """Return the exit status if the output cannot be written; print the reason, unless its reader has left."""
    status = 0
    if not isinstance(error, BrokenPipeError):
        status = 2
        with suppress(OSError):
            name = error.filename  # the output has no name: this is an unexpected failure of a file
            where = f"'{os.fsdecode(name)}'" if isinstance(name, (str, bytes)) else "cannot write"
            say(f"Error: {where}: {error.strerror}", err=True)
    for stream in streams:
        if stream is not None:
            # Data left in a buffer would fail again, with a traceback, when Python closes the stream.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return status
