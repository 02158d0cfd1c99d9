"""CRN58..: what stands in a value and does not mean there what it means elsewhere: comments, quotes, separators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from crondor._spec.inline_comment import CURE, MESSAGE, inline_comment
from crondor.check.given import AMOUNTS, GivenValue
from crondor.check.inline import is_amount, moved
from crondor.check.places import FILE_LISTS
from crondor.check.rule import MANY, Fix, RuleHit, TextEdit, rule
from crondor.check.spelt import STRING
from crondor.check.subject import CheckedFile
from crondor.diagnostics import CrondorError, Severity, shortened
from crondor.job.arguments import join_arguments, join_environment, old_entries, split_environment
from crondor.knowledge import CommandType, submit_commands
from crondor.schedule import COMMANDS

_ARGUMENTS: Final = frozenset(("arguments", "args", "java_vm_args"))
_ENVIRONMENT: Final = frozenset(("environment", "env"))
_REMAPS: Final = frozenset(("transfer_output_remaps", "transferoutputremaps"))
_TEXTS: Final = frozenset((CommandType.ARGUMENTS, CommandType.BARE, CommandType.ENVIRONMENT, CommandType.STRING))
_NAMES: Final = frozenset((CommandType.BARE_FILE, CommandType.FILE, CommandType.FILES))  # of all else one is refused
_KEPT: Final = "the quotes are a part of the value: condor_submit takes none away here"
_NEEDED: Final = frozenset(("executable", "initialdir"))  # looked for by condor_submit, which refuses the job then
_LITERAL: Final = _NEEDED | frozenset(
    ("accounting_group", "accounting_group_user", "container_image", "error", "input", "log", "notify_user", "output")
)
_AMOUNTS: Final = frozenset((*AMOUNTS, "request_cpus", "requestcpus", "request_gpus", "requestgpus"))
_BEFORE_WORD: Final = re.compile(r"(?<=[ \t])#(?=[ \tA-Za-z])")
_SEPARATE: Final = re.compile(r"(?<=[ \t])#(?=[ \t])")
# A word of which the quotes hold blanks, and a word in quotes, in the old syntax of arguments.
_QUOTED_WORDS: Final = re.compile(r"""(?<!\S)\S*?(?P<quote>'|\\")[^'"\\\s]*(?:[ \t]+[^'"\\\s]+)+(?P=quote)(?!\S)""")
_SETTING: Final = re.compile(r"(?:[ \t]+|[ \t]*,[ \t]*|[ \t]*;[ \t]*)(?P<name>[A-Za-z_]\w*)=")


@rule("CRN580", "comment-behind", Severity.WARNING, "a comment behind a value: it becomes a part of it", most=MANY)
def comment_behind(file: CheckedFile) -> Iterator[RuleHit]:
    """A # begins a comment only where it begins the line."""
    for value in file.given.all:
        if "#" not in value.text or value.key in COMMANDS or not value.is_literal:
            continue  # CRN106 and CRN301 speak of the commands about time
        command = submit_commands().get(value.key)
        kind = None if command is None else command.type
        at = _comment(value, kind)
        if at is not None:
            is_refused = kind is not None and kind not in _TEXTS | _NAMES
            fix = None
            if value.span.source is file.source:
                fix = moved(file.source, value.span.start, is_amount if is_refused else bool)
            if fix is not None and not is_refused:
                fix = fix._replace(safe=False)  # a text may well have a #
            span = value.span.part(at, len(value.text))
            yield RuleHit(MESSAGE, span, CURE, fix, Severity.ERROR if is_refused else None)


def _comment(value: GivenValue, kind: CommandType | None) -> int | None:
    """Return where a comment begins in a value; in a text that may well have a # it stands between blanks."""
    text = STRING.sub(lambda found: "x" * len(found[0]) if found[1] else found[0], value.text)
    if kind is not None and kind not in _TEXTS:
        return inline_comment(text)
    is_macro = kind is None and not value.key.startswith("my.")
    found = (_BEFORE_WORD if is_macro else _SEPARATE).search(text)
    if found is None or not text[: found.start()].strip() or text.count("'", 0, found.start()) % 2:
        return None
    return found.start()


@rule(
    "CRN581",
    "literal-quotes",
    Severity.WARNING,
    "quotes that hold nothing together, in the old syntax of arguments",
    most=MANY,
)
def literal_quotes(file: CheckedFile) -> Iterator[RuleHit]:
    """Without double quotes around all of it the value is parted at its blanks, and quotes go to the program."""
    for value in file.given.all:
        if value.key not in _ARGUMENTS or value.text.startswith('"') or "$$" in value.text:
            continue
        found = _QUOTED_WORDS.search(value.text)
        if found is None:
            continue
        place = value.place(found.start("quote"), found.end())
        words = len(found[0].split())
        message = f"the quotes group nothing here: the program gets {words} arguments, and the quotes with them"
        new = _new_syntax(value.text)
        is_here = new is not None and value.is_literal and value.span.source is file.source
        fix = Fix(f"write {new}", (TextEdit(value.span, new),), safe=False) if is_here and new is not None else None
        help_text = f"write {new}" if new is not None and len(new) <= 70 else "put double quotes around the whole value"
        yield RuleHit(message, place, help_text, fix)


