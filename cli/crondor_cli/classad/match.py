"""`crondor classad match`: test whether two ads accept each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import click

from crondor.classad import Context, Explanation, matches
from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic, Severity, printable
from crondor_cli.classad.eval import part_data
from crondor_cli.kit.ads import ad_of, context_of, faithful_option, lenient_option, mode_of, name_of
from crondor_cli.kit.command import Command
from crondor_cli.kit.files import check_stdin
from crondor_cli.kit.options import Clock, clock_options, format_option
from crondor_cli.kit.screen import say, show
from crondor_cli.kit.tables import echo_json

if TYPE_CHECKING:
    from crondor_cli.classad import results

EXAMPLE = """\
echo 'Requirements = true' > job.ad
crondor classad match job.ad job.ad"""

EPILOG = """\b
Examples:
  crondor classad match job.ad slot.ad
  crondor classad match job.ad slot.ad --explain
  condor_q -long 12.0 | crondor classad match - slot.ad \\
      --now '2026-12-24 18:00'

An ad accepts the other if its Requirements are true, with MY for itself and TARGET for the other; an ad without
Requirements accepts none.

Exit status: 0 both accept; 1 an ad does not, or a text cannot be read; 2 wrong usage."""


class MatchSide(NamedTuple):
    """One ad's verdict about the other; the explanation is None if it has no Requirements."""

    name: str
    other: str
    accepts: bool
    explanation: Explanation | None

    @property
    def reason(self) -> str | None:
        """Why it does not accept the other; None if it does."""
        if self.accepts:
            return None
        return "it has no Requirements" if self.explanation is None else self.explanation.reason()


@click.command("match", cls=Command, example=EXAMPLE, epilog=EPILOG)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@clock_options
@faithful_option
@lenient_option
@click.option("--explain", is_flag=True, help="Show the value of every part of both Requirements.")
@format_option("text", "json", text="How to print the answer.")
def command(a: str, b: str, clock: Clock, lenient: bool, faithful: bool, explain: bool, format_: str) -> None:
    """Show whether the ads of the files A and B accept each other; time() is --now."""
    check_stdin(a, b)
    context = context_of(clock, faithful=faithful)
    left, right = ad_of(a, mode_of(lenient)), ad_of(b, mode_of(lenient))
    sides = [_side(a, left, b, right, context), _side(b, right, a, left, context)]
    if format_ == "json":
        data: results.MatchResult = {"match": all(s.accepts for s in sides), "sides": [_data(s) for s in sides]}
        echo_json(data)
    else:
        say("\n".join(line for side in sides for line in _lines(side, explain)))
    show(_others(a, left, b, right, context))
    if not all(side.accepts for side in sides):
        raise click.exceptions.Exit(1)


def _side(name: str, ad: ClassAd, other_name: str, other: ClassAd, context: Context) -> MatchSide:
    explanation = ad["Requirements"].explain(ad, other, context) if "Requirements" in ad else None
    return MatchSide(name_of(name), name_of(other_name), matches(ad, other, context), explanation)


def _others(name: str, ad: ClassAd, other_name: str, other: ClassAd, context: Context) -> Iterator[Diagnostic]:
    """Yield a warning for each side for which HTCondor's answer differs."""
    theirs = replace(context, faithful=True)
    for who, one, whom, two in ((name, ad, other_name, other), (other_name, other, name, ad)):
        accepts = matches(one, two, theirs)
        if accepts != matches(one, two, context):
            said = "accepts" if accepts else "does not accept"
            message = f'for HTCondor {name_of(who)} {said} {name_of(whom)}: it finds no name after x["y"]'
            help_text = 'write x["y"]["z"] or x.y.z instead of x["y"].z; --faithful evaluates as HTCondor does'
            yield Diagnostic("classad-faithful", message, Severity.WARNING, help=help_text)


def _lines(side: MatchSide, explain: bool) -> list[str]:
    said = "accepts" if side.accepts else "does not accept"
    lines = [f"{printable(side.name)} {said} {printable(side.other)}"]
    if side.reason is not None:
        lines.append(f"  because {printable(side.reason)}")
    if explain and side.explanation is not None:
        lines += [f"    {printable(line)}" for line in side.explanation.lines()]
    return lines


def _data(side: MatchSide) -> results.Side:
    explanation = side.explanation
    return {
        "name": side.name,
        "other": side.other,
        "accepts": side.accepts,
        "reason": side.reason,
        "requirements": None if explanation is None else part_data(explanation),
    }
