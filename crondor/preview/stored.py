"""The jobs of a submit file as the access point of --pool-config would store them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from crondor._schedule import ATTRIBUTES, leaves_by
from crondor.access_point import AccessPoint, Admission, Submitter, Verdict, sent_jobs
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Span
from crondor.job.attributes import expression, int32, printed
from crondor.preview.jobs import Job, ReadingTerms
from crondor.schedule import speaks_of_time
from crondor.submit import JobGroup, SubmitFile, job_ads

MOST_JOBS: Final = 10_000
_TERMS: Final = (*ATTRIBUTES, "ScheddInterval")


class StoredJobs(NamedTuple):
    """Jobs that are alike: as in the file, and the result of submitting them."""

    jobs: JobGroup
    admission: Admission

    @property
    def ad(self) -> ClassAd:
        """The stored ad of the first of them."""
        return self.admission.after


def stored_jobs(file: SubmitFile, access_point: AccessPoint, now: int) -> tuple[list[StoredJobs], list[Diagnostic]]:
    """Return the jobs of a file that is submitted at ``now`` (epoch seconds), and the changes by transforms.

    Raises InvalidSubmit if condor_submit refuses them, CrondorError if the access point does.
    """
    limit = access_point.too_many(file)
    if limit is not None:
        raise CrondorError(_refused(limit, next((queue.span for queue in file.queues if queue.jobs), None)))
    knobs, host = access_point.submit_knobs, file.host
    who = Submitter(host.user, knobs.get("uid_domain") or host.uid_domain, now)
    made = job_ads(file, config=knobs, in_order=True, limit=MOST_JOBS)
    found: list[StoredJobs] = []
    said: dict[Diagnostic, None] = {}
    for sent in sent_jobs(made, who, file.job_count):
        admission = access_point.admit(sent.ad)
        if admission.refusal is not None:
            raise CrondorError(_refused(admission.refusal, sent.jobs.queue))
        found.append(StoredJobs(sent.jobs, admission))
        said.update(dict.fromkeys(_changes(sent.jobs, admission)))
    return found, list(said)


def schedules_of(
    file: SubmitFile, access_point: AccessPoint, terms: ReadingTerms
) -> tuple[list[Job], list[Diagnostic]]:
    """Return the jobs as an access point stores them, and its changes of their schedules; none if it changes nothing.

    Raises CrondorError if it refuses them.
    """
    stored, said = stored_jobs(file, access_point, terms.clock.now)
    return (list(_schedules(file, stored, terms)) if said else []), said


def _schedules(file: SubmitFile, stored: Iterable[StoredJobs], terms: ReadingTerms) -> Iterator[Job]:
    """Yield the jobs, each once."""
    seen: dict[tuple[object, ...], Job] = {}
    for each in stored:
        ad = each.ad
        texts = {f"my.{name.lower()}": printed(ad, name) for name in _TERMS if expression(ad, name) is not None}
        universe = int32(ad, "JobUniverse")
        commands = {**texts, "universe": str(universe or 5)}
        leaves = leaves_by({"my.onexitremove": printed(ad, "OnExitRemove")} if "OnExitRemove" in ad else {})
        requirements = printed(ad, "Requirements") if "Requirements" in ad else ""
        requirements = requirements if speaks_of_time(requirements) else ""
        key = (leaves, requirements, tuple(sorted(commands.items())))
        known = seen.get(key)
        if known is not None:
            known.count += each.jobs.count
            continue
        spans = {**each.jobs.spans, **dict(_places(each.admission))}
        job = Job(file.source.name, each.jobs.queue, each.jobs.count, commands, spans, terms, each.jobs.first[1])
        job.leaves_by = leaves
        job.requirements = requirements
        seen[key] = job
    yield from seen.values()


def _places(admission: Admission) -> Iterator[tuple[str, Span]]:
    for step, change in admission.schedule_changes:
        place = step.place(change.name)
        if place is not None:
            yield f"my.{change.name.lower()}", place


def _changes(jobs: JobGroup, admission: Admission) -> Iterator[Diagnostic]:
    for step, change in admission.schedule_changes:
        before, after = (line or f"no {change.name}" for line in change.lines)
        message = f"{step.transform.knob} makes {after} of {before}"
        yield Diagnostic("access-point", message, Severity.NOTE, step.place(change.name) or jobs.queue)


def _refused(verdict: Verdict, queue: Span | None) -> Diagnostic:
    place = verdict.place
    where = "" if place is None else f" ({place.source.name}:{place.line})"
    message = f"the access point refuses the job: {verdict.knob}{where}: {' '.join(verdict.reason.split())}"
    return Diagnostic("access-point", message, span=queue, help=verdict.help)
