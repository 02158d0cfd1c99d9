"""CRN57. and CRN59.: the files that a description names, and the lists of its queue statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from crondor.diagnostics import Severity, Span
from crondor.knowledge import submit_commands
from crondor.lint.rule import MANY, Fix, RuleHit, rule
from crondor.lint.subject import CheckedFile
from crondor.lint.values import (
    EXECUTABLE,
    FILE_LISTS,
    JOB_FOLDER,
    OUTPUT_LISTS,
    PROGRAM,
    PROXY,
    GivenValue,
    NamedFile,
    Places,
    is_in_place,
    items_of,
)
from crondor.submit.edits import TextEdit
from crondor.submit.facts import FOLDER_NAMES as FOLDERS

_SHOWN: Final = 3
_MOST_COMPARED: Final = 8  # missing names for which a similar one is looked for
_WORD: Final = re.compile(r"[\w./~+:@-]*[\w/]")
_SUFFIX: Final = re.compile(r"\w\.\w+$|/")
_STREAMS: Final = (("output", "stdout"), ("error", "stderr"))
_SENT_ELSEWHERE: Final = (
    "output_destination",
    "outputdestination",
    "output_directory",
    "outputdirectory",
    "append_files",
)
_NOWHERE: Final = frozenset(("/dev/null", "nul"))
_NO_NAME: Final = re.compile(r"[\\\"'$]|://")
_MAGIC: Final = re.compile(r"[*?]")


@rule("CRN570", "no-file", Severity.WARNING, "a named file that does not exist", most=MANY)
def no_file(file: CheckedFile) -> Iterator[RuleHit]:
    """condor_submit refuses a job without its executable; a job without an input file is held when it should start."""
    yield from _missing(file, is_folder=False)


@rule("CRN571", "no-folder", Severity.WARNING, "a named folder that does not exist", most=MANY)
def no_folder(file: CheckedFile) -> Iterator[RuleHit]:
    """HTCondor creates no folder: output for a missing one is not written, and the job is held."""
    yield from _missing(file, is_folder=True)


@rule("CRN574", "same-file", Severity.WARNING, "jobs that write their output into the same file", most=MANY)
def same_file(file: CheckedFile) -> Iterator[RuleHit]:
    """Each job overwrites the file, so only the last output stays. A log file may be shared by several jobs."""
    counts: dict[tuple[str, str, str], int] = {}
    first: dict[tuple[str, str, str], GivenValue] = {}
    for job in file.given.jobs:
        folder = job.first(*FOLDERS)
        if job.first(*_SENT_ELSEWHERE) is not None:
            continue
        for names in _STREAMS:
            value = job.first(*names)
            if value is not None and value.text.lower() not in _NOWHERE and "$$" not in value.text:
                key = (names[0], value.text, folder.text if folder is not None else "")
                counts[key] = counts.get(key, 0) + job.number
                first.setdefault(key, value)
    for key, number in counts.items():
        if number > 1:
            stem, dot, suffix = key[1].rpartition(".")
            mark = "$(Process)" if len(file.submit.queues) < 2 else "$(ClusterId).$(ProcId)"  # type: ignore[union-attr]
            new = f"{stem}.{mark}.{suffix}" if dot and stem and "/" not in suffix else f"{key[1]}.{mark}"
            message = f"{number} jobs write their {key[0]} into this file: only the output of the last one stays"
            yield RuleHit(message, first[key].span, f"write {new} to give each job its own file")


@rule(
    "CRN575",
    "with-arguments",
    Severity.WARNING,
    "an executable with arguments, which HTCondor reads as one name",
    most=MANY,
)
def with_arguments(file: CheckedFile) -> Iterator[RuleHit]:
    """condor_submit takes the whole value as the program's name, including blanks."""
    told: set[Span] = set()
    for job in file.given.jobs:
        value = job.first(*EXECUTABLE)
        if value is None or value.span in told or job.first("shell") is not None:
            continue
        told.add(value.span)
        program, blank, arguments = value.text.partition(" ")
        places: Places | None = file.places
        is_there = places is not None and places.kind(value.text) == "file"
        is_program = places is not None and places.kind(program) == "file"
        if not blank or is_there or _NO_NAME.search(value.text):
            continue
        if is_program or arguments.lstrip().startswith("-"):
            message = f"`{value.text[:60]}` is one name to condor_submit, and no such program exists"
            given = job.first("arguments", "args")
            help_text = f"write executable = {program}, and arguments = {arguments.strip()[:60]}"
            grave = Severity.ERROR if is_program else None
            yield RuleHit(
                message,
                value.span,
                help_text if given is None else ("move all arguments to the command arguments"),
                None,
                grave,
            )


