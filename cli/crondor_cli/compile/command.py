"""`crondor compile`: convert a schedule in any language to cron fields and a clause, with proof."""

from __future__ import annotations

import click

from crondor.compile.writing.wish import LineOptions
from crondor.diagnostics import CrondorError
from crondor.zones import Policy
from crondor_cli.compile.dag import DagRequest, schedule_dag
from crondor_cli.compile.show import Asked, print_compiled, print_refusal, write_file
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command, with_default
from crondor_cli.kit.options import Clock, Surroundings, asked_interval, complete_zone
from crondor_cli.kit.screen import usage

EPILOG = """\b
Examples:
  crondor compile '0 18 * * 5L'
  crondor compile 'every 2 days at 06:00 from 2026-12-01'
  crondor compile 'weekdays at 09:00' --zone Europe/Berlin --tz UTC \\
      --except holidays:DE-BW --until 2028-01-01
  crondor compile 'every 5 minutes except 12:00..13:00' --format json
  crondor compile --write nightly.sub
  crondor compile --dag week.dag 'weekdays at 02:00' --write week.sub

--write takes the schedule from a line of the file, # crondor: schedule = TEXT, and writes the compiled lines between
two markers. Options that change its meaning (--zone, --from, --except, --name, --policy) are added to that line;
nothing else in the file changes. docs/compile.md describes the languages.

--dag writes a submit file of the local universe and a script, week.sub and week.sh, which runs the DAG at these times.
Without --write, the submit file is printed; --format json has both texts.

Exit status: 0 compiled and proven, 1 it cannot be expressed (the reason is shown), 2 wrong usage."""


@click.command("compile", cls=Command, example="crondor compile 'last Friday of the month at 18:00'", epilog=EPILOG)
@click.argument("words", nargs=-1, metavar="[TEXT]...")
@click.option("--write", "write", metavar="FILE", help="Compile the schedule line of a submit file into the file.")
@click.option("--dag", "dag", metavar="FILE", help="Run this DAG at the times; --write names the new submit file.")
@with_default(
    "--rescue",
    "fresh",
    "With --dag: after a failed run, start a new one or continue it with its rescue DAG.",
    click.Choice(["fresh", "continue"]),
)
@click.option("--overlap", is_flag=True, help="With --dag: start a run even if the one before is still in the queue.")
@click.option("--except", "excepted", multiple=True, metavar="TEXT", help="Days, holidays or a file to exclude.")
@click.option("--zone", "own_zone", metavar="ZONE", shell_complete=complete_zone, help="The time zone of TEXT.")
@opts.from_option("Count steps and show runs")
@opts.until_option("Prove the lines", "5 years on")
@click.option("--window", type=click.IntRange(0, 86400 * 366), metavar="SECONDS", help="The job's cron_window.")
@click.option(
    "--prep-time",
    type=click.IntRange(0, 86400 * 366),
    metavar="SECONDS",
    help="The job's cron_prep_time (default: 300, or less if needed).",
)
@opts.interval_option
@click.option(
    "--universe",
    type=click.Choice(["vanilla", "local"]),
    help="The universe of the job (default: vanilla, or the file's).",
)
@click.option(
    "--clause", type=click.Choice(["epoch", "local"]), help="epoch: valid in every zone; local: shorter, for one zone."
)
@click.option("--name", metavar="NAME", help="The job's name, which selects the values of H and ~.")
@click.option(
    "--approximate",
    is_flag=True,
    help="Accept the nearest schedule that HTCondor can express, and list the differences.",
)
@with_default("-n", 5, "Runs to show.", click.IntRange(0, 1000), name="--count")
@opts.policy_option()
@opts.include_option
@opts.clock_options
@opts.format_option("text", "json", "submit")
def command(
    words: tuple[str, ...],
    write: str | None,
    dag: str | None,
    rescue: str,
    overlap: bool,
    excepted: tuple[str, ...],
    own_zone: str | None,
    from_: str | None,
    until: str | None,
    window: int | None,
    prep_time: int | None,
    schedd_interval: int,
    universe: str | None,
    clause: str | None,
    name: str | None,
    approximate: bool,
    count: int,
    policy: Policy | None,
    allow_dirs: tuple[str, ...],
    clock: Clock,
    format_: str,
) -> None:
    """Convert a schedule in any language to lines for a submit file, and prove that both mean the same.

    Cron fields name the wanted times and as few others as possible; a clause in requirements lets only the wanted times
    match.
    """
    interval = asked_interval(schedd_interval)
    asked = Asked(
        clock,
        own_zone,
        None if from_ is None else -(-clock.read(from_, "--from") // 60) * 60,
        None if until is None else clock.read(until, "--until"),
        excepted,
        LineOptions(window, prep_time, interval, universe, clause, approximate or None),
        schedd_interval,
        name or "",
        policy,
        allow_dirs,
    )
    if dag is None and (overlap or rescue != "fresh"):
        raise usage("--rescue and --overlap need --dag FILE")
    if write is not None and dag is None:
        if words:
            message = "--write takes the schedule from the file: omit TEXT, and write it there as a line"
            line = f"# crondor: schedule = {' '.join(words)}"
            raise usage(f"{message}\n  {line}")

        write_file(write, asked, Surroundings(allow_dirs))
        return
    text = " ".join(words).strip()
    if not text:
        raise usage("give the schedule, such as 'every Friday at 06:00'")
    if dag is not None:
        schedule_dag(text, DagRequest(dag, write, rescue == "continue", overlap), asked, count, format_)
        return
    _print(text, asked, count, format_)


def _print(text: str, asked: Asked, count: int, form: str) -> None:

    schedule = asked.schedule(asked.whole(text))
    try:
        compiled = asked.compiled(schedule)
    except CrondorError as error:
        if form != "json":
            raise
        print_refusal(schedule, error, asked.clock)
        raise click.exceptions.Exit(1) from None
    print_compiled(schedule, compiled, asked.clock, count, form)
