"""What all steps of the router's work need: the queues, the table, the clock, and where to say what was done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timezone, tzinfo
from typing import Final, Protocol

from crondor.classad import ClassAdSyntaxError, Context
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.event_log import EventType
from crondor.job.attributes import string
from crondor.job_queue.faults import InvalidChange
from crondor.job_queue.keys import JobId
from crondor.router.apply.applying import RoutedAd
from crondor.router.daemon import operations
from crondor.router.daemon.backoff import LeftAlone, Patient
from crondor.router.daemon.counts import RouteCounts
from crondor.router.daemon.hooks import HookRunners
from crondor.router.daemon.log import Log, LogEntry, RouterEvent, silent
from crondor.router.daemon.operations import JobEdit
from crondor.router.daemon.reading import EXTERNAL, is_managed_by
from crondor.router.daemon.refusals import Refusals
from crondor.router.daemon.routed_copies import RoutedCopies
from crondor.router.daemon.routed_job import RoutedJob
from crondor.router.daemon.user_log import EventWriter, event, no_log
from crondor.router.sandbox.faults import FilesRefused
from crondor.router.table.table import RoutingTable
from crondor.schedd.protocol import NotOffered, Refused, ScheddError
from crondor.transform import TransformFacts

SURE: Final = (NotOffered, InvalidChange, FilesRefused, ClassAdSyntaxError)
"""Errors after which the queue is as it was, however often it is tried."""

UNDONE: Final = (*SURE, Refused, LeftAlone)
"""Errors after which the queue is as it was; after any other nobody knows."""


class Delivery(Protocol):
    """What moves a sandboxed job's files, and its proxy and tokens. All methods may raise CrondorError."""

    def tick(self, now: int) -> None:
        """Do what is due at a poll (epoch seconds): tokens to refresh, what another router left."""

    def tokens(self) -> Mapping[str, str]:
        """Return the files of the tokens that routes may send, by name."""

    def prepare(self, job: RoutedJob, routed: RoutedAd, copy: ClassAd) -> ClassAd:
        """Return the copy's ad as it is to be submitted."""

    def spool(self, job: RoutedJob) -> None:
        """Take a submitted copy's files to its schedd, which then releases it; what was done already is not repeated.

        A copy that waits for its input no more is left alone.
        """

    def fetch(self, job: RoutedJob) -> None:
        """Bring the output of a completed copy to its source; it may be asked for again."""

    def end(self, job: RoutedJob) -> None:
        """Delete what was made for a job that is over."""


@dataclass(frozen=True)
class RouterOptions:
    """How a router differs from HTCondor's, and where it works.

    ``owner``: whose jobs alone it takes, None: everybody's, as where it runs as root. ``domain`` is UID_DOMAIN, with
    which the copies' User is made; empty: that of the source. ``waits_for_gates``: a crontab or deferral job is taken
    only when it may be matched for its next run, each run is routed anew, and the copy schedules none by itself;
    HTCondor's router takes such a job at once. ``zone`` is that of its schedd's clock.
    """

    owner: str | None = None
    domain: str = ""
    waits_for_gates: bool = False
    zone: str | tzinfo = "UTC"
    hooks: HookRunners | None = None
    delivery: Delivery | None = None
    write_event: EventWriter = no_log
    log: Log = silent


@dataclass
class _Failure:
    """What was met in a poll: the first job, what is to be logged of it, and how often it came."""

    job: str
    text: str
    count: int = 1


