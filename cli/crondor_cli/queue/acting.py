"""`crondor queue hold`, `release` and `rm`: act on jobs of a writable queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import click

from crondor.schedd.embedded import EmbeddedSchedd
from crondor.schedd.protocol import Acted, Hold, Schedd, Selection
from crondor_cli.kit.command import Command
from crondor_cli.kit.options import Clock, QueueOptions, clock_options, format_option, schedd_options
from crondor_cli.kit.queues import (
    acted_data,
    job_arguments,
    live_of,
    missing_of,
    no_job,
    selection_of,
    undone,
    unknown_job,
)
from crondor_cli.kit.screen import say, show
from crondor_cli.kit.tables import echo_json, plural
from crondor_cli.queue.submit import changed

_EXAMPLE = """\
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor queue submit --queue q job.sub
crondor queue """

Act = Callable[[Schedd, Selection, str], Acted]


class QueueAction(NamedTuple):
    """An action: its name, the words for the result, and for jobs that are not changed."""

    name: str
    done: str
    already: str
    bad_status: str
    act: Act


def acting(action: QueueAction, short_help: str, help_text: str) -> click.Command:
    """Return the command of an action."""
    reason_text = f"via crondor queue {action.name}"
    reason_help = f'The reason to record (default: "{reason_text}").'

    example = _EXAMPLE + action.name + " --queue q 1.0"

    @click.command(
        action.name, cls=Command, example=example, epilog=_epilog(action.name), short_help=short_help, help=help_text
    )
    @job_arguments
    @schedd_options
    @click.option("--reason", metavar="TEXT", default=reason_text, help=reason_help)
    @clock_options
    @format_option("text", "json")
    def command(
        jobs: tuple[str, ...], constraint: str | None, asked: QueueOptions, reason: str, clock: Clock, format_: str
    ) -> None:
        _act(action, jobs, constraint, asked, reason, clock, format_)

    return command


def _act(
    action: QueueAction, jobs: tuple[str, ...], constraint: str | None, asked: QueueOptions, reason: str,
    clock: Clock, format_: str,
) -> None:  # fmt: skip
    """Act on jobs, print the result, and exit with 1 if not all selected jobs were changed."""
    chosen = selection_of(jobs, constraint, needed=True)

    def direct(schedd: EmbeddedSchedd) -> dict[str, Any]:
        missing = chosen.missing(schedd.mirror)
        return {**action.act(schedd, chosen, reason)._asdict(), "missing": missing}

    if asked.kind == "live":
        with live_of(asked) as schedd:
            missing = missing_of(schedd, chosen)
            answer = {**action.act(schedd, chosen, reason)._asdict(), "missing": missing}
    else:
        request = {"what": action.name, "jobs": jobs, "constraint": constraint, "reason": reason}
        answer = changed(asked.queue, clock, direct, request)
    acted = Acted(*(answer[name] for name in Acted._fields))
    findings = [unknown_job(name) for name in answer["missing"]]
    findings += undone(acted, action.already, action.bad_status)
    if not findings and not acted.done:
        findings.append(no_job())
    show(findings)
    if format_ == "json":
        echo_json(acted_data(action.name, acted, findings))
    else:
        say(f"{plural(acted.done, 'job')} {action.done}")
    if findings:
        raise click.exceptions.Exit(1)


def _epilog(name: str) -> str:
    """Return the examples and exit statuses of an action."""
    return f"""\b
Examples:
  crondor queue {name} 12.0 --queue q
  crondor queue {name} 12 13.1 alice --live
  crondor queue {name} --live --constraint 'CronHour == "2"' --reason late
  crondor queue {name} --live 12.0

Jobs are selected by number or owner; --constraint must be true, too. All selected jobs change, or none. If crondor run
has the queue open, it makes the change job by job, by its own clock. With --live the schedd makes the change.

Exit status: 0 fine, 1 a finding (a missing job, or a job that cannot be changed), 2 wrong usage."""


hold = acting(
    QueueAction(
        "hold",
        "held",
        "already held",
        "removed or completed, and cannot be held",
        lambda schedd, which, reason: schedd.hold(which, Hold(reason)),
    ),
    "Put jobs of a queue on hold.",
    "Put jobs of a queue on hold: they do not start until they are released.",
)

release = acting(
    QueueAction(
        "release",
        "released",
        "already released",
        "not held",
        lambda schedd, which, reason: schedd.release(which, reason),
    ),
    "Release held jobs of a queue.",
    "Release held jobs of a queue: they are idle again.",
)

remove = acting(
    QueueAction(
        "rm",
        "removed",
        "already removed, but still managed by others",
        "cannot be removed",
        lambda schedd, which, reason: schedd.remove(which, reason),
    ),
    "Remove jobs from a queue.",
    "Remove jobs from a queue; crondor queue history shows them.",
)
