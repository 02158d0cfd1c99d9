"""What `crondor preview` prints: the ads line by line with what changed them, as they are stored, and for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator

from crondor.access_point import Admission, TransformStep, Verdict
from crondor.classad.formats import Format, Order
from crondor.job.attributes import printed
from crondor.source import Span
from crondor_cli.common.data import diagnostic_data
from crondor_cli.common.output import emit, say, styled, together
from crondor_cli.common.screen import SCREEN
from crondor_cli.common.show import show
from crondor_cli.preview.model import PreviewedFile, PreviewedJobs

_COLOURS = {"-": "red", "+": "green"}


def show_all(found: Iterable[PreviewedFile], form: str, *, diff: bool) -> bool:
    """Show everything as it is found; return whether all jobs are accepted."""
    is_fine = True
    data: list[dict[str, object]] = []
    for each in found:
        is_fine = is_fine and each.is_accepted
        show(each.diagnostics)
        show(dict.fromkeys(found for job in each.jobs for found in job.admission.diagnostics))
        if form == "json":
            data.append(_data(each))
        elif form == "long":
            _long(each)
        else:
            _text(each, diff=diff)
    if form == "json":
        say(json.dumps(data, indent=2), fits=False)
    return is_fine


def _long(file: PreviewedFile) -> None:
    """Print the ads of the jobs, or say on stderr why none of them is stored."""
    if file.limit is not None:
        say(_refused(file.name, file.limit), err=True)
    for each in file.jobs:
        admission = each.admission
        if admission.refusal is not None:
            say(_refused(each.title, admission.refusal), err=True)
        elif file.is_accepted:
            for number in range(each.first, each.first + each.number):
                ad = admission.after
                if number != each.first:
                    ad = ad.copy()
                    ad.set("ProcId", number)
                emit(f"{ad.print(Format.LONG, Order.NAME)}\n".encode("utf-8", "surrogateescape"))


def _text(file: PreviewedFile, *, diff: bool) -> None:
    if file.limit is not None:
        say(f"@@ {file.name} @@")
        say(_refused("", file.limit))
    for each in file.together():
        say(_head(f"@@ {each.title} @@"))
        for line in _lines(each, diff=diff):
            say(line, fits=False)
        for line in _verdict(each.admission):
            say(line)


def _head(text: str) -> str:
    return styled(text, bold=True) if SCREEN.wants_colour(sys.stdout) else text


def _lines(jobs: PreviewedJobs, *, diff: bool) -> Iterator[str]:
    """Yield the lines of both ads, by name: what stays, what was, and what is instead, and by which transform."""
    admission = jobs.admission
    before, after = admission.before, admission.after
    is_coloured = SCREEN.wants_colour(sys.stdout)
    names = {**dict(before.names), **after.names}
    for key in sorted(names):
        old = f"{before.names[key]} = {printed(before, key)}" if key in before.codes else None
        new = f"{after.names[key]} = {printed(after, key)}" if key in after.codes else None
        if old == new:
            if not diff:
                yield f"  {new}"
            continue
        by = changed_by(admission.steps, names[key])
        for sign, text in (("- ", old), ("+ ", new)):
            if text is not None:
                mark = f"    # {by}" if by and (sign == "+ " or new is None) else ""
                line = f"{sign}{text}"
                yield together(styled(line, colour=_COLOURS[sign[0]]), mark) if is_coloured else f"{line}{mark}"


def changed_by(steps: Iterable[TransformStep], name: str) -> str:
    """Return which transforms changed an attribute, each with its place."""
    key = name.lower()
    found = [step for step in steps if any(change.name.lower() == key for change in step.changes)]
    return ", then ".join(f"{step.transform.knob}{_at(step.place(name))}" for step in found)


def _at(place: Span | None) -> str:
    return "" if place is None else f" ({place.source.name}:{place.line})"


def _verdict(admission: Admission) -> Iterator[str]:
    for each in admission.unsure:
        yield f"cannot be told: {each.knob}{_at(each.place)} asks for what only the schedd knows"
    for each in admission.warnings:
        yield f"warned of by {each.knob}{_at(each.place)}: {each.reason}"
    yield "accepted" if admission.refusal is None else _refused("", admission.refusal)


def _refused(title: str, verdict: Verdict) -> str:
    head = f"{title}: " if title else ""
    end = f" ({verdict.help})" if verdict.help else ""
    return f"{head}refused by {verdict.knob}{_at(verdict.place)}: {verdict.reason.rstrip()}{end}"


def _data(file: PreviewedFile) -> dict[str, object]:
    return {
        "file": file.name,
        "cluster": file.cluster,
        "accepted": file.is_accepted,
        "refusal": _verdict_data(file.limit),
        "jobs": [_job_data(each) for each in file.jobs],
        "diagnostics": [diagnostic_data(each) for each in file.diagnostics],
    }


def _job_data(jobs: PreviewedJobs) -> dict[str, object]:
    admission = jobs.admission
    return {
        "first": f"{jobs.cluster}.{jobs.first}",
        "count": jobs.number,
        "line": None if jobs.queue is None else jobs.queue.line,
        "accepted": admission.refusal is None,
        "refusal": _verdict_data(admission.refusal),
        "warned_of": [_verdict_data(each) for each in admission.warnings],
        "unsure": [_verdict_data(each) for each in admission.unsure],
        "transforms": [_step_data(each) for each in admission.steps],
        "changes": [each._asdict() for each in admission.changes],
        "before": json.loads(admission.before.print(Format.JSON, Order.NAME)),
        "after": json.loads(admission.after.print(Format.JSON, Order.NAME)),
        "diagnostics": [diagnostic_data(each) for each in admission.diagnostics],
    }


def _step_data(step: TransformStep) -> dict[str, object]:
    place = step.transform.place
    return {
        "knob": step.transform.knob,
        "converted": step.transform.is_classad,
        "file": place and place.source.name,
        "line": place and place.line,
        "changes": [
            {**change._asdict(), "line": (at := step.place(change.name)) and at.line} for change in step.changes
        ],
    }


def _verdict_data(verdict: Verdict | None) -> dict[str, object] | None:
    if verdict is None:
        return None
    place = verdict.place
    return {
        "what": verdict.kind.value,
        "knob": verdict.knob,
        "reason": verdict.reason,
        "help": verdict.help,
        "file": place and place.source.name,
        "line": place and place.line,
    }
