"""A real schedd, through the official bindings (extra ``htcondor``) in a separate process.

docs/queue.md describes the bindings: an edit is one attribute with one constraint, and returns the number of jobs
changed. ``edit_if`` is a compare-and-set made of such edits. Bindings and schedd read old syntax, so every text is
printed in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import datetime, timedelta, timezone, tzinfo
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from crondor.classad import ClassAdSyntaxError, Expression, UnparseForm
from crondor.classad.ad import ClassAd, to_code
from crondor.classad.formats import Format, ReadMode, read_ads
from crondor.classad.formats.pieces import Report
from crondor.diagnostics import Diagnostic, Severity, Source, printable
from crondor.job import attributes
from crondor.job.attributes import JobStatus, string
from crondor.job_queue.mirror import Mirror
from crondor.job_queue.records import JobId
from crondor.rights.trust import ROOT, account_of, is_root
from crondor.schedd.live_process import Answer, Crashed, TimedOut, WorkerProcess
from crondor.schedd.protocol import (
    FIXED,
    SUBMITTING,
    Acted,
    Capabilities,
    ChangeList,
    Hold,
    JobChange,
    PartlyEdited,
    ScheddError,
    Scheduled,
    Selection,
    Unreachable,
    Which,
    check_editable,
    read_constraint,
)
from crondor.schedd.reading import UnreadAd, job_id, mirror_of, not_offered, owner_of, scheduled_among

UNDEFINED: Final = Expression("undefined")
_COMMANDS: Final = {"universe": "vanilla", "executable": "/dev/null", "transfer_executable": "false"}
_PREFIX: Final = "MY."
# Set by the schedd, or here if an ad lacks them, as in every schedd of this package.
_LEFT: Final = FIXED | {"jobstatus", "jobuniverse", "owner", "user", "qdate", "enteredcurrentstatus"}
ADDED: Final = (
    "Arguments", "CommittedSlotTime", "CommittedSuspensionTime", "CommittedTime", "CondorPlatform", "CondorVersion",
    "CumulativeRemoteSysCpu", "CumulativeRemoteUserCpu", "CumulativeSlotTime", "CumulativeSuspensionTime",
    "CurrentHosts", "DiskUsage", "Environment", "Err", "ExecutableSize", "ExitBySignal", "ExitStatus",
    "FileSystemDomain", "ImageSize", "In", "Iwd", "JobLeaseDuration", "JobNotification", "JobPrio", "JobSubmitMethod",
    "LastSuspensionTime", "LeaveJobInQueue", "MaxHosts", "MinHosts", "NumCkpts", "NumJobCompletions", "NumJobStarts",
    "NumRestarts", "NumSystemHolds", "Out", "Rank", "RemoteSysCpu", "RemoteUserCpu", "RemoteWallClockTime",
    "RequestCpus", "RequestDisk", "RequestMemory", "Requirements", "ShouldTransferFiles", "SubmitVersion",
    "TotalSuspensions", "TransferErr", "TransferExecutable", "TransferIn", "TransferInputSizeMB", "TransferOut",
    "WhenToTransferOutput",
)  # fmt: skip
"""Attributes that the bindings of 25.14 add to every ad."""


# The bindings' submit builds its own ad from commands: it adds forty attributes, some of which the starter prefers to
# the job's (Arguments to Args, Environment to Env), expands ``$(...)`` in the texts, and completes Requirements.
# ``MY.<name>`` commands are applied after all that, even for Requirements (HTCondor 25.14:
# ``SubmitHash::make_job_ad``). So every attribute is sent as such a command, and those that the ad lacks are set to
# undefined.
def commands_of(ad: ClassAd, more: Iterable[str] = ()) -> dict[str, str]:
    """Return the commands that make the bindings submit an ad; ``more`` are further names that they add.

    Raises NotOffered for an ad without Cmd, and ClassAdSyntaxError.
    """
    if string(ad, "Cmd") is None:
        raise not_offered("a job without a program (Cmd) cannot be submitted", "set Cmd")
    commands = dict(_COMMANDS)
    for low, name in ad.names.items():
        if low not in FIXED:
            commands[_PREFIX + name] = _unexpanded(old_text(ad[name], name))
    commands |= {_PREFIX + name: "undefined" for name in (*ADDED, *more) if name not in ad}
    return commands


def unlike(ad: ClassAd, sent: ClassAd) -> dict[str, Expression]:
    """Return the edits that make a job equal to the ad, if the bindings have sent ``sent``."""
    edits = {name: ad[name] for low, name in ad.names.items() if low not in FIXED and not _is_same(ad, sent, name)}
    for low, name in sent.names.items():
        if low not in ad.names and low not in _LEFT and sent[name] != UNDEFINED:
            edits[name] = UNDEFINED
    return edits


def old_text(expression: Expression, name: str) -> str:
    """Return an expression in a schedd's old syntax, in which a backslash is literal.

    Raises ClassAdSyntaxError if it cannot be written so: the schedd would set the attribute to undefined.
    """
    text = expression.unparse(UnparseForm.OLD)
    if "\n" in text or "\r" in text:
        raise ClassAdSyntaxError(Diagnostic("schedd-text", f"{name} contains a line end, which no schedd accepts"))
    if "\\" in text and not _reads_as(text, expression):
        message = f"{name} contains a string that ends in a backslash before its end: a schedd cannot read it"
        raise ClassAdSyntaxError(Diagnostic("schedd-text", message, help="end it with a slash or a blank"))
    return text


def _reads_as(text: str, expression: Expression) -> bool:
    try:
        return Expression.parse(Source(text), old=True) == expression
    except ClassAdSyntaxError:
        return False


def _is_same(ad: ClassAd, sent: ClassAd, name: str) -> bool:
    return name in sent and (ad[name] == sent[name] or old_text(ad[name], name) == old_text(sent[name], name))


def _unexpanded(text: str) -> str:
    """Return a text that the bindings' macro expansion turns into this one.

    They leave ``$$(...)`` alone; other signs that they would expand are written ``$(DOLLAR)``. Within another macro
    (``$(a:$(b))``), as in ``$(DOLLAR)`` itself, that does not work: ``unlike`` finds those.
    """
    return _SIGN.sub(lambda found: found[0] if found[1] or not found[3] else f"$(DOLLAR){found[2]}(", text)


_SIGN: Final = re.compile(r"\$(\$?)(\w*)(\(?)", re.ASCII)

ABOUT: Final = ("Name", "Machine", "MyAddress", "CondorVersion")
PING: Final = ("AuthorizationSucceeded", "AuthMethods", "MyRemoteUserName", "ErrorString")

Question: TypeAlias = Callable[[], Answer]
"""Queries a schedd. Raises Unreachable and ScheddError."""

_RELEASE_CODE: Final = 0
_READS: Final = frozenset(("query", "history", "about", "ping", "knobs"))


class LiveSchedd(AbstractContextManager["LiveSchedd"]):
    """The schedd of this host, or a named schedd of a pool.

    ``timeout`` is the limit for one answer, in seconds; a query that failed because the worker crashed or hung is
    repeated ``retries`` times. Edits and actions are never repeated: if their answer is lost, TimedOut or Crashed says
    that they may have been done. Nothing is started before the first query. ``as_owner``: root submits a job as its
    Owner, if this machine has that account, with a worker of that user; no schedd accepts jobs of root, and the
    bindings cannot submit in another name.

    ``diagnostics`` are the unreadable lines of the last answer's ads.
    """

    def __init__(
        self,
        name: str | None = None,
        pool: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 1,
        environment: Mapping[str, str] | None = None,
        as_owner: bool = False,
        address_file: str | None = None,
    ) -> None:
        """Take the schedd's name and the pool's collector, or else a schedd's address file.

        ``environment`` has changes to the worker's environment.
        """
        self.capabilities = Capabilities(atomic_edits=False, can_submit=True, can_write=True, sees_deferral_time=True)
        self._where = {"name": name, "pool": pool, "address_file": address_file}
        self._timeout = timeout
        self._retries = retries
        self._environment = environment
        self._worker = WorkerProcess(environment)
        self._as_owner = as_owner and is_root()
        self._owners: WorkerProcess | None = None
        self._added: set[str] = set()
        """Names that these bindings added to an ad, beyond the known ones (SUBMIT_ATTRS)."""
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._mirror: Mirror | None = None
        self._changes: ChangeList | None = None

    def __exit__(self, *_error: object) -> None:
        self.close()

    def interrupt(self) -> None:
        """End the worker while another thread waits for its answer: that thread gets Crashed, without a retry."""
        self._retries = 0
        self._worker.interrupt()

    def close(self) -> None:
        """End the worker; the next query starts another one."""
        self._worker.close()
        if self._owners is not None:
            self._owners.close()

    # Reading

    def jobs(
        self, which: Which = None, projection: Iterable[str] | None = None, *, limit: int | None = None
    ) -> list[ClassAd]:
        """Return the ads of jobs, up to ``limit``, without ServerTime, the time of the answer, unless it is projected.

        Raises ClassAdSyntaxError, Unreachable and ScheddError.
        """
        names = _names(projection)
        answer = self._ask("query", constraint=_text(which), projection=names, limit=limit)
        texts = answer.ads if _TIME in names else list(map(_without_time, answer.ads))
        return sorted(self._read(Answer(texts, answer.done)), key=lambda ad: job_id(ad) or JobId(0, 0))

    def scheduled(self, which: Which = None) -> Scheduled:
        """Return the jobs with a schedule. Raises as jobs does."""
        return scheduled_among(self.jobs(which), Selection.of(which))

    def asking(
        self, which: Which = None, projection: Iterable[str] | None = None, total: Selection | None = None
    ) -> Question:
        """Return a query for jobs, which any thread may run, one at a time; its answer is parsed separately.

        This allows several schedds to be queried at once. ``total``: also count these jobs (``done["total"]``). Raises
        ClassAdSyntaxError.
        """
        names, counted = _names(projection), None if total is None else _text(total)
        return partial(self._ask, "query", constraint=_text(which), projection=names, limit=None, total=counted)

    def unread(self, answer: Answer) -> list[UnreadAd]:
        """Return the jobs of an answer, in order."""
        self.diagnostics = ()
        texts = map(_without_time, answer.ads)
        ads = (UnreadAd(job, text, partial(self._read_one, text)) for text in texts if (job := _job_of(text)))
        return sorted(ads, key=lambda ad: ad.job)

    def _read_one(self, text: str) -> ClassAd | None:
        before = self.diagnostics
        ads = self._read(Answer([text], {}))
        self.diagnostics = (*before, *self.diagnostics)[:_MOST_FAULTS]
        return ads[0] if ads else None

    def asking_history(self, which: Which = None, limit: int | None = None) -> Question:
        """Return a query for jobs that have left, as in ``asking``; ``left`` parses the answer."""
        return partial(self._ask, "history", constraint=_text(which), projection=[], limit=limit)

    def left(self, answer: Answer) -> list[ClassAd]:
        """Return the jobs of an answer, as ``history`` does."""
        return self._read(answer)

    def history(
        self, which: Which = None, projection: Iterable[str] | None = None, limit: int | None = None
    ) -> list[ClassAd]:
        """Return the jobs that have left, the latest first. Raises as jobs does."""
        return self._read(self._ask("history", constraint=_text(which), projection=_names(projection), limit=limit))

    def _read(self, answer: Answer) -> list[ClassAd]:
        faults: list[Diagnostic] = []
        ads = _read(answer, faults.append)
        self.diagnostics = tuple(faults)
        return ads

    def changes(self) -> list[JobChange]:
        """Return the changes of jobs since the last call; each call queries all jobs.

        Raises Unreachable and ScheddError.
        """
        faults: list[Diagnostic] = []
        fresh = mirror_of(self._queue(faults), faults.append)
        self.diagnostics = tuple(faults)
        if self._mirror is None or self._changes is None:
            self._mirror = fresh
            self._changes = ChangeList(fresh)
        else:
            self._mirror.tell(self._mirror.replace(fresh))
        return self._changes.take()

    def _queue(self, faults: list[Diagnostic]) -> Iterator[ClassAd]:
        """Query the jobs whose changes are wanted, and add the faults of their ads to ``faults``."""
        yield from self.jobs()
        faults += self.diagnostics

    # The connection

    def about(self) -> dict[str, str]:
        """Return the bindings' version (``bindings``) and facts about the schedd: ABOUT, if available.

        Raises Unreachable and ScheddError.
        """
        return _texts(self._ask("about", attributes=ABOUT))

    def ping(self, level: str) -> dict[str, str]:
        """Return the schedd's answer for a level of access (READ, WRITE): PING, as condor_ping.

        Nothing is read or written. Raises Unreachable, ScheddError, and Forbidden with the security layer's reason.
        """
        return _texts(self._ask("ping", level=level, attributes=PING))

    def knobs(self, names: Sequence[str]) -> dict[str, str]:
        """Return the values of the schedd's configuration that are set there. Raises as ping does."""
        return _texts(self._ask("knobs", names=list(names)))

    # Writing

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Set attributes of a job one by one, the first if a condition holds, and return whether it did.

        Raises ClassAdSyntaxError, ScheddError, Unreachable, and PartlyEdited if it fails between two attributes.
        """
        constraint = _text(Selection(jobs=(job,)).where(str(read_constraint(condition, "<condition>"))))
        check_editable(edits)
        texts = {name: old_text(Expression.of(to_code(value)), name) for name, value in edits.items()}
        if not texts:
            return bool(self.jobs(Selection(jobs=(job,)).where(condition), ["ClusterId"]))
        first, *rest = texts
        if not self._edit(constraint, first, texts[first]):
            return False
        applied = [first]
        try:
            for name in rest:
                self._edit_on(job, name, texts[name])
                applied.append(name)
        except ScheddError as error:
            raise PartlyEdited(error, applied) from error
        return True

    def edit_each(self, jobs: Sequence[JobId], condition: str, name: str, value: object, proof: str) -> list[JobId]:
        """Set one attribute of each job for which a condition holds, and return those jobs.

        If not all are changed, ``proof`` is queried: a condition that holds only after this edit. Raises as edit_if.
        """
        chosen, expression = Selection(jobs=tuple(jobs)), Expression.of(to_code(value))
        check_editable((name,))
        constraint = _text(chosen.where(str(read_constraint(condition, "<condition>"))))
        count = self._edit(constraint, name, old_text(expression, name))
        if count == len(jobs):
            return list(jobs)
        found = self.jobs(chosen.where(proof), ["ClusterId"]) if count else []
        return [job for job in map(job_id, found) if job is not None]

    def _edit_on(self, job: JobId, name: str, text: str) -> None:
        if not self._edit(_text(job), name, text):
            raise ScheddError(Diagnostic("schedd-gone", f"job {job} left the queue before {name} was set"))

    def _edit(self, constraint: str, name: str, text: str) -> int:
        answer = self._ask("edit", constraint=constraint, attribute=name, value=text)
        count: int = answer.done["count"]
        return count

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Submit jobs, each in a cluster of its own, with exactly their attributes.

        QDate, JobStatus (idle), JobUniverse (vanilla) and EnteredCurrentStatus are set if an ad lacks them; some forty
        attributes that it lacks are undefined in the queue. If the bindings have sent something else all the same, the
        job is held with the reason SUBMITTING until that is corrected. Raises NotOffered for an ad without Cmd,
        ClassAdSyntaxError, Unreachable and ScheddError.
        """
        return [self._submit(ad) for ad in ads]

    def _submit(self, ad: ClassAd) -> JobId:
        worker = self._submitter(ad)
        answer = self._ask("submit", worker, commands=commands_of(ad, self._added))
        job = JobId(_cluster(answer), 0)
        if worker.account is not None and [owner_of(each) for each in self.jobs(job, ["Owner"])] != [owner_of(ad)]:
            message = f"the worker of {worker.account.name} claims the job {job}, but the schedd does not confirm it"
            raise ScheddError(Diagnostic("schedd-owner", message))
        edits = unlike(ad, next(iter(self._read(answer)), ClassAd()))
        if edits:
            self._added |= {name for name in edits if name not in ad}
            self._correct(job, edits, stays_held=attributes.int32(ad, "JobStatus") == JobStatus.HELD)
        return job

    def _submitter(self, ad: ClassAd) -> WorkerProcess:
        """Return the worker that submits a job: that of its owner, of which the last one is reused, or our own."""
        account = account_of(owner_of(ad)) if self._as_owner else None
        if account is None or account.uid == ROOT:
            return self._worker
        if self._owners is None or self._owners.account != account:
            if self._owners is not None:
                self._owners.close()
            self._owners = WorkerProcess(self._environment, account)
        return self._owners

    def _correct(self, job: JobId, edits: Mapping[str, object], *, stays_held: bool) -> None:
        if stays_held:
            self.edit_if(job, "true", edits)
            return
        self.hold(job, Hold(SUBMITTING))
        self.edit_if(job, "true", edits)
        self.release(job, SUBMITTING)

    def hold(self, which: Which, hold: Hold) -> Acted:
        """Put jobs on hold; the schedd uses a user's code as HoldReasonSubCode. Raises as jobs does."""
        return self._act("hold", which, hold.reason, hold.code)

    def release(self, which: Which, reason: str) -> Acted:
        """Make held jobs idle. Raises as jobs does."""
        return self._act("release", which, reason, _RELEASE_CODE)

    def remove(self, which: Which, reason: str) -> Acted:
        """Remove jobs. Raises as jobs does."""
        return self._act("remove", which, reason, _RELEASE_CODE)

    def _act(self, action: str, which: Which, reason: str, code: int) -> Acted:
        constraint = _text(which)
        done = self._ask("act", action=action, constraint=constraint, reason=reason, code=code).done
        return Acted(*done["totals"])

    # The worker

    def _ask(self, do: str, worker: WorkerProcess | None = None, **request: Any) -> Answer:  # noqa: ANN401 - what JSON holds
        request = {"do": do, **self._where, **request}
        if do not in _READS:
            try:
                return (worker or self._worker).ask(request, self._timeout)
            except (TimedOut, Crashed) as error:
                raise _maybe_done(error, do) from error
        for _ in range(self._retries):
            with suppress(TimedOut, Crashed):
                return self._worker.ask(request, self._timeout)
        return self._worker.ask(request, self._timeout)


