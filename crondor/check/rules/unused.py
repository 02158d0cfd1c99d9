"""CRN501, CRN507, CRN509: lines that do nothing, as condor_submit itself says of most of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from crondor._schedule.job_terms import PREP_COMMANDS, WINDOW_COMMANDS
from crondor.check.made import MOST_JOBS
from crondor.check.meant import REQUEST, REQUESTS, is_slip, meant_command, meant_request
from crondor.check.rule import Fix, RuleHit, TextEdit, rule
from crondor.check.rules.deferral import without_time
from crondor.check.subject import CheckedFile
from crondor.check.universe import AT_HOME, in_universe, universes_of
from crondor.diagnostics import Severity
from crondor.knowledge.commands import CommandType, Setting, SubmitCommand, submit_commands
from crondor.knowledge.releases import NEWEST
from crondor.schedule import COMMANDS as SCHEDULING
from crondor.schedule import misspelt
from crondor.source import Span
from crondor.submit import SubmitFile
from crondor.submit.unused import UnusedName

_SAYS: Final = "condor_submit says that the line was unused"
_FEW: Final = 3  # universes that a message names one by one
_FEW_NAMES: Final = 30  # of one file that are compared with all commands in every way; a person makes fewer slips
_NEEDS: Final = {
    **dict.fromkeys(("require_gpus", "gpus_minimum_capability", "gpus_maximum_capability"), "request_gpus"),
    **dict.fromkeys(("gpus_minimum_memory", "gpus_minimum_runtime"), "request_gpus"),
    **dict.fromkeys(("retry_request_memory", "retry_request_memory_increase"), "request_memory"),
    "retry_request_memory_max": "request_memory",
    "retry_request_disk": "request_disk",
    "suspend_job_at_exec": "tool_daemon_cmd",
    "transform_body_<name>": "on_evict_checks",
    "<name>_container_port": "container_service_names",
    **{f"<name>_oauth_{kind}": "use_oauth_services" for kind in ("permissions", "resource", "options")},
}
_EVERYWHERE: Final = frozenset(("request_cpus", "request_memory", "request_disk"))
_NONE: Final = re.compile(r'-[\d.]+|\+?0*\.?0*|""')  # SubmitHash::SetRequirements: numbers up to 0, empty strings
_SHELL: Final = "shell"
_UNDER_SHELL: Final = ("executable", "transfer_executable")
_OF_TOOLS: Final = "tool_daemon_"
_ELSEWHERE: Final = "remove it, or write the universe that is meant"


@rule("CRN501", "unused", Severity.WARNING, "a line that condor_submit has no use for", misses=True)
def unused(file: CheckedFile) -> Iterator[RuleHit]:
    """A name that is no command is a macro of the author's own, and one that nothing refers to does nothing."""
    if file.made is None:  # the jobs cannot be made; what looks like a command about scheduling is none all the same
        for fault in file.misspelt:
            yield RuleHit(fault.message, fault.span, fault.help, _fix(file, fault.span, fault.fix))
        return
    written: set[str] = set()
    for number, each in enumerate(file.made.unused):
        meant = None if each.is_variable else meant_command(each.key, is_thorough=number < _FEW_NAMES)
        if meant is not None:
            hit = _slip(file, each, meant)
            yield hit._replace(fix=None) if meant in written else hit
            written.add(meant)
        elif file.made.faults:
            continue  # what else is unused may follow from what is refused
        elif each.is_variable:
            message = f"no job uses the queue variable {each.name}: condor_submit says that it was unused"
            yield RuleHit(message, _queue_of(file, each), f"write $({each.name}) where its value is meant")
        elif each.key not in submit_commands():
            message = f"{each.name} is no command, and nothing refers to $({each.name}): {_SAYS}"
            yield RuleHit(message, each.span, _instead(each))


def _slip(file: CheckedFile, each: UnusedName, meant: str) -> RuleHit:
    message = f"HTCondor knows no command {each.name}: {_SAYS}"
    given = file.submit.name(meant) if file.submit is not None else None
    if given is not None:
        return RuleHit(message, each.span, f"did you mean {meant}? it is given at line {given.line} as well")
    return RuleHit(message, each.span, f"did you mean {meant}?", _fix(file, each.span, meant))


def _instead(each: UnusedName) -> str:
    from crondor.knowledge.attributes import job_attributes  # noqa: PLC0415 - a table of 1 ms that few files need

    attribute = job_attributes().get(each.key)
    return "remove the line" if attribute is None else f"write +{attribute.name} = ... to set the job's attribute"


def _fix(file: CheckedFile, span: Span | None, name: str | None) -> Fix | None:
    """Return the fix that writes another name; an unsafe one where the author's may well be one of his own."""
    if span is None or name is None or span.source is not file.source:
        return None
    return Fix(f"write {name}", (TextEdit(span, name),), name in SCHEDULING or is_slip(span.text.lower(), name))


def _queue_of(file: CheckedFile, each: UnusedName) -> Span | None:
    queues = file.submit.queues if file.submit is not None else ()
    return next((queue.span for queue in queues if each.key in queue.arguments.variables), None)


