"""CRN5..: commands, words and attributes that nothing reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from crondor._schedule import PREP_COMMANDS, WINDOW_COMMANDS
from crondor.diagnostics import CrondorError, Severity, Span, similar
from crondor.job.attributes import split_environment
from crondor.knowledge.releases import NEWEST, Release
from crondor.knowledge.words import (
    CommandType,
    Setting,
    SubmitCommand,
    job_attributes,
    machine_attributes,
    one_slip,
    other_words,
    submit_commands,
)
from crondor.lint.made import AT_HOME, MOST_JOBS, in_universe, universes_of
from crondor.lint.rule import MANY, Fix, RuleHit, rule
from crondor.lint.rules.deferral import without_time
from crondor.lint.subject import CheckedFile
from crondor.lint.values import GivenJob, GivenValue
from crondor.schedule import COMMANDS as SCHEDULING
from crondor.schedule import misspelt
from crondor.submit import SubmitFile
from crondor.submit.ad.transfer import BEYOND
from crondor.submit.edits import TextEdit
from crondor.submit.file import UnusedName

REQUEST: Final = "request_"
REQUESTS: Final = tuple(f"{REQUEST}{name}" for name in ("cpus", "disk", "gpus", "memory"))

_ALIKE: Final = 0.85
_NOT_UNLIKE: Final = 0.75
_BEGUN: Final = 0.7  # of a command's letters
_LONG_ENOUGH: Final = 8  # letters from which a name similar to a command is hardly the author's own
_LONGEST: Final = 60  # letters of a name that are compared


def meant_command(key: str, *, is_thorough: bool = True) -> str | None:
    """Return the command that a lower-case name is a slip of; None for a command, and for a name not near one.

    If not thorough, only single-letter slips count, which takes a tenth of the time.
    """
    find = _meant if len(key) <= _LONGEST else _meant.__wrapped__
    return find(key, is_thorough)


@lru_cache(maxsize=4096)
def _meant(key: str, is_thorough: bool) -> str | None:  # noqa: FBT001 - what it is kept by
    if key in other_words():
        return other_words()[key]
    table = submit_commands()
    if key in table:
        return None
    if is_thorough:
        return next(_candidates(key), None)
    return next((command.name for command in table.near(key)), None)


def meant_request(key: str) -> str | None:
    """Return the request that the name of a resource was meant for, None for a name of its own."""
    if key in other_words():
        return other_words()[key]
    near = (name for name in REQUESTS if one_slip(key, name))
    return next(near, None) or next(iter(similar(key[:_LONGEST], REQUESTS, _ALIKE)), None)


def is_slip(key: str, name: str) -> bool:
    """Return whether a name is so similar to a command that it is hardly the author's own."""
    return len(name) >= _LONG_ENOUGH and bool(similar(key[:_LONGEST], (name,), _ALIKE))


def _candidates(key: str) -> Iterator[str]:
    """Yield commands that may be meant, the likeliest first."""
    yield from (fault.fix for fault in misspelt([(key, None)]) if fault.fix)
    table = submit_commands()
    yield from sorted((command.name for command in table.near(key)), key=str.isupper)
    names = [command.name for command in table if command.is_in_use and "<" not in command.name]
    if len(key) >= _LONG_ENOUGH:
        yield from (name for name in names if name.replace("_", "").lower() == key.replace("_", ""))
        begun = [name for name in names if name.startswith(key)]
        yield from begun if len(begun) == 1 else ()
    yield from (name for name in similar(key[:_LONGEST], names, _NOT_UNLIKE, 5) if _is_like(key, name))


def _is_like(key: str, name: str) -> bool:
    """Return whether a name is very like a command, or begins like it."""
    shared = next((at for at, (ours, theirs) in enumerate(zip(key, name, strict=False)) if ours != theirs), len(key))
    return shared >= len(name) * _BEGUN or bool(similar(key[:_LONGEST], (name,), _ALIKE))


_SAYS: Final = "condor_submit reports the line as unused"
_FEW: Final = 3  # universes that a message lists
_FEW_NAMES: Final = 30  # of one file that are compared thoroughly with all commands; people make fewer slips
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
_ELSEWHERE: Final = "remove it, or write the intended universe"


