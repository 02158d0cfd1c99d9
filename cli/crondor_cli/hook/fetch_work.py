"""`crondor hook fetch-work`: the hooks of a startd that fetches crontab work from crondor."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic, Source, has_error, printable
from crondor.hooks.fetch.journal import FetchRunState, Journal, JournalFault, RunRecord
from crondor.hooks.fetch.source import FetchableJob, WorkSource
from crondor.hooks.kinds import HookType, ad_text, read_output
from crondor.macro import MAX_BYTES, source_from_bytes
from crondor.rights.trust import current_user, user_name
from crondor.submit import SubmitHost, job_ads
from crondor.zones import Policy
from crondor_cli.hook.run import HookChoice
from crondor_cli.kit.command import Command, with_default
from crondor_cli.kit.options import Clock, clock_options, policy_option
from crondor_cli.kit.schedules import ScheduleRequest
from crondor_cli.kit.screen import emit, say, show, show_error
from crondor_cli.kit.services import state_folder
from crondor_cli.kit.times import local_text

EPILOG = """\b
Examples:
  crondor hook fetch-work --specs /etc/crondor/jobs < slot.ad
  crondor hook fetch-work --specs /etc/crondor/jobs \\
      --as REPLY_FETCH accept < job-and-slot.ads
  crondor hook fetch-work --specs /etc/crondor/jobs --list

\b
HTCondor passes no arguments to a hook. Write a script for each hook, of two
lines: #!/bin/sh and
  exec crondor hook fetch-work --specs /etc/crondor/jobs --as FETCH_WORK "$@"
docs/hooks.md has the whole configuration.

A run is offered at most once, from its prep time until the end of its window; if a slot refuses it, it is offered
again. The journal records its state, on disk before the startd gets the answer. If the startd runs as root, the
starter calls its hooks as the owner of the job: they leave reports next to the journal, which the startd's next hook
reads.

