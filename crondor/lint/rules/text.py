"""CRN5.. and CRN6..: quotes, shell syntax and macros in the values of a description."""

from __future__ import annotations

import re
import shlex
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from crondor._spec import CURE, MESSAGE, inline_comment
from crondor.diagnostics import CrondorError, Severity, Span, shortened, similar
from crondor.job.attributes import join_arguments, join_environment, old_entries, split_environment
from crondor.knowledge import CommandType, submit_commands, submit_macros
from crondor.knowledge.words import one_slip
from crondor.lint.cures import is_amount, moved
from crondor.lint.rule import MANY, Fix, RuleHit, rule
from crondor.lint.schedules import CRON_NAMES
from crondor.lint.subject import CheckedFile
from crondor.lint.values import (
    AMOUNTS,
    ARGUMENTS,
    AS_WRITTEN,
    FILE_LISTS,
    GivenValue,
    MacroUse,
    has_shell,
    is_expression,
    is_same,
    places_in,
)
from crondor.lint.written import STRING
from crondor.schedule import COMMANDS
from crondor.submit.edits import TextEdit

_ARGUMENTS: Final = frozenset(("arguments", "args", "java_vm_args"))
_ENVIRONMENT: Final = frozenset(("environment", "env"))
_REMAPS: Final = frozenset(("transfer_output_remaps", "transferoutputremaps"))
_TEXTS: Final = frozenset((CommandType.ARGUMENTS, CommandType.BARE, CommandType.ENVIRONMENT, CommandType.STRING))
_NAMES: Final = frozenset(
    (CommandType.BARE_FILE, CommandType.FILE, CommandType.FILES)
)  # of any other, condor_submit refuses it
_KEPT: Final = "the quotes are part of the value: condor_submit does not remove them here"
_NEEDED: Final = frozenset(
    ("executable", "initialdir")
)  # condor_submit looks for these and refuses the job without them
_LITERAL: Final = _NEEDED | frozenset(
    ("accounting_group", "accounting_group_user", "container_image", "error", "input", "log", "notify_user", "output")
)
_AMOUNTS: Final = frozenset((*AMOUNTS, "request_cpus", "requestcpus", "request_gpus", "requestgpus"))
_BEFORE_WORD: Final = re.compile(r"(?<=[ \t])#(?=[ \tA-Za-z])")
_SEPARATE: Final = re.compile(r"(?<=[ \t])#(?=[ \t])")
# In the old syntax of arguments: a word whose quotes contain blanks, and a word in quotes.
_QUOTED_WORDS: Final = re.compile(r"""(?<!\S)\S*?(?P<quote>'|\\")[^'"\\\s]*(?:[ \t]+[^'"\\\s]+)+(?P=quote)(?!\S)""")
_SETTING: Final = re.compile(r"(?:[ \t]+|[ \t]*,[ \t]*|[ \t]*;[ \t]*)(?P<name>[A-Za-z_]\w*)=")


@rule("CRN580", "comment-behind", Severity.WARNING, "a comment after a value, which becomes part of it", most=MANY)
def comment_behind(file: CheckedFile) -> Iterator[RuleHit]:
    """A # only begins a comment at the start of a line."""
    for value in file.given.all:
        if "#" not in value.text or value.key in COMMANDS or not value.is_literal:
            continue  # CRN106 and CRN301 report the commands about time
        command = submit_commands().get(value.key)
        kind = None if command is None else command.type
        at = _comment(value, kind)
        if at is not None:
            is_refused = kind is not None and kind not in _TEXTS | _NAMES
            fix = None
            if value.span.source is file.source:
                fix = moved(file.source, value.span.start, is_amount if is_refused else bool)
            if fix is not None and not is_refused:
                fix = fix._replace(safe=False)  # a text may well contain a #
            span = value.span.part(at, len(value.text))
            yield RuleHit(MESSAGE, span, CURE, fix, Severity.ERROR if is_refused else None)


def _comment(value: GivenValue, kind: CommandType | None) -> int | None:
    """Return where a comment begins in a value; in a text that may contain a #, it must be between blanks."""
    text = STRING.sub(lambda found: "x" * len(found[0]) if found[1] else found[0], value.text)
    if kind is not None and kind not in _TEXTS:
        return inline_comment(text)
    is_macro = kind is None and not value.key.startswith("my.")
    found = (_BEFORE_WORD if is_macro else _SEPARATE).search(text)
    if found is None or not text[: found.start()].strip() or text.count("'", 0, found.start()) % 2:
        return None
    return found.start()