@rule("CRN501", "unused", Severity.WARNING, "a line that condor_submit does not use", misses=True)
def unused(file: CheckedFile) -> Iterator[RuleHit]:
    """A name that is not a command is a macro of the author's own; if nothing refers to it, it does nothing."""
    if file.made is None:  # the jobs cannot be made; what looks like a scheduling command is still not one
        for fault in file.misspelt:
            yield RuleHit(fault.message, fault.span, fault.help, _fix(file, fault.span, fault.fix))
        return
    written: set[str] = set()
    for number, each in enumerate(file.made.unused):
        meant = None if each.is_variable else meant_command(each.key, is_thorough=number < _FEW_NAMES)
        if meant is not None:
            hit = _command_slip(file, each, meant)
            yield hit._replace(fix=None) if meant in written else hit
            written.add(meant)
        elif file.made.faults:
            continue  # other unused lines may follow from the refused one
        elif each.is_variable:
            message = f"no job uses the queue variable {each.name}: condor_submit reports it as unused"
            yield RuleHit(message, _queue_of(file, each), f"write $({each.name}) to use its value")
        elif each.key not in submit_commands():
            message = f"{each.name} is not a command, and nothing refers to $({each.name}): {_SAYS}"
            is_here = each.span is None or each.span.source in file.submit.sources if file.submit else True
            instead = _command_instead(each) if is_here else f"remove it, or write $({each.name}) in the submit file"
            yield RuleHit(message, each.span, instead)


def _command_slip(file: CheckedFile, each: UnusedName, meant: str) -> RuleHit:
    message = f"HTCondor has no command {each.name}: {_SAYS}"
    given = file.submit.name(meant) if file.submit is not None else None
    if given is not None:
        return RuleHit(message, each.span, f"did you mean {meant}? it is also set at line {given.line}")
    return RuleHit(message, each.span, f"did you mean {meant}?", _fix(file, each.span, meant))


def _command_instead(each: UnusedName) -> str:
    attribute = job_attributes().get(each.key)
    return "remove the line" if attribute is None else f"write +{attribute.name} = ... to set the job's attribute"


def _fix(file: CheckedFile, span: Span | None, name: str | None) -> Fix | None:
    """Return the fix that writes another name; unsafe if the present name may be the author's own."""
    if span is None or name is None or span.source is not file.source:
        return None
    return Fix(f"write {name}", (TextEdit(span, name),), name in SCHEDULING or is_slip(span.text.lower(), name))


def _queue_of(file: CheckedFile, each: UnusedName) -> Span | None:
    queues = file.submit.queues if file.submit is not None else ()
    return next((queue.span for queue in queues if each.key in queue.arguments.variables), None)


@rule("CRN507", "no-effect", Severity.WARNING, "a command that does nothing for this job", misses=True)
def no_effect(file: CheckedFile) -> Iterator[RuleHit]:
    """Some commands have an effect only in one universe, only with another command, or only without another one."""
    if file.submit is None or file.made is None or file.made.faults or file.made.is_plain:
        return
    idle = {each.key: each for each in file.made.unused if not each.is_variable}
    commands = list(_commands(file.submit))
    if any(file.settings.target not in command.releases for _, command in commands):
        return  # CRN508 reports these, and their meaning to that release changes what else counts
    yield from _lengths(file, file.submit, idle)
    universes = universes_of(file.submit)
    for key, command in commands:
        if NEWEST not in command.releases:
            continue
        elsewhere = bool(universes) and not in_universe(command, universes)
        if key in idle:
            reason, instead = _reason(file.submit, command, key, universes if elsewhere else ())
            yield RuleHit(f"{idle[key].name} {reason}: {_SAYS}", idle[key].span, instead)
        elif elsewhere and command.setting is not Setting.MADE:  # otherwise condor_submit ignores the line
            span = file.submit.name(key)
            message = f"{span.text if span else key} {_elsewhere(command, universes)}"
            yield RuleHit(message, span, _ELSEWHERE, severity=Severity.NOTE)


