"""The schedules on a command line: jobs of submit files or of a queue, crontab lines, fields, or words."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import click

from crondor.diagnostics import CrondorError, Diagnostic, Source
from crondor.knowledge.kinds import FileKind
from crondor.macro.files import Files
from crondor.preview.jobs import Job, ReadingTerms, job_of_line, jobs_of_file
from crondor.schedule import misspelt
from crondor.spec import Dialect
from crondor.submit import SubmitFile, SubmitHost, read_submit
from crondor.submit.facts import Variable
from crondor.zones import Policy
from crondor_cli.kit.files import check_stdin, files_of, read_source
from crondor_cli.kit.options import Clock, Surroundings, UsageProblem, complete_zone, gathered, options_of
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.screen import account, usage
from crondor_cli.kit.tables import instant
from crondor_cli.kit.times import find_zone, local_text

if TYPE_CHECKING:
    from crondor.access_point import AccessPoint
    from crondor.compile.meaning import WrittenSchedule
    from crondor.preview.jobs import Clock as PreviewClock
    from crondor_cli.kit import results


_HOST = SubmitHost()
Schedules: TypeAlias = "tuple[list[Job], list[Diagnostic]]"


def read_description(
    source: Source,
    path: str,
    surroundings: Surroundings,
    now: int | None,
    zone: tzinfo | None,
    *,
    host: SubmitHost = _HOST,
    append: Iterable[str] = (),
    variables: Iterable[Variable] = (),
) -> SubmitFile:
    """Return the submit file of a text, with the files below the folder of its path. Raises CrondorError."""
    allow_dirs, seed, environ, files = surroundings
    files = files or files_of(path, allow_dirs)
    return read_submit(
        source,
        files=files,
        environ=environ,
        now=now,
        zone=zone,
        seed=seed,
        host=host,
        append=append,
        variables=variables,
    )


class Through(NamedTuple):
    """The access point that processes submitted jobs, with a known configuration.

    ``host`` has its facts about the submit machine, ``commands`` are those that it adds. ``schedules`` returns the jobs
    of a file as they are stored, and the changes to their schedules; it raises CrondorError if they are rejected.
    """

    host: SubmitHost
    commands: frozenset[str]
    schedules: Callable[[SubmitFile, ReadingTerms], tuple[list[Job], list[Diagnostic]]]


class ScheduleRequest(NamedTuple):
    """The options for the schedules to read."""

    clock: Clock
    paths: tuple[str, ...] = ()
    crontab: str | None = None
    fields: Mapping[str, str | None] = {}
    dialect: Dialect | None = None
    schedd_interval: int = 300
    policy: Policy | None = None
    line_name: str = "--crontab"  # the name of the line in errors
    surroundings: Surroundings = Surroundings()
    ads: tuple[str, ...] = ()  # files with the jobs of a queue
    through: Through | None = None
    schedule: str | None = None  # one in any language
    own_zone: str | None = None  # its zone

    def check(self) -> None:
        """Check that schedules are given in exactly one way. Raises UsageError."""
        given = any(text is not None for text in self.fields.values())
        if sum([bool(self.paths), self.crontab is not None, bool(self.ads), given]) != 1:
            raise usage(_ways())
        check_stdin(*self.ads)

    def alone(self, others: Mapping[str, object] | None) -> WrittenSchedule | None:
        """Return the schedule of --schedule, None without it; .ics files must be below this folder or --allow-dir.

        ``others`` are further options that are not allowed with it, None: all are allowed. Raises UsageError for one of
        them and for --zone without a schedule, UsageProblem for an unknown zone, CrondorError for an invalid schedule.
        """
        if self.schedule is None:
            if self.own_zone is not None:
                raise usage("--zone needs --schedule; --tz is the submit host's zone")
            return None
        if others is not None:
            singles = {f"--{name.replace('_', '-')}": text for name, text in self.fields.items()}
            named: dict[str, object] = {"FILES": self.paths, "--crontab": self.crontab, **singles, "--ads": self.ads}
            named |= {"--dialect": self.dialect, **others}
            given = [name for name, value in named.items() if value not in {None, (), False}]
            if given:
                raise usage(f"--schedule is the whole schedule: omit {', '.join(given)}")
        try:
            zone = self.clock.zone_name if self.own_zone is None else find_zone(self.own_zone, label="--zone").key
        except CrondorError as error:
            raise UsageProblem(error) from None
        from crondor.compile.meaning import read_schedule  # noqa: PLC0415 - ten modules of languages, for this alone

        files, policy = Files((".", *self.surroundings.allow_dirs), base="."), self.policy or Policy.COMPATIBLE
        return read_schedule(self.schedule, zone=zone, files=files, policy=policy, label="--schedule")

    def jobs(self) -> tuple[list[Job], list[Diagnostic]]:
        """Return the jobs and the warnings about their file; jobs of a queue are not included.

        Raises CrondorError, and UsageError for an unreadable file.
        """
        if self.paths:
            return self._of_files()
        if self.crontab is not None:
            source = Source(self.crontab, self.line_name)
            return [job_of_line(source, self.terms, self.dialect or Dialect.MANUAL)], []
        given = {name: text for name, text in self.fields.items() if text is not None}
        spans = {f"cron_{name}": Source(text, f"--{name.replace('_', '-')}").span() for name, text in given.items()}
        commands = {f"cron_{name}": text for name, text in given.items()}
        return [Job("command line", None, 1, commands, spans, self.terms)], []

    @property
    def terms(self) -> ReadingTerms:
        """How the schedules are read."""
        return ReadingTerms(self.clock, self.policy, self.schedd_interval)

    def _of_files(self) -> tuple[list[Job], list[Diagnostic]]:
        """Read the files in order; with several files an invalid one is a finding, and the others count."""
        jobs: list[Job] = []
        findings: list[Diagnostic] = []
        for path in PROGRESS.counted(self.paths, "reading", "files"):
            try:
                found, said = self.of_source(read_source(path, FileKind.SUBMIT), path)
            except CrondorError as error:
                if len(self.paths) == 1:
                    raise
                findings += error.diagnostics
                continue
            jobs += found
            findings += said
        return jobs, findings

    def of_source(self, source: Source, path: str) -> Schedules:
        """Return the jobs of a file and the warnings about it. Raises CrondorError."""
        file = self.read_from(source, path)
        known = frozenset() if self.through is None else self.through.commands
        names = ((key, file.name(key)) for key in file.keys if key not in known)
        warnings = [*file.warnings, *misspelt((span.text if span else key, span) for key, span in names)]
        jobs, findings = jobs_of_file(file, self.terms)
        warnings += findings
        if self.through is not None:
            changed, said = self.through.schedules(file, self.terms)
            if said:
                return changed, [*warnings, *said]
        return jobs, warnings

    def read(self, path: str) -> SubmitFile:
        """Return a submit file, read with its surroundings. Raises CrondorError, UsageError if unreadable."""
        return self.read_from(read_source(path, FileKind.SUBMIT), path)

    def read_from(self, source: Source, path: str, host: SubmitHost | None = None) -> SubmitFile:
        """Return the submit file of a text. Raises CrondorError."""
        host = host or (_HOST if self.through is None else self.through.host)
        return read_description(source, path, self.surroundings, self.clock.now, self.clock.zone, host=host)


def _ways() -> str:
    """Return the ways to give a schedule in the running command."""
    context = click.get_current_context(silent=True)
    takes = {name for parameter in context.command.params for name in parameter.opts} if context is not None else set()
    ways = ["FILES", *(way for way in ("--crontab LINE", "--ads FILE") if way.split()[0] in takes)]
    return f"give the schedule in one way: {', '.join(ways)}, or --minute, --hour and so on"


def host_of(access_point: AccessPoint | None, owner: str | None = None) -> SubmitHost:
    """Return the facts about the submit machine that an access point's configuration has."""
    if access_point is None:
        return SubmitHost()
    return access_point.host(SubmitHost(user=owner or account(), folder=os.getcwd()))


