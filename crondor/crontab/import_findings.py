"""What of a crontab line HTCondor cannot say, or says otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from crondor.compile.context import named_zone
from crondor.compile.faults import Remarks
from crondor.crontab.file import CrontabEntry
from crondor.crontab.import_schedule import ImportedSchedule
from crondor.diagnostics import Diagnostic, Severity
from crondor.recurrence import never_reason
from crondor.schedule import Universe
from crondor.source import Span

SHELL = "/bin/sh"  # what cron takes where the crontab names none
_SHOWN = 40


def refusals(entry: CrontabEntry) -> Iterator[Diagnostic]:
    """Say why there can be no submit description of a line."""
    if entry.is_reboot:
        message = "HTCondor has no schedule for the start of the machine"
        help_text = "leave the line to cron, or make a service of the system of it"
        yield Diagnostic("crontab-reboot", message, span=entry.schedule, help=help_text)
    elif entry.spec is not None and (never := never_reason(entry.spec)) is not None:
        message = f"the schedule never fires: {never}; cron says nothing, and a schedd never ends its search"
        yield Diagnostic("cron-never", message, span=entry.schedule, help="write a date that occurs")
    shell = entry.variables.get("SHELL", SHELL)
    if not shell.startswith("/"):
        message = f"SHELL is {shell[:_SHOWN]!r}, which is no absolute path"
        yield Diagnostic("crontab-shell", message, span=entry.places["SHELL"], help=f"write SHELL={SHELL}, for example")
    zone, remarks = entry.variables.get("CRON_TZ"), Remarks()
    if zone and named_zone(zone, entry.places["CRON_TZ"], remarks) is None:
        yield from (replace(fault, kind="crontab-zone", fix=None) for fault in remarks.errors)


def surprises(entry: CrontabEntry, found: ImportedSchedule, universe: Universe) -> Iterator[Diagnostic]:
    """Say what of a line is not the same afterwards."""
    yield from _of_schedule(entry, found)
    variables, places = entry.variables, entry.places
    if "MAILTO" in variables:
        yield from _of_mail(variables["MAILTO"], places["MAILTO"], universe)
    if variables.get("RANDOM_DELAY", "0") != "0":
        message = "RANDOM_DELAY has no equivalent: the job starts on the minute"
        yield _warning("crontab-delay", message, places["RANDOM_DELAY"], "let the command sleep")
    if entry.user is not None:
        message = f"HTCondor runs a job as the user who submits it: submit this file as {entry.user[:_SHOWN]}"
        yield _note("crontab-user", message, entry.span)
    if entry.is_silent:
        message = "the hyphen keeps the run out of the system log; HTCondor writes its events into the job's log"
        yield _note("crontab-silent", message, entry.span.part(0, 1))


def _of_schedule(entry: CrontabEntry, found: ImportedSchedule) -> Iterator[Diagnostic]:
    compiled = found.compiled
    if compiled.spoiled or compiled.proof.wrong:
        help_text = "a shorter --window or --prep-time may do"
        yield _warning("crontab-inexact", "; ".join(compiled.reasons), entry.schedule, help_text)
    if found.changes_differ:
        message = "on days when the clocks change HTCondor and cron run it at different times"
        yield _note("clock-changes", message, entry.schedule, "crondor explain shows the coming changes")
    if not compiled.is_open:
        until = f"{compiled.wish.host.moment(compiled.proof.until):%Y-%m-%d}"
        message = f"the compiled lines are proven until {until}, and no time matches afterwards"
        yield _note("crontab-ends", message, entry.schedule, "before that: crondor compile --write FILE")


def _of_mail(address: str, place: Span, universe: Universe) -> Iterator[Diagnostic]:
    if not address:
        yield _note("crontab-mail", "no mail is wanted: this is notification = never", place)
        return
    message = (
        "cron mails what a command prints; HTCondor mails a summary, here only of a run that ends in trouble, "
        "and what is printed is in the files output and error"
    )
    every = "write notification = complete for a mail after every run" if universe is Universe.LOCAL else None
    yield _warning("crontab-mail", message, place, every)


def _note(code: str, message: str, span: Span, help: str | None = None) -> Diagnostic:  # noqa: A002 - Diagnostic's word
    return Diagnostic(code, message, Severity.NOTE, span, help)


def _warning(code: str, message: str, span: Span, help: str | None) -> Diagnostic:  # noqa: A002 - the same
    return Diagnostic(code, message, Severity.WARNING, span, help)
