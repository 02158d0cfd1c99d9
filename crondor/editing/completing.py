"""Completions at a place: commands, knobs, macros, attributes, functions, values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from string import ascii_letters, digits
from typing import Final, NamedTuple
from zoneinfo import available_timezones

from crondor.compile.markers import MEANINGS, VALUES
from crondor.dag.commands import SYNTAX
from crondor.diagnostics import Span
from crondor.editing.hovering import of_attribute, of_command, of_function, of_knob, of_provided, of_rule
from crondor.editing.reading import LISTS, LONGEST, LineKind, ReadText, TextKind
from crondor.knowledge import (
    KnobKind,
    classad_functions,
    config_knobs,
    job_attributes,
    machine_attributes,
    submit_commands,
    submit_macros,
    transform_commands,
)
from crondor.knowledge.words import CommandType
from crondor.macro.expand import TEMPLATES

_MACRO: Final = re.compile(r"\$\(([A-Za-z0-9_.]*)$")
_MACRO_FUNCTION: Final = re.compile(r"\$([A-Za-z_]*)$")
_BEGINNING: Final = re.compile(r"[ \t]*([+A-Za-z0-9_.]*)$")
_OF_WORDS: Final = f"{ascii_letters}{digits}_@"
_SCOPE: Final = re.compile(r"(?i)\b(my|target)\.([A-Za-z0-9_]*)$")
_ASSIGNED: Final = re.compile(r"[ \t]*([+A-Za-z0-9_./]+)[ \t]*(?:[+]?=|:)[ \t]*")
_COMMAND: Final = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+([^ \t]*)([ \t].*)?$")
_USE: Final = re.compile(r"(?i)[ \t]*use[ \t]+([A-Za-z]*)([ \t]*:[ \t]*)?")
_SCHEDULE_ZONE: Final = re.compile(r"(?i)[ \t]*#[ \t]*crondor:[ \t]*schedule[ \t]*=.*\bzone[ \t]+[\w/+-]*")
_SETTING: Final = re.compile(r"[ \t]*#[ \t]*crondor:[ \t]*([\w-]*)(?:[ \t]*=[ \t]*(.*))?")
_ZONE: Final = re.compile(r"[ \t]*(?:CRON_)?TZ[ \t]*=")
_OF_ZONES: Final = f"{ascii_letters}{digits}_/+-"
_NICKNAMES: Final = ("@yearly", "@monthly", "@weekly", "@daily", "@hourly", "@reboot")
_DEFINING: Final = frozenset(("JOB", "FINAL", "PROVISIONER", "SERVICE", "SUBDAG", "SPLICE"))
_OF_SUBMIT: Final = ("queue", "if", "elif", "else", "endif", "include", "use template")
_EXPRESSIONS: Final = frozenset((CommandType.EXPRESSION, CommandType.INTEGER, CommandType.COUNT))


class WordKind(Enum):
    """The kind of a completion; the value tells ``documentation`` where to look."""

    COMMAND = "command"
    KNOB = "knob"
    MACRO = "macro"
    MACRO_FUNCTION = "macro function"
    ATTRIBUTE = "attribute"
    FUNCTION = "function"
    RULE = "rule"
    NAME = "name"
    KEYWORD = "keyword"
    VALUE = "value"


class Completion(NamedTuple):
    """A completion to replace ``span``: the text to insert, and the text to show with it."""

    label: str
    kind: WordKind
    text: str
    span: Span
    detail: str = ""


def completions(text: ReadText, offset: int) -> list[Completion]:
    """Return the completions at an offset; the client filters them by the text already written."""
    begin = text.source.text.rfind("\n", 0, offset) + 1
    before = text.source.text[begin:offset]
    if _SCHEDULE_ZONE.fullmatch(before):
        return list(_made(_zones(), text, offset, len(before) - len(before.rstrip(_OF_ZONES))))
    if before.lstrip().startswith("#") or len(before) > LONGEST:
        setting = _SETTING.fullmatch(before) if text.kind is TextKind.SUBMIT else None
        return [] if setting is None else list(_made(_settings(setting), text, offset, len(setting[2] or setting[1])))
    if text.kind not in {TextKind.AD, TextKind.CRONTAB, TextKind.DAG}:
        macro = _MACRO.search(before)
        if macro:
            return list(_made(_macros(text), text, offset, len(macro[1])))
        function = _MACRO_FUNCTION.search(before)
        if function:
            return list(_made(_macro_functions(), text, offset, len(function[1])))
    return list(_made(_COMPLETERS[text.kind](text, before, offset), text, offset, _written(before)))


def documentation(kind: WordKind, name: str) -> str | None:
    """Return the meaning of a word, in Markdown; None if there is none."""
    describe = _DESCRIPTIONS.get(kind)
    return None if describe is None else describe(name)


class _Word(NamedTuple):
    label: str
    kind: WordKind
    detail: str = ""
    more: str = ""  # inserted after it


def _made(words: Iterable[_Word], text: ReadText, offset: int, written: int) -> Iterator[Completion]:
    span = text.source.span(offset - written, offset)
    for word in words:
        yield Completion(word.label, word.kind, word.label + word.more, span, word.detail)


def _written(before: str) -> int:
    """Return how many characters of the word are already written."""
    beginning = _BEGINNING.fullmatch(before)
    if beginning:
        return len(beginning[1].lstrip("+"))
    if _ZONE.match(before):
        return len(before) - len(before.rstrip(_OF_ZONES))
    return len(before) - len(before.rstrip(_OF_WORDS))


def _settings(written: re.Match[str]) -> Iterator[_Word]:
    """Yield the settings of a file's schedule, or the values of one."""
    if written[2] is None:
        yield from (_Word(name, WordKind.NAME, meaning, " = ") for name, meaning in MEANINGS.items())
    else:
        yield from (_Word(value, WordKind.VALUE) for value in VALUES.get(written[1].lower(), ()))