@rule("CRN576", "not-executable", Severity.WARNING, "a program on the access point that is not executable", most=MANY)
def not_executable(file: CheckedFile) -> Iterator[RuleHit]:
    """Transferred files are made executable on the machine; a program that is started in place is not."""
    places: Places | None = file.places
    told: set[Span] = set()
    for job in file.given.jobs if places is not None else ():
        value = job.first(*EXECUTABLE)
        if value is None or value.span in told or job.first("shell") is not None or not is_in_place(job):
            continue
        told.add(value.span)
        if places is not None and places.is_executable(value.text) is False:
            message = f"{value.text} is started in place and is not executable: the job is held (code 6)"
            yield RuleHit(message, value.span, f"chmod +x {value.text}")


def _missing(file: CheckedFile, *, is_folder: bool) -> Iterator[RuleHit]:
    """Yield the missing files; if none exists, the description was moved here, and one note says so."""
    places = file.places
    missing = [each for each in places.missing if each.is_folder is is_folder] if places is not None else []
    if places is None or not missing:
        return
    if any(each.role == PROGRAM and " " in each.name for each in missing):
        joined = {hit.span for hit in with_arguments.function(file)}
        missing = [each for each in missing if each.role != PROGRAM or each.span not in joined]
    near = {each: places.near(each) for each in missing[:_MOST_COMPARED]}
    for each in missing:
        close = near.get(each)
        if close is None and not places.is_at_home:
            continue
        is_refused = each.role in {PROGRAM, PROXY, JOB_FOLDER}
        then = "condor_submit refuses the job" if is_refused else "the job will be held"
        message = f"{each.name}, {each.role}, does not exist: {then}"
        yield RuleHit(
            message,
            each.span,
            f"did you mean {close}?"
            if close
            else "create it before submitting the job"
            if each.is_folder
            else "make sure that it exists when the job is submitted",
            _renamed(each, close, file),
            Severity.ERROR if is_refused and each.role != PROXY else None,  # a proxy is not kept in a repository
        )
    others = [each for each in missing if near.get(each) is None]
    if others and not places.is_at_home:
        yield _not_at_home(others)


def _renamed(each: NamedFile, close: str | None, file: CheckedFile) -> Fix | None:
    if close is None or each.span.source is not file.source or each.span.text != each.name:
        return None
    folder, slash, _ = each.name.rpartition("/")
    new = f"{folder}{slash}{close}"
    return Fix(f"write {new}", (TextEdit(each.span, new),), safe=False)


def _not_at_home(missing: list[NamedFile]) -> RuleHit:
    names = list(dict.fromkeys(each.name for each in missing))
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    message = f"{shown} do{'es' if len(names) == 1 else ''} not exist on this host"
    return RuleHit(message, missing[0].span, "check on the access point, or with --no-files", None, Severity.NOTE)


@rule(
    "CRN572",
    "blank-list",
    Severity.WARNING,
    "a list of files separated by blanks, which is one file to HTCondor",
    most=MANY,
)
def blank_list(file: CheckedFile) -> Iterator[RuleHit]:
    """In lists of file transfer, commas separate the items; a blank is part of a name."""
    for value in file.given.all:
        for name, span in items_of(value) if value.key in FILE_LISTS and value.is_literal else ():
            words = name.split()
            if len(words) < 2 or not all(_WORD.fullmatch(word) for word in words) or _is_there(file, name):
                continue
            is_sure = len(words) > 2 or all(_SUFFIX.search(word) for word in words)
            new = ", ".join(words)
            is_here = span.text == name and span.source is file.source
            fix = Fix("separate them with commas", (TextEdit(span, new),), safe=False) if is_here else None
            message = f"`{name}` is one name to HTCondor: blanks do not separate names"
            help_text = f"write {new}" if len(new) <= 60 else "separate them with commas"
            yield RuleHit(message, span, help_text, fix, None if is_sure else Severity.NOTE)


@rule("CRN573", "pattern", Severity.WARNING, "a pattern where HTCondor does not expand patterns", most=MANY)
def pattern(file: CheckedFile) -> Iterator[RuleHit]:
    """File transfer uses names literally: a star is part of a name, and the job is held since no such file exists."""
    for value in file.given.all:
        if value.key not in FILE_LISTS:
            continue
        for name, span in items_of(value):
            if _MAGIC.search(name) and "://" not in name and "$$" not in name:
                out = value.key in OUTPUT_LISTS
                message = f"{name} is not a pattern to HTCondor: it looks for a file with exactly this name"
                help_text = "name the files, or a folder that they are in" + ("" if out else ", or take queue matching")
                yield RuleHit(message, span, help_text)