as_request = gathered("request", ScheduleRequest)
"""Pass the options that select schedules as one argument ``request``."""

schedule_text_option = options_of(
    click.option("--schedule", metavar="TEXT", help='A schedule in any language, such as "every 2 hours".'),
    click.option(
        "--zone",
        "own_zone",
        metavar="ZONE",
        shell_complete=complete_zone,
        help="The time zone of --schedule (default: that of --tz).",
    ),
)
"""--schedule TEXT, as ``schedule``, and --zone ZONE, as ``own_zone``."""


def read_schedules(request: ScheduleRequest) -> Schedules:
    """Return the jobs and the warnings about their files.

    Raises CrondorError, and UsageError for an invalid request and for an unreadable file.
    """
    request.check()
    if not request.ads:
        return request.jobs()
    from crondor_cli.kit.queues import jobs_of_ads  # noqa: PLC0415 - ads need the engine, which takes 26 ms

    jobs: list[Job] = []
    findings: list[Diagnostic] = []
    for path in request.ads:
        found, said = jobs_of_ads(path, request.terms)
        jobs += found
        findings += said
    return jobs, findings


def known_text(until: results.Known, clock: PreviewClock) -> str:
    """Return the time up to which a schedule is known, and the reason."""
    return f"until {local_text(until['time'], clock.zone)}: {until['reason']}"


def asked_data(schedule: WrittenSchedule, clock: PreviewClock) -> results.AskedSchedule:
    """Return the JSON form of a schedule, shared by all commands."""
    return {
        "text": schedule.text,
        "words": schedule.words,
        "zone": schedule.zone.name,
        "until": None
        if schedule.until is None
        else {**instant(schedule.until, clock.zone), "reason": schedule.until_reason},
        "now": clock.now,
    }