def _lengths(file: CheckedFile, submit: SubmitFile, idle: Mapping[str, UnusedName]) -> Iterator[RuleHit]:
    """Yield windows and prep times that another one overrides, and empty ones; CRN310 reports one without a time."""
    is_said = any(any(misspelt([(each.name, None)])) for each in idle.values()) or any(
        hit for job in file.jobs[:MOST_JOBS] for hit in without_time.function(job)
    )
    for names in (WINDOW_COMMANDS, PREP_COMMANDS):
        counts = next((submit.name(name) for name in names if name in submit.keys and name not in idle), None)
        for each in (idle[name] for name in names if name in idle):
            if counts is not None:
                message = f"{each.name} has no effect together with {counts.text} at line {counts.line}: {_SAYS}"
                yield RuleHit(message, each.span, "remove one of the two")
            elif not is_said:
                yield RuleHit(
                    f"{each.name} has an effect only with cron_* or deferral_time: {_SAYS}", each.span, "remove it"
                )


def _commands(file: SubmitFile) -> Iterator[tuple[str, SubmitCommand]]:
    """Yield the commands that a file gives, without those of the schedule, which have rules of their own."""
    for key in file.keys:
        command = None if key in SCHEDULING or "." in key else submit_commands().get(key)
        if command is not None and command.type is not CommandType.DISABLED:
            yield key, command


def _elsewhere(command: SubmitCommand, universes: tuple[str, ...]) -> str:
    if command.universes == ("standard",):
        return "has an effect only in the standard universe, which no longer exists"
    named = command.universes if len(command.universes) <= _FEW else ("other",)
    ending = "" if len(named) == 1 and named[0] != "other" else "s"
    return f"has an effect only in the {' and '.join(named)} universe{ending}, and this job is {universes[0]}"


def _reason(file: SubmitFile, command: SubmitCommand, key: str, universes: tuple[str, ...]) -> tuple[str, str]:
    """Return why a command is ignored, and what to write."""
    if universes:
        return _elsewhere(command, universes), _ELSEWHERE
    same = (each for each in submit_commands() if each is command or each.attribute == command.attribute != "")
    names = dict.fromkeys(name.lower() for each in same for name in each.names if name.lower() != key)
    first = next((span for name in names if (span := file.name(name)) is not None), None)
    if first is not None:
        return f"repeats {first.text} at line {first.line}, which takes effect", "remove one of them"
    if command.name in _UNDER_SHELL and file.name(_SHELL) is not None:
        return f"has no effect together with {_SHELL}, which sets the program", "remove one of them"
    needs = "tool_daemon_cmd" if command.name.startswith(_OF_TOOLS) else _NEEDS.get(command.name)
    if needs is not None and file.name(needs) is None:
        return f"has an effect only with {needs}, which is missing", f"write {needs} as well, or remove it"
    return "has no effect together with the other commands", "remove it"


@rule("CRN509", "odd-resource", Severity.WARNING, "a request for a resource that no machine has by that name")
def odd_resource(file: CheckedFile) -> Iterator[RuleHit]:
    """To condor_submit, any name after request_ is a resource; a job with a misspelled one matches no machine."""
    if file.submit is None:
        return
    yield from _at_home(file, file.submit)
    for key in file.submit.keys:
        if not key.startswith(REQUEST) or key in REQUESTS or submit_commands().is_one(key):
            continue
        meant, span = meant_request(key), file.submit.name(key)
        if meant is not None:
            tag = (span.text if span else key)[len(REQUEST) :]
            message = f"the job requests a resource called {tag}, and stays idle if no machine has it"
            yield RuleHit(message, span, f"did you mean {meant}?", _fix(file, span, meant))