def schedds_of(
    pool: str | None = None, *, timeout: float = 60.0, environment: Mapping[str, str] | None = None
) -> list[str]:
    """Return the names of the schedds in a pool's collector, None for this host's pool; ``timeout`` is in seconds.

    Raises Unreachable and ScheddError.
    """
    worker = WorkerProcess(environment)
    try:
        names = worker.ask({"do": "schedds", "name": None, "pool": pool}, timeout).done["names"]
    finally:
        worker.close()
    return sorted({name for name in names if isinstance(name, str)})


def _maybe_done(error: Unreachable, do: str) -> Unreachable:
    said = [
        Diagnostic(
            fault.kind, f"{fault.message}; the {do} may have been done", help="look at the job before repeating it"
        )
        for fault in error.diagnostics
    ]
    return type(error)(said)


def _cluster(answer: Answer) -> int:
    cluster = answer.done.get("cluster")
    if not isinstance(cluster, int) or isinstance(cluster, bool) or cluster <= 0:
        raise Crashed(Diagnostic("schedd-crashed", "the process that talks to the schedd returned no cluster"))
    return cluster


def _text(which: Which) -> str:
    chosen = Selection.of(which)
    text = chosen.print(UnparseForm.OLD)
    return old_text(Expression(chosen.text), "the constraint") if "\\" in text else text


