"""Print the differences of a folder and a queue: a block of lines a job, a summary, or JSON."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.desired.applying import Applied
from crondor.desired.differences import Action, Difference
from crondor.desired.marks import Marks, content_of
from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.job.policy import QueuedJob
from crondor.spec import Dialect
from crondor.times import JobTimes
from crondor.transform import AttributeChange
from crondor_cli.kit.options import Clock
from crondor_cli.kit.screen import SCREEN, say, styled, together
from crondor_cli.kit.tables import columns, diagnostic_data, instant, plural
from crondor_cli.kit.times import local_text
from crondor_cli.plan.folder import Folder, plain_content

if TYPE_CHECKING:
    from crondor_cli.plan import results

_RUNS: Final = 3
_WIDEST: Final = 100  # characters of an expression
_MARKS: Final = {
    Action.SUBMIT: ("+", "green"),
    Action.EDIT: ("~", "yellow"),
    Action.RELEASE: ("~", "yellow"),
    Action.HOLD: ("~", "yellow"),
    Action.REPLACE: ("-/+", "yellow"),
    Action.REMOVE: ("-", "red"),
}
_DONE: Final = {
    Action.SUBMIT: "submitted",
    Action.EDIT: "edited",
    Action.REPLACE: "replaced",
    Action.RELEASE: "released",
    Action.HOLD: "held",
    Action.REMOVE: "removed",
}


class QueuePlan(NamedTuple):
    """The differences of one queue, and what was done about them; ``dialect`` is how it reads Cron attributes."""

    name: str
    dialect: Dialect
    differences: Sequence[Difference]
    applied: Sequence[Applied] = ()

    @property
    def is_different(self) -> bool:
        """Whether the queue differs from the folder."""
        return any(each.is_different for each in self.differences)


def show_plan(plan: QueuePlan, clock: Clock) -> None:
    """Print the differences of a queue, without those that there are none of."""
    usual = plain_content()
    for each in plan.differences:
        if each.is_different:
            for line in _lines(each, plan.dialect, clock, usual):
                say(line, fits=False)
        elif each.why:
            say(f"    {printable(str(each.key))}{_job(each)}: {printable(each.why)}")


def _lines(each: Difference, dialect: Dialect, clock: Clock, usual: dict[str, str]) -> Iterator[str]:
    mark, colour = _MARKS[each.action]
    words = [each.action.value]
    words += [f"{' and '.join(each.drift)} by hand"] if each.drift else []
    words += [printable(each.why)] if each.why else []
    words += ["only with --prune"] if each.is_orphan else []
    words += ["waits until its run ends (--running does not wait)"] if each.waits else []
    head = f"{mark:>3} "
    text = f"{printable(str(each.key))}{_job(each)}: {'; '.join(words)}"
    yield together(styled(head, colour=colour), text) if SCREEN.wants_colour(sys.stdout) else f"{head}{text}"
    by_hand = set() if each.ad is None or each.wanted is None else {*Marks.of(each.ad).edited(each.ad)}
    rows = [[*map(printable, _cells(change, by_hand))] for change in _changes(each, usual)]
    before, after = _runs(each.ad, dialect, clock), _runs(_after(each), dialect, clock)
    texts = [", ".join(local_text(time, clock.zone) for time in times) or "none" for times in (before, after)]
    if before != after and before and after:
        rows += [["runs before", texts[0]], ["runs after", texts[1]]]
    elif before or after:
        rows.append(["next runs", texts[0] if before else texts[1]])
    yield from (f"      {line}" for line in (columns(rows) if rows else ()))


def _job(each: Difference) -> str:
    return "" if each.job is None else f" (job {each.job})"


def _after(each: Difference) -> ClassAd | None:
    return None if each.wanted is None else each.wanted.ad


def _changes(each: Difference, usual: dict[str, str]) -> list[AttributeChange]:
    """Return the attributes to show: of a new job those that its file sets."""
    if each.action is not Action.SUBMIT or each.wanted is None:
        return list(each.attributes)
    content = content_of(each.wanted.ad)
    return [AttributeChange(name, None, text) for name, text in content.items() if usual.get(name) != text]


def _cells(change: AttributeChange, by_hand: set[str]) -> tuple[str, str]:
    before, after = (text if text is None or len(text) <= _WIDEST else f"{text[:_WIDEST]}..." for text in change[1:])
    text = f"{after}" if before is None else f"{before} -> {after or '(not set)'}"
    return change.name, f"{text}   (edited by hand)" if change.name in by_hand else text


def _runs(ad: ClassAd | None, dialect: Dialect, clock: Clock) -> list[int]:
    """Return the next runs of a job; none if its schedule has none, or is invalid."""
    queued = None if ad is None else QueuedJob(ad)
    if queued is None or not queued.is_scheduled:
        return []
    try:
        times = JobTimes.from_queue(queued, clock.now, dialect=dialect, zone=clock.zone)
        return list(islice(times.runs(clock.now), _RUNS))
    except CrondorError:
        return []


def summary(plan: QueuePlan, *, is_done: bool = False) -> str:
    """Return the counts as one line."""
    found = _counted(plan)
    parts = [
        f"{found[action]:,} {_DONE[action] if is_done else f'to {action.value}'}" for action in _DONE if found[action]
    ]
    late = [("waiting", "waiting for the end of a run"), ("failed", "not done"), ("prune", "to remove with --prune")]
    parts += [f"{found[what]:,} {words}" for what, words in late if found[what]]
    if not parts:
        return f"Nothing to do: {plural(found[Action.NOTHING], 'job')} as wanted"
    return f"{'Done' if is_done else 'Plan'}: {', '.join(parts)}; {found[Action.NOTHING]:,} unchanged"


def _counted(plan: QueuePlan) -> Counter[Action | str]:
    """Return the number of jobs by action; those that are not done, or need --prune, apart."""
    done = {id(each.difference): each.is_done for each in plan.applied}
    found: Counter[Action | str] = Counter()
    for each in plan.differences:
        found["drift"] += bool(each.drift)
        if each.waits:
            found["waiting"] += 1
        elif not done.get(id(each), True):
            found["failed"] += 1
        elif each.is_orphan and id(each) not in done:
            found["prune"] += 1
        else:
            found[each.action] += 1
    return found


def _counts_data(plan: QueuePlan) -> results.Counts:
    found = _counted(plan)
    return {
        "to_submit": found[Action.SUBMIT],
        "to_edit": found[Action.EDIT],
        "to_replace": found[Action.REPLACE],
        "to_release": found[Action.RELEASE],
        "to_hold": found[Action.HOLD],
        "to_remove": found[Action.REMOVE],
        "unchanged": found[Action.NOTHING],
        "waiting": found["waiting"],
        "failed": found["failed"],
        "to_prune": found["prune"],
        "drift": found["drift"],
    }


def plan_data(folder: Folder, plans: Sequence[QueuePlan], clock: Clock, findings: Sequence[Diagnostic]) -> results.Plan:
    """Return the JSON of a plan, or of what was done about it."""
    usual = plain_content()
    queues: list[results.Queue] = []
    for plan in plans:
        done = {id(each.difference): each for each in plan.applied}
        jobs = [_data(each, plan.dialect, clock, usual, done.get(id(each))) for each in plan.differences]
        queues.append({"queue": plan.name, "jobs": jobs, "counts": _counts_data(plan)})
    found = [diagnostic_data(each) for each in (*folder.findings, *findings)]
    return {"plan": folder.plan, "files": folder.files, "queues": queues, "diagnostics": found}


def _data(each: Difference, dialect: Dialect, clock: Clock, usual: dict[str, str], done: Applied | None) -> results.Job:
    span = each.wanted.span if each.wanted is not None else None
    data: results.Job = {
        "action": each.action.value,
        "file": each.key.file,
        "number": each.key.job,
        "line": span and span.line,
        "job": None if each.job is None else str(each.job),
        "reason": each.why,
        "drift": each.drift,
        "waits": each.waits,
        "needs_prune": each.is_orphan,
        "attributes": [
            {"name": change.name, "before": change.before, "after": change.after} for change in _changes(each, usual)
        ],
        "runs_before": [instant(time, clock.zone) for time in _runs(each.ad, dialect, clock)],
        "runs_after": [instant(time, clock.zone) for time in _runs(_after(each), dialect, clock)],
    }
    if done is not None:
        data["done"] = done.is_done
        data["new_job"] = None if done.job is None else str(done.job)
    return data
