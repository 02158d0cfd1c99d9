"""`crondor preview`: the ads of submitted jobs as the schedd would store them, and whether it takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from crondor_cli.common.command import Command
from crondor_cli.common.config_options import ConfigFiles
from crondor_cli.common.options import Surroundings, clock_of, clock_options, file_options, format_option
from crondor_cli.common.pool_config import pool_config_options, target_option
from crondor_cli.common.submit_files import submit_files

if TYPE_CHECKING:
    from crondor.knowledge.releases import Release

EXAMPLE = """\
echo 'JOB_TRANSFORM_NAMES = Acct' > site.conf
echo 'JOB_TRANSFORM_Acct = SET AcctGroup "physics"' >> site.conf
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor preview --pool-config site.conf job.sub --diff"""

EPILOG = """\b
Examples:
  crondor preview --pool-config 50-site.conf job.sub
  crondor preview --pool-config host job.sub --diff
  crondor preview --pool-config 50-site.conf job.sub --format long
  crondor preview --pool-config old.conf --target 24 job.sub --job 3

JOB_TRANSFORM_NAMES and SUBMIT_REQUIREMENT_NAMES are done as the schedd does them, in its order. Each changed line says
which transform changed it, and where. Jobs that end alike are shown once. Nothing is submitted, and nothing that a file
names is executed.

What the schedd alone knows (its counters, sizes of files) is in no ad here; where a requirement depends on it, that is
said.

Exit status: 0 all jobs are accepted; 1 a job is refused, or a file is invalid; 2 wrong usage, or a file that cannot be
read."""


@click.command(
    "preview",
    cls=Command,
    example=EXAMPLE,
    epilog=EPILOG,
)
@submit_files()
@pool_config_options
@target_option
@click.option("--job", type=click.IntRange(0), metavar="N", help="Only the job with this ProcId.")
@click.option("--owner", metavar="USER", help="Who submits (default: this account).")
@click.option("--diff", is_flag=True, help="Print what changes in each job instead of its ad.")
@file_options
@clock_options
@format_option("text", "long", "json", text="How to print; long: the stored ads, as condor_q -long has them.")
def command(
    paths: tuple[str, ...],
    pool_config: ConfigFiles | None,
    target: Release | None,
    job: int | None,
    owner: str | None,
    diff: bool,
    surroundings: Surroundings,
    now: str | None,
    tz: str | None,
    format_: str,
) -> None:
    """Show the ads of submitted jobs before and after the access point's transforms, and whether it takes them.

    The access point is what --pool-config says; without it, one with HTCondor's defaults.
    """
    context = click.get_current_context(silent=True)
    if not paths:
        raise click.UsageError("name at least one submit file: crondor preview FILE", context)
    if diff and format_ != "text":
        raise click.UsageError("--diff is a text: leave --format out", context)
    # These take 150 ms, which --help does not need.
    from crondor_cli.preview.model import PreviewRequest, previewed  # noqa: PLC0415
    from crondor_cli.preview.show import show_all  # noqa: PLC0415

    clock = clock_of(now, tz)
    request = PreviewRequest(paths, pool_config, target, job, owner, clock, surroundings)
    if not show_all(previewed(request), format_, diff=diff):
        raise click.exceptions.Exit(1)
