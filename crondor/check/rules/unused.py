"""CRN501, CRN507, CRN509: lines that do nothing, as condor_submit itself says of most of them."""

from __future__ import annotations

from collections.abc import Iterator
from os.path import commonprefix  # of any texts, letter by letter
from typing import Final

from crondor.check.rule import Fix, RuleHit, TextEdit, rule
from crondor.check.subject import CheckedFile
from crondor.check.universe import LONGEST_LIST, in_universe, universes_of
from crondor.diagnostics import Severity, similar
from crondor.knowledge.commands import CommandType, Setting, SubmitCommand, submit_commands
from crondor.knowledge.slips import one_slip
from crondor.schedule import COMMANDS as SCHEDULING
from crondor.schedule import misspelt
from crondor.source import Span
from crondor.submit import SubmitFile
from crondor.submit.unused import UnusedName

_ALIKE: Final = 0.85
_NOT_UNLIKE: Final = 0.75
_BEGUN: Final = 0.7  # of a command's letters
_LONG_ENOUGH: Final = 8  # letters of a name that may be the beginning of a command
_REQUEST: Final = "request_"
_REQUESTS: Final = frozenset(f"{_REQUEST}{name}" for name in ("cpus", "memory", "disk", "gpus"))
_MEANT: Final = {
    **dict.fromkeys(("request_core", "request_cores", "request_ncpus", "request_cpus_count"), "request_cpus"),
    **dict.fromkeys(("request_mem", "request_ram"), "request_memory"),
    **dict.fromkeys(("request_disk_space", "request_storage"), "request_disk"),
    "request_gpu_memory": "gpus_minimum_memory",
    "request_gpus_memory": "gpus_minimum_memory",
    "request_cpu": "request_cpus",
    "request_gpu": "request_gpus",
}
_NEEDS: Final = {
    **dict.fromkeys(("require_gpus", "gpus_minimum_capability", "gpus_maximum_capability"), "request_gpus"),
    **dict.fromkeys(("gpus_minimum_memory", "gpus_minimum_runtime"), "request_gpus"),
    **dict.fromkeys(("retry_request_memory", "retry_request_memory_increase", "retry_request_memory_max"), "request_memory"),
    "retry_request_disk": "request_disk",
    "suspend_job_at_exec": "tool_daemon_cmd",
}
_SAYS: Final = "condor_submit says that the line was unused"
_OF_TOOLS: Final = "tool_daemon_"
_INTERACTIVE: Final = "interactive_"


@rule("CRN501", "unused", Severity.WARNING, "a line that condor_submit has no use for", misses=True)
def unused(file: CheckedFile) -> Iterator[RuleHit]:
    """A name that is no command is a macro of the author's own, and one that nothing refers to does nothing."""
    if file.made is None:  # the jobs cannot be made; what looks like a command about scheduling is none all the same
        for fault in file.misspelt:
            fix = _fix(file, fault.span, fault.fix)
            yield RuleHit(fault.message, fault.span, fault.help, fix)
        return
    is_refused = bool(file.made.faults)  # then only a slip is sure: what else is unused may follow from the refusal
    for each in file.made.unused:
        meant = None if each.is_variable else _meant(each)
        if is_refused and meant is None:
            continue
        if each.is_variable:
            message = f"no job uses the queue variable {each.name}: condor_submit says that it was unused"
            yield RuleHit(message, _queue_of(file, each), f"write $({each.name}) where its value is meant")
        elif meant is not None or submit_commands().get(each.key) is None:
            yield _unknown(file, each, meant)


def _unknown(file: CheckedFile, each: UnusedName, meant: str | None) -> RuleHit:
    if meant is None:
        from crondor.knowledge.attributes import job_attributes  # noqa: PLC0415 - a table that few files need

        attribute = job_attributes().get(each.key)
        message = f"{each.name} is no command, and nothing refers to $({each.name}): {_SAYS}"
        instead = f"write +{attribute.name} = ... to set the job's attribute" if attribute else "remove the line"
        return RuleHit(message, each.span, instead)
    message = f"HTCondor knows no command {each.name}: {_SAYS}"
    submit = file.submit
    given = submit.name(meant) if submit is not None else None
    if given is not None:
        return RuleHit(message, each.span, f"did you mean {meant}? it is given at line {given.line} as well")
    return RuleHit(message, each.span, f"did you mean {meant}?", _fix(file, each.span, meant))


def _fix(file: CheckedFile, span: Span | None, name: str | None) -> Fix | None:
    """Return the fix that writes another name; an unsafe one where the author's may well be one of his own."""
    if span is None or name is None or span.source is not file.source:
        return None
    is_safe = len(name) >= _LONG_ENOUGH or name in SCHEDULING
    return Fix(f"write {name}", (TextEdit(span, name),), is_safe)


def _queue_of(file: CheckedFile, each: UnusedName) -> Span | None:
    queues = file.submit.queues if file.submit is not None else ()
    return next((queue.span for queue in queues if each.key in queue.arguments.variables), None)