def _texts(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.done.items() if isinstance(value, str)}


def _names(projection: Iterable[str] | None) -> list[str]:
    return [] if projection is None else list(dict.fromkeys(("ClusterId", "ProcId", *projection)))


_ID: Final = re.compile(r"^ClusterId *= *([1-9][0-9]{0,9})$", re.MULTILINE | re.IGNORECASE).search
_TIME: Final = "ServerTime"  # a schedd adds it to every ad
_without_time: Final = partial(re.compile(rf"^{_TIME} = [0-9]+\n?", re.MULTILINE).sub, "", count=1)
_PROC: Final = re.compile(r"^ProcId *= *([0-9]{1,10})$", re.MULTILINE | re.IGNORECASE).search
_MOST_FAULTS: Final = 100


def _job_of(text: str) -> JobId | None:
    cluster, proc = _ID(text), _PROC(text)
    return None if cluster is None or proc is None else JobId(int(cluster[1]), int(proc[1]))


def _read(answer: Answer, report: Report) -> list[ClassAd]:
    text = "\n\n".join(ad.strip("\n") for ad in answer.ads)
    return list(read_ads(Source(text, "<schedd>"), Format.LONG, ReadMode.LAZY, report=report)) if text else []


LEVELS: Final = ("READ", "WRITE")
KNOBS: Final = ("SCHEDD_INTERVAL", "JOB_QUEUE_LOG")
INTERVAL: Final = 300  # seconds, if SCHEDD_INTERVAL is not set (manual)