def _macros(text: ReadText) -> Iterator[_Word]:
    names: dict[str, str] = {}
    for written in text.outline.lines:
        if written.kind is LineKind.ASSIGNMENT and not written.key.startswith("my."):
            names.setdefault(written.key, written.name_span.text)
        for name, span in written.variables():
            names.setdefault(name, span.text)
    yield from (_Word(name, WordKind.NAME, "defined in this text") for name in names.values())
    if text.kind is TextKind.SUBMIT:
        provided = (macro for key, macro in submit_macros().items() if key not in names)
        yield from (_Word(macro.name, WordKind.MACRO) for macro in provided if not macro.arguments)


def _macro_functions() -> Iterator[_Word]:
    for macro in submit_macros().values():
        if macro.arguments:
            yield _Word(macro.name.lstrip("$"), WordKind.MACRO_FUNCTION, f"({macro.arguments})", "(")


def _of_submit(_: ReadText, before: str, __: int) -> Iterator[_Word]:
    beginning = _BEGINNING.fullmatch(before)
    if beginning:
        if beginning[1].startswith("+") or beginning[1].lower().startswith("my."):
            yield from _attributes(job_attributes().names(), " = ")
            return
        for command in submit_commands():
            if command.is_in_use and "<" not in command.name:
                yield _Word(command.name, WordKind.COMMAND, command.type.value, " = ")
        yield from (_Word(word, WordKind.KEYWORD) for word in _OF_SUBMIT)
        return
    if before.lstrip().lower().startswith("queue"):
        yield from (_Word(word, WordKind.KEYWORD) for word in ("in", "from", "matching", "files", "dirs"))
        return
    assigned = _ASSIGNED.match(before)
    if assigned is None:
        return
    yield from _values(assigned[1].lower(), before)


def _values(key: str, before: str) -> Iterator[_Word]:
    """Yield the possible values of a submit command."""
    command = submit_commands().get(key)
    if key.startswith(("+", "my.")):
        yield from _expression(before)
    elif command is None:
        return
    elif command.type is CommandType.UNIVERSE:
        yield from (_Word(name, WordKind.VALUE) for name in _universes())
    elif command.choices:
        yield from (_Word(choice, WordKind.VALUE) for choice in command.choices)
    elif command.type is CommandType.BOOLEAN:
        yield from (_Word(word, WordKind.VALUE) for word in ("true", "false"))
    elif command.type in _EXPRESSIONS:
        yield from _expression(before)


def _of_config(text: ReadText, before: str, offset: int) -> Iterator[_Word]:
    if text.outline.inside(offset):
        yield from _of_rules(text, before, offset)
        return
    use = _USE.match(before)
    if use is not None:
        names = TEMPLATES.get(use[1].upper(), ()) if use[2] else TEMPLATES
        yield from (_Word(name, WordKind.VALUE) for name in names)
        return
    if _BEGINNING.fullmatch(before):
        yield from _knobs()
        return
    assigned = _ASSIGNED.match(before)
    key = assigned[1].lower() if assigned else ""
    if key in LISTS:
        yield from _of_list(text, LISTS[key])
        return
    known = config_knobs().get(key)
    if known is not None and known.kind is KnobKind.BOOLEAN:
        yield from (_Word(word, WordKind.VALUE) for word in ("true", "false"))
    elif assigned:
        yield from _expression(before)


def _knobs() -> Iterator[_Word]:
    for knob in config_knobs():
        name, is_many, _ = knob.name.partition("<")
        if not knob.is_removed and name:
            yield _Word(name, WordKind.KNOB, knob.kind.value, "" if is_many else " = ")


