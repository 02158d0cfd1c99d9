"""`crondor plan` and `crondor apply`: a folder of submit files as what a queue has."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from typing import Final

import click

from crondor.classad import lower
from crondor.classad.ad import ClassAd
from crondor.desired.applying import Applied, Applying, recalculate
from crondor.desired.differences import FIXED, Action, Difference, Terms, differences
from crondor.desired.marks import DIGEST, FILE, FOLDER, JOB, NAMES, jobs_of_plan
from crondor.diagnostics import CrondorError, Diagnostic, Severity, has_error
from crondor.job.attributes import string
from crondor.schedd.embedded import EmbeddedSchedd
from crondor.schedd.live import LiveSchedd
from crondor.schedd.protocol import NotOffered, Refused, Schedd, ScheddError
from crondor_cli.kit import options as opts
from crondor_cli.kit.ads import FirstFaults, ads_in, context_of
from crondor_cli.kit.command import Command, with_default
from crondor_cli.kit.options import Clock, QueueOptions
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.queues import embedded_of, live_of, opened, without_owner
from crondor_cli.kit.screen import account, say, show, usage
from crondor_cli.kit.tables import echo_json, plural
from crondor_cli.plan.folder import Folder, FolderRequest, read_folder
from crondor_cli.plan.shown import QueuePlan, plan_data, show_plan, summary

_KNOBS: Final = tuple(f"{who}{kind}_JOB_ATTRS" for who in ("", "SYSTEM_") for kind in ("IMMUTABLE", "PROTECTED"))
_LEFT: Final = (FILE, JOB, DIGEST, NAMES, "JobStatus", "RemoveReason")
_ASK: Final = -1  # --prune without a number

EXAMPLE: Final = """\
mkdir jobs
printf 'shell = date\\ncron_minute = 0\\ncron_hour = 3\\n' > jobs/date.sub
printf 'on_exit_remove = false\\nqueue\\n' >> jobs/date.sub
crondor {0} jobs --queue q"""

_SHARED: Final = """\
DIR is what the queue is to have: the jobs of all *.sub, *.submit and *.jdl files below it. A file's line
# crondor: schedule = TEXT is compiled, if the file has no compiled lines. A job's folder (Iwd) is that of its file,
unless the file sets initialdir. Each job is a cluster of its own, and is marked with the plan's name, its file and a
digest of what the file sets: jobs without these marks, and those of others, are not touched."""

PLAN_EPILOG: Final = f"""\b
Examples:
  crondor plan jobs --queue q
  crondor plan jobs --live --name ap1.example.org --name ap2.example.org
  condor_q -long | crondor plan jobs --ads -
  crondor plan jobs --live --fail-on drift

{_SHARED}

+ is submitted, ~ edited, held or released, -/+ replaced by a new job, since an attribute cannot be edited, - removed.
Drift is what somebody did to a job by hand: edit, hold, release, remove, submit again.

Exit status, as of diff(1): 0 nothing to do, 1 differences (with --fail-on drift: only drift), 2 errors."""

APPLY_EPILOG: Final = f"""\b
Examples:
  crondor apply jobs --queue q
  crondor apply jobs --live --name ap1.example.org --name ap2.example.org
  crondor apply jobs --queue q --prune 2

{_SHARED}

If a file is invalid, nothing is done. Apply may be ended at any moment, and two may run at once: the next one finishes.
A running job is not replaced, held or removed, unless --running is given; the next apply does it.

Exit status: 0 all is done (but removals only with --prune), 1 something is not done (a run to wait for, a refused job),
2 errors."""


def _folder_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add what both commands take, as ``request``, ``clock``, ``running`` and ``format_``."""

    @wraps(function)
    def command(folder: str, name: str | None, owner: str | None = None, **rest: object) -> None:
        given = (rest.pop("pool_config"), rest.pop("target"), rest["clock"], rest.pop("surroundings"), owner)
        function(request=FolderRequest(folder, name, *given), **rest)  # type: ignore[arg-type]

    for add in reversed(
        (
            click.argument("folder", metavar="DIR"),
            click.option("--as", "name", metavar="NAME", help="The plan's name (default: the folder's)."),
            click.option("--running", is_flag=True, help="Also replace, hold and remove running jobs."),
            opts.file_options,
            opts.pool_config_options,
            opts.target_option,
            opts.clock_options,
            opts.format_option("text", "json"),
        )
    ):
        command = add(command)
    return command