_STEP: Final = 15  # minutes; all present zones differ by whole quarters of an hour
_FIRST, _LAST = -12 * 60, 14 * 60  # minutes east of UTC
_NEAR: Final = 2  # seconds allowed for an answer
_VERSION: Final = re.compile(r"\d+\.\d+\.\d+").search
_FORM: Final = "%Y%m%d%H%M"


# Each query is independent of the others. Nothing is written: READ and WRITE are requested as condor_ping does, and the
# schedd's zone and clock are derived from constraints that it evaluates.
class Access(NamedTuple):
    """A schedd's answer for a level of access; ``fault`` is the reason for a refusal."""

    level: str
    user: str = ""
    methods: str = ""
    fault: Diagnostic | None = None


class Offset(NamedTuple):
    """Minutes east of UTC at a time (epoch seconds), there and here."""

    time: int
    theirs: int
    ours: int


class Connection(NamedTuple):
    """The facts found. Releases are as ``25.14.1``, empty if unknown; ``fault``: nothing could be queried.

    ``ahead`` is how many seconds the schedd's clock is ahead of ours; None if it is unknown, like the zone, since the
    schedd has no job.
    """

    bindings: str = ""
    name: str = ""
    machine: str = ""
    address: str = ""
    release: str = ""
    access: tuple[Access, ...] = ()
    interval: int | None = None
    log: str = ""
    ahead: int | None = None
    offsets: tuple[Offset, ...] = ()
    fault: Diagnostic | None = None

    @property
    def may_read(self) -> bool:
        """Whether queries are answered."""
        return any(each.level == "READ" and each.fault is None for each in self.access)

    def findings(self, interval: int) -> Iterator[Diagnostic]:
        """Yield coming problems, for the SCHEDD_INTERVAL (seconds) that crondor assumes."""
        if self.fault is not None:
            yield self.fault
        told: dict[Diagnostic, list[str]] = {}
        for each in self.access:
            if each.fault is not None:
                told.setdefault(each.fault, []).append(each.level)
        for fault, levels in told.items():
            yield replace(fault, message=f"{' and '.join(levels)}: {fault.message}")
        if self.interval is not None and self.interval != interval:
            message = f"SCHEDD_INTERVAL is {self.interval} s there, and crondor assumes {interval} s"
            hint = f"schedd-interval = {self.interval} in crondor.toml, or --schedd-interval {self.interval}"
            yield Diagnostic("doctor-interval", message, Severity.WARNING, help=hint)
        if self.ahead is not None and abs(self.ahead) > _NEAR:
            word = "ahead of" if self.ahead > 0 else "behind"
            message = f"the schedd's clock is {abs(self.ahead)} s {word} this one: jobs start by its clock"
            yield Diagnostic("doctor-clock", message, Severity.WARNING, help="sync both with a time server (chrony)")
        if any(each.theirs != each.ours for each in self.offsets):
            message = "the schedd reads crontab fields in a different zone from the one crondor assumes"
            hint = "set its zone with --tz ZONE, or tz = in crondor.toml"
            yield Diagnostic("doctor-zone", message, Severity.WARNING, help=hint)
        if self.may_read and not self.offsets:
            message = "the schedd's zone and clock are unknown: its queue has no job that shows them"
            yield Diagnostic("doctor-empty", message, Severity.NOTE, help="submit one on hold (hold = true)")


