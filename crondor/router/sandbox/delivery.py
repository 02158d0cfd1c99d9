"""What moves a routed job's files: sandbox, proxy and tokens together, as the router asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from crondor.classad import Expression, print_string
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.job.status import JobStatus
from crondor.job_queue.keys import JobId
from crondor.router.apply.applying import SPOOLING, RoutedAd
from crondor.router.sandbox.faults import FilesRefused, Report, fault, ignored
from crondor.router.sandbox.proxy import Proxies
from crondor.router.sandbox.rewriting import fresh, listed, rewritten, text
from crondor.router.sandbox.token_plan import TokenPlan
from crondor.router.sandbox.tokens import TokenFiles
from crondor.router.sandbox.transfer import Sandbox
from crondor.schedd.actions import released
from crondor.schedd.protocol import Clock, NotOffered, Schedd
from crondor.schedd.selection import Selection

SPOOLED: Final = "Data files spooled"
_CODE: Final = dict(SPOOLING)["HoldReasonCode"]
_WAITS: Final = f"JobStatus =?= {int(JobStatus.HELD)} && HoldReasonCode =?= {_CODE}"
_SWEEPING: Final = 3600
_NO_TOKENS: Final = TokenPlan()
_NO_FILES: Final[Mapping[str, str]] = {}


class Carried(Protocol):
    """What is asked of a routed job."""

    @property
    def id(self) -> JobId:
        """The source."""

    @property
    def source(self) -> ClassAd | None:
        """Its ad."""

    @property
    def copy_id(self) -> JobId | None:
        """The copy, once it is submitted."""

    @property
    def is_sandboxed(self) -> bool:
        """Whether the copy has a sandbox."""


class FileDelivery:
    """Moves the files of the copies in a schedd whose queue can be edited at once, and whose spool is ours.

    All that a step must know it finds in the queue and in the files, so that another process goes on where one ended:
    a copy waits on hold (HoldReasonCode 16) until its input is spooled; its ad says where from (SUBMIT_...), and its
    output is fetched, again if need be, before it is let go. ``clock`` returns epoch seconds.
    """

    def __init__(
        self,
        schedd: Schedd,
        sandbox: Sandbox | None,
        *,
        clock: Clock,
        proxies: Proxies | None = None,
        tokens: TokenFiles | None = None,
        report: Report = ignored,
    ) -> None:
        """Take the schedd of the copies and what moves their files; nothing is done before the first call.

        ``sandbox`` None: sandboxed jobs are refused.
        """
        self._schedd = schedd
        self._sandbox = sandbox
        self._clock = clock
        self._proxies = proxies
        self._tokens = tokens
        self._report = report
        self._sweep_due = 0

    def tick(self, now: int) -> None:
        """Do what is due at a poll: tokens, and, at first and each hour, what a process or a job has left.

        Raises what the schedd raises.
        """
        if self._tokens is not None:
            self._tokens.tick(now)
        if now < self._sweep_due:
            return
        try:
            if self._sandbox is not None:
                self._sandbox.spool.sweep(self._is_queued)
            if self._proxies is not None:
                self._proxies.sweep(self._needs_proxy)
        except FilesRefused as error:
            for each in error.diagnostics:
                self._report(each)
        self._sweep_due = now + _SWEEPING

    def tokens(self) -> Mapping[str, str]:
        """Return the files of the tokens that routes may send, by name."""
        return _NO_FILES if self._tokens is None else self._tokens.paths()

    def prepare(self, job: Carried, routed: RoutedAd, copy: ClassAd) -> ClassAd:
        """Return a copy's ad as it is to be submitted; make the copy of its proxy. Raises CrondorError."""
        if not job.is_sandboxed:
            return copy
        sandbox = self._spooling()
        copy = fresh(copy)
        if routed.proxy is not None:
            if self._proxies is None:
                raise FilesRefused(fault("shared-proxy", "this router has been given no way to share a proxy"))
            self._proxies.prepare(routed.proxy, str(job.id), text(copy, "Owner") or "")
        try:
            edits = sandbox.prepared(copy, self._own_files())
        except CrondorError:
            self._forget_proxy(job.id)
            raise
        return _edited(copy, edits)

    def spool(self, job: Carried) -> None:
        """Rewrite a copy's ad, spool its input, release it; each is done once, whoever begins again.

        Raises CrondorError.
        """
        if job.copy_id is None:
            return
        found = self._live(job.copy_id)
        if found is None or not _holds(found, _WAITS):
            return
        sandbox = self._spooling()
        edits: dict[str, object] = rewritten(found, str(sandbox.spool.place(job.copy_id)))
        if "StageInStart" not in found:
            edits["StageInStart"] = self._clock()
        if edits and not self._schedd.edit_if(job.copy_id, _WAITS, edits):
            return
        sandbox.spool_in(job.copy_id, _edited(found.flat(), edits), self._own_files())
        self._schedd.edit_if(job.copy_id, f"{_WAITS} && StageInFinish =?= undefined", {"StageInFinish": self._clock()})
        self._let_go(job.copy_id)
        self._forget_proxy(job.id)

    def _let_go(self, copy: JobId) -> None:
        """Release a copy whose input is there, as a schedd does itself: nobody else may release such a job."""
        found = self._live(copy)
        if found is not None and _holds(found, _WAITS):
            self._schedd.edit_if(copy, _WAITS, released(found, SPOOLED, self._clock()))

    def fetch(self, job: Carried) -> None:
        """Bring a completed copy's output to its source. Raises CrondorError."""
        found = None if job.copy_id is None else self._live(job.copy_id)
        if job.copy_id is None or found is None:
            raise FilesRefused(fault("sandbox-missing", f"the copy of {job.id} has left, and its output with it"))
        self._spooling().fetch_back(job.copy_id, found)

    def end(self, job: Carried) -> None:
        """Delete what was made for a job that is over; where its copy is still alive its sandbox stays.

        Raises what the schedd raises.
        """
        try:
            self._forget_proxy(job.id)
            if self._sandbox is not None and job.copy_id is not None and self._is_over(job.copy_id):
                self._sandbox.remove(job.copy_id)
        except FilesRefused as error:
            for each in error.diagnostics:
                self._report(each)

    def reload(self, plan: TokenPlan, now: int) -> None:
        """Take the tokens of another configuration, at once."""
        if self._tokens is not None:
            self._tokens.reconfigure(plan, now)

    def _spooling(self) -> Sandbox:
        """Return what moves files. Raises NotOffered."""
        if self._sandbox is None:
            raise NotOffered(
                fault("no-spool", "this router has no spool", help="give it one, or route without a sandbox")
            )
        if not self._schedd.capabilities.atomic_edits:
            message = "this schedd's spool is its own: crondor spools for an embedded queue only"
            raise NotOffered(fault("spool-not-ours", message, help="take JobShouldBeSandboxed out of the route"))
        return self._sandbox

    def _own_files(self) -> tuple[str, ...]:
        """Return the files that copies may have although they are in none of the users' folders."""
        return (*(() if self._proxies is None else self._proxies.files), *self.tokens().values())

    def _forget_proxy(self, source: JobId) -> None:
        if self._proxies is not None:
            self._proxies.remove(str(source))

    def _live(self, job: JobId) -> ClassAd | None:
        return next(iter(self._schedd.jobs(Selection(jobs=(job,)))), None)

    def _is_queued(self, job: JobId) -> bool:
        return self._live(job) is not None

    def _is_over(self, job: JobId) -> bool:
        found = self._live(job)
        return found is None or _holds(found, _OVER)

    def _needs_proxy(self, source: str) -> bool:
        """Say whether a copy of a source waits for its input still."""
        mine = f"RoutedFromJobId =?= {print_string(source)}"
        return bool(self._schedd.jobs(f"{mine} && {_WAITS}"))


