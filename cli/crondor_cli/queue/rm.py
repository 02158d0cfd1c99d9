"""`crondor queue rm`: jobs leave a queue."""

from __future__ import annotations

from crondor_cli.queue.acting import QueueAction, acting

command = acting(
    QueueAction(
        "rm",
        "removed",
        "removed already: somebody else lets them go",
        "not to be removed",
        lambda schedd, which, reason: schedd.remove(which, reason),
    ),
    "Remove jobs from a queue.",
    "Remove jobs from a queue; crondor queue history shows them.",
)