def connection_of(schedd: LiveSchedd, zone: tzinfo, clock: Callable[[], int]) -> Connection:
    """Find out about a live schedd; ``clock`` returns the present epoch seconds, ``zone`` is ours.

    Raises nothing: problems are among the findings.
    """
    try:
        about = schedd.about()
    except ScheddError as error:
        return Connection(fault=error.diagnostics[0])
    found = Connection(
        bindings=_release(about["bindings"]),
        name=printable(about.get("Name", "")),
        machine=printable(about.get("Machine", "")),
        address=printable(about.get("MyAddress", "")),
        release=_release(about.get("CondorVersion", "")),
        access=tuple(_access(schedd, level) for level in LEVELS),
    )
    if not found.may_read:
        return found
    with suppress(ScheddError):
        knobs = schedd.knobs(KNOBS)
        text = knobs.get("SCHEDD_INTERVAL", str(INTERVAL))
        found = found._replace(
            interval=int(text) if text.isdecimal() else None, log=printable(knobs.get("JOB_QUEUE_LOG", ""))
        )
    with suppress(ScheddError):
        found = _asked_a_job(found, schedd, zone, clock)
    return found


def _access(schedd: LiveSchedd, level: str) -> Access:
    try:
        said = schedd.ping(level)
    except ScheddError as error:
        return Access(level, fault=error.diagnostics[0])
    user, methods = (printable(said.get(name, "")) for name in ("MyRemoteUserName", "AuthMethods"))
    if said.get("AuthorizationSucceeded", "").lower() == "true":
        return Access(level, user, methods)
    message = f"the schedd does not allow {user or 'this user'} to do that"
    hint = f"its ALLOW_{level} must list the user, and its DENY_{level} must not"
    return Access(level, user, methods, Diagnostic("schedd-forbidden", message, help=hint))


