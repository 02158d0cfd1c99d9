"""`crondor hook run`: call one hook as its daemon would, and show the meaning of its answer."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from crondor.classad.ad import ClassAd
from crondor.classad.printing import Format, Order
from crondor.diagnostics import has_error, lines_of, printable, similar
from crondor.hooks.fetch.driver import check_cod, conclude_fetch, slot_input
from crondor.hooks.kinds import (
    EXIT_REASONS,
    EXIT_TIMEOUT,
    ROUTER_HOOKS,
    STARTER_HOOKS,
    Consequence,
    HookConsequence,
    HookType,
    RouterHooks,
    Scratch,
    ad_text,
    conclude_starter,
    daemon_environment,
    hook_input,
    main_job_end,
    route_ad,
    starter_environment,
)
from crondor.hooks.runner import PATH_FAULTS, HookCall, HookLimits, HookRun, HookRunner, wait
from crondor.job.attributes import boolean, string
from crondor_cli.kit.ads import ad_of, lenient_option, mode_of
from crondor_cli.kit.command import Command, with_default
from crondor_cli.kit.files import check_stdin
from crondor_cli.kit.options import format_option
from crondor_cli.kit.screen import say, show
from crondor_cli.kit.services import waking
from crondor_cli.kit.tables import diagnostic_data, echo_json

if TYPE_CHECKING:
    from crondor_cli.hook import results

    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # click 8.1, which Debian trixie has, knows it without a parameter only


class HookChoice(_Choice):
    """One of some hooks, in any case."""

    def __init__(self, hooks: Iterable[HookType]) -> None:
        super().__init__([hook.value for hook in hooks], case_sensitive=False)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the hook's name; for an invalid one suggest the nearest, or list all."""
        names = [str(choice) for choice in self.choices]
        name = value.upper()
        if name in names:
            return name
        near = similar(name, names, 0.7)
        hint = f"did you mean {near[0]}?" if near else f"it is one of {', '.join(names)}"
        return self.fail(f"'{printable(value)}' is not a hook: {hint}", param, ctx)


_WIDTH = 13
_YOURS = frozenset({"CONDOR_CONFIG", "HOME", "LOGNAME", "TZ", "USER"})  # unchanged here: only JSON shows them
_MOST = 100  # lines of a text shown
_LONGEST = 2000  # characters of a line


def print_run(script: str, hook: HookType, run: HookRun, consequence: Consequence) -> None:
    """Print the hook's input, output and consequence; ``script`` is its program as given."""
    call = run.call
    lines = [_fact(hook.value, script)]
    words = (text if text and " " not in text else repr(text) for text in call.arguments)
    lines.append(_fact("arguments", " ".join(words) or "none"))
    environ = [f"{name}={value}" for name, value in sorted(call.environ.items()) if name not in _YOURS]
    lines += _facts("environment", environ)
    lines += _text("stdin", call.stdin)
    lines.append(_fact("ended", run.reason))
    lines += _text("stdout", run.stdout)
    lines += _text("stderr", run.stderr)
    if run.errors_dropped:
        lines.append(_fact("", f"... and {run.errors_dropped} more bytes"))
    lines += ["", _fact("consequence", consequence.action.value), _fact("", consequence.reason)]
    if consequence.hold_code:
        lines.append(_fact("", f"hold code {consequence.hold_code}, subcode {consequence.hold_subcode}"))
    if consequence.ad:
        lines += [_fact("", line) for line in ad_lines(consequence.ad)]
    if consequence.upstream:
        lines.append(_fact("HTCondor", consequence.upstream))
    say("\n".join(lines))


