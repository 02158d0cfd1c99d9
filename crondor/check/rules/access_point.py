"""CRN7..: what the access point makes of a job, by its configuration: only where that is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crondor.check.rule import MANY, RuleHit, rule
from crondor.check.subject import CheckedFile
from crondor.diagnostics import Severity
from crondor.source import Span

if TYPE_CHECKING:
    from crondor.access_point import Verdict
    from crondor.check.admitted import AdmittedJob
    from crondor.transform import AttributeChange


@rule("CRN701", "submit-requirement", Severity.ERROR, "a job that a submit requirement refuses")
def submit_requirement(file: CheckedFile) -> Iterator[RuleHit]:
    """The schedd asks SUBMIT_REQUIREMENT_NAMES in their order; the first that is not met refuses all jobs."""
    for job in _jobs(file):
        found = job.admission.refusal
        if found is not None and found.kind.value == "requirement":
            message = f"the access point refuses the job: {_words(found)}"
            yield RuleHit(message, _asked(file, job, found), f"{found.knob}{at(found.place)} is not met")


@rule("CRN702", "requirement-warns", Severity.WARNING, "a job that a submit requirement warns of")
def requirement_warns(file: CheckedFile) -> Iterator[RuleHit]:
    """With _IS_WARNING the job is taken, and condor_submit prints the reason."""
    for job in _jobs(file):
        for found in job.admission.warnings:
            message = f"the access point warns of the job: {_words(found)}"
            yield RuleHit(message, _asked(file, job, found), f"{found.knob}{at(found.place)} is not met")


@rule("CRN703", "transform-fails", Severity.ERROR, "a job that a transform of the access point fails on")
def transform_fails(file: CheckedFile) -> Iterator[RuleHit]:
    """A transform that fails, or makes what the queue does not take, ends the submission without a reason."""
    for job in _jobs(file):
        found = job.admission.refusal
        if found is not None and found.kind.value == "transform":
            message = f"the access point refuses the job: {_words(found)} It is {found.knob}{at(found.place)}"
            yield RuleHit(message, job.place(), found.help)


@rule("CRN704", "transform-schedules", Severity.WARNING, "a transform of the access point changes when a job runs")
def transform_schedules(file: CheckedFile) -> Iterator[RuleHit]:
    """JOB_TRANSFORM_NAMES are applied to every job whose REQUIREMENTS it meets, whatever its author has written."""
    for job in _jobs(file):
        changes = job.admission.schedule_changes
        if changes:
            texts = [
                f"{_became(change)} by {step.transform.knob}{at(step.place(change.name))}" for step, change in changes
            ]
            message = f"the access point changes when the job runs: {'; '.join(texts)}"
            help_text = "crondor preview shows the ad that is stored; next and simulate count with it"
            yield RuleHit(message, job.place(*(change.name for _, change in changes), "CronHour"), help_text)


def _became(change: AttributeChange) -> str:
    before, after = change.lines
    return f"{after or f'no {change.name}'} ({'it was not set' if before is None else f'it was {change.before}'})"


@rule("CRN705", "over-limit", Severity.ERROR, "more jobs than the access point takes")
def over_limit(file: CheckedFile) -> Iterator[RuleHit]:
    """The jobs that are in the queue already count, too: what is found here is too much for an empty one."""
    found = file.admitted.limit if file.settings.access_point is not None else None
    if found is not None and file.submit is not None:
        place = next((job.span() for job in file.jobs), file.source.span(0, 0))
        yield RuleHit(f"{found.reason}{at(found.place)}", place, found.help)


@rule("CRN706", "system-policy", Severity.WARNING, "a waiting job that the administrator's policy ends")
def system_policy(file: CheckedFile) -> Iterator[RuleHit]:
    """SYSTEM_PERIODIC_HOLD and SYSTEM_PERIODIC_REMOVE are asked of idle jobs too, a crontab job between two runs."""
    if file.settings.access_point is None or not file.settings.access_point.policy:
        return
    from crondor.check.waiting import ends_of_waiting  # noqa: PLC0415 - the engine, for who has such a policy

    for job in _jobs(file):
        ends = list(ends_of_waiting(file, job))
        if ends:
            texts = [f"{end.knob}{at(end.place)} {end.act} the job {end.when}: {end.reason}" for end in ends]
            yield RuleHit("; ".join(texts), job.place("CronHour", "CronMinute", "DeferralTime"), ends[0].help)


@rule("CRN707", "never-starts", Severity.WARNING, "a job that the access point never starts")
def never_starts(file: CheckedFile) -> Iterator[RuleHit]:
    """START_LOCAL_UNIVERSE and START_SCHEDULER_UNIVERSE decide on the jobs that the schedd runs itself."""
    access_point = file.settings.access_point
    for job in _jobs(file):
        universe = job.admission.after.value("JobUniverse")
        if access_point is not None and universe in {7, 12}:
            knob = "START_LOCAL_UNIVERSE" if universe == 12 else "START_SCHEDULER_UNIVERSE"
            if access_point.starts(job.admission.after, int(str(universe))) is False:
                place = at(access_point.place(knob))
                message = f"the job stays idle: {knob}{place} is not true for it"
                yield RuleHit(message, job.place("JobUniverse"), "submit it to another universe, or another host")


@rule("CRN708", "requirement-unknown", Severity.NOTE, "a submit requirement that depends on the moment")
def requirement_unknown(file: CheckedFile) -> Iterator[RuleHit]:
    """A requirement may ask for the schedd's counters, or for sizes of files, which nobody knows before."""
    for job in _jobs(file):
        for found in job.admission.unsure:
            message = f"whether {found.knob}{at(found.place)} is met depends on what the schedd knows at submission"
            yield RuleHit(message, job.place())


@rule("CRN709", "transform-circle", Severity.ERROR, "a transform that makes an attribute refer to itself", most=MANY)
def transform_circle(file: CheckedFile) -> Iterator[RuleHit]:
    """The job is taken, and the attribute is undefined: with such Requirements it stays idle."""
    for job in _jobs(file):
        for found in job.admission.diagnostics:
            if found.kind == "circle":
                message = f"{found.message}{at(found.span)}"
                yield RuleHit(message, job.place(), found.help, severity=found.severity)


def at(place: Span | None) -> str:
    """Return a place in brackets behind the name of what stands there."""
    return "" if place is None else f" ({place.source.name}:{place.line})"


def _jobs(file: CheckedFile) -> Iterator[AdmittedJob]:
    if file.settings.access_point is not None:
        yield from file.admitted.jobs


def _words(found: Verdict) -> str:
    return " ".join(found.reason.split())[:300]


def _asked(file: CheckedFile, job: AdmittedJob, found: Verdict) -> Span | None:
    """Return the place of the first command that a requirement asks for and the description sets."""
    access_point = file.settings.access_point
    asked = (
        next((each for each in access_point.requirements if each.knob == found.knob), None) if access_point else None
    )
    return job.place(*(() if asked is None else asked.attributes))
