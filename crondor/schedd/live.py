"""A real schedd, through the official bindings (extra ``htcondor``) in a process of their own.

What the bindings do is in docs/schedd.md: an edit is one attribute under one constraint, and says how many jobs it
reached. That is the compare-and-set that ``edit_if`` is made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from types import TracebackType
from typing import Any, Final

from crondor.classad import ClassAdSyntaxError, Form, code_tree, lower, print_string, unparse
from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, Mode, read_ads
from crondor.classad.formats.pieces import Report
from crondor.classad.pythonic import to_code
from crondor.diagnostics import Diagnostic
from crondor.job_queue.keys import JobId
from crondor.job_queue.mirror import Mirror
from crondor.queued import JobStatus
from crondor.schedd.ads import job_id, mirror_of
from crondor.schedd.changes import ChangeList
from crondor.schedd.editing import check_editable
from crondor.schedd.live_process import Answer, Crashed, TimedOut, WorkerProcess
from crondor.schedd.protocol import (
    SUBMITTING,
    Acted,
    Capabilities,
    Hold,
    JobChange,
    PartlyEdited,
    ScheddError,
    Unreachable,
)
from crondor.schedd.reading import not_offered
from crondor.schedd.selection import Selection, Which, read_constraint
from crondor.source import Source

_RELEASE_CODE: Final = 0
_READS: Final = frozenset(("query", "history"))
# What the bindings' own submit needs as commands; all else of an ad goes in as it is.
_COMMANDS: Final = {"cmd": "executable", "jobuniverse": "universe"}
_OWN: Final = frozenset(("clusterid", "procid", "mytype", "targettype", "jobstatus", "requirements"))
# What the bindings' own submit turns off where it sees no command for a stream; in an ad that says nothing it is on.
_STREAMS: Final = {"in": "TransferIn", "out": "TransferOut", "err": "TransferErr"}
_UNIVERSES: Final = {
    5: "vanilla", 7: "scheduler", 9: "grid", 10: "java", 11: "parallel", 12: "local", 13: "vm",
}  # fmt: skip


class LiveSchedd(AbstractContextManager["LiveSchedd"]):
    """The schedd of this host, or the one of a name in a pool.

    ``timeout`` is how long one answer may take, in seconds; a question that was not answered because the worker
    crashed or hung is asked ``retries`` times more. Nothing that writes is ever repeated by itself: where its answer
    is lost, TimedOut or Crashed says that it may have been done. Nothing is started before the first question.
    ``diagnostics`` are the lines of the last answer's ads that could not be read.
    """

    def __init__(
        self,
        name: str | None = None,
        pool: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 1,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Take the schedd's name and the pool's collector; ``environment`` are changes of the worker's."""
        self.capabilities = Capabilities(atomic_edits=False, can_submit=True, can_write=True, sees_deferral_time=True)
        self._where = {"name": name, "pool": pool}
        self._timeout = timeout
        self._retries = retries
        self._worker = WorkerProcess(environment)
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._mirror: Mirror | None = None
        self._changes: ChangeList | None = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the worker."""
        self.close()

    def close(self) -> None:
        """End the worker; the next question starts another one."""
        self._worker.close()

    # Reading

    def jobs(self, which: Which = None, projection: Iterable[str] | None = None) -> list[ClassAd]:
        """Return the ads of jobs. Raises ClassAdSyntaxError, Unreachable and ScheddError."""
        answer = self._ask("query", constraint=Selection.of(which).text, projection=_names(projection))
        return sorted(self._read(answer), key=lambda ad: job_id(ad) or JobId(0, 0))

    def history(
        self, which: Which = None, projection: Iterable[str] | None = None, limit: int | None = None
    ) -> list[ClassAd]:
        """Return the jobs that have left, the latest first. Raises as jobs does."""
        answer = self._ask("history", constraint=Selection.of(which).text, projection=_names(projection), limit=limit)
        return self._read(answer)

    def _read(self, answer: Answer) -> list[ClassAd]:
        faults: list[Diagnostic] = []
        ads = _read(answer, faults.append)
        self.diagnostics = tuple(faults)
        return ads

    def changes(self) -> list[JobChange]:
        """Return what has become of jobs since the last call; it costs a question for all of them, each time.

        Raises Unreachable and ScheddError.
        """
        fresh = mirror_of(self.jobs())
        if self._mirror is None or self._changes is None:
            self._mirror = fresh
            self._changes = ChangeList(fresh)
        else:
            self._mirror.tell(self._mirror.replace(fresh))
        return self._changes.take()

    # Writing

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Set attributes of a job one by one, the first where a condition holds, and say whether it did.

        Raises ClassAdSyntaxError, ScheddError, Unreachable, and PartlyEdited where it ends between two attributes.
        """
        constraint = Selection(jobs=(job,)).where(str(read_constraint(condition, "<condition>"))).text
        check_editable(edits)
        texts = {name: unparse(code_tree(to_code(value)), Form.COMPACT) for name, value in edits.items()}
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

    def _edit_on(self, job: JobId, name: str, text: str) -> None:
        if not self._edit(Selection(jobs=(job,)).text, name, text):
            raise ScheddError(Diagnostic("schedd-gone", f"job {job} has left before {name} was set"))

    def _edit(self, constraint: str, name: str, text: str) -> int:
        answer = self._ask("edit", constraint=constraint, attribute=name, value=text)
        count: int = answer.done["count"]
        return count

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Put jobs into the queue, each in a cluster of its own: on hold, then their Requirements, then released.

        A job whose making ends halfway stays on hold, for the reason SUBMITTING. Raises NotOffered for an ad without
        Cmd, Unreachable and ScheddError.
        """
        return [self._submit(ad) for ad in ads]

    def _submit(self, ad: ClassAd) -> JobId:
        job = JobId(self._ask("submit", commands=_commands(ad)).done["cluster"], 0)
        if "Requirements" in ad:
            self.edit_if(job, "true", {"Requirements": ad["Requirements"]})
        if not _stays_held(ad):
            self.release(job, SUBMITTING)
        return job

    def hold(self, which: Which, hold: Hold) -> Acted:
        """Put jobs on hold; the schedd takes a code of the user's as HoldReasonSubCode. Raises as jobs does."""
        return self._act("hold", which, hold.reason, hold.code)

    def release(self, which: Which, reason: str) -> Acted:
        """Make held jobs idle. Raises as jobs does."""
        return self._act("release", which, reason, _RELEASE_CODE)

    def remove(self, which: Which, reason: str) -> Acted:
        """Remove jobs. Raises as jobs does."""
        return self._act("remove", which, reason, _RELEASE_CODE)

    def _act(self, action: str, which: Which, reason: str, code: int) -> Acted:
        constraint = Selection.of(which).text
        done = self._ask("act", action=action, constraint=constraint, reason=reason, code=code).done
        return Acted(*done["totals"])

    # The worker

    def _ask(self, do: str, **request: Any) -> Answer:  # noqa: ANN401 - what JSON holds
        request = {"do": do, **self._where, **request}
        if do not in _READS:
            try:
                return self._worker.ask(request, self._timeout)
            except (TimedOut, Crashed) as error:
                raise _maybe_done(error, do) from error
        for _ in range(self._retries):
            with suppress(TimedOut, Crashed):
                return self._worker.ask(request, self._timeout)
        return self._worker.ask(request, self._timeout)