def run_data(_: str, hook: HookType, run: HookRun, consequence: Consequence) -> None:
    """Print the result as a JSON object."""
    call = run.call
    data: results.RunResult = {
        "hook": hook.value,
        "path": call.path,
        "arguments": list(call.arguments),
        "environment": dict(sorted(call.environ.items())),
        "stdin": call.stdin,
        "ended": run.ended.value,
        "exit_code": run.status,
        "signal": run.signal_number,
        "seconds": round(run.seconds, 3),
        "stdout": run.stdout,
        "stderr": run.stderr,
        "left_running": run.left_running,
        "consequence": {
            "action": consequence.action.value,
            "reason": consequence.reason,
            "ad": {name: consequence.ad.text(name) for name in consequence.ad},
            "hold_reason_code": consequence.hold_code or None,
            "hold_reason_subcode": consequence.hold_subcode if consequence.hold_code else None,
            "htcondor": consequence.upstream or None,
        },
        "diagnostics": [diagnostic_data(each) for each in dict.fromkeys((*run.diagnostics, *consequence.diagnostics))],
    }
    echo_json(data)


def _fact(name: str, text: str) -> str:
    return f"{name:{_WIDTH}}{' ' if len(name) >= _WIDTH else ''}{printable(text)}".rstrip()


def _facts(name: str, texts: list[str]) -> list[str]:
    return [_fact(name if not number else "", text) for number, text in enumerate(texts)] or [_fact(name, "empty")]


def _text(name: str, text: str | None) -> list[str]:
    if not text:
        return [_fact(name, "nothing")]
    lines = text.removesuffix("\n").split("\n")
    shown = _facts(name, [f"| {_cut(line)}" for line in lines[:_MOST]])
    return [*shown, _fact("", f"... and {len(lines) - _MOST} more lines")] if len(lines) > _MOST else shown


def _cut(line: str) -> str:
    more = len(line) - _LONGEST
    return f"{line[:_LONGEST]} ... and {more} more characters" if more > 0 else line


def ad_lines(ad: ClassAd) -> list[str]:
    """Return the lines of an ad in the old form, by name, without their ends."""
    return [line.rstrip("\n") for line in lines_of(ad.print(Format.LONG, Order.NAME))]


EXAMPLE = "echo 'Cpus = 1' | crondor hook run FETCH_WORK /bin/true --slot -"

EPILOG = """\b
Examples:
  crondor hook run TRANSLATE_JOB ./translate --job job.ad --route Grid \\
      --universe 9 --grid-resource 'batch slurm'
  crondor hook run JOB_FINALIZE ./finalize --job job.ad --copy copy.ad
  crondor hook run PREPARE_JOB ./java5 --job job.ad
  crondor hook run FETCH_WORK ./fetch --slot slot.ad
  crondor hook run REPLY_FETCH ./reply --job job.ad --slot slot.ad \\
      --answer reject
  condor_q -long 12.0 | crondor hook run UPDATE_JOB_INFO ./update --copy -

UPDATE_JOB_INFO and JOB_EXIT are hooks of the router with --copy, otherwise of the starter. The program gets the
environment that HTCondor's daemons give it, not yours; --env adds to it. A hook of the starter runs in a new scratch
folder.

Exit status: 0 success; 1 the hook failed, or its output has a fault; 2 wrong usage."""

_GOOD = frozenset(
    {
        HookConsequence.USE_AD,
        HookConsequence.UPDATE_COPY,
        HookConsequence.MIRROR,
        HookConsequence.FINALIZE,
        HookConsequence.FINISH,
        HookConsequence.START_JOB,
        HookConsequence.OFFER_JOB,
        HookConsequence.NO_WORK,
        HookConsequence.NOTHING,
    }
)
_ADVISORY = "the startd does not wait for it, and ignores its status and its output"
_TICK = 0.1  # seconds between checks of the time limit
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP")


def _run(call: HookCall) -> HookRun:
    """Call the hook; a signal that ends this process ends the hook first. Raises SystemExit then."""
    asked: list[int] = []
    with waking(dict.fromkeys(_ENDING, lambda number, _: asked.append(number))) as waker:
        running = HookRunner().start(call)
        while (run := running.poll()) is None:
            if asked:
                running.cancel()
                raise SystemExit(128 + asked[0])
            wait([running], _TICK, [waker.descriptor])
    return run


class Given(NamedTuple):
    """The ads of the command line, empty if not given, and other input of a hook."""

    job: ClassAd
    copy: ClassAd | None
    slot: ClassAd
    route: ClassAd
    claim: str | None
    answer: str
    reason: str
    arguments: tuple[str, ...]