@click.command("plan", cls=Command, example=EXAMPLE.format("plan"), epilog=PLAN_EPILOG)
@_folder_options
@opts.several_sources
@click.option("--owner", metavar="USER", help="Compare with the jobs of this user (default: this account).")
@with_default(
    "--fail-on",
    "difference",
    "Exit with 1 for any difference, or only for what somebody did by hand.",
    click.Choice(["difference", "drift"]),
)
def command(
    request: FolderRequest, queues: tuple[QueueOptions, ...], clock: Clock, running: bool, fail_on: str, format_: str
) -> None:
    """Show what a folder of submit files would change in a queue, job by job; nothing is changed."""
    with _trouble():
        folder = _valid_folder(request, clock, format_)
        findings: list[Diagnostic] = []
        plans = [_looked(asked, folder, clock, findings, request.owner, running=running) for asked in queues]
        _show(folder, plans, findings, clock, format_)
        if format_ == "json":
            echo_json(plan_data(folder, plans, clock, findings))
        else:
            for plan in plans:
                say(f"{plan.name}: {summary(plan)}" if len(plans) > 1 else summary(plan))
    if any(any(each.drift for each in plan.differences) if fail_on == "drift" else plan.is_different for plan in plans):
        raise click.exceptions.Exit(1)


@click.command("apply", cls=Command, example=EXAMPLE.format("apply"), epilog=APPLY_EPILOG)
@_folder_options
@opts.several_schedds
@click.option(
    "--prune",
    type=click.IntRange(_ASK),
    is_flag=False,
    flag_value=str(_ASK),
    metavar="[COUNT]",
    help="Remove the jobs that the folder no longer has, if they are COUNT; without COUNT, ask.",
)
def apply(
    request: FolderRequest,
    queues: tuple[QueueOptions, ...],
    clock: Clock,
    running: bool,
    prune: int | None,
    format_: str,
) -> None:
    """Change a queue to what a folder of submit files has: submit, edit, replace, release and hold its jobs."""
    findings: list[Diagnostic] = []
    with _trouble(), ExitStack() as stack:
        folder = _valid_folder(request, clock, format_)
        schedds: list[EmbeddedSchedd | LiveSchedd] = []
        plans: list[QueuePlan] = []
        for asked in queues:
            schedd = _open(asked, clock)
            stack.enter_context(schedd)
            schedds.append(schedd)
            plans.append(_compared(asked, folder, schedd, clock, findings, _owner(schedd), running=running))
        _show(folder, plans, findings, clock, format_)
        orphans = sum(each.is_orphan for plan in plans for each in plan.differences)
        is_pruned = _is_confirmed(prune, orphans)
        undone: list[Diagnostic] = []
        for number, schedd in enumerate(schedds):
            plan = plans[number]
            applying = Applying(schedd, folder.plan, _owner(schedd), cuts_runs=running)
            plans[number] = plan._replace(applied=_applied(plan, applying, is_pruned=is_pruned))
            if isinstance(schedd, EmbeddedSchedd):
                done = [each.job for each in plans[number].applied if each.job is not None]
                recalculate(schedd, jobs_of_plan(folder.plan, _owner(schedd)), done, clock.now)
            undone += (_undone(each) for each in plans[number].applied if each.why)
            if format_ == "text":
                say(summary(plans[number], is_done=True))
        show(undone)
        if format_ == "json":
            echo_json(plan_data(folder, plans, clock, [*findings, *undone]))
    if undone:
        raise click.exceptions.Exit(1)


@contextmanager
def _trouble() -> Iterator[None]:
    """Exit with 2 for an error in this block, as diff(1) does, or if its reader has left: apply has not finished."""
    try:
        yield
    except CrondorError as error:
        show(error.diagnostics)
        raise click.exceptions.Exit(2) from None
    except BrokenPipeError:
        raise click.exceptions.Exit(2) from None


def _valid_folder(request: FolderRequest, clock: Clock, form: str) -> Folder:
    """Read the folder; exit if a file is invalid, with the findings of all."""
    folder = read_folder(request)
    if has_error(folder.findings):
        show(folder.findings)
        if form == "json":
            echo_json(plan_data(folder, [], clock, []))
        raise click.exceptions.Exit(2)
    return folder


def _show(folder: Folder, plans: list[QueuePlan], findings: list[Diagnostic], clock: Clock, form: str) -> None:
    """Show the differences, with the findings about the queues, and about those files of which something is done."""
    changed = {each.key.file for plan in plans for each in plan.differences if each.is_different}
    show([*(each for each in folder.findings if folder.name_of(each) in {*changed, None}), *findings])
    for plan in plans if form == "text" else ():
        if len(plans) > 1:
            say(f"{plan.name}:")
        show_plan(plan, clock)


def _name(asked: QueueOptions) -> str:
    """Return a queue as on the command line."""
    kinds = {"queue": str(asked.folder) if asked.kind == "queue" else "", "log": asked.log, "ads": asked.ads}
    return kinds.get(asked.kind) or asked.name or "live"


def _looked(
    asked: QueueOptions, folder: Folder, clock: Clock, findings: list[Diagnostic], owner: str | None, *, running: bool
) -> QueuePlan:
    """Return the differences of a queue, which is only read."""
    if asked.kind == "ads":
        told = FirstFaults()
        chosen, context = jobs_of_plan(folder.plan, owner or account()), context_of(clock)
        ads = [ad for ad in ads_in(asked.ads or "-", told.add) if chosen.holds(ad, context)]
        findings += told.listed()
        plan = _plan(asked, folder, ads, Terms(context, caches_cron=True, cuts_runs=running))
        if any(each.action is Action.SUBMIT for each in plan.differences):
            findings.append(_without_history(Severity.NOTE, "ads of a queue have none"))
        return plan
    with opened(asked, clock) as schedd:
        if schedd is None:
            return _plan(asked, folder, [], Terms(context_of(clock)))
        found = _compared(asked, folder, schedd, clock, findings, owner or _owner(schedd), running=running)
        findings += getattr(schedd, "diagnostics", ())
        return found