def _maybe_done(error: Unreachable, do: str) -> Unreachable:
    said = [
        Diagnostic(
            fault.code, f"{fault.message}; the {do} may have been done", help="look at the job before repeating it"
        )
        for fault in error.diagnostics
    ]
    return type(error)(said)


def _names(projection: Iterable[str] | None) -> list[str]:
    return [] if projection is None else list(dict.fromkeys(("ClusterId", "ProcId", *projection)))


def _read(answer: Answer, report: Report) -> list[ClassAd]:
    text = "\n\n".join(ad.strip("\n") for ad in answer.ads)
    return list(read_ads(Source(text, "<schedd>"), Format.LONG, Mode.LAZY, report=report)) if text else []


def _stays_held(ad: ClassAd) -> bool:
    return "JobStatus" in ad and ad.value("JobStatus") == JobStatus.HELD


def _commands(ad: ClassAd) -> dict[str, str]:
    """Return what makes the bindings submit an ad: few commands, and every attribute as MY.<name>."""
    commands = {"hold": "true", "transfer_executable": "false"}
    cmd = ad.value("Cmd") if "Cmd" in ad else None
    if not isinstance(cmd, str):
        raise not_offered("a job without a program (Cmd) cannot be submitted", "set Cmd")
    universe = ad.value("JobUniverse") if "JobUniverse" in ad else 5
    commands["universe"] = _UNIVERSES.get(universe, "vanilla") if isinstance(universe, int) else "vanilla"
    commands["executable"] = cmd
    for low, name in ad.names.items():
        if low not in _OWN and low not in _COMMANDS:
            commands[f"MY.{name}"] = ad[name].unparse(Form.OLD)
    if not _stays_held(ad):
        commands = {name: value for name, value in commands.items() if lower(name) != "my.holdreason"}
        commands["MY.HoldReason"] = print_string(SUBMITTING)
    for low, name in _STREAMS.items():
        if low in ad and name not in ad:
            commands[f"MY.{name}"] = "undefined"
    for name, value in commands.items():
        if "\n" in value or "\r" in value:  # a line end would be another command
            raise ClassAdSyntaxError(Diagnostic("schedd-submit", f"{name} has a line end in it"))
    return commands
