"""What the job attribute JobStatus can be (HTCondor: src/condor_includes/proc.h)."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class JobStatus(IntEnum):
    """The job attribute JobStatus."""

    IDLE = 1
    RUNNING = 2
    REMOVED = 3
    COMPLETED = 4
    HELD = 5
    TRANSFERRING_OUTPUT = 6
    SUSPENDED = 7


ON_MACHINE: Final = frozenset((JobStatus.RUNNING, JobStatus.SUSPENDED))
"""The states in which a job's program is on a machine, and its shadow there."""