@rule(
    "CRN581", "literal-quotes", Severity.WARNING, "quotes that do not group, in the old syntax of arguments", most=MANY
)
def literal_quotes(file: CheckedFile) -> Iterator[RuleHit]:
    """Unless the whole value is in double quotes, it is split at blanks, and quotes go to the program."""
    for value in file.given.all:
        if value.key not in _ARGUMENTS or value.text.startswith('"') or "$$" in value.text:
            continue
        found = _QUOTED_WORDS.search(value.text)
        if found is None:
            continue
        place = value.place(found.start("quote"), found.end())
        words = len(found[0].split())
        message = f"the quotes do not group here: the program gets {words} arguments, including the quotes"
        new = _new_syntax(value.text)
        is_here = new is not None and value.is_literal and value.span.source is file.source
        fix = Fix(f"write {new}", (TextEdit(value.span, new),), safe=False) if is_here and new is not None else None
        help_text = f"write {new}" if new is not None and len(new) <= 70 else "put double quotes around the whole value"
        yield RuleHit(message, place, help_text, fix)


def _new_syntax(text: str) -> str | None:
    """Return arguments as they are meant, in the new syntax; None if a shell cannot read them either."""
    try:
        words = shlex.split(text.replace('\\"', '"'))
    except ValueError:
        return None
    if "$" in text:
        return None  # the value of a macro may need quotes of its own
    return join_arguments(words)


@rule("CRN582", "environment-joined", Severity.WARNING, "environment variables that run together into one", most=MANY)
def environment_joined(file: CheckedFile) -> Iterator[RuleHit]:
    """The new syntax, in double quotes, separates variables with blanks, the old one with semicolons; commas do not."""
    for value in file.given.all:
        if value.key not in _ENVIRONMENT or "=" not in value.text:
            continue
        try:
            variables = split_environment(value.text)
        except CrondorError:
            continue  # CRN017 reports it
        is_new = value.text.startswith('"')
        for name, text in variables.items():
            found = _swallowed(text, is_new=is_new)
            if found is None:
                continue
            message = f"{found['name']} is not a separate variable: {name} is `{_short(text)}`"
            parts = "blanks" if is_new else "semicolons"
            syntax = "within double quotes" if is_new else "without double quotes around all of it"
            place = value.text.find(found[0].lstrip())
            span = value.place(place, place + len(found[0].lstrip())) if place >= 0 else value.span
            yield RuleHit(
                message, span, f"{syntax} {parts} separate the variables", _parted(file, value, is_new=is_new)
            )
            break


def _swallowed(text: str, *, is_new: bool) -> re.Match[str] | None:
    """Return the variable inside the value of another that is probably a separate one."""
    for found in _SETTING.finditer(text):
        sign = found[0][: -len(found["name"]) - 1].strip()
        if not sign and is_new:
            continue  # in single quotes, so its author meant it
        if (sign == ";" and is_new) or not sign or (sign == "," and found["name"].isupper()):
            return found
    return None


def _parted(file: CheckedFile, value: GivenValue, *, is_new: bool) -> Fix | None:
    """Return the fix that writes the variables in the new syntax, separately."""
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
    """transfer_output_remaps = "name = new name; name = new name": semicolons separate the files."""
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
                yield RuleHit(f"`{name}` has no new name: HTCondor ignores it", span, "write name = new name")
            elif equals > 1 and "://" not in name and "," in name:
                message = (
                    f"`{name}` is one remap: commas do not separate remaps, so the rest becomes part of the file name"
                )
                yield RuleHit(message, span, "write ; between the files")


@rule("CRN584", "kept-quotes", Severity.WARNING, "quotes that become part of the value", most=MANY)
def kept_quotes(file: CheckedFile) -> Iterator[RuleHit]:
    """File names and similar values take no quotes; an amount in quotes is a string, not a number."""
    for value in file.given.all:
        text = value.text
        if len(text) < 3 or text[0] not in "\"'" or text[-1] != text[0]:
            continue
        key, inside = value.key, text[1:-1]
        if key in FILE_LISTS and '"' in inside:
            message = "HTCondor removes the quotes around the whole list; quotes inside it become part of the names"
            new = text.replace('"', "")
        elif key in _LITERAL or key in _AMOUNTS:
            is_amount = key in _AMOUNTS
            message = "the quotes make the number a string, which matches no machine" if is_amount else _KEPT
            new = inside
        else:
            continue
        grave = Severity.ERROR if key in _AMOUNTS or key in _NEEDED else None
        is_here = value.is_literal and value.span.source is file.source and inside.strip() == inside
        fix = Fix(f"write {_short(new)}", (TextEdit(value.span, new),)) if is_here else None
        yield RuleHit(message, value.span, f"write {_short(new)}", fix, grave)