def _asked_a_job(found: Connection, schedd: LiveSchedd, zone: tzinfo, clock: Callable[[], int]) -> Connection:
    """Query one job, for which the schedd evaluates its clock and zone."""
    ads = schedd.jobs(None, [_TIME], limit=1)
    job = job_id(ads[0]) if ads else None
    if job is None:
        return found
    now = clock()
    theirs = attributes.integer(ads[0], _TIME)
    year = datetime.fromtimestamp(now, timezone.utc).year
    seasons = (int(datetime(year, month, 1, 12, tzinfo=timezone.utc).timestamp()) for month in (1, 7))
    one = Selection(jobs=(job,))
    offsets = [Offset(time, _their_offset(schedd, one, time, _ours(time, zone)), _ours(time, zone)) for time in seasons]
    return found._replace(ahead=None if theirs is None else theirs - now, offsets=tuple(offsets))


def _their_offset(schedd: LiveSchedd, job: Selection, time: int, ours: int) -> int:
    """Return the schedd's minutes east of UTC at a time: ours, or else found by bisection."""
    if _is(schedd, job, time, "==", ours):
        return ours
    steps: Sequence[int] = range(_FIRST, _LAST + 1, _STEP)
    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        if _is(schedd, job, time, ">", steps[middle]):
            low = middle + 1
        else:
            high = middle
    return steps[low]


def _is(schedd: LiveSchedd, job: Selection, time: int, comparison: str, offset: int) -> bool:
    """Return whether the schedd's local time compares so with the local time at an offset (digits: as numbers)."""
    face = (datetime.fromtimestamp(time, timezone.utc) + timedelta(minutes=offset)).strftime(_FORM)
    return bool(schedd.jobs(job.where(f'int(formatTime({time}, "{_FORM}")) {comparison} {face}'), ["ClusterId"]))


def _ours(time: int, zone: tzinfo) -> int:
    offset = datetime.fromtimestamp(time, zone).utcoffset() or timedelta()
    return offset // timedelta(minutes=1)


def _release(version: str) -> str:
    found = _VERSION(version)
    return found[0] if found else printable(version)