def _meant(each: UnusedName) -> str | None:
    """Return the command that a name is a slip of, None for a command and for what is near none."""
    if each.key in _MEANT:
        return _MEANT[each.key]
    table = submit_commands()
    if each.key in table:
        return None
    of_times = next(misspelt([(each.name, each.span)]), None)
    if of_times is not None:
        return of_times.fix
    near = table.near(each.key)
    if near:
        return min(near, key=lambda command: not command.name.islower()).name
    squeezed = each.key.replace("_", "")
    names = [command.name for command in table if command.is_in_use and "<" not in command.name]
    for name in names:
        if len(squeezed) > LONGEST_LIST and name.replace("_", "").lower() == squeezed:
            return name
    begun = [name for name in names if len(each.key) >= _LONG_ENOUGH and name.startswith(each.key)]
    if len(begun) == 1:
        return begun[0]
    return next((name for name in similar(each.key[:60], names, _NOT_UNLIKE, 5) if _is_like(each.key, name)), None)


def _is_like(key: str, name: str) -> bool:
    """Say whether a name is very like a command, or begins like it and is like it."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - 1 ms, and needed for a mistake only

    shared = len(commonprefix((key, name)))
    return shared >= len(name) * _BEGUN or SequenceMatcher(None, key, name).ratio() >= _ALIKE


@rule("CRN507", "no-effect", Severity.WARNING, "a command that does nothing for this job", misses=True)
def no_effect(file: CheckedFile) -> Iterator[RuleHit]:
    """Some commands count in one universe only, beside another command only, or not beside another one."""
    if file.made is None or file.submit is None or file.made.faults:
        return
    idle = {each.key: each for each in file.made.unused if not each.is_variable}
    if not idle and file.made.is_plain:
        return
    table, universes = submit_commands(), universes_of(file.submit)
    for key in file.submit.keys:
        command = None if key in SCHEDULING or key.startswith("my.") else table.get(key)
        if command is None or command.type is CommandType.DISABLED or file.settings.target not in command.releases:
            continue
        elsewhere = bool(universes) and not in_universe(command, universes)
        if key in idle:
            reason, instead = _reason(file.submit, command, key, universes if elsewhere else ())
            yield RuleHit(f"{idle[key].name} {reason}: {_SAYS}", idle[key].span, instead)
        elif elsewhere and command.setting is not Setting.MADE:  # those it looks at only where they count
            span = file.submit.name(key)
            message = f"{span.text if span else key} {_counts_elsewhere(command, universes)}"
            yield RuleHit(message, span, "remove it, or write the universe that is meant", severity=Severity.NOTE)


def _counts_elsewhere(command: SubmitCommand, universes: tuple[str, ...]) -> str:
    where = " and ".join(command.universes) if len(command.universes) < LONGEST_LIST else "other"
    if command.universes == ("standard",):
        return "counts in the standard universe only, which is gone"
    return f"counts in the {where} universe{'s' if ' and ' in where or where == 'other' else ''} only, and this job is {universes[0]}"


def _reason(file: SubmitFile, command: SubmitCommand, key: str, universes: tuple[str, ...]) -> tuple[str, str]:
    """Return why a command is not looked at, and what to write."""
    if universes:
        return _counts_elsewhere(command, universes), "remove it, or write the universe that is meant"
    same = [
        name
        for other in submit_commands()
        if other.attribute and other.attribute == command.attribute
        for name in other.names
    ]
    first = next((span for name in (*command.names, *same) if name.lower() != key and (span := file.name(name.lower()))), None)
    if first is not None:
        return f"says the same as {first.text} at line {first.line}, which counts", "remove one of them"
    needs = "tool_daemon_cmd" if command.name.startswith(_OF_TOOLS) else _NEEDS.get(command.name)
    if needs is not None:
        return f"counts beside {needs} only, which is not given", f"write {needs} as well, or remove it"
    if command.name.startswith(_INTERACTIVE):
        return "counts for condor_submit -interactive only", "leave it, if that is meant"
    return "does nothing beside the other commands", "remove it"


@rule("CRN509", "odd-resource", Severity.WARNING, "a request for a resource that no machine has by that name")
def odd_resource(file: CheckedFile) -> Iterator[RuleHit]:
    """Whatever follows request_ is a resource to condor_submit; a misspelt one matches no machine, and the job waits."""
    keys = file.submit.keys if file.submit is not None else ()
    for key in keys:
        if not key.startswith(_REQUEST) or key in _REQUESTS or submit_commands().is_one(key):
            continue
        meant = _MEANT.get(key) or next((name for name in sorted(_REQUESTS) if one_slip(key, name)), None)
        meant = meant or next(iter(similar(key[:60], sorted(_REQUESTS), _ALIKE)), None)
        if meant is None:
            continue
        span = file.submit.name(key) if file.submit is not None else None
        tag = (span.text if span else key)[len(_REQUEST) :]
        message = f"the job asks for a resource called {tag}, and stays idle where no machine has one of that name"
        yield RuleHit(message, span, f"did you mean {meant}?", _fix(file, span, meant))