def _is_there(file: CheckedFile, name: str) -> bool:
    places: Places | None = file.places
    return places is not None and places.is_at_home and all(each.name != name for each in places.missing)


_IN: Final = re.compile(r"(?<![\w.])in(?=[ \t])", re.IGNORECASE)
_TABLE: Final = re.compile(r"[\w./~+-]+\.(?:txt|csv|tsv|list|lst|lis|items|table)", re.IGNORECASE)
_ONE_LINE: Final = re.compile(r"(?<![\w.])from[ \t]*\((?P<row>[^()\n]*\S[^()\n]*)\)[ \t]*$", re.IGNORECASE)


_NEXT_LINE: Final = re.compile(
    r"\\\r?\n[ \t]*(?:(?P<name>[A-Za-z_]\w*)[ \t]+=(?!=)|queue[ \t]*(?=\r?\n|\Z|\d|\w+[ \t]+(?:in|from|matching)\b))",
    re.IGNORECASE,
)


@rule("CRN590", "in-file", Severity.WARNING, "`in` before a file name: the name is the item, not its lines", most=MANY)
def in_file(file: CheckedFile) -> Iterator[RuleHit]:
    """`queue x in list.txt` makes one job whose x is list.txt; `from` reads the lines of a file."""
    for queue in file.submit.queues if file.submit is not None else ():
        text = queue.span.text.partition("\n")[0]
        found = _IN.search(text)
        items = text[found.end() :].strip() if found is not None else ""
        if found is not None and _TABLE.fullmatch(items):
            at = text.rindex(items)
            message = f"this makes one job, whose item is the name {items} itself: no line of the file is read"
            edit = TextEdit(queue.span.part(found.start(), found.end()), "from")
            is_here = queue.span.source is file.source
            fix = Fix("write from", (edit,), safe=False) if is_here else None
            yield RuleHit(message, queue.span.part(at, at + len(items)), f"write from {items}", fix)


@rule("CRN591", "one-column", Severity.WARNING, "variables of a queue statement that never have a value", most=MANY)
def one_column(file: CheckedFile) -> Iterator[RuleHit]:
    """Each item of `in` is one word, taken by the first variable; each row of `from ( rows )` has a value for each."""
    for queue in file.submit.queues if file.submit is not None else ():
        arguments = queue.arguments
        items = arguments.items
        if len(arguments.variables) > 1 and items is not None and not items.are_rows and not arguments.kinds:
            first, *others = arguments.variables
            message = f"each item of `in` is one word, and {first} takes it: {', '.join(others[:3])} stays empty"
            yield RuleHit(message, queue.span, "write from ( ... ), with one line per job")


@rule("CRN592", "one-row", Severity.WARNING, "several words in one row: one job where several may be meant", most=MANY)
def one_row(file: CheckedFile) -> Iterator[RuleHit]:
    """`queue x from (a b c)` is one row, and x is all of it; `in` makes a job for each word."""
    for queue in file.submit.queues if file.submit is not None else ():
        text = queue.span.text.partition("\n")[0]
        found = _ONE_LINE.search(text)
        words = re.split(r"[ \t,]+", found["row"].strip()) if found is not None else []
        if found is not None and len(queue.arguments.variables) == 1 and len(words) > 1:
            name = queue.arguments.variables[0]
            message = f"this is one row, and makes one job: {name} is `{found['row'].strip()[:40]}`"
            edit = TextEdit(queue.span.part(found.start(), found.start() + 4), "in")
            fix = Fix("write in", (edit,), safe=False) if queue.span.source is file.source else None
            yield RuleHit(message, queue.span.part(found.start(), found.end()), "write in for a job per word", fix)


@rule("CRN593", "swallowed", Severity.WARNING, "a backslash that makes the next line part of the value", most=MANY)
def swallowed(file: CheckedFile) -> Iterator[RuleHit]:
    """A backslash at the end of a line joins the next line, be it a queue statement or a command."""
    for _, definition in file.submit.definitions if file.submit is not None else ():
        text = definition.span.text
        for found in _NEXT_LINE.finditer(text) if "\\\n" in text or "\\\r\n" in text else ():
            name = found["name"]
            if name is not None and not submit_commands().is_one(name.lower()):
                continue
            what = "the queue statement" if name is None else f"the line of {name}"
            at = found.start()
            place = definition.span.part(at, at + 1)
            message = f"this backslash makes {what} at line {place.line + 1} part of the value"
            fix = Fix("remove the backslash", (TextEdit(place, ""),), safe=False)
            is_here = place.source is file.source
            yield RuleHit(message, place, "remove the backslash", fix if is_here else None)
