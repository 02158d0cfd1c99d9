"""The jobs that a plan is asked about: submit files, ads of a queue, a job_queue.log."""

from __future__ import annotations

import os
from collections.abc import Iterable

from crondor.classad.ad import ClassAd
from crondor.classad.formats import ReadMode, read_ads
from crondor.classad.formats.pieces import Report
from crondor.diagnostics import Diagnostic, Severity
from crondor.job.queued import QueuedJob
from crondor.knowledge.kinds import FileKind
from crondor.router_bridge import Plannable
from crondor.schedd.embedded import LOG
from crondor.schedd.queue_log import QueueLogSchedd
from crondor.schedule import COMMANDS, misspelt
from crondor.submit import read_submit
from crondor_cli.common.ad_files import chunks, name_of
from crondor_cli.common.first_faults import FirstFaults
from crondor_cli.common.given_files import read_source
from crondor_cli.common.jobs import files_of
from crondor_cli.common.options import Clock, Surroundings
from crondor_cli.common.progress import PROGRESS


def read_plannable(
    specs: Iterable[str],
    ads: Iterable[str],
    queue: str | None,
    clock: Clock,
    surroundings: Surroundings,
    jobs: list[Plannable],
    findings: list[Diagnostic],
) -> None:
    """Add what the files have to ``jobs``, and what there is to say of them to ``findings``.

    Raises CrondorError for a file with faults, UsageError for one that cannot be read.
    """
    for path in PROGRESS.counted(list(specs), "reading", "files"):
        file = read_submit(
            read_source(path, FileKind.SUBMIT),
            files=files_of(path, surroundings.allow_dirs),
            environ=surroundings.around(os.environ),
            seed=surroundings.seed,
            now=clock.now,
            zone=clock.zone,
        )
        findings += file.warnings
        names = ((key, file.name(key)) for key in file.keys)
        findings += misspelt((span.text if span else key, span) for key, span in names)
        if not any(name in file.keys for name in COMMANDS[:-2]):
            message = f"no job of {name_of(path)} has a cron field or a deferral_time: nothing is planned"
            help_text = "define cron_minute, cron_hour ... or deferral_time; crondor route explain is for other jobs"
            findings.append(Diagnostic("not-deferred", message, Severity.NOTE, help=help_text))
        jobs.append(file)
    for path in ads:
        told = FirstFaults()
        _keep(_ads_of(path, told.add), name_of(path), jobs, findings)
        findings += told.listed()
    if queue is not None:
        _keep(_jobs_of(queue, clock, findings), queue, jobs, findings)


def _keep(ads: Iterable[ClassAd], name: str, jobs: list[Plannable], findings: list[Diagnostic]) -> None:
    found = list(ads)
    plain = sum(not QueuedJob(ad).is_scheduled for ad in found)
    if plain:
        said = f"{plain} {'job has' if plain == 1 else 'jobs have'}"
        message = f"{said} neither a cron attribute nor a DeferralTime, of {len(found)} in {name}"
        help_text = "crondor route explain says where they go"
        findings.append(Diagnostic("not-deferred", message, Severity.NOTE, help=help_text))
    elif not found:
        findings.append(
            Diagnostic("no-ads", f"there is no job in {name}", Severity.NOTE, help="condor_q -long prints jobs")
        )
    jobs += found


def _ads_of(path: str, report: Report) -> Iterable[ClassAd]:
    return read_ads(chunks(path), None, ReadMode.LAZY, name=name_of(path), report=report)


def _jobs_of(path: str, clock: Clock, findings: list[Diagnostic]) -> Iterable[ClassAd]:
    is_embedded = os.path.isdir(path)
    log = os.path.join(path, LOG) if is_embedded else path
    schedd = QueueLogSchedd(log, clock=lambda: clock.now, zone=clock.zone, embedded=is_embedded)
    findings += schedd.diagnostics
    return schedd.jobs()