def _short(text: str) -> str:
    return shortened(text, 60)


_BRACES: Final = re.compile(r"(?<!\$)\$\{(?P<name>[A-Za-z_]\w*)\}")
_SHELL_ENVIRONMENT: Final = frozenset(
    ("HOME", "USER", "LOGNAME", "PATH", "PWD", "HOSTNAME", "LD_LIBRARY_PATH", "PYTHONPATH", "TMPDIR", "SCRATCH", "WORK")
)
# $(name without its parenthesis; a name in brackets, or a macro within the name, is something else
_NO_MACRO: Final = re.compile(r"(?<!\$)\$\((?P<name>[A-Za-z_][\w./]*)(?=(?P<next>[^\w./:)$(]|\Z))")
_FUNCTION: Final = re.compile(
    r"(?<!\$)\$\((?P<name>ENV|INT|REAL|STRING|CHOICE|RANDOM_INTEGER|RANDOM_CHOICE|SUBSTR|BASENAME|DIRNAME)"
    r":(?P<argument>[^()$]*)\)"
)
_WORD: Final = re.compile(r"(?<!\S)\S+")
_SINGLE: Final = re.compile(r"'[^']*'")
_DOUBLED: Final = re.compile('""')
_ESCAPED: Final = re.compile(r'\\"')
_INTO: Final = re.compile(r"(?:[12&]?>>?)(?![\d=>])[\w./~$(){}&+-]*")
_NEXT: Final = frozenset(("|", "||", "&&", "<"))
_NUMBER: Final = re.compile(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?")
_STRAIGHT: Final = str.maketrans("\u201c\u201d\u201e\u2018\u2019\u201a", "\"\"\"'''")
_CURLY: Final = re.compile("(?:(?<![^\\s=,])[\u201c\u201d\u201e\u2018\u201a]|[\u201c\u201d](?![^\\s,;]))")
_DASH: Final = re.compile("(?<!\\S)[\u2013\u2014](?=[A-Za-z-])")


@rule("CRN542", "shell-variable", Severity.WARNING, "a variable in the syntax of shells", most=MANY)
def shell_variable(file: CheckedFile) -> Iterator[RuleHit]:
    """A macro has parentheses; text in braces goes into the job unchanged, and no shell reads it there."""
    is_told = False
    for text, span in _texts(file, "${"):
        place_of = places_in(span, text)
        for found in _BRACES.finditer(text):
            name = found["name"]
            new = _macro(file, name)
            if new is None and is_told:
                continue
            place = place_of(*found.span())
            message = f"{found[0]} is not a macro to HTCondor: it stays as it is, and no shell expands it"
            if new is None:  # perhaps a template, in which one note is enough
                is_told = True
                help_text = "write $(NAME) for a macro, $ENV(NAME) for the environment of condor_submit"
                yield RuleHit(message, place, help_text, severity=Severity.NOTE)
            else:
                yield RuleHit(message, place, f"write {new}", _fix(file, place, found[0], new))


def _macro(file: CheckedFile, name: str) -> str | None:
    """Return the macro that a shell variable means, None if that is unclear."""
    key = name.lower()
    if file.submit is not None and (
        file.submit.provides(key) or (key in file.submit.keys and key not in submit_commands())
    ):
        return f"$({name})"
    return f"$ENV({name})" if name in _SHELL_ENVIRONMENT else None


@rule("CRN543", "no-macro", Severity.WARNING, "text that looks like a macro or a function and is not", most=MANY)
def no_macro(file: CheckedFile) -> Iterator[RuleHit]:
    """Without its closing parenthesis, or with a blank in the name, the text stays as it is."""
    for text, span in _texts(file, "$("):
        place_of = places_in(span, text)
        for found in _NO_MACRO.finditer(text):
            rest = text[found.end() :]
            is_closed = found["next"].isspace() and ")" in rest
            end = found.end() + rest.index(")") + 1 if is_closed else found.end()
            place = place_of(found.start(), end)
            if is_closed:
                message = f"{text[found.start() : end][:60]} stays as it is: condor_submit runs no command in a value"
                yield RuleHit(message, place, "write its output, or $(NAME) and define NAME")
            else:
                message = f"{found[0]} lacks its closing parenthesis: it stays as it is"
                yield RuleHit(message, place, f"write {found[0].partition('.')[0]})")
        place_of = places_in(span, text)
        for found in _FUNCTION.finditer(text):
            name, argument = found["name"], found["argument"]
            if file.macros is not None and name.lower() in file.macros.defined:
                continue
            place = place_of(*found.span())
            message = f"{found[0]} is the macro {name} with the default {argument}, not a function"
            new = f"${name}({argument})"
            yield RuleHit(message, place, f"write {new}", _fix(file, place, found[0], new))


def _texts(file: CheckedFile, sign: str) -> Iterator[tuple[str, Span]]:
    """Yield the definitions that contain a sign and whose text no shell reads."""
    shells = None
    for key, definition in file.submit.definitions if file.submit is not None else ():
        if sign not in definition.text or key.startswith(AS_WRITTEN) or key == "shell":
            continue
        if shells is None:
            shells = any(map(has_shell, file.given.jobs))
        if not shells or (key not in ARGUMENTS and key in submit_commands()):
            yield definition.text, definition.span


def _fix(file: CheckedFile, place: Span, old: str, new: str) -> Fix | None:
    is_here = place.source is file.source and place.text == old
    return Fix(f"write {new}", (TextEdit(place, new),), safe=False) if is_here else None


@rule("CRN585", "curly-quotes", Severity.WARNING, "quotes or dashes of a word processor", most=MANY)
def curly_quotes(file: CheckedFile) -> Iterator[RuleHit]:
    """HTCondor only knows straight quotes and dashes: others are ordinary characters."""
    for value in file.given.all:
        if value.text.isascii() or '"' in value.text or value.key not in submit_commands():
            continue
        found = _CURLY.search(value.text)
        if found is None and value.key in ARGUMENTS:
            found = _DASH.search(value.text)
        if found is not None:
            new = value.text.translate(_STRAIGHT)
            new = _DASH.sub("--", new) if value.key in ARGUMENTS else new
            message = f"{found[0]} is an ordinary character to HTCondor: it becomes part of the value"
            fix = Fix(f"write {new}", (TextEdit(value.span, new),), safe=False)
            is_here = value.is_literal and value.span.source is file.source and not is_expression(value.key)
            yield RuleHit(message, value.place(*found.span()), f"write {new[:60]}", fix if is_here else None)


@rule("CRN586", "redirection", Severity.WARNING, "a redirection or a pipe that no shell sees", most=MANY)
def redirection(file: CheckedFile) -> Iterator[RuleHit]:
    """The program is started with its arguments unchanged: > and the name after it are two of them."""
    told: set[GivenValue] = set()
    for job in file.given.jobs:
        value = job.first(*ARGUMENTS)
        if value is None or value in told or has_shell(job):
            continue
        told.add(value)
        hit = _redirected(value)
        if hit is not None:
            yield hit


def _redirected(value: GivenValue) -> RuleHit | None:
    text = _SINGLE.sub(lambda found: "x" * len(found[0]), value.text)
    words = list(_WORD.finditer(text))
    quote = _DOUBLED if text.startswith('"') else _ESCAPED  # as the program gets it, in the new syntax and in the old
    ends = [found.end() for found in quote.finditer(text, 1)]
    for at, found in enumerate(words):
        if bisect_right(ends, found.start()) % 2:  # inside quotes, also for a shell
            continue
        following = words[at + 1][0] if at + 1 < len(words) else ""
        word, is_operand = found[0], bool(following) and _NUMBER.fullmatch(following.rstrip('"')) is None
        is_into = _INTO.fullmatch(word.rstrip('"')) is not None and (word[-1] not in ">&" or is_operand)
        if is_into or (word in _NEXT and at and is_operand):
            message = f"{word} is passed to the program as an argument: no shell reads the line"
            cure = "write output = FILE" if ">" in word else "write input = FILE" if word == "<" else ""
            return RuleHit(message, value.place(*found.span()), cure or "use a script as executable that does it")
    return None


_FIELDS = frozenset(name for names in CRON_NAMES.values() for name in names)
_REQUESTS = {f"request_{what}": f"my.request{what}" for what in ("cpus", "disk", "gpus", "memory")}
_LIKENESS = 0.8
_SHORTEST, _LONG = 3, 5  # letters of a name that may be a misprint; of one that is hardly similar by chance
_MOST = 20  # names of one file that are compared with all others


@rule("CRN540", "macro-undefined", Severity.WARNING, "a macro that is used and not defined", misses=True, most=MANY)
def undefined_macro(file: CheckedFile) -> Iterator[RuleHit]:
    """condor_submit silently replaces an undefined macro by nothing."""
    if file.macros is None or not file.is_whole or file.errors:
        return  # a faulty queue statement may define them
    for number, use in enumerate(file.macros.unknown):
        close = (_close(use.name, file) or _loop(use, file)) if number < _MOST else None
        message = f"{use.span.text} is not defined: it expands to nothing"
        if close is None and use.key in _FIELDS and use.is_alone:
            continue  # CRN109 reports the empty field
        if close is None:
            help_text = "define it, or write $(NAME:default), unless a DAG's VARS or condor_submit NAME=value gives it"
            yield RuleHit(message, use.span, help_text.replace("NAME", use.name), severity=Severity.NOTE)
        else:
            yield RuleHit(message, use.span, f"did you mean $({close})?", _renamed(use, close, file))
    for use in file.macros.late:
        message = f"{use.span.text} is only defined after the queue statement: it expands to nothing"
        yield RuleHit(message, use.span, "move the definition before the queue statement")


@rule("CRN541", "value-lost", Severity.WARNING, "a value that is replaced before any job uses it", most=MANY)
def value_lost(file: CheckedFile) -> Iterator[RuleHit]:
    """The last definition before a queue statement counts; earlier ones have no effect."""
    for lost in file.submit.lost if file.submit is not None else ():
        name = file.submit.name(lost.key) if file.submit is not None else None
        shown = name.text if name is not None else lost.key
        line = lost.later.span.line
        message = f"{shown} is set again at line {line}, before any job uses this value"
        is_macro = not lost.key.startswith("my.") and lost.key not in submit_commands()
        grave = Severity.NOTE if is_macro else None  # a value may be built up step by step
        yield RuleHit(message, lost.earlier.span, "remove one of the two lines", severity=grave)
    yield from _overridden(file)


def _overridden(file: CheckedFile) -> Iterator[RuleHit]:
    """Yield requests next to the attribute made of them: attributes with a plus go into the job last."""
    told: set[Span] = set()
    for job in file.given.jobs:
        for key, own in _REQUESTS.items():
            value, other = job.first(key), job.first(own)
            if value is None or other is None or value.span in told or is_same(value, other):
                continue
            told.add(value.span)
            name = file.submit.name(own) if file.submit is not None else None
            shown = name.text if name is not None else own
            message = f"{shown} = {other.text[:40]} at line {other.span.line} replaces this value"
            yield RuleHit(message, value.span, "remove one of the two lines")


def _close(name: str, file: CheckedFile) -> str | None:
    """Return the macro that a misprint means, as the file spells it.

    Short names are similar by chance: they count only if the intended macro is not used elsewhere.
    """
    if file.submit is None or file.macros is None:
        return None
    provided, own = _provided(), sorted(file.macros.defined)
    near = [other for other in (*own, *provided) if one_slip(name, other)] or similar(name[:40], own, _LIKENESS)
    near = [other for other in near if len(name) >= _LONG or (len(name) >= _SHORTEST and other not in file.macros.used)]
    if not near:
        return None
    written = file.submit.name(near[0])
    return written.text if written is not None else provided.get(near[0], near[0])


def _loop(use: MacroUse, file: CheckedFile) -> str | None:
    """Return the unused variable of the queue statement, if nothing else can be meant."""
    if file.submit is None or file.macros is None or len(file.macros.unknown) > 1 or len(file.submit.queues) != 1:
        return None
    variables = file.submit.queues[0].arguments.variables
    idle = [name for name in variables if name not in file.macros.used and name != "item"]
    return idle[0] if len(idle) == 1 and use.key else None


def _provided() -> dict[str, str]:
    """Return the lower-case names of the macros that HTCondor provides."""
    return {name: macro.name for name, macro in submit_macros().items() if not macro.arguments}


def _renamed(use: MacroUse, close: str, file: CheckedFile) -> Fix | None:
    text = use.span.text
    if use.span.source is not file.source or not text.lower().endswith(f"({use.name})"):
        return None
    place = use.span.part(len(text) - 1 - len(use.name), len(text) - 1)
    return Fix(f"write {close}", (TextEdit(place, close),), safe=False)
