"""The jobs that a folder of submit files wants in a queue, and what is wrong with its files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import click

from crondor.access_point import AccessPoint, Submitter
from crondor.calendar import DAY
from crondor.classad.ad import ClassAd
from crondor.compiled_text import with_lines
from crondor.desired.differences import Wanted
from crondor.desired.marks import Key, content_of, marked
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, has_error
from crondor.knowledge.kinds import FileKind
from crondor.knowledge.releases import NEWEST, Release
from crondor.lint import CheckSettings, check_submit
from crondor.preview.accepted import accepted_jobs, changed_by
from crondor.submit import SubmitFile, read_submit
from crondor_cli.kit.files import KINDS, below, files_of, inside_of, may_have_rules, read_source
from crondor_cli.kit.options import Clock, ConfigFiles, Surroundings
from crondor_cli.kit.pool_config import read_pool
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.queues import ads_of_file
from crondor_cli.kit.schedules import host_of, read_description
from crondor_cli.kit.screen import account, usage
from crondor_cli.kit.site_rules import read_site

_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,99}\Z").match
_LATER: Final = 401 * DAY  # another day, month and year
_PLAIN: Final = Source("executable = /bin/true\ncron_minute = *\nqueue\n", "<plain>")


class FolderRequest(NamedTuple):
    """The options of the command line."""

    folder: str
    name: str | None
    pool_config: ConfigFiles | None
    target: Release | None
    clock: Clock
    surroundings: Surroundings
    owner: str | None = None

    @property
    def plan(self) -> str:
        """The plan's name. Raises UsageError if it cannot be one."""
        name = Path(os.path.realpath(self.folder)).name if self.name is None else self.name
        if self.name is None and Path(os.path.abspath(self.folder)).name != name:  # one that leads elsewhere tomorrow
            why = "jobs are known by the plan's name"
            raise usage(f"'{self.folder}' is a link to a folder of another name, '{name}': give one with --as; {why}")
        if not _NAME(name):
            raise usage(f"'{name}' cannot be a plan's name: give one with --as, of letters, digits, and any of _.@+-")
        return name


class Folder(NamedTuple):
    """The folder, the plan's name, its jobs in the order of their files, the number of files, and the findings.

    ``is_named``: the name was given, and is not that of the folder.
    """

    path: str
    plan: str
    is_named: bool
    wanted: list[Wanted]
    files: int
    findings: list[Diagnostic]

    def name_of(self, finding: Diagnostic) -> str | None:
        """Return the file within the folder that a finding is about, None if it is about none."""
        span = finding.span
        return None if span is None else os.path.relpath(span.source.name, self.path).replace(os.sep, "/")


def read_folder(request: FolderRequest) -> Folder:
    """Read all submit files of a folder; what is wrong with any of them is among the findings.

    Raises UsageError if there is no such folder, CrondorError for an invalid configuration of the access point.
    """
    plan, folder = request.plan, request.folder
    if not os.path.isdir(folder):
        raise usage(f"'{folder}' is not a folder: give the folder with the submit files")
    access_point: AccessPoint | None = None
    if request.pool_config is not None:
        access_point = read_pool(request.pool_config, request.surroundings.allow_dirs, request.clock, request.target)
    paths = list(inside_of(below(folder)))
    found = Folder(folder, plan, request.name is not None, [], len(paths), [])
    for path in PROGRESS.counted(paths, "reading", "files"):
        reader = _Reader(path, request, access_point)
        try:
            jobs = list(reader.jobs(plan, os.path.relpath(path, folder).replace(os.sep, "/")))
        except CrondorError as error:
            found.findings.extend(error.diagnostics)
        except click.UsageError as error:
            found.findings.append(Diagnostic("unreadable", error.message))
        else:
            found.wanted.extend(jobs)
        found.findings.extend(reader.findings)
    if not paths:
        message = f"there is no {KINDS} in '{folder}': no job is wanted"
        found.findings.append(Diagnostic("plan-empty", message, Severity.WARNING))
    errors = {(each.message, each.span) for each in found.findings if each.severity is Severity.ERROR}
    once = (  # what only warns in a check may be an error here
        each
        for each in dict.fromkeys(found.findings)
        if each.severity is Severity.ERROR or (each.message, each.span) not in errors
    )
    return found._replace(findings=list(once))