def _at_home(file: CheckedFile, submit: SubmitFile) -> Iterator[RuleHit]:
    """Yield the requests for resources of the access point, whose ad has neither GPUs nor a pool's own resources.

    A request for zero adds nothing to the requirements.
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
        message = f"a {universes[0]} job runs on the access point, whose ad does not have {name}: it never starts"
        yield RuleHit(message, span, f"remove it, or leave the {universes[0]} universe")


_HOLDS: Final = ("periodic_hold", "on_exit_hold")
_WHY: Final = ("reason", "subcode")
_HELD: Final = {
    f"{hold}_{what}": (hold, hold.replace("_", ""), f"my.{hold.replace('_', '')}") for hold in _HOLDS for what in _WHY
}
_ASKED_WITH: Final = {  # commands that go into the job but are only used together with one of some others
    **_HELD,
    **dict.fromkeys(("notify_user", "email_attributes"), ("notification", "jobnotification", "my.jobnotification")),
}
_RANKS: Final = ("rank", "preferences")


@rule(
    "CRN516",
    "nobody-asks",
    Severity.WARNING,
    "a command that needs another command, or has no effect here",
    misses=True,
)
def nobody_asks(file: CheckedFile) -> Iterator[RuleHit]:
    """The attribute is in the job and does nothing, so condor_submit does not report the line as unused."""
    keys = file.submit.keys if file.submit is not None else ()
    told: set[str] = set()
    for key, needed in _ASKED_WITH.items():
        span = file.submit.name(key) if file.submit is not None and key in keys else None
        if span is not None and needed[0] not in told and not any(name in keys for name in needed):
            told.add(needed[0])
            then = "no e-mail is sent" if needed[0] == "notification" else "nothing reads it"
            yield RuleHit(
                f"{span.text} has an effect only with {needed[0]}: {then}", span, f"write {needed[0]} as well"
            )
    for key in (key for key in _RANKS if key in keys):
        universes = universes_of(file.submit) if file.submit is not None else ()
        if file.submit is not None and not set(universes).isdisjoint(AT_HOME):
            message = f"{key} has no effect: a {universes[0]} job runs on the access point, without a match"
            yield RuleHit(message, file.submit.name(key), "remove it")


_REFERENCE: Final = re.compile(r"\$\w{0,30}\([ \t]{0,30}([\w./]{1,200})")  # to a macro of the author's own
_REMAPS: Final = ("transfer_output_remaps", "transferoutputremaps")
_LONG_TERM: Final = Release(24, 0)  # its fix 24.0.5 accepts them
_TAKES_REMAPS: Final = Release(24, 5)
_SEVERAL_DEPRECATED: Final = Release(23, 7)


@rule("CRN508", "not-in-release", Severity.WARNING, "a command that the release does not have")
def not_in_release(file: CheckedFile) -> Iterator[RuleHit]:
    """For a release without the command it is a macro of the author's own, and does nothing."""
    if file.submit is None or (file.made is not None and file.made.is_plain and file.settings.target == NEWEST):
        return
    table, target = submit_commands(), file.settings.target
    macros = {name.lower() for name in _REFERENCE.findall(file.source.text)}
    for key in file.submit.keys:
        command = None if "." in key else table.get(key)
        if command is None or target in command.releases or key in macros:
            continue
        span = file.submit.name(key)
        name = span.text if span else key
        since, until = command.releases
        if until is not None and until < target:
            message = f"{until} was the last release with {name}: HTCondor {target} ignores it as unused"
        else:
            message = f"{name} came with {since}: HTCondor {target} ignores it as unused"
        successor = _successor(command, target)
        yield RuleHit(message, span, f"write {successor} instead" if successor else "remove it")


def _successor(command: SubmitCommand, target: Release) -> str | None:
    others = (each for each in submit_commands() if each.attribute and each.attribute == command.attribute)
    return next((each.name for each in others if each is not command and target in each.releases), None)


@rule("CRN511", "unquoted-remaps", Severity.ERROR, "remaps without quotes, which older releases refuse")
def unquoted_remaps(file: CheckedFile) -> Iterator[RuleHit]:
    """condor_submit before 24.5, and before 24.0.5, requires transfer_output_remaps in double quotes."""
    target = file.settings.target
    if file.submit is None or target >= _TAKES_REMAPS or target == _LONG_TERM:
        return
    try:
        groups = list(file.submit.groups(_REMAPS, MOST_JOBS + len(file.submit.queues)))
    except CrondorError:
        return
    for group in groups:
        name = next((name for name in _REMAPS if group.values.get(name)), None)
        text = "" if name is None else group.values[name]
        if name is not None and not (len(text) > 1 and text[0] == text[-1] == '"'):
            message = f"transfer_output_remaps must be a quoted string, not: {text[:100]}: HTCondor {target} refuses it"
            yield RuleHit(message, group.spans[name], "write the value in double quotes")


@rule("CRN510", "several-queues", Severity.WARNING, "several queue statements in one file")
def several_queues(file: CheckedFile) -> Iterator[RuleHit]:
    """Since 23.7 condor_submit warns about the second one: the list of a single queue statement does the same."""
    queues = file.submit.queues if file.submit is not None else ()
    if len(queues) < 2 or file.settings.target < _SEVERAL_DEPRECATED:
        return
    message = (
        f"the file has {len(queues)} queue statements: this is deprecated since {_SEVERAL_DEPRECATED}; condor_submit "
        "warns about it, and a 25.x release will refuse it"
    )
    yield RuleHit(message, queues[1].span, "write one queue statement with a list: queue name, value from ( ... )")