@click.command("run", cls=Command, is_endless=True, example=EXAMPLE, epilog=EPILOG)
@click.argument("type_", metavar="TYPE", type=HookChoice(HookType))
@click.argument("script", metavar="SCRIPT")
@click.option("--job", metavar="FILE", help="The job's ad; for the router's hooks, the source's.")
@click.option("--copy", metavar="FILE", help="The ad of the routed copy.")
@click.option("--slot", metavar="FILE", help="The slot's ad.")
@with_default("--route", "Route", "The route, for TRANSLATE_JOB.", metavar="NAME")
@with_default("--universe", 9, "The route's universe.", int, metavar="N")
@click.option("--grid-resource", metavar="TEXT", help="The route's GridResource.")
@with_default("--answer", "accept", "The answer, for REPLY_FETCH.", click.Choice(["accept", "reject"]))
@with_default("--claim", "<claim>", "The slot's ClaimId.", metavar="ID")
@with_default("--reason", "exit", "The reason, for the starter's JOB_EXIT.", click.Choice(EXIT_REASONS))
@click.option("--arg", "arguments", metavar="TEXT", multiple=True, help="An argument, for the prepare hooks.")
@click.option("--env", "variables", metavar="NAME=VALUE", multiple=True, help="A variable to add to HTCondor's.")
@click.option("--timeout", metavar="SECONDS", type=click.FloatRange(min=0.01), help="End it after this time.")
@lenient_option
@format_option("table", "json")
def command(
    type_: str,
    script: str,
    job: str | None,
    copy: str | None,
    slot: str | None,
    route: str,
    universe: int,
    grid_resource: str | None,
    answer: str,
    claim: str,
    reason: str,
    arguments: tuple[str, ...],
    variables: tuple[str, ...],
    timeout: float | None,
    lenient: bool,
    format_: str,
) -> None:
    """Call the program SCRIPT as the hook TYPE, and show its input, its output, and the consequence for the job."""
    hook = HookType(type_.upper())
    check_stdin(job, copy, slot)
    _check_needs(hook, job, copy, slot)
    mode = mode_of(lenient)
    ads = [None if path is None else ad_of(path, mode) for path in (job, copy, slot)]
    given = Given(
        ads[0] or ClassAd(),
        ads[1],
        ads[2] or ClassAd(),
        route_ad(route, universe, grid_resource),
        claim if hook is HookType.EVICT_CLAIM or answer == "accept" else None,
        answer,
        reason,
        arguments,
    )
    added = {"PATH": "/usr/bin:/bin", **_variables(variables)}
    path = str(Path(script).absolute())
    is_shared = hook in {HookType.UPDATE_JOB_INFO, HookType.JOB_EXIT}  # by the router and the starter
    is_router = copy is not None if is_shared else hook in ROUTER_HOOKS
    if is_router:
        environ = {**daemon_environment(os.environ), **added}
        run = _call(hook, path, given, environ, None, timeout)
        consequence = _without_hook(run) or RouterHooks({}, environ).conclude(hook, run)
    elif hook in STARTER_HOOKS:
        run = _call_as_starter(hook, path, given, added, timeout)
        consequence = conclude_starter(hook, run)
    else:
        run = _call(hook, path, given, {**daemon_environment(os.environ), **added}, None, timeout)
        consequence = (
            _fetched(run, given.slot)
            if hook is HookType.FETCH_WORK
            else Consequence(HookConsequence.NOTHING, ClassAd(), _ADVISORY, run.diagnostics)
        )
    show(dict.fromkeys((*run.diagnostics, *consequence.diagnostics)))
    (run_data if format_ == "json" else print_run)(script, hook, run, consequence)
    severe = has_error((*run.diagnostics, *consequence.diagnostics))
    if severe or consequence.action not in _GOOD:
        raise click.exceptions.Exit(1)


