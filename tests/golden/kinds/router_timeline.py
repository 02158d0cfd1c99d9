"""The router-timeline kind: jobs of a real router, lived through again by crondor's.

From the recording come what no rule of the router decides: the submit text, what users did, when the copy ran and what
its schedd wrote into it, when the router polled, and what the hooks answered as far as the router's log says it.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from crondor.classad import Context, Expression, UnparseForm
from crondor.classad.ad import ClassAd
from crondor.config import read_config
from crondor.diagnostics import Source
from crondor.event_log import EventType, JobEvent, read_events
from crondor.hooks.kinds import HookProgram, HookType, RouterHooks
from crondor.hooks.runner import HookCall, HookEnd, HookRun, RunningHook
from crondor.job.attributes import JobStatus
from crondor.job_queue import JobId
from crondor.router.daemon import HookRunners, LogEntry, Router, RouterEvent, RouterOptions
from crondor.router.daemon.follow import MIRRORED
from crondor.router.table.loading import load_table
from crondor.schedd.embedded import MemorySchedd
from crondor.submit import SubmitHost, job_ads, read_submit
from tests.golden.kinds.case import (
    Case,
    Difference,
    Malformed,
    NotApplicable,
    Replay,
    compare,
    integer,
    items,
    mapping,
    shown,
    text,
    texts,
)

_PERIOD = 5  # JOB_ROUTER_POLLING_PERIOD of the recorded pool
_TOLERANCE = 20  # seconds: a poll, the hooks' own time, and the schedd's until a finished job has left
_ROUTE = re.compile(r"route=(\w+)").search
_ABOUT = re.compile(r"^(?:JobRouter|\w+Client::hookExited) \((?:src|dest)=[^)]*\): (.*)$", re.DOTALL).match
_HOOK = re.compile(r"^Hook (\w+)_HOOK_(\w+): (\S+)$").match
_LOG_LINES = 24  # a longer log of a job was cut there
_FINAL = ("JobStatus", "Managed", "ManagedManager", "RemoveReason", "HoldReason", "HoldReasonCode")
_ENDED = (
    "ClusterId", "ProcId", "JobStatus", "NumJobStarts", "NumShadowStarts", "NumJobCompletions", "ExitCode",
    "CompletionDate", "RemoveReason", "JobRunCount", "ExitBySignal",
)  # fmt: skip
_COPY = ("JobStatus", "JobUniverse", "RouteName", "RoutedBy", "LeaveJobInQueue", "RemoveReason")
_STARTS = ("JobStartDate", "JobCurrentStartDate", "JobRunCount", "NumShadowStarts")
_FIELDS = (
    "universe", "schedd_interval", "t0", "cluster", "submit", "commands", "procs", "user_log", "final", "kind",
    "keyword", "copies", "router_log",
)  # fmt: skip

# The lines of the log that say what was done; those of one cycle come once each here, since how often the copy's
# attributes changed between two polls is the pool's.
_SAID = {
    RouterEvent.CLAIMED: "claimed",
    RouterEvent.SUBMITTED: "submitted",
    RouterEvent.UPDATED: "source updated",
    RouterEvent.COPY_UPDATED: "copy updated",
    RouterEvent.FINISHED: "finished",
    RouterEvent.SOURCE_UPDATED: "hook's attributes set",
    RouterEvent.FINALIZED: "finalized",
    RouterEvent.CLEANED_UP: "cleaned up",
    RouterEvent.FORGOTTEN: "forgotten",
    RouterEvent.COPY_REMOVED: "copy removed",
    RouterEvent.SOURCE_REMOVED: "source removed",
    RouterEvent.SOURCE_HELD: "source held",
}
_WORDS = {what.value: token for what, token in _SAID.items()}


def _replay(case: Case) -> list[Difference]:
    """Compare the source's states, the ads at the end, the user's log, and what the router says it did and why."""
    record = case.record(_FIELDS, [])
    if text(record, "kind") != "router_hook":
        raise NotApplicable("not a job of the router")
    life = _Life(record)
    life.live()
    found = [*life.compare_states(), *life.compare_ads(), *life.compare_log(), *life.compare_events()]
    return [*found, *life.refused]


class _Recorded(RouterHooks):
    """The hooks of the recording: which are configured, and how they answered, as the router's log says."""

    def __init__(self, lines: Sequence[str], keyword: str) -> None:
        super().__init__({}, {})
        object.__setattr__(self, "paths", {m[2]: m[3] for line in lines if (m := _HOOK(line)) and m[1] == keyword})
        object.__setattr__(self, "lines", lines)

    paths: Mapping[str, str]
    lines: Sequence[str]

    def keyword(self, source: ClassAd, context: Context | None = None) -> str:
        """Return the job's own."""
        return super().keyword(source, context)

    def find(self, hook: HookType, source: ClassAd, context: Context | None = None) -> HookProgram:  # noqa: ARG002
        """Return what the log says that the router has found."""
        path = self.paths.get(hook.value, "UNDEFINED")
        return HookProgram(hook, None if path == "UNDEFINED" else path, hook.value)

    def start(self, call: HookCall) -> RunningHook:
        """Return the answer at once."""
        return cast("RunningHook", _Answered(call, self))

    def said(self, words: str) -> bool:
        """Say whether a line of the log has some words."""
        return any(words in line for line in self.lines)


