"""The public front of ``crondor.schedd``: one protocol for a queue of one's own, a schedd's log, and a live schedd.

    import time
    from crondor.classad import ClassAd
    from crondor.schedd_adapter import EmbeddedSchedd

    with EmbeddedSchedd("queue", clock=lambda: int(time.time()), zone="Europe/Berlin") as schedd:
        job, = schedd.submit([ClassAd({"Cmd": "/bin/date", "CronMinute": "0", "DeferralWindow": 60})])
        schedd.recalculate()                              # the pass that computes DeferralTime
        ad, = schedd.jobs(job)
        print(ad.python("DeferralTime"))                  # epoch seconds of the next full hour
        started = schedd.edit_if(job, "JobStatus == 1", {"JobStatus": 2})

Schedds
    ``EmbeddedSchedd(folder, clock=...)`` is a queue on disk, with atomic edits; ``QueueLogSchedd(path, clock=...)``
    follows a real schedd's job_queue.log, read only; ``LiveSchedd()`` asks a real schedd through the official bindings.
    Each is a ``Schedd`` with ``Capabilities``; jobs are named by ``JobId``, a constraint's text or a ``Selection``.

Schedules
    ``CronTabs(mirror)`` is a schedd's bookkeeping of crontab jobs, ``recalculate(mirror, now)`` one pass of a schedd
    that has just started; they return ``CronEdit``s, which ``apply_edits(schedd, edits)`` writes.
    ``StatusReader().looks(ads, now)`` says how scheduled jobs stand. ``Guard(schedd).guard(now)`` compares
    DeferralTime with the manual. ``mirror_of(ads)`` makes a queue of ads.

Errors are ScheddError (NotOffered, Unreachable, Refused, Forbidden, PartlyEdited), NoSelection, and those of
``crondor.job_queue``.
"""

from typing import TYPE_CHECKING

from crondor._types import late

if TYPE_CHECKING:
    from crondor.job_queue.mirror import ChangeKind
    from crondor.job_queue.records import JobId
    from crondor.schedd.cron_tabs import CronEdit, CronTabs, apply_edits, recalculate
    from crondor.schedd.embedded import EmbeddedSchedd
    from crondor.schedd.guard import Correction, Guard, GuardPass
    from crondor.schedd.live import LiveSchedd
    from crondor.schedd.protocol import (
        Acted,
        Capabilities,
        Forbidden,
        Hold,
        JobChange,
        NoSelection,
        NotOffered,
        PartlyEdited,
        Refused,
        Schedd,
        ScheddError,
        Selection,
        Unreachable,
    )
    from crondor.schedd.reading import QueueLogSchedd, ScheduledJob, ScheduledState, StatusReader, job_id, mirror_of


__all__ = [
    "Acted",
    "Capabilities",
    "ChangeKind",
    "Correction",
    "CronEdit",
    "CronTabs",
    "EmbeddedSchedd",
    "Forbidden",
    "Guard",
    "GuardPass",
    "Hold",
    "JobChange",
    "JobId",
    "LiveSchedd",
    "NoSelection",
    "NotOffered",
    "PartlyEdited",
    "QueueLogSchedd",
    "Refused",
    "Schedd",
    "ScheddError",
    "ScheduledJob",
    "ScheduledState",
    "Selection",
    "StatusReader",
    "Unreachable",
    "apply_edits",
    "job_id",
    "mirror_of",
    "recalculate",
]

_HOMES = {
    "crondor.job_queue.mirror": "ChangeKind",
    "crondor.job_queue.records": "JobId",
    "crondor.schedd.cron_tabs": "CronEdit CronTabs apply_edits recalculate",
    "crondor.schedd.embedded": "EmbeddedSchedd",
    "crondor.schedd.guard": "Correction Guard GuardPass",
    "crondor.schedd.live": "LiveSchedd",
    "crondor.schedd.protocol": (
        "Acted Capabilities Forbidden Hold JobChange NoSelection NotOffered PartlyEdited Refused Schedd "
        "ScheddError Selection Unreachable"
    ),
    "crondor.schedd.reading": "QueueLogSchedd ScheduledJob ScheduledState StatusReader job_id mirror_of",
}
__getattr__, __dir__ = late(__name__, _HOMES)
