"""`crondor classad format`: ads from one form into another."""

from __future__ import annotations

import click

from crondor.classad.formats import Format, Order, read_ads, write_ads
from crondor.diagnostics import Diagnostic
from crondor_cli.kit.ads import chunks, lenient_option, mode_of, name_of
from crondor_cli.kit.command import Command
from crondor_cli.kit.files import write_texts
from crondor_cli.kit.screen import show

EXAMPLE = "echo 'Cpus = 1' | crondor classad format - --to json"

EPILOG = """\b
Examples:
  crondor classad format job.ad --to json
  condor_q -long | crondor classad format - --to new
  crondor classad format history --to jsonl --lenient
  crondor classad format queue.xml --to long --order name

Ads are written as HTCondor prints them, while the file is read: it may have any size. An ad or a line that cannot be
read is reported with its place and left out.

Exit status: 0 fine; 1 an ad could not be read; 2 wrong usage."""

_FORMS = [form.value for form in Format]


@click.command("format", cls=Command, example=EXAMPLE, epilog=EPILOG)
@click.argument("file", metavar="FILE")
@click.option("--to", "to", type=click.Choice(_FORMS), required=True, help="The form to write.")
@click.option(
    "--from", "from_", type=click.Choice(_FORMS), help="The form to read (default: detected by the beginning)."
)
@click.option(
    "--order",
    type=click.Choice([order.value for order in Order]),
    default=Order.LIBRARY.value,
    show_default=True,
    help="The order of attributes: HTCondor's own, by name as its tools print, or as they were read.",
)
@lenient_option
def command(file: str, to: str, from_: str | None, order: str, lenient: bool) -> None:
    """Convert the ads of FILE (- is standard input) to another form."""
    faults: list[Diagnostic] = []

    def report(found: Diagnostic) -> None:
        faults.append(found)
        show([found])
        del faults[1:]  # that there was one is all that is asked later

    form = None if from_ is None else Format(from_)
    ads = read_ads(chunks(file), form, mode_of(lenient), name=name_of(file), report=report)
    write_texts(write_ads(ads, Format(to), Order(order)), "-")
    if faults:
        raise click.exceptions.Exit(1)