class _Answered:
    """A hook that has answered."""

    def __init__(self, call: HookCall, hooks: _Recorded) -> None:
        status, output = 0, ""
        if call.name == HookType.TRANSLATE_JOB.value:
            output = (call.stdin or "").partition("------\n")[2]
            status = 1 if hooks.said("exited with return status 1") else 0
            output += "this is not an ad line\n" if hooks.said("Failed to insert") else ""
        elif call.name == HookType.UPDATE_JOB_INFO.value:
            output = "HookUpdated = 1\n"
        elif call.name == HookType.JOB_FINALIZE.value:
            status = 0 if hooks.said("finalized job") else 1
            output = "FinalNote = 1\n" if hooks.said("updated src job") else ""
        self._run = HookRun(call, HookEnd.EXITED, status=status, stdout=output)

    def poll(self) -> HookRun:
        """Return it."""
        return self._run

    def cancel(self) -> HookRun:
        """Return it all the same."""
        return self._run


class _Life:
    """One source and its copies."""

    def __init__(self, record: Mapping[str, object]) -> None:
        self._record = record
        self._t0 = integer(record["t0"], "t0")
        self._log = texts(record, "router_log")
        self._copies = [_texts(copy, "copies") for copy in items(record, "copies")]
        looks = items(mapping(record, "procs"), "0")
        self._seen = [mapping({"look": look}, "look") for look in looks]
        self._has_run = any(look.get("JobStatus") == JobStatus.RUNNING for look in self._seen)
        self.now = self._t0 + math.floor(float(str(self._seen[0]["t"])))
        self._entries: list[LogEntry] = []
        self._events: list[JobEvent] = []
        self._states: list[tuple[float, object]] = []
        self._started: set[JobId] = set()
        self._ended: set[JobId] = set()
        self.refused: list[Difference] = []
        self._schedd = MemorySchedd(clock=lambda: self.now)
        hooks = _Recorded(self._log, text(record, "keyword"))
        options = RouterOptions(
            hooks=HookRunners(hooks, hooks.start), log=self._entries.append, write_event=self._write
        )
        self._router = Router(
            load_table(read_config(self._config())), self._schedd, clock=lambda: self.now, options=options
        )
        (self._job,) = self._schedd.submit(list(self._ads()))

    def _write(self, _ad: ClassAd, event: JobEvent) -> bool:
        self._events.append(event)
        return True

    def _config(self) -> str:
        """Return the route that the log names; its universe is the copy's."""
        name = next((m[1] for line in self._log if (m := _ROUTE(line))), "R")
        universe = self._copies[0]["JobUniverse"] if self._copies else "12"
        rules = f"REQUIREMENTS WantJobRouter\nUNIVERSE {universe}\nSET Requirements true"
        return f"JOB_ROUTER_ROUTE_NAMES = {name}\nJOB_ROUTER_ROUTE_{name} @=end\n{rules}\n@end\n"

    def _ads(self) -> Iterator[ClassAd]:
        host = SubmitHost(schedd_interval=integer(self._record["schedd_interval"], "schedd_interval"))
        file = read_submit(Source(text(self._record, "submit"), "job.sub"), now=self.now, host=host)
        source = _texts(self._record["source"], "source")
        for jobs, ad in job_ads(file, in_order=True):
            for _ in range(jobs.count):
                made = ad.copy()
                made.set("Owner", "alice")
                made.set("User", "alice@example.org")
                for name in MIRRORED if not any(_date(copy, "JobStartDate") for copy in self._copies) else ():
                    if name in source:  # what condor_submit and the schedd wrote: no copy has run
                        made.set(name, _value(source[name]))
                yield made

    def live(self) -> None:
        """Poll, and do what the pool and its users did in between."""
        commands = sorted(
            (_command(line, n) for n, line in enumerate(items(self._record, "commands"))), key=lambda c: c[0]
        )
        if not any(tool == "condor_submit" for _, tool, _ in commands):
            raise Malformed("commands", "a condor_submit is expected")
        end = self._t0 + math.ceil(float(str(self._seen[-1]["t"]))) + 2 * _PERIOD
        first = self.now
        while self.now <= end:
            for t, tool, worked in [command for command in commands if self._t0 + math.floor(command[0]) == self.now]:
                if tool == "condor_rm":
                    acted = self._schedd.remove(self._job, "via condor_rm (by user alice)")
                    if bool(acted.done) != worked:
                        self.refused.append(Difference("commands", f"at {t:g} s it {'worked' if worked else 'failed'}"))
            if not self._has_run:
                self._end_copies()
            self._start_copies()
            if (self.now - first) % _PERIOD == 0:
                self._router.poll()
            self._end_copies()
            if (self.now - first) % _PERIOD == _PERIOD - 1:
                self._schedd.clear_finished()
            self._look()
            self.now += 1

    def _found(self) -> list[JobId]:
        return [JobId(int(str(ad["ClusterId"])), 0) for ad in self._schedd.jobs("RoutedBy =!= undefined")]

    def _start_copies(self) -> None:
        for job, recorded in zip(self._found(), self._copies, strict=False):
            begun = _date(recorded, "JobCurrentStartDate")
            if job not in self._started and begun and begun <= self.now:
                self._started.add(job)
                values = {name: _value(recorded[name]) for name in _STARTS if name in recorded}
                self._schedd.edit_if(job, "JobStatus == 1", {"JobStatus": 2, **values})

    def _end_copies(self) -> None:
        for job, recorded in zip(self._found(), self._copies, strict=False):
            ended = _date(recorded, "CompletionDate")
            if job in self._started - self._ended and ended and ended <= self.now:
                self._ended.add(job)
                values: dict[str, object] = {str(name): _value(recorded[name]) for name in MIRRORED if name in recorded}
                self._schedd.edit_if(job, "true", {**values, "JobFinishedHookDone": ended, "JobStatus": 4})

    def _look(self) -> None:
        ads = self._schedd.jobs(self._job)
        state: object = ads[0].python("JobStatus") if ads else "gone"
        if not self._states or self._states[-1][1] != state:
            self._states.append((self.now - self._t0, state))

    def compare_states(self) -> Iterator[Difference]:
        """Compare JobStatus and leaving, value by value, with the times as near as the pool lets them be."""
        recorded: list[tuple[float, object]] = []
        for look in self._seen:
            state = "gone" if "gone" in look else look["JobStatus"]
            if not recorded or recorded[-1][1] != state:
                recorded.append((float(str(look["t"])), state))
        said = [each for each in self._states if not self._is_short(each)]
        recorded = [
            each for n, each in enumerate(recorded) if n + 1 == len(recorded) or recorded[n + 1][0] - each[0] > 2
        ]
        yield from compare("procs.0.JobStatus", [state for _, state in recorded], [state for _, state in said])
        for (expected, state), (t, _) in zip(recorded, said, strict=False):
            if abs(expected - t) > _TOLERANCE:
                yield Difference("procs.0", f"recorded {shown(state)} at {expected:g} s, crondor says at {t:g} s")

    def _is_short(self, state: tuple[float, object]) -> bool:
        at = self._states.index(state)
        return state[1] == JobStatus.REMOVED or (at + 1 < len(self._states) and self._states[at + 1][0] - state[0] <= 1)

    def compare_ads(self) -> Iterator[Difference]:
        """Compare what the source has of its copy at the end, how it was given back, and how the copy ended."""
        (source,) = self._schedd.history(self._job) or self._schedd.jobs(self._job)
        recorded = _texts(self._record["source"], "source")
        names = [*_FINAL, *(name for name in MIRRORED if any(name in copy for copy in self._copies))]
        yield from compare("source", _shown(recorded, names), _shown(_printed(source), names))
        numbers = {"ClusterId": str(self._record["cluster"]), "ProcId": "0", "NumJobCompletions": "0"}
        said = {**numbers, **_printed(source), "ClusterId": numbers["ClusterId"]}
        finals = [_texts(final, "final") for final in items(self._record, "final")]
        yield from compare("final", [_shown(final, list(final)) for final in finals], [_shown(said, _ENDED)])
        has_copy = "RoutedToJobId" in recorded
        yield from compare("source.RoutedToJobId", has_copy, "RoutedToJobId" in source)
        copies = sorted(self._schedd.history("RoutedBy =!= undefined"), key=lambda ad: int(str(ad["ClusterId"])))
        yield from compare("copies", len(self._copies), len(copies))
        for copy, made in zip(self._copies, copies, strict=False):
            yield from compare("copy", _shown(copy, _COPY), _shown(_printed(made), _COPY))

    def compare_log(self) -> Iterator[Difference]:
        """Compare what was said to be done, and why, cycle by cycle; which hooks there were."""
        recorded, said = _once(_recorded(self._log)), _once(map(_token, self._entries))
        if len(self._log) >= _LOG_LINES:
            said = said[: len(recorded)]
        yield from compare("router_log", recorded, said)

    def compare_events(self) -> Iterator[Difference]:
        """Compare the events that a router writes: execute, evicted, terminated, and aborted where it has the job."""
        cluster = integer(self._record["cluster"], "cluster")
        log = [each for each in read_events(text(self._record, "user_log")) if each.cluster == cluster]
        wanted = {EventType.EXECUTE, EventType.JOB_EVICTED, EventType.JOB_TERMINATED}
        if self._copies:
            wanted.add(EventType.JOB_ABORTED)
        expected = [int(each.number) for each in log if each.number in wanted]
        yield from compare("user_log", expected, [int(each.number) for each in self._events])


