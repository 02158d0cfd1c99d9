"""What every schedd can be asked, whichever it is: its jobs, edits under a condition, actions, history, changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, TypeAlias, runtime_checkable

from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.hold_codes import USER_REQUEST
from crondor.job_queue.keys import JobId
from crondor.job_queue.mirror import ChangeKind
from crondor.schedd.selection import Selection, Which

__all__ = [
    "SUBMITTING",
    "Acted",
    "Capabilities",
    "Clock",
    "Forbidden",
    "Hold",
    "JobChange",
    "NotOffered",
    "PartlyEdited",
    "Refused",
    "Schedd",
    "ScheddError",
    "Scheduled",
    "Selection",
    "Unreachable",
    "Which",
]

Clock: TypeAlias = Callable[[], int]
"""Returns epoch seconds."""


SUBMITTING: Final = "crondor completes this job's ad"
"""HoldReason of a job whose ad is not whole yet, where a schedd takes it in several steps."""


class ScheddError(CrondorError, RuntimeError):
    """A schedd did not do what it was asked."""


class NotOffered(ScheddError):
    """This schedd cannot do that; its ``capabilities`` say so beforehand."""


class Unreachable(ScheddError):
    """No schedd answers, or not in time."""


class Refused(ScheddError):
    """The schedd did not take a job or an edit; nothing was done."""


class Forbidden(Refused):
    """The schedd takes no writing from this user, whatever job it is about."""


class PartlyEdited(ScheddError):
    """Some of several edits were applied and the next one failed; ``applied`` are their names."""

    def __init__(self, error: CrondorError, applied: Sequence[str]) -> None:
        """Keep what was wrong, and how far it came."""
        super().__init__(error.diagnostics)
        self.applied = tuple(applied)


@dataclass(frozen=True)
class Capabilities:
    """What a schedd can do.

    ``atomic_edits``: several attributes of one ``edit_if`` change together or not at all; elsewhere a prefix of them
    may be applied. ``sees_deferral_time``: the DeferralTime in its jobs is the one in force; a log follower sees it
    late.
    """

    atomic_edits: bool
    can_submit: bool
    can_write: bool
    sees_deferral_time: bool


class Hold(NamedTuple):
    """Why a job is held: HoldReason, HoldReasonCode and HoldReasonSubCode, which not every hold writes (None)."""

    reason: str
    code: int = USER_REQUEST
    subcode: int | None = 0


class Acted(NamedTuple):
    """How many jobs an action was done to, and how many of those asked for it was not, by the reason."""

    done: int = 0
    already: int = 0
    bad_status: int = 0
    denied: int = 0
    not_found: int = 0


class Scheduled(NamedTuple):
    """The ads of the jobs with a schedule among those that were meant, by cluster and proc, and how many were meant.

    ``missing`` are the numbers and clusters named of which there is no job, or none for which the constraint is true.
    """

    ads: list[ClassAd]
    total: int
    missing: list[str]


class JobChange(NamedTuple):
    """What became of one job; ``attributes``, in lower case, are those that changed, empty unless CHANGED."""

    job: JobId
    kind: ChangeKind
    attributes: frozenset[str] = frozenset()


@runtime_checkable
class Schedd(Protocol):
    """One schedd.

    Jobs are named by a JobId, a constraint (text of the ClassAd language), or a Selection of both; None is all of
    them. What a schedd cannot do raises NotOffered; one that does not answer raises Unreachable, a queue on disk
    JobQueueError; a constraint that is no expression raises ClassAdSyntaxError.
    """

    @property
    def capabilities(self) -> Capabilities:
        """What this schedd can do."""

    def jobs(self, which: Which = None, projection: Iterable[str] | None = None) -> list[ClassAd]:
        """Return the ads of jobs, by cluster and proc; ``projection`` are the only attributes needed, beside the ids.

        Whoever changes an ad changes a copy.
        """

    def scheduled(self, which: Which = None) -> Scheduled:
        """Return the ads of the jobs that have a schedule, any Cron attribute or DeferralTime; the others are counted.

        It costs little more than those it returns, where a queue is in memory.
        """

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Set attributes of a job where a condition holds in its ad, and say whether it did.

        Values are Python values or Expressions. Without ``atomic_edits`` they are set one by one in their order, the
        first under the condition and so at once with it, the others behind it: put first what makes the condition
        false, and last what the next reader acts upon. Raises PartlyEdited where it ends between them.
        """

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Put jobs of one new cluster into the queue, and return their ids in the order of the ads."""

    def hold(self, which: Which, hold: Hold) -> Acted:
        """Put jobs on hold."""

    def release(self, which: Which, reason: str) -> Acted:
        """Make held jobs idle."""

    def remove(self, which: Which, reason: str) -> Acted:
        """Remove jobs from the queue; they go to the history."""

    def history(
        self, which: Which = None, projection: Iterable[str] | None = None, limit: int | None = None
    ) -> list[ClassAd]:
        """Return the ads of jobs that have left the queue, the latest first."""

    def changes(self) -> list[JobChange]:
        """Return what has become of jobs since the last call; the first one returns all jobs as CREATED."""