def _plan(asked: QueueOptions, folder: Folder, ads: list[ClassAd], terms: Terms) -> QueuePlan:
    here = os.path.realpath(folder.path)
    others = sorted({path for ad in ads if (path := string(ad, FOLDER)) and path != here})
    if others and not folder.is_named:
        message = f"the queue has jobs of the plan {folder.plan} from another folder, {others[0]}"
        hint = f"if this folder takes its place, write --as {folder.plan}, and otherwise --as with another name"
        raise CrondorError(Diagnostic("plan-folder", message, help=hint))
    wanted = folder.wanted
    if asked.kind == "live":
        wanted = [each._replace(ad=without_owner(each.ad)) for each in wanted]
    return QueuePlan(_name(asked), asked.dialect, differences(wanted, ads, terms))


def _compared(
    asked: QueueOptions,
    folder: Folder,
    schedd: Schedd,
    clock: Clock,
    findings: list[Diagnostic],
    owner: str,
    *,
    running: bool,
) -> QueuePlan:
    """Return the differences of a schedd's queue."""
    is_queue = asked.kind == "queue"
    ads = schedd.jobs(jobs_of_plan(folder.plan, owner))
    terms = Terms(context_of(clock), caches_cron=not is_queue, fixed=_fixed(schedd), cuts_runs=running)
    plan = _plan(asked, folder, ads, terms)
    missing = [each for each in plan.differences if each.action is Action.SUBMIT]
    if not missing:
        return plan
    try:  # one that has run, and one that somebody has removed, are known from the history alone
        left = schedd.history(jobs_of_plan(folder.plan, owner), _LEFT)
    except ScheddError as error:
        severity = Severity.NOTE if isinstance(error, NotOffered) else Severity.WARNING
        findings.append(_without_history(severity, error.diagnostics[0].message))
        return plan
    return _plan(asked, folder, ads, terms._replace(left=tuple(left)))


def _without_history(severity: Severity, why: str) -> Diagnostic:
    message = f"the history is unknown, so that jobs may be submitted that have run: {why}"
    return Diagnostic("plan-history", message, severity)


def _open(asked: QueueOptions, clock: Clock) -> EmbeddedSchedd | LiveSchedd:
    return live_of(asked) if asked.kind == "live" else embedded_of(asked.queue, clock, make=True)


def _owner(schedd: Schedd) -> str:
    """Return the user as whom a schedd knows this process."""
    if isinstance(schedd, LiveSchedd):
        with suppress(ScheddError):
            name = schedd.ping("WRITE").get("MyRemoteUserName", "")
            return name.partition("@")[0] or account()
    return account()


def _fixed(schedd: Schedd) -> frozenset[str]:
    """Return the attributes that cannot be edited, in lower case."""
    if not isinstance(schedd, LiveSchedd):
        return FIXED
    with suppress(ScheddError):
        lists = schedd.knobs(_KNOBS).values()
        return FIXED | {lower(name) for text in lists for name in text.replace(",", " ").split()}
    return FIXED


def _applied(plan: QueuePlan, applying: Applying, *, is_pruned: bool) -> list[Applied]:
    """Apply the differences of one queue; a job that the schedd refuses does not stop the others."""
    todo = [each for each in plan.differences if each.is_different and (is_pruned or not each.is_orphan)]
    return [_one(applying, each) for each in PROGRESS.counted(todo, "applying", "jobs", len(todo))]


def _one(applying: Applying, difference: Difference) -> Applied:
    try:
        return applying.apply(difference)
    except Refused as error:
        return Applied(difference, difference.job, error.diagnostics[0].message)


def _undone(applied: Applied) -> Diagnostic:
    each = applied.difference
    job = "" if each.job is None else f" (job {each.job})"
    message = f"{each.key}{job} is not done: {applied.why}"
    place = each.wanted.span if each.wanted is not None else None
    return Diagnostic("plan-undone", message, Severity.ERROR, place, "crondor apply again")


def _is_confirmed(prune: int | None, count: int) -> bool:
    """Return whether the jobs that the folder no longer has are removed: if their number is given, or typed."""
    jobs = plural(count, "job")
    if prune is None or (prune == _ASK and not count):
        return False
    if prune != _ASK:
        if prune != count:
            raise usage(f"--prune {prune}: the folder lacks {jobs} of the queue; nothing was done")
        return True
    if not sys.stdin.isatty():
        raise usage(f"--prune asks at a terminal; here write --prune {count}")
    say(f"{jobs} will be removed, which the folder lacks. Type {count} to confirm: ", err=True, nl=False)
    if sys.stdin.readline().strip() != str(count):
        raise usage("not confirmed: nothing was done")
    return True