def _command(line: object, number: int) -> tuple[float, str, bool]:
    fields = mapping({f"commands[{number}]": line}, f"commands[{number}]")
    tool, rc = text(fields, "cmd").split()[0], integer(fields["rc"], f"commands[{number}].rc")
    if rc not in ((0,) if tool == "condor_submit" else (0, 1)):
        raise Malformed(f"commands[{number}].rc", f"{rc} is no status of {tool} here")
    return float(str(fields["t"])), tool, rc == 0


def _recorded(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        about = _ABOUT(line)
        words = "" if about is None else about[1]
        if line.startswith("JobRouter: Found candidate job"):
            yield "found"
        elif words.startswith("yielded job"):
            yield words
        elif "Ignoring output" in words:
            yield "hook failed"
        elif "ignoring invalid hook output" in words:
            yield "hook output refused"
        elif words in _WORDS:
            yield _WORDS[words]


def _token(entry: LogEntry) -> str:
    if entry.what is RouterEvent.FOUND:
        return "found"
    if entry.what is RouterEvent.YIELDED:
        return f"{entry.what.value}{entry.text}"
    if entry.what is RouterEvent.HOOK_ANSWER and HookType.TRANSLATE_JOB.value in entry.text:
        if "exited with status" in entry.text:
            return "hook failed"
        if "not an attribute" in entry.text:
            return "hook output refused"
    return _SAID.get(entry.what, "")


def _once(tokens: Iterable[str]) -> list[str]:
    """Return the words of each cycle once, in the order of their first."""
    found: list[str] = []
    cycle: set[str] = set()
    for words in tokens:
        if words == "found":
            cycle = set()
        if words and words not in cycle:
            cycle.add(words)
            found.append(words)
    return found


def _texts(value: object, field: str) -> dict[str, str]:
    return {name: str(each) for name, each in mapping({field: value}, field).items()}


def _printed(ad: ClassAd) -> dict[str, str]:
    return {name: ad[name].unparse(UnparseForm.OLD) for name in ad}


def _shown(values: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    by = " (by user condor)"  # what the schedd adds to the reason it is given
    return {name: values[name].replace(by, "") for name in names if name in values}


def _date(values: Mapping[str, str], name: str) -> int:
    found = values.get(name, "0")
    return int(found) if found.isdigit() else 0


def _value(written: str) -> Expression:
    return Expression.parse(Source(written, "<recorded>"), old=True)


KINDS: Mapping[str, Replay] = {"router-timeline": _replay}
