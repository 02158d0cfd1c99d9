"""`crondor classad`: expressions and ads by themselves; its subcommands are loaded when they are asked for."""

from __future__ import annotations

import click

from crondor_cli.kit.command import LazyGroup

COMMANDS = {
    "eval": ("crondor_cli.classad.eval", "Evaluate an expression, and explain why it is not true."),
    "format": ("crondor_cli.classad.format", "Convert ads from one form to another."),
    "transform": ("crondor_cli.classad.transform", "Apply HTCondor's transform rules to ads."),
    "match": ("crondor_cli.classad.match", "Show whether two ads accept each other, and why not."),
}

EPILOG = """\b
Examples:
  crondor classad eval 'splitTime(time())'
  crondor classad eval Requirements --my job.ad --target slot.ad --explain
  crondor classad format history --to json
  condor_q -long | crondor classad transform --rules site.rules
  crondor classad match job.ad slot.ad --explain

Ads are read in all of HTCondor's forms: -long (condor_q -long, history files), new syntax, JSON and XML; the beginning
of the text tells which."""


@click.group("classad", cls=LazyGroup, modules=COMMANDS, epilog=EPILOG, no_args_is_help=True)
def command() -> None:
    """Evaluate, explain, rewrite, transform and match ClassAds as HTCondor's daemons do.

    Exit status: 0 fine, 1 a finding (a text that cannot be read, no value, no match), 2 wrong usage.
    """