_OWN: Final = "my."


@rule("CRN512", "own-attribute", Severity.WARNING, "an attribute whose name is one slip from one that HTCondor reads")
def own_attribute(file: CheckedFile) -> Iterator[RuleHit]:
    """After a plus any name is accepted: a misspelled one becomes an attribute that nothing reads."""
    keys = file.submit.keys if file.submit is not None else ()
    own = [key for key in keys if key.startswith(_OWN) and len(key) >= len(_OWN) + _LONG_ENOUGH]
    if file.submit is None or not own:
        return
    for key in own:
        name = key.removeprefix(_OWN)
        if job_attributes().is_one(name) or machine_attributes().is_one(name) or _is_read(file, name):
            continue
        near = next(iter(job_attributes().near(name)), None)
        span = file.submit.name(key)
        if near is None or span is None:
            continue
        shown = span.text
        written = shown[: len(shown) - len(name)]
        fix = Fix(f"write {written}{near.name}", (TextEdit(span, f"{written}{near.name}"),), safe=False)
        message = f"{shown} becomes an attribute that HTCondor does not read"
        is_here = span.source is file.source
        yield RuleHit(message, span, f"did you mean {written}{near.name}?", fix if is_here else None)


@rule("CRN316", "refers-to-itself", Severity.ERROR, "an attribute of the job that refers to itself")
def circle(file: CheckedFile) -> Iterator[RuleHit]:
    """HTCondor evaluates such a reference to undefined: Requirements with one never match."""
    for each in () if file.made is None else file.made.circles:
        yield RuleHit(each.message, each.span, each.help, severity=each.severity)


