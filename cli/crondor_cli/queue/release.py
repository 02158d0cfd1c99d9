"""`crondor queue release`: held jobs of a queue are idle again."""

from __future__ import annotations

from crondor_cli.queue.acting import QueueAction, acting

command = acting(
    QueueAction(
        "release",
        "released",
        "released already",
        "not held",
        lambda schedd, which, reason: schedd.release(which, reason),
    ),
    "Release held jobs of a queue.",
    "Release held jobs of a queue: they are idle again.",
)