def plain_content() -> dict[str, str]:
    """Return what a crontab job has of itself, whatever its file sets."""
    return content_of(ads_of_file(read_submit(_PLAIN), 1)[0])


class _Reader:
    """Reads one file of the folder."""

    def __init__(self, path: str, request: FolderRequest, access_point: AccessPoint | None) -> None:
        self.path = path
        self.findings: list[Diagnostic] = []
        self._request = request
        self._access_point = access_point
        owner, place = request.owner or account(), os.path.dirname(os.path.realpath(path))
        self._host = host_of(access_point, owner)._replace(user=owner, folder=place)

    def _read(self, source: Source, later: int = 0) -> SubmitFile:
        clock, surroundings = self._request.clock, self._request.surroundings
        now = clock.now + later
        return read_description(source, self.path, surroundings, now, clock.zone, host=self._host)

    def jobs(self, plan: str, name: str) -> Iterator[Wanted]:
        """Yield the wanted jobs. Raises CrondorError, UsageError if the file cannot be read."""
        clock, access_point = self._request.clock, self._access_point
        source = read_source(self.path, FileKind.SUBMIT)
        if "\n" in f"{self._host.folder}{name}":
            message = "the path has a line end in it, which a job's Iwd and marks cannot have"
            raise CrondorError(Diagnostic("plan-path", message, span=source.span(0, 0), help="rename file or folder"))
        settings = CheckSettings(
            clock.now,
            clock.zone,
            schedd_interval=self._host.schedd_interval,
            access_point=access_point,
            target=self._request.target or NEWEST,
            site=read_site(self._request.target, has_settings=may_have_rules()),
        )
        report = check_submit(source, settings, self._read)
        found = (each.diagnostic for each in report.findings)
        self.findings += (each for each in found if each.severity is not Severity.NOTE)
        if has_error(self.findings):
            return
        files = files_of(self.path, self._request.surroundings.allow_dirs)
        written, source = source, with_lines(source, self._read, files, clock.zone_name, clock.now)
        file = self._read(source)
        if file.unknown:  # jobs or commands may be missing: those in the queue would be removed, or edited
            raise CrondorError(replace(each, severity=Severity.ERROR) for each in file.unknown)
        later = self._read(Source(source.text, "elsewhere.sub"), _LATER)
        ads, others = ads_of_file(file, 1), ads_of_file(later, 2)
        _check_steady(file, ads, others)
        if access_point is not None:
            self._ask(file, access_point)
        spans = [group.queue for group in self._read(written).groups(()) for _ in range(group.count)]
        for number, ad in enumerate(ads):
            made = marked(ad, plan, Key(name, number), os.path.realpath(self._request.folder))
            yield Wanted(Key(name, number), made, spans[number] if number < len(spans) else None)

    def _ask(self, file: SubmitFile, access_point: AccessPoint) -> None:
        """Add what the access point's transforms change; check has said what it refuses."""
        clock, host = self._request.clock, self._host
        for each in accepted_jobs(file, 1, access_point, Submitter(host.user, host.uid_domain, clock.now)).jobs:
            for change in each.admission.changes:
                if by := changed_by(each.admission.steps, change.name):
                    before, after = (text or "(not set)" for text in (change.before, change.after))
                    message = f"{by} changes {change.name}: {before} -> {after}"
                    self.findings.append(Diagnostic("job-transform", message, Severity.NOTE, each.queue))


def _check_steady(file: SubmitFile, ads: list[ClassAd], others: list[ClassAd]) -> None:
    """Raise CrondorError if the jobs would differ from one submission to the next."""
    names: dict[str, None] = {}
    for ad, other in zip(ads, others, strict=False):
        one, two = content_of(ad), content_of(other)
        names.update((name, None) for name, text in one.items() if two.get(name) != text)
    if len(ads) != len(others):
        names["the number of jobs"] = None
    help_text = "write the value out: a folder says what a queue has, whenever it is applied"
    if names:
        place = file.source.span(0, 0)
        messages = (
            f"{name} differs at each submission: it has the time, the cluster or the file's path in it"
            for name in names
        )
        raise CrondorError(Diagnostic("plan-varies", each, span=place, help=help_text) for each in messages)