class PlannedDelivery:
    """Says what could not be moved, and moves nothing: for a router that only tries what it would do."""

    def __init__(self, sandbox: Sandbox | None = None, plan: TokenPlan = _NO_TOKENS) -> None:
        """Take what would move files, and the tokens that would be made."""
        self._sandbox = sandbox
        self._paths = {spec.name: spec.path for spec in plan.tokens}

    def tick(self, now: int) -> None:
        """Do nothing."""

    def tokens(self) -> Mapping[str, str]:
        """Return the files that the tokens would have."""
        return self._paths

    def prepare(self, job: Carried, routed: RoutedAd, copy: ClassAd) -> ClassAd:
        """Return the ad that would be submitted; look at its input, but for tokens and proxy. Raises CrondorError."""
        if not job.is_sandboxed:
            return copy
        if self._sandbox is None:
            raise NotOffered(
                fault("no-spool", "this router has no spool", help="give it one, or route without a sandbox")
            )
        copy = fresh(copy)
        plain = copy.copy()
        if routed.proxy is not None:
            plain.prune("x509userproxy")
        files = listed(text(plain, "TransferInput"))
        plain.set("TransferInput", ",".join(each for each in files if each not in self._paths.values()))
        edits = self._sandbox.prepared(plain)
        edits.pop("TransferInput", None)
        return _edited(copy, edits)

    def spool(self, job: Carried) -> None:
        """Do nothing."""

    def fetch(self, job: Carried) -> None:
        """Do nothing."""

    def end(self, job: Carried) -> None:
        """Do nothing."""


_OVER: Final = (
    f"JobStatus =?= {int(JobStatus.REMOVED)} || (JobStatus =?= {int(JobStatus.COMPLETED)} && !LeaveJobInQueue)"
)


def _edited(ad: ClassAd, edits: Mapping[str, object]) -> ClassAd:
    made = ad.copy()
    for name, value in edits.items():
        made.set(name, value)
    return made


def _holds(ad: ClassAd, condition: str) -> bool:
    return Expression(condition).holds(ad)