def _new_syntax(text: str) -> str | None:
    """Return arguments as they are meant, in the new syntax; None where a shell would not read them either."""
    import shlex  # noqa: PLC0415 - 2 ms, and hardly a file needs it

    try:
        words = shlex.split(text.replace('\\"', '"'))
    except ValueError:
        return None
    if "$" in text:
        return None  # what macros give may need quotes of its own
    return join_arguments(words)


@rule(
    "CRN582",
    "environment-joined",
    Severity.WARNING,
    "variables of the environment that run together into one",
    most=MANY,
)
def environment_joined(file: CheckedFile) -> Iterator[RuleHit]:
    """The new syntax, in double quotes, parts variables by blanks, the old one by semicolons, neither by commas."""
    for value in file.given.all:
        if value.key not in _ENVIRONMENT or "=" not in value.text:
            continue
        try:
            variables = split_environment(value.text)
        except CrondorError:
            continue  # CRN017 says it
        is_new = value.text.startswith('"')
        for name, text in variables.items():
            found = _swallowed(text, is_new=is_new)
            if found is None:
                continue
            message = f"{found['name']} is no variable of its own: {name} is `{_short(text)}`"
            parts = "blanks" if is_new else "semicolons"
            syntax = "within double quotes" if is_new else "without double quotes around all of it"
            place = value.text.find(found[0].lstrip())
            span = value.place(place, place + len(found[0].lstrip())) if place >= 0 else value.span
            yield RuleHit(message, span, f"{syntax} {parts} part the variables", _parted(file, value, is_new=is_new))
            break


def _swallowed(text: str, *, is_new: bool) -> re.Match[str] | None:
    """Return the variable within the value of another one that is probably one itself."""
    for found in _SETTING.finditer(text):
        sign = found[0][: -len(found["name"]) - 1].strip()
        if not sign and is_new:
            continue  # within single quotes, as its author wrote it
        if (sign == ";" and is_new) or not sign or (sign == "," and found["name"].isupper()):
            return found
    return None


def _parted(file: CheckedFile, value: GivenValue, *, is_new: bool) -> Fix | None:
    """Return the fix that writes the variables in the new syntax, each by itself."""
    if not value.is_literal or value.span.source is not file.source or "$" in value.text or "'" in value.text:
        return None
    inside = value.text[1:-1] if is_new else value.text
    if '"' in inside:
        return None
    entries = [entry for part in old_entries(inside) for entry in re.split(r"[ \t,]+(?=[A-Za-z_]\w*=)", part)]
    pairs = [entry.rstrip(" \t,;").partition("=") for entry in entries]
    new = join_environment({name.strip(): text.strip() for name, _, text in pairs})
    return Fix(f"write {_short(new)}", (TextEdit(value.span, new),), safe=False)


@rule("CRN583", "remaps", Severity.WARNING, "a remap of an output file that does not do what it seems to", most=MANY)
def remaps(file: CheckedFile) -> Iterator[RuleHit]:
    """transfer_output_remaps = "name = new name; name = new name": semicolons part the files."""
    for job in file.given.jobs:
        value = next((job.values[key] for key in _REMAPS if key in job.values), None)
        if value is None or not value.text.strip('" '):
            continue
        is_quoted = value.text[0] == value.text[-1] == '"' and len(value.text) > 1
        inside = value.text[1:-1] if is_quoted else value.text
        at = 1 if is_quoted else 0
        for item in re.split(r"(?<!\\);", inside):
            name = item.strip()
            begin = at + item.find(name)
            at += len(item) + 1
            equals = len(re.findall(r"(?<!\\)=", name))
            span = value.place(begin, begin + len(name))
            if name and not equals:
                yield RuleHit(f"`{name}` has no new name: HTCondor passes over it", span, "write name = new name")
            elif equals > 1 and "://" not in name and "," in name:
                message = f"`{name}` is one remap: commas part nothing, and a file gets the rest for its name"
                yield RuleHit(message, span, "write ; between the files")


@rule("CRN584", "kept-quotes", Severity.WARNING, "quotes that become a part of the value", most=MANY)
def kept_quotes(file: CheckedFile) -> Iterator[RuleHit]:
    """Names of files and the like are written without quotes; an amount within quotes is a string, and no number."""
    for value in file.given.all:
        text = value.text
        if len(text) < 3 or text[0] not in "\"'" or text[-1] != text[0]:
            continue
        key, inside = value.key, text[1:-1]
        if key in FILE_LISTS and '"' in inside:
            message = "HTCondor takes the quotes around the whole list away, and those within for parts of the names"
            new = text.replace('"', "")
        elif key in _LITERAL or key in _AMOUNTS:
            is_amount = key in _AMOUNTS
            message = "the quotes make a string of the number, and no machine has so much" if is_amount else _KEPT
            new = inside
        else:
            continue
        grave = Severity.ERROR if key in _AMOUNTS or key in _NEEDED else None
        is_here = value.is_literal and value.span.source is file.source and inside.strip() == inside
        fix = Fix(f"write {_short(new)}", (TextEdit(value.span, new),)) if is_here else None
        yield RuleHit(message, value.span, f"write {_short(new)}", fix, grave)


def _short(text: str) -> str:
    return shortened(text, 60)
