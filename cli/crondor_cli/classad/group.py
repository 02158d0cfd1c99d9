"""`crondor classad`: expressions and ads by themselves; its subcommands are loaded when they are asked for."""

from __future__ import annotations

import click

from crondor_cli.common.lazy_group import LazyGroup

COMMANDS = {
    "eval": ("crondor_cli.classad.eval", "The value of an expression, and why it is not true."),
    "format": ("crondor_cli.classad.format", "Ads from one form into another."),
    "match": ("crondor_cli.classad.match", "Whether two ads accept each other, and why not."),
}

EPILOG = """\b
Examples:
  crondor classad eval 'splitTime(time())'
  crondor classad eval Requirements --my job.ad --target slot.ad --explain
  crondor classad format history --to json
  crondor classad match job.ad slot.ad --explain

Ads are read in HTCondor's forms: -long (as condor_q -long prints them, and as history files hold them), new syntax,
JSON and XML; the form is told by how the text begins."""


@click.group(
    "classad",
    cls=LazyGroup,
    modules=COMMANDS,
    epilog=EPILOG,
    no_args_is_help=True,
    short_help="Expressions and ads by themselves.",
)
def command() -> None:
    """Evaluate, explain, rewrite and match ClassAds as HTCondor's daemons do.

    Exit status: 0 fine, 1 a finding (a text that cannot be read, no value, no match), 2 wrong usage.
    """