def _without_hook(run: HookRun) -> Consequence | None:
    """Return the consequence of a program that may not be called; None for others."""
    if not any(each.kind in PATH_FAULTS for each in run.diagnostics):
        return None
    reason = "the router routes the job itself, as if no hook were configured"
    return Consequence(HookConsequence.NO_HOOK, ClassAd(), reason, run.diagnostics)


def _fetched(run: HookRun, slot: ClassAd) -> Consequence:
    """Return the meaning of a fetched job, with the attributes that the starter misses in its ad."""
    said = conclude_fetch(run)
    if said.action is not HookConsequence.OFFER_JOB:
        return said
    faults = check_cod(said.ad, is_partitionable=boolean(slot, "PartitionableSlot") is True)
    return said._replace(diagnostics=(*said.diagnostics, *faults))


def _check_needs(hook: HookType, job: str | None, copy: str | None, slot: str | None) -> None:
    """Raise UsageError for a call without a required ad."""
    needs: dict[str, bool] = {"--job": True, "--copy": False, "--slot": False}
    if hook in {HookType.JOB_FINALIZE, HookType.JOB_CLEANUP}:
        needs["--copy"] = True
    if hook in {HookType.FETCH_WORK, HookType.REPLY_FETCH, HookType.EVICT_CLAIM}:
        needs["--slot"] = True
    if hook in {HookType.FETCH_WORK, HookType.JOB_CLEANUP} or (hook is HookType.UPDATE_JOB_INFO and copy is not None):
        needs["--job"] = False
    for option, value in (("--job", job), ("--copy", copy), ("--slot", slot)):
        if needs[option] and value is None:
            raise click.UsageError(f"{hook.value} needs {option} FILE")


def _variables(texts: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for each in texts:
        name, sign, value = each.partition("=")
        if not (sign and name):
            raise click.UsageError(f"--env {printable(each)}: write NAME=VALUE")
        found[name] = value
    return found


def _call(
    hook: HookType, path: str, given: Given, environ: Mapping[str, str], folder: str | None, timeout: float | None
) -> HookRun:
    default = EXIT_TIMEOUT if hook is HookType.JOB_EXIT and given.copy is None else HookLimits().seconds
    limits = HookLimits(seconds=default if timeout is None else timeout)
    stdin = _stdin(hook, given)
    return _run(HookCall(path, _arguments(hook, given), stdin, environ, folder, limits, name=hook.value))


def _call_as_starter(
    hook: HookType, path: str, given: Given, added: Mapping[str, str], timeout: float | None
) -> HookRun:
    """Call a hook in a scratch folder with the files that a starter has there."""
    with tempfile.TemporaryDirectory(prefix="crondor-hook-") as folder:
        iwd, name = string(given.job, "Iwd"), string(given.slot, "Name")
        scratch = Scratch(
            folder,
            folder if iwd is None else iwd,
            slot="slot1" if name is None else name.partition("@")[0],
            execute=str(Path(folder).parent),
            ending=main_job_end(given.job) if hook is HookType.JOB_EXIT else {},
        )
        for file, ad in ((scratch.job_ad, given.job), (scratch.machine_ad, given.slot)):
            Path(file).write_text(ad_text(ad), encoding="utf-8", errors="surrogateescape")
        environ = {**starter_environment(daemon_environment(os.environ), scratch), **added}
        return _call(hook, path, given, environ, folder, timeout)


def _arguments(hook: HookType, given: Given) -> tuple[str, ...]:
    if hook in {HookType.PREPARE_JOB, HookType.PREPARE_JOB_BEFORE_TRANSFER}:
        return given.arguments
    if hook is HookType.JOB_EXIT and given.copy is None:
        return (given.reason,)
    return (given.answer,) if hook is HookType.REPLY_FETCH else ()


def _stdin(hook: HookType, given: Given) -> str:
    if hook is HookType.FETCH_WORK:
        return ad_text(given.slot)
    if hook in {HookType.REPLY_FETCH, HookType.EVICT_CLAIM}:
        return slot_input(given.job, given.slot, given.claim)
    if hook in STARTER_HOOKS and given.copy is None:
        return ad_text(given.job)
    return hook_input(hook, given.job, given.copy, given.route)
