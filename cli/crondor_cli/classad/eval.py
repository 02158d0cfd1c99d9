"""`crondor classad eval`: evaluate an expression alone, in an ad or in a match of two ads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from crondor.classad import EvaluationFailed, Explanation, Expression, print_value
from crondor.classad.ad import ClassAd
from crondor.classad.tree import Reference
from crondor.diagnostics import Source, printable
from crondor_cli.kit.ads import ad_of, context_of, faithful_option, lenient_option, mode_of
from crondor_cli.kit.command import Command
from crondor_cli.kit.files import check_stdin
from crondor_cli.kit.options import Clock, clock_options, format_option
from crondor_cli.kit.screen import say
from crondor_cli.kit.tables import echo_json

if TYPE_CHECKING:
    from crondor_cli.classad import results
    from crondor_cli.kit.results import Part

EPILOG = """\b
Examples:
  crondor classad eval '1 + 2 * 3'
  crondor classad eval 'formatTime(time(), "%F %T")' \\
      --now '2026-12-24 18:00' --tz Europe/Berlin
  crondor classad eval 'Memory > 1024' --my slot.ad
  condor_q -long 12.0 | crondor classad eval Requirements --my - \\
      --target slot.ad --explain
  crondor classad eval -- '-1 % 2'

A bare name is looked up in --my, then in --target; MY.x and TARGET.x use only one of them.

Exit status: 0 a value, also undefined or error; 1 a text that cannot be read, or no value; 2 wrong usage."""


@click.command("eval", cls=Command, example="crondor classad eval '1 + 2 * 3'", epilog=EPILOG)
@click.argument("expression", metavar="EXPR")
@click.option("--my", "my_path", metavar="FILE", help="The ad that EXPR is part of; - reads standard input.")
@click.option("--target", "target_path", metavar="FILE", help="The ad it is matched with.")
@clock_options
@faithful_option
@lenient_option
@click.option("--explain", is_flag=True, help="Show the value of every part, and the shortest reason.")
@format_option("text", "json", text="How to print the value.")
def command(
    expression: str,
    my_path: str | None,
    target_path: str | None,
    clock: Clock,
    lenient: bool,
    faithful: bool,
    explain: bool,
    format_: str,
) -> None:
    """Print the value of EXPR as HTCondor's daemons compute it; time() is --now."""
    check_stdin(my_path, target_path)
    context = context_of(clock, faithful=faithful)
    code = Expression.parse(Source(expression, "EXPR"))
    my = ClassAd() if my_path is None else ad_of(my_path, mode_of(lenient))
    target = None if target_path is None else ad_of(target_path, mode_of(lenient))
    explanation = _explained(code, my).explain(my, target, context) if explain else None
    try:
        shown = print_value(code.evaluate(my, target, context))
    except EvaluationFailed:
        if explanation is not None and format_ == "text":
            say("\n".join(map(printable, explanation.lines())))
        raise
    if format_ == "json":
        data: results.EvalResult = {"expression": str(code), "value": shown}
        if explanation is not None:
            data["reason"] = explanation.reason()
            data["parts"] = [part_data(part) for part in explanation.parts]
        echo_json(data)
        return
    if explanation is None:
        say(printable(shown), fits=False)
        return
    say("\n".join(map(printable, explanation.lines())))
    reason = explanation.reason()
    if reason is not None:
        say(f"\nnot true: {printable(reason)}")


def _explained(code: Expression, my: ClassAd) -> Expression:
    """Return the expression to explain: for an attribute's bare name its expression."""
    tree = code.tree
    is_name = isinstance(tree, Reference) and tree.scope is None and not tree.absolute and tree.name in my
    return my[tree.name] if is_name and isinstance(tree, Reference) else code


def part_data(part: Explanation) -> Part:
    """Return the JSON form of a part of an explanation."""
    return {
        "expression": part.text,
        "value": None if part.value is None else part.shown,
        "reached": part.reached,
        "parts": [part_data(inner) for inner in part.parts],
    }