def _of_list(text: ReadText, prefix: str) -> Iterator[_Word]:
    """Yield the routes or transforms of a text, by the prefix of their knobs' names."""
    for written in text.outline.lines:
        if written.kind is LineKind.ASSIGNMENT and written.key.startswith(prefix) and written.key not in LISTS:
            yield _Word(written.name_span.text[len(prefix) :], WordKind.NAME)


def _universes() -> list[str]:
    """Return the universes of all commands: all that exist."""
    return sorted({name for command in submit_commands() for name in command.universes})


def _of_rules(_: ReadText, before: str, __: int) -> Iterator[_Word]:
    if _BEGINNING.fullmatch(before):
        yield from (_Word(each.name, WordKind.RULE, each.arguments, " ") for each in transform_commands().values())
        return
    found = _COMMAND.match(before)
    key = found[1].lower() if found else ""
    if key == "universe":
        yield from (_Word(name.upper(), WordKind.VALUE) for name in _universes())
    elif key == "requirements" or (found is not None and found[3] is not None):
        yield from _expression(before)
    elif key in transform_commands():
        yield from _attributes(job_attributes().names())


def _of_ad(_: ReadText, before: str, __: int) -> Iterator[_Word]:
    if _BEGINNING.fullmatch(before):
        yield from _attributes(dict.fromkeys((*job_attributes().names(), *machine_attributes().names())), " = ")
    else:
        yield from _expression(before)


def _of_crontab(_: ReadText, before: str, __: int) -> Iterator[_Word]:
    if before.strip() == before and not before.strip("@abcdefghijklmnopqrstuvwxyz"):
        yield from (_Word(name, WordKind.VALUE) for name in _NICKNAMES)
    elif _ZONE.match(before):
        yield from _zones()


def _of_dag(text: ReadText, before: str, _: int) -> Iterator[_Word]:
    """Yield the commands at the beginning of a line, and the names of nodes and splices after it."""
    if _BEGINNING.fullmatch(before):
        yield from (_Word(syntax.split()[0], WordKind.KEYWORD, syntax) for syntax in SYNTAX.values())
        return
    for each in text.outline.lines:
        words = each.line.text.removeprefix("SUBDAG EXTERNAL").split(maxsplit=2)
        if each.key in _DEFINING and len(words) > 1:
            yield _Word(words[each.key != "SUBDAG"], WordKind.NAME, each.key)


def _zones() -> Iterator[_Word]:
    yield from (_Word(name, WordKind.VALUE) for name in sorted(available_timezones()))


def _expression(before: str) -> Iterator[_Word]:
    """Yield the words of an expression: after MY. and TARGET. only attributes."""
    scope = _SCOPE.search(before)
    if scope:
        table = machine_attributes() if scope[1].lower() == "target" else job_attributes()
        yield from _attributes(table.names())
        return
    yield from _attributes(job_attributes().names())
    for function in classad_functions().values():
        yield _Word(function.name, WordKind.FUNCTION, f"({function.arguments}) {function.type}", "(")
    yield from (_Word(word, WordKind.KEYWORD) for word in ("true", "false", "undefined", "error", "MY.", "TARGET."))


def _attributes(names: Iterable[str], more: str = "") -> Iterator[_Word]:
    for name in names:
        known = job_attributes().get(name) or machine_attributes().get(name)
        yield _Word(name, WordKind.ATTRIBUTE, known.type.value if known else "", more)


_COMPLETERS: Final[dict[TextKind, Callable[[ReadText, str, int], Iterator[_Word]]]] = {
    TextKind.SUBMIT: _of_submit,
    TextKind.CONFIG: _of_config,
    TextKind.TRANSFORM: _of_rules,
    TextKind.AD: _of_ad,
    TextKind.CRONTAB: _of_crontab,
    TextKind.DAG: _of_dag,
}


def _command(name: str) -> str | None:
    found = submit_commands().get(name)
    return None if found is None else of_command(found)


def _knob(name: str) -> str | None:
    found = config_knobs().get(name)
    return None if found is None else of_knob(found)


def _provided(name: str) -> str | None:
    found = submit_macros().get(name.lower()) or submit_macros().get(f"${name}".lower())
    return None if found is None else of_provided(found)


def _rule(name: str) -> str | None:
    found = transform_commands().get(name.lower())
    return None if found is None else of_rule(found)


_DESCRIPTIONS: Final[dict[WordKind, Callable[[str], str | None]]] = {
    WordKind.COMMAND: _command,
    WordKind.KNOB: _knob,
    WordKind.MACRO: _provided,
    WordKind.MACRO_FUNCTION: _provided,
    WordKind.ATTRIBUTE: of_attribute,
    WordKind.FUNCTION: of_function,
    WordKind.RULE: _rule,
}
