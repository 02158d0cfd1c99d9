"""`crondor queue hold`: jobs of a queue wait until they are released."""

from __future__ import annotations

from crondor.schedd.protocol import Hold
from crondor_cli.queue.acting import QueueAction, acting

command = acting(
    QueueAction(
        "hold",
        "held",
        "held already",
        "removed or completed, and not to be held",
        lambda schedd, which, reason: schedd.hold(which, Hold(reason)),
    ),
    "Put jobs of a queue on hold.",
    "Put jobs of a queue on hold: they do not start until they are released.",
)