@dataclass
class RouterContext:
    """The router's surroundings; ``table`` may be replaced, ``now`` (epoch seconds) is the time of the poll.

    ``look_again`` has the next poll look at a source, changed or not.
    ``routed`` and ``refused`` count the jobs of this poll that have got there, and those that a schedd did not take;
    ``tried`` and ``claimed`` the claims of this poll.
    """

    source: Patient
    destination: Patient
    table: RoutingTable
    ledger: RouteCounts
    options: RouterOptions
    copies: RoutedCopies
    refusals: Refusals
    look_again: Callable[[JobId], None]
    context_zone: tzinfo = timezone.utc
    now: int = 0
    polls: int = 0
    routed: int = 0
    refused: int = 0
    tried: int = 0
    claimed: int = 0
    counts: Counter[RouterEvent] = field(default_factory=Counter)
    _context: Context = field(default_factory=Context)
    _failures: dict[tuple[RouterEvent, str], _Failure] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """JOB_ROUTER_NAME."""
        return self.table.settings.name

    @property
    def context(self) -> Context:
        """The context of expressions now."""
        if self._context.now != self.now or self._context.zone is not self.context_zone:
            self._context = Context(now=self.now, zone=self.context_zone)
        return self._context

    @property
    def facts(self) -> TransformFacts:
        """What transforms may see now."""
        facts = self.table.facts
        made = TransformFacts(environ=facts.environ, context=self.context, files=facts.files, version=facts.version)
        made.knobs = facts.knobs
        return made

    def say(self, what: RouterEvent, job: RoutedJob | str = "", text: str = "", times: int = 1) -> None:
        """Log something, which is as often as ``times``."""
        self.counts[what] += times
        self.options.log(LogEntry(self.now, what, str(job), text))

    def failed(self, what: RouterEvent, job: RoutedJob | str, error: CrondorError) -> None:
        """Log what an error says, and what is to be done about it: once a poll for what is the same for several jobs.

        Of a schedd that is left alone the error that led to it has said all.
        """
        if not isinstance(error, LeftAlone):
            reason = "; ".join(each.message for each in error.diagnostics)
            self.hindered(what, job, reason, self._advice(error))

    def hindered(self, what: RouterEvent, job: RoutedJob | str, reason: str, advice: str = "") -> None:
        """Log why a job gets no further; claims are counted first, and logged in one line when the poll ends."""
        key = what, reason.replace(str(job.id), "") if isinstance(job, RoutedJob) else reason
        if key in self._failures:
            self._failures[key].count += 1
        else:
            self._failures[key] = _Failure(str(job), f": {reason}{advice}")
            if what is not RouterEvent.NOT_CLAIMED:
                self.say(what, job, f": {reason}{advice}")

    def _advice(self, error: CrondorError) -> str:
        if not isinstance(error, ScheddError):
            return ""
        pause = max(self.source.pause, self.destination.pause)
        until = f"; it is left alone for {pause} poll{'s' if pause > 1 else ''}" if pause else ""
        return "".join(f" ({each.help})" for each in error.diagnostics if each.help) + until

    @property
    def is_hindered(self) -> bool:
        """Say whether a queue is left alone that a job must be written into before it is routed."""
        return self.source.is_left_alone or self.destination.is_left_alone

    def begin_poll(self) -> None:
        """Count a poll that the queues have answered."""
        self.polls += 1
        self.routed = self.refused = self.tried = self.claimed = 0

    def end_poll(self) -> None:
        """Log the claims that failed, and how often the errors came that were logged once."""
        for (what, reason), found in self._failures.items():
            more = found.count - 1
            if what is RouterEvent.NOT_CLAIMED:
                self.say(what, found.job, f"{found.text}{f'; so for {more:,} more' if more else ''}", found.count)
            elif more:
                self.say(what, "", f" for {more:,} more: {reason}", more)
        self._failures.clear()

    def edit(self, edit: JobEdit, *, copy: bool = False) -> bool:
        """Do an edit in the sources' queue, or in the copies'. Raises what the schedd raises."""
        return edit.do(self.destination if copy else self.source)

    def kept(self, job: JobId, ad: ClassAd) -> ClassAd | None:
        """Return the ad of a source that the router has taken and that is still its own; None: it is not.

        One whose ManagedManager somebody has deleted is, as where HTCondor's router yields one. The name is written
        again, so that the next router knows it too. Raises what the schedd raises.
        """
        if is_managed_by(ad, self.name):
            return ad
        if string(ad, "Managed") != EXTERNAL or string(ad, "ManagedManager") is not None:
            return None
        self.edit(operations.name_again(job, self.name))
        found = operations.live(self.source, job)
        return found if found is not None and is_managed_by(found, self.name) else None

    def tell(self, kind: EventType, job: RoutedJob) -> bool:
        """Write an event into a source's user log, and say whether that worked; its last ad names that of one gone."""
        ad = job.source if job.source is not None else job.left
        if ad is None:
            return False
        written = self.options.write_event(ad, event(kind, job.id, ad, self.now))
        if not written:
            self.say(RouterEvent.NO_LOG, job, f" (event {int(kind):03})")
        return written


def written(ad: ClassAd, edits: Mapping[str, object]) -> ClassAd:
    """Return an ad with edits that were made in its queue."""
    made = ad.copy()
    for name, value in edits.items():
        made.set(name, value)
    return made