@rule("CRN507", "no-effect", Severity.WARNING, "a command that does nothing for this job", misses=True)
def no_effect(file: CheckedFile) -> Iterator[RuleHit]:
    """Some commands count in one universe only, beside another command only, or not beside another one."""
    if file.submit is None or file.made is None or file.made.faults or file.made.is_plain:
        return
    idle = {each.key: each for each in file.made.unused if not each.is_variable}
    commands = list(_commands(file.submit))
    if any(file.settings.target not in command.releases for _, command in commands):
        return  # CRN508 speaks of these, and what they are to that release changes what else counts
    yield from _lengths(file, file.submit, idle)
    universes = universes_of(file.submit)
    for key, command in commands:
        if NEWEST not in command.releases:
            continue
        elsewhere = bool(universes) and not in_universe(command, universes)
        if key in idle:
            reason, instead = _reason(file.submit, command, key, universes if elsewhere else ())
            yield RuleHit(f"{idle[key].name} {reason}: {_SAYS}", idle[key].span, instead)
        elif elsewhere and command.setting is not Setting.MADE:  # those it looks at only where they count
            span = file.submit.name(key)
            message = f"{span.text if span else key} {_elsewhere(command, universes)}"
            yield RuleHit(message, span, _ELSEWHERE, severity=Severity.NOTE)


def _lengths(file: CheckedFile, submit: SubmitFile, idle: Mapping[str, UnusedName]) -> Iterator[RuleHit]:
    """Yield windows and prep times beside another one, which counts, and empty ones; CRN310 speaks of one alone."""
    is_said = any(any(misspelt([(each.name, None)])) for each in idle.values()) or any(
        hit for job in file.jobs[:MOST_JOBS] for hit in without_time.function(job)
    )
    for names in (WINDOW_COMMANDS, PREP_COMMANDS):
        counts = next((submit.name(name) for name in names if name in submit.keys and name not in idle), None)
        for each in (idle[name] for name in names if name in idle):
            if counts is not None:
                message = f"{each.name} has no effect beside {counts.text} at line {counts.line}: {_SAYS}"
                yield RuleHit(message, each.span, "remove one of the two")
            elif not is_said:
                yield RuleHit(
                    f"{each.name} counts beside cron_* or deferral_time only: {_SAYS}", each.span, "remove it"
                )


def _commands(file: SubmitFile) -> Iterator[tuple[str, SubmitCommand]]:
    """Yield the commands that a file gives; those of the schedule have rules of their own."""
    for key in file.keys:
        command = None if key in SCHEDULING or "." in key else submit_commands().get(key)
        if command is not None and command.type is not CommandType.DISABLED:
            yield key, command


def _elsewhere(command: SubmitCommand, universes: tuple[str, ...]) -> str:
    if command.universes == ("standard",):
        return "counts in the standard universe only, which is gone"
    named = command.universes if len(command.universes) <= _FEW else ("other",)
    ending = "" if len(named) == 1 and named[0] != "other" else "s"
    return f"counts in the {' and '.join(named)} universe{ending} only, and this job is {universes[0]}"


def _reason(file: SubmitFile, command: SubmitCommand, key: str, universes: tuple[str, ...]) -> tuple[str, str]:
    """Return why a command is not looked at, and what to write."""
    if universes:
        return _elsewhere(command, universes), _ELSEWHERE
    same = (each for each in submit_commands() if each is command or each.attribute == command.attribute != "")
    names = dict.fromkeys(name.lower() for each in same for name in each.names if name.lower() != key)
    first = next((span for name in names if (span := file.name(name)) is not None), None)
    if first is not None:
        return f"says the same as {first.text} at line {first.line}, which counts", "remove one of them"
    if command.name in _UNDER_SHELL and file.name(_SHELL) is not None:
        return f"counts for nothing beside {_SHELL}, which is the program", "remove one of them"
    needs = "tool_daemon_cmd" if command.name.startswith(_OF_TOOLS) else _NEEDS.get(command.name)
    if needs is not None and file.name(needs) is None:
        return f"counts beside {needs} only, which is not given", f"write {needs} as well, or remove it"
    return "does nothing beside the other commands", "remove it"


@rule("CRN509", "odd-resource", Severity.WARNING, "a request for a resource that no machine has by that name")
def odd_resource(file: CheckedFile) -> Iterator[RuleHit]:
    """Whatever follows request_ is a resource to condor_submit; a misspelt one matches no machine: the job waits."""
    if file.submit is None:
        return
    yield from _at_home(file, file.submit)
    for key in file.submit.keys:
        if not key.startswith(REQUEST) or key in REQUESTS or submit_commands().is_one(key):
            continue
        meant, span = meant_request(key), file.submit.name(key)
        if meant is not None:
            tag = (span.text if span else key)[len(REQUEST) :]
            message = f"the job asks for a resource called {tag}, and stays idle where no machine has one of that name"
            yield RuleHit(message, span, f"did you mean {meant}?", _fix(file, span, meant))


def _at_home(file: CheckedFile, submit: SubmitFile) -> Iterator[RuleHit]:
    """Yield what a job asks for of the access point, whose ad has neither GPUs nor resources of a pool's own.

    A request for none of them adds nothing to the requirements.
    """
    names = [key for key in submit.keys if key.startswith(REQUEST) and key not in _EVERYWHERE]
    asked = [key for key in names if not all(_NONE.fullmatch(value.text) for value in file.given.of((key,)))]
    keys = [key for key in asked if submit_commands().is_one(key) or meant_request(key) is None]
    universes = universes_of(submit) if keys else ()
    if set(universes).isdisjoint(AT_HOME):
        return
    for key in keys:
        span = submit.name(key)
        name = (span.text if span else key)[len(REQUEST) :]
        message = f"a {universes[0]} job runs on the access point, whose ad says nothing of {name}: it never starts"
        yield RuleHit(message, span, f"remove it, or leave the {universes[0]} universe")
