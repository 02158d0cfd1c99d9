"""What of a crontab line HTCondor cannot say, or says otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.crontab.file import CrontabEntry
from crondor.crontab.import_schedule import Translated
from crondor.diagnostics import Diagnostic, Severity
from crondor.recurrence import never_reason
from crondor.schedule import Universe
from crondor.source import Span
from crondor.spec import FIELDS

SHELL = "/bin/sh"  # what cron takes where the crontab names none
_SHOWN = 40


def refusals(entry: CrontabEntry) -> Iterator[Diagnostic]:
    """Say why there can be no submit description of a line."""
    if entry.spec is None:
        message = "HTCondor has no schedule for the start of the machine"
        help_text = "leave the line to cron, or make a service of the system of it"
        yield Diagnostic("crontab-reboot", message, span=entry.schedule, help=help_text)
    elif (never := never_reason(entry.spec)) is not None:
        message = f"the schedule never fires: {never}; cron says nothing, and a schedd never ends its search"
        yield Diagnostic("cron-never", message, span=entry.schedule, help="write a date that occurs")
    shell = entry.variables.get("SHELL", SHELL)
    if not shell.startswith("/"):
        message = f"SHELL is {shell[:_SHOWN]!r}, which is no absolute path"
        yield Diagnostic("crontab-shell", message, span=entry.places["SHELL"], help=f"write SHELL={SHELL}, for example")


def surprises(entry: CrontabEntry, schedule: Translated, universe: Universe, zone: str | None) -> Iterator[Diagnostic]:
    """Say what of a line is not the same afterwards; ``zone`` is the name of the submit host's."""
    yield from _of_schedule(entry, schedule)
    variables, places = entry.variables, entry.places
    theirs = variables.get("CRON_TZ")
    if theirs is not None and theirs != zone:
        message = f"cron reads this line's times in {theirs[:_SHOWN]!r}, a schedd in the zone of its own host"
        yield _warning("crontab-zone", message, places["CRON_TZ"], "write the times of the submit host's zone")
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


def _of_schedule(entry: CrontabEntry, schedule: Translated) -> Iterator[Diagnostic]:
    given = entry.spec.given if entry.spec is not None else ()
    respelt = [
        f"{field.command} = {text}"
        for field, old, text in zip(FIELDS, given, schedule.spec.given, strict=True)
        if old != text and not (schedule.is_joined and field is FIELDS[-1])
    ]
    if respelt:
        message = (
            "HTCondor knows no names, and reads some steps otherwise; the same values are written so that all agree"
        )
        yield _note("crontab-respelt", message, entry.schedule, "; ".join(respelt))
    if schedule.is_joined:
        message = (
            "a day field that begins with `*` joins the two by AND, which cron_ commands cannot say: "
            "requirements keep the job from the other weekdays"
        )
        help_text = (
            "crondor next shows the other days as well; at those the job does not match, and goes on to the next"
        )
        yield _warning("crontab-and", message, entry.schedule, help_text)
    elif schedule.requirements is not None:
        message = "a schedd adds wrong times to a schedule of weekdays (day 0): requirements keep the job from them"
        yield _note("day-zero", message, entry.schedule)
    if schedule.changes_differ:
        message = "on days when the clocks change HTCondor and cron run it at different times"
        yield _note("clock-changes", message, entry.schedule, "crondor explain shows the coming changes")


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
