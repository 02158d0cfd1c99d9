"""CRN57..: files and folders that are not there, and lists of files that mean others than they seem."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from crondor.check.places import FILE_LISTS, JOB_FOLDER, OUTPUT_LISTS, PROGRAM, NamedFile, Places, items_of
from crondor.check.rule import MANY, Fix, RuleHit, TextEdit, rule
from crondor.check.subject import CheckedFile
from crondor.diagnostics import Severity

_SHOWN: Final = 3
_MOST_COMPARED: Final = 8  # missing names for which a similar one is looked for
_WORD: Final = re.compile(r"[\w./~+:@-]*[\w/]")
_SUFFIX: Final = re.compile(r"\w\.\w+$|/")
_MAGIC: Final = re.compile(r"[*?]")


@rule("CRN570", "no-file", Severity.WARNING, "a file that is named and is not there", most=MANY)
def no_file(file: CheckedFile) -> Iterator[RuleHit]:
    """condor_submit refuses a job without its executable; one without an input file is held when it is to start."""
    yield from _missing(file, is_folder=False)


@rule("CRN571", "no-folder", Severity.WARNING, "a folder that is named and is not there", most=MANY)
def no_folder(file: CheckedFile) -> Iterator[RuleHit]:
    """HTCondor makes no folder: what is to be written into one that is not there is not written, and the job held."""
    yield from _missing(file, is_folder=True)


def _missing(file: CheckedFile, *, is_folder: bool) -> Iterator[RuleHit]:
    """Yield what is missing; where nothing is there the description is not at home, and one note says so."""
    places = file.places
    missing = [each for each in places.missing if each.is_folder is is_folder] if places is not None else []
    if places is None or not missing:
        return
    near = {each: places.near(each) for each in missing[:_MOST_COMPARED]}
    for each in missing:
        close = near.get(each)
        if close is None and not places.is_at_home:
            continue
        is_refused = each.role in {PROGRAM, JOB_FOLDER}
        then = "condor_submit refuses the job" if is_refused else "the job will be held"
        message = f"{each.name}, {each.role}, is not there: {then}"
        yield RuleHit(
            message,
            each.span,
            f"did you mean {close}?" if close else _help(each),
            _renamed(each, close, file),
            Severity.ERROR if is_refused else None,
        )
    others = [each for each in missing if near.get(each) is None]
    if others and not places.is_at_home:
        yield _not_at_home(others)


def _help(each: NamedFile) -> str:
    return "make it before the job is submitted" if each.is_folder else "see that it is there when the job is submitted"


def _renamed(each: NamedFile, close: str | None, file: CheckedFile) -> Fix | None:
    if close is None or each.span.source is not file.source or each.span.text != each.name:
        return None
    folder, slash, _ = each.name.rpartition("/")
    new = f"{folder}{slash}{close}"
    return Fix(f"write {new}", (TextEdit(each.span, new),), safe=False)


def _not_at_home(missing: list[NamedFile]) -> RuleHit:
    names = list(dict.fromkeys(each.name for each in missing))
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    message = f"not here: {shown}" if len(names) > 1 else f"{shown} is not here"
    return RuleHit(
        message, missing[0].span, "check where the job is submitted, or with --no-files", None, Severity.NOTE
    )


@rule("CRN572", "blank-list", Severity.WARNING, "a list of files parted by blanks: one file to HTCondor", most=MANY)
def blank_list(file: CheckedFile) -> Iterator[RuleHit]:
    """The lists of file transfer have commas between their items; a blank is part of a name."""
    for value in file.given.all:
        for name, span in items_of(value) if value.key in FILE_LISTS and value.is_literal else ():
            words = name.split()
            if len(words) < 2 or not all(_WORD.fullmatch(word) for word in words) or _is_there(file, name):
                continue
            is_sure = len(words) > 2 or all(_SUFFIX.search(word) for word in words)
            new = ", ".join(words)
            is_here = span.text == name and span.source is file.source
            fix = Fix("part them by commas", (TextEdit(span, new),), safe=False) if is_here else None
            message = f"`{name}` is one name to HTCondor: blanks part nothing"
            help_text = f"write {new}" if len(new) <= 60 else "write commas between them"
            yield RuleHit(message, span, help_text, fix, None if is_sure else Severity.NOTE)


@rule("CRN573", "pattern", Severity.WARNING, "a pattern where HTCondor expands none", most=MANY)
def pattern(file: CheckedFile) -> Iterator[RuleHit]:
    """File transfer takes names as they are: a star is part of a name, and the job is held since no file has it."""
    for value in file.given.all:
        if value.key not in FILE_LISTS:
            continue
        for name, span in items_of(value):
            if _MAGIC.search(name) and "://" not in name and "$$" not in name:
                out = value.key in OUTPUT_LISTS
                message = f"{name} is no pattern to HTCondor: it looks for a file of that very name"
                help_text = "name the files, or a folder that they are in" + ("" if out else ", or take queue matching")
                yield RuleHit(message, span, help_text)


def _is_there(file: CheckedFile, name: str) -> bool:
    places: Places | None = file.places
    return places is not None and places.is_at_home and all(each.name != name for each in places.missing)
