"""`crondor classad convert`: convert ads from one form to another."""

from __future__ import annotations

import os
import sys

import click

from crondor.classad.formats import Format, Order, write_ads
from crondor.classad.formats.parquet import write_parquet
from crondor.diagnostics import Diagnostic
from crondor_cli.kit.ads import ads_in, lenient_option, mode_of
from crondor_cli.kit.command import Command, with_default
from crondor_cli.kit.files import write_texts, written_file
from crondor_cli.kit.options import output_option
from crondor_cli.kit.screen import show, usage

EPILOG = """\b
Examples:
  crondor classad convert job.ad --to json
  condor_q -long | crondor classad convert - --to new
  crondor classad convert history --to jsonl --lenient
  crondor classad convert history --to parquet -o history.parquet
  crondor classad convert history.parquet --to long --order name

Ads are written as HTCondor prints them, while the file is read: it may have
any size. An ad or a line that cannot be read is reported with its place and
left out. All commands that read files of ads read Parquet too.

A Parquet file has a column for each attribute, of the type that most ads have
there. Values of other types are texts in the map column _odd. This needs
pyarrow: pip install '.[arrow]' in a clone of crondor.

Exit status: 0 fine; 1 an ad could not be read; 2 wrong usage."""

_PARQUET = "parquet"
_FORMS = [form.value for form in Format]


@click.command("convert", cls=Command, example="echo 'Cpus = 1' | crondor classad convert - --to json", epilog=EPILOG)
@click.argument("file", metavar="FILE")
@click.option("--to", "to", type=click.Choice([*_FORMS, _PARQUET]), required=True, help="The form to write.")
@click.option(
    "--from", "from_", type=click.Choice(_FORMS), help="The form to read (default: detected by the beginning)."
)
@with_default(
    "--order",
    Order.LIBRARY.value,
    "The order of attributes: HTCondor's own, by name as its tools print, or as they were read.",
    click.Choice([order.value for order in Order]),
)
@output_option("Where to write the new ads; - prints them.")
@lenient_option
def command(file: str, to: str, from_: str | None, order: str, out: str, lenient: bool) -> None:
    """Convert the ads of FILE (- is standard input) to another form."""
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # pyarrow's own keeps 55 MB more, and is no faster
    faults: list[Diagnostic] = []

    def report(found: Diagnostic) -> None:
        faults.append(found)
        show([found])
        del faults[1:]  # only whether there was one matters later

    ads = ads_in(file, report, None if from_ is None else Format(from_), mode_of(lenient))
    if to != _PARQUET:
        write_texts(write_ads(ads, Format(to), Order(order)), out)
    elif out != "-":
        with written_file(out) as written:
            write_parquet(ads, written)
    elif sys.stdout.isatty():
        raise usage("Parquet cannot be written to a terminal: give a file with -o")
    else:
        write_parquet(ads, sys.stdout.buffer)
    if faults:
        raise click.exceptions.Exit(1)