Exit status: 0 fine, also without work; 1 a job that cannot be offered, a journal that cannot be trusted; 2 wrong
usage. PREPARE_JOB exits with 0 even if the journal has a fault: another status would hold the job."""

_HOOKS = (
    HookType.FETCH_WORK,
    HookType.REPLY_FETCH,
    HookType.EVICT_CLAIM,
    HookType.PREPARE_JOB,
    HookType.UPDATE_JOB_INFO,
    HookType.JOB_EXIT,
)
_MOST = 4 << 20  # characters of the startd's input
_MOST_JOBS = 1000  # per submit file
_DASHES = "-----"


@click.command("fetch-work", cls=Command, example="crondor hook fetch-work --specs . --state s --list", epilog=EPILOG)
@click.argument("answer", required=False, metavar="[ANSWER]")
@click.option("--specs", metavar="DIR", required=True, help="The folder of the submit files, *.sub.")
@with_default("--as", "FETCH_WORK", "The hook that is called.", HookChoice(_HOOKS), name="as_")
@click.option(
    "--state", metavar="DIR", help="The folder of the journal (default: crondor/fetch in the user's state folder)."
)
@click.option("--owner", metavar="USER", help="The owner of the jobs (default: the owner of the submit file).")
@click.option("--list", "list_", is_flag=True, help="Show the known and the due runs.")
@clock_options
@policy_option()
def command(
    answer: str | None,
    specs: str,
    as_: str,
    state: str | None,
    owner: str | None,
    list_: bool,
    clock: Clock,
    policy: Policy | None,
) -> None:
    """Answer a hook of a startd that fetches work: print the due job, or record the state of a job."""
    hook = HookType(as_.upper())
    wants_specs = list_ or hook is HookType.FETCH_WORK
    if wants_specs and not os.path.isdir(specs):  # Path.is_dir() raises in an unreadable folder
        raise click.UsageError(f"'{printable(specs)}' is not a folder")
    findings: list[Diagnostic] = []
    jobs = list(_specs(Path(specs), owner, clock, findings)) if wants_specs else []
    source = WorkSource(jobs, Journal(Path(state) if state else state_folder("fetch", "--state")), clock.zone, policy)
    if list_:
        _list(source, clock, findings)
    elif hook is HookType.FETCH_WORK:
        _offer(source, clock.now, findings)
    else:
        text, _, rest = _stdin().partition(f"\n{_DASHES}\n")
        job, slot = _read(text, "the job's ad") or ClassAd(), _read(rest, "the slot's ad")
        if hook is HookType.REPLY_FETCH and answer not in {"accept", "reject"}:
            raise click.UsageError("REPLY_FETCH needs accept or reject")
        try:
            heard = source.hear(hook, job, clock.now, accepted=answer != "reject", reason=answer or "", slot=slot)
            findings += heard.findings
        except CrondorError as error:
            if hook is not HookType.PREPARE_JOB:
                raise
            show_error(error)
    show(dict.fromkeys(findings))
    if has_error(findings):
        raise click.exceptions.Exit(1)


def _offer(source: WorkSource, now: int, findings: list[Diagnostic]) -> None:
    """Print the offered job, if any."""
    try:
        offer = source.offer(_read(_stdin(), "the slot's ad"), now)
    except JournalFault as error:
        findings += error.diagnostics
        return
    findings += offer.findings
    if offer.job is not None:
        emit(ad_text(offer.job))


def _specs(folder: Path, owner: str | None, clock: Clock, findings: list[Diagnostic]) -> Iterator[FetchableJob]:
    """Yield the jobs of a folder; an invalid file is a finding, and the others count.

    Folder and files must be writable only by the owner, like hooks, since their commands are run.
    """
    if folder.stat().st_mode & stat.S_IWOTH:
        message = "it is world-writable: anyone could run jobs"
        findings.append(_refused(folder, message, f"chmod o-w {printable(str(folder))}"))
        return
    if not os.access(folder, os.R_OK | os.X_OK):
        findings.append(_refused(folder, f"{user_name(current_user())} may not read it"))
        return
    request = ScheduleRequest(clock)
    for number, path in enumerate(sorted(folder.glob("*.sub")), 1):
        try:
            writer, text = _read_file(path)
            host = SubmitHost(folder=str(path.parent.resolve()))
            made = list(job_ads(request.read_from(text, str(path), host), cluster=number))
        except CrondorError as error:
            findings += error.diagnostics
            continue
        count = sum(one.jobs.count for one in made)
        if count > _MOST_JOBS:
            message = f"{path.name} has {count} jobs: at most {_MOST_JOBS} of a file are offered"
            findings.append(Diagnostic("fetch-many", message, help="split it"))
            continue
        for one in made:
            for ad in one.each():
                ad["Owner"] = owner or writer
                yield FetchableJob(f"{path.name}#{ad.value('ProcId')}", ad)


def _read_file(path: Path) -> tuple[str, Source]:
    """Return a file's owner and its text, read from the same open file: a link may change at any time.

    Raises CrondorError for a file that others may have written, or that is not a file.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise CrondorError(_refused(path, "it is not a plain file"))
            link = path.lstat()
            if link.st_uid not in {0, current_user(), found.st_uid}:
                message = f"it is a link of {user_name(link.st_uid)}'s to a file of {user_name(found.st_uid)}'s"
                raise CrondorError(_refused(path, message, "let the file's owner put it there"))
            if found.st_mode & stat.S_IWOTH:
                message = "it is world-writable: anyone could run jobs as its owner"
                raise CrondorError(_refused(path, message, f"chmod o-w {printable(str(path))}"))
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read(MAX_BYTES + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise CrondorError(_refused(path, f"cannot read it: {error.strerror}")) from None
    return user_name(found.st_uid), source_from_bytes(data, str(path))


def _refused(path: Path, reason: str, help_text: str | None = None) -> Diagnostic:
    return Diagnostic("fetch-file", f"{printable(path.name)}: {reason}", help=help_text)


def _stdin() -> str:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None or sys.stdin.isatty():
        return ""
    data: bytes = stream.read(_MOST)
    return data.decode("utf-8", "surrogateescape")


def _read(text: str, name: str) -> ClassAd | None:
    """Return an ad from standard input, None if it is empty; a line that is not an attribute (a ClaimId) is skipped."""
    return read_output(text, name).ad or None


def _list(source: WorkSource, clock: Clock, findings: list[Diagnostic]) -> None:
    """Print the runs of the journal, and the due runs that are not offered yet."""
    findings += source.catch_up(clock.now)
    try:
        known = source.journal.read()
    except CrondorError as error:
        show_error(error)
        raise click.exceptions.Exit(1) from None
    dues, found = source.due(clock.now)
    findings += found
    lines = [(run.key, run.state.value, run.time, run.slot, _end(run)) for run in known.values()]
    lines += [(due.key, "due", int(due.deferral.time), "", "") for due in dues if due.key not in known]
    for key, state, time, slot, end in lines:
        text = f"{key:32}  {state:9}  {local_text(time, clock.zone)}  {slot:16}  {end}"
        say(printable(text.rstrip()))


def _end(run: RunRecord) -> str:
    """Return how a job ended, as reported to its hooks."""
    for name, word in (("ExitCode", "status"), ("ExitSignal", "signal")):
        if run.state in {FetchRunState.EXITED, FetchRunState.EVICTED} and name in run.said:
            return f"{word} {run.said[name]}"
    return ""