def _is_read(file: CheckedFile, name: str) -> bool:
    """Return whether the file itself refers to an attribute that it defines."""
    return len(re.findall(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", file.source.text, re.IGNORECASE)) > 1


_TRANSFER: Final = ("transfer_executable", "transferexecutable")
_YES: Final = frozenset(("yes", "y", "on"))
_NO: Final = frozenset(("no", "n", "off", "never", "none", "nope"))
_PULL_POLICY: Final = ("docker_pull_policy", "dockerpullpolicy")
_NETWORK: Final = ("docker_network_type", "dockernetworktype")
_NETWORKS: Final = ("host", "none", "nat")  # of any docker; an administrator may offer others
_NOTIFY: Final = ("notify_user", "notifyuser")
_MOMENT: Final = ("when_to_transfer_output", "whentotransferoutput")
_DESTINATION: Final = ("output_destination", "outputdestination")
_IMAGE: Final = ("container_image", "containerimage")
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.", re.DOTALL)
_SCHEME: Final = re.compile(r"(?P<scheme>docker|oras|library|shub|https?):(?:/(?!/)|(?!/))(?=.)", re.IGNORECASE)


@rule("CRN513", "no-boolean", Severity.WARNING, "a word that the command reads neither as true nor as false", most=MANY)
def no_boolean(file: CheckedFile) -> Iterator[RuleHit]:
    """Most commands refuse such a word; one looks only at the first letter, and one reads it as a variable."""
    for value in file.given.of(_TRANSFER):
        text = value.text.lower()
        if text.startswith(("f", "t", "1", "$")) or text in _YES:
            continue
        meant = "false" if text in _NO or text[:1] in {"n", "0"} else None
        message = f"{value.text} is not a boolean: what does not begin with f is true, so the executable is transferred"
        yield _instead(file, value, message, meant, "true or false")
    for value in file.given.of(("getenv",)):
        text = value.text.lower()
        meant = "true" if text in _YES else "false" if text in _NO - {"none"} else _slip(text, ("true", "false"))
        if meant is not None:
            message = f"{value.text} is the name of a variable, not a boolean: nothing else is copied"
            yield _instead(file, value, message, meant, meant)


@rule("CRN514", "odd-word", Severity.WARNING, "a word that the command does not know, or reads differently", most=MANY)
def odd_word(file: CheckedFile) -> Iterator[RuleHit]:
    """The word goes into the job as a string, and is wrong only on the machine, or is never noticed."""
    for value in file.given.of(_PULL_POLICY):
        text = value.text.lower()
        if text not in {"", "always"} and "$$" not in text:
            message = f"HTCondor knows no docker_pull_policy {value.text}, and ignores it"
            yield _instead(file, value, message, _slip(text, ("always",)), "always, or remove the line")
    for value in file.given.of(_NETWORK):
        meant = None if value.text in _NETWORKS else _slip(value.text.lower(), _NETWORKS)
        if meant is not None:
            message = f"the job requests a network called {value.text}, and waits for a machine that has it"
            yield _instead(file, value, message, meant, meant)
    for value in file.given.of(_NOTIFY):
        events = submit_commands().get("notification")
        if events is not None and value.text.lower() in events.choices:
            message = f"notify_user is an e-mail address, and {value.text} would be a user of that name"
            yield RuleHit(message, value.span, f"write notification = {value.text.lower()}")
    for value in file.given.of(_MOMENT):
        taken = _moment_of(value.text)
        if taken is not None:
            message = f"{value.text} is not a valid value; because of a bug, HTCondor reads it as {taken}"
            yield RuleHit(
                message, value.span, "write ON_EXIT, or ON_EXIT_OR_EVICT to transfer files after an eviction too"
            )


@rule("CRN515", "no-url", Severity.WARNING, "an address without ://, which HTCondor reads as a file", most=MANY)
def no_url(file: CheckedFile) -> Iterator[RuleHit]:
    """An address has :// after its scheme; without it the text is a path."""
    for value in file.given.of(_DESTINATION):
        if value.text and "$$" not in value.text and not _ADDRESS.match(value.text):
            message = f"output_destination is an address, and {value.text[:60]} is not: no plugin can send files there"
            yield RuleHit(message, value.span, "for a folder on the access point write output_directory (24.12)")
    for value in file.given.of(_IMAGE):
        found = _SCHEME.match(value.text)
        if found is not None:
            new = f"{found['scheme']}://{value.text[found.end() :]}"
            message = f"to HTCondor {value.text[:60]} is a file name to transfer, not an address"
            yield _instead(file, value, message, new, new)


def _moment_of(word: str) -> str | None:
    """Return the value that HTCondor reads an unknown word as."""
    moments = submit_commands().get("when_to_transfer_output")
    if moments is not None and word.upper() in moments.choices:
        return None
    return BEYOND.get(word.lower())


def _slip(text: str, words: tuple[str, ...]) -> str | None:
    """Return the known word that a text is a slip of."""
    return next((word for word in words if text != word and one_slip(text, word)), None)


def _instead(file: CheckedFile, value: GivenValue, message: str, new: str | None, words: str) -> RuleHit:
    """Return a finding about a whole value, with the fix that writes another value if it is known."""
    is_here = value.is_literal and value.span.source is file.source
    fix = Fix(f"write {new}", (TextEdit(value.span, new),), safe=False) if new is not None and is_here else None
    return RuleHit(message, value.span, f"write {new or words}", fix)


@rule("CRN517", "kept-variables", Severity.WARNING, "variables of the first job that later jobs get too")
def kept_variables(file: CheckedFile) -> Iterator[RuleHit]:
    """condor_submit copies the variables of the first job of a cluster into the environment of all others."""
    jobs = file.given.jobs
    _, kept = _environment(jobs[0]) if len(jobs) > 1 else (None, {})
    for job in jobs[1:] if kept else ():
        value, own = _environment(job)
        more = [name for name in kept if name not in own]
        if value is None or not more:
            continue
        shown = ", ".join(f"{name}={kept[name]}" for name in more[:3]) + (", ..." if len(more) > 3 else "")
        message = f"later jobs also get {shown[:80]}: they keep the variables of the first job of the cluster"
        yield RuleHit(message, value.span, f"set every variable for each job; a job's own value of {more[0]} wins")
        return


def _environment(job: GivenJob) -> tuple[GivenValue | None, dict[str, str]]:
    """Return the command that sets a job's variables, and the variables; none if the command cannot be read."""
    value = job.first("environment2") or job.first("environment", "env")
    try:
        return value, split_environment(value.text) if value is not None else {}
    except CrondorError:
        return None, {}
