"""What an installed crondor has in share/: a manual page for each command, and completions for three shells.

`python -m reference.share FOLDER` writes them; the build of the wheel does (hatch_build.py). They name no date and no
version, so that the same commands give the same bytes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from crondor_cli.main import cli
from reference.facts import EXIT_STATUS, CommandFacts, OptionFacts, commands

_SHELLS: Final = {
    BashComplete: "bash-completion/completions/crondor",
    ZshComplete: "zsh/site-functions/_crondor",
    FishComplete: "fish/vendor_completions.d/crondor.fish",
}

_ENVIRONMENT: Final = (
    "Each setting of crondor.toml has a variable: CRONDOR_TZ, CRONDOR_CHECK_IGNORE and so on; crondor config lists"
    " them. NO_COLOR and FORCE_COLOR are heeded."
)
_LINES: Final = re.compile(r"^[^\n]*:\n")  # a note whose lines stay as they are


def shared_files() -> dict[str, str]:
    """Return the text of each file by its path below share/."""
    found = {f"man/man1/{name}": text for name, text in man_pages(list(commands(cli))).items()}
    for kind, path in _SHELLS.items():
        shell = kind(cli, {}, "crondor", "_CRONDOR_COMPLETE")
        found[path] = ShellComplete.source(shell).strip("\n") + "\n"  # bash's own method runs bash to see its version
    return found


def write(folder: Path) -> None:
    """Write the files into a folder."""
    for name, text in shared_files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def man_name(command: CommandFacts) -> str:
    """Return the name of a command's page: ``crondor-schedd-status.1``."""
    return f"{'-'.join(command.path)}.1"


def man_pages(every: Sequence[CommandFacts]) -> dict[str, str]:
    """Return the text of each page by its name."""
    return {man_name(each): "\n".join(_page(each, every)) + "\n" for each in every}


def _page(command: CommandFacts, every: Sequence[CommandFacts]) -> Iterator[str]:
    name = "-".join(command.path)
    yield '.\\" made from the options of the command'
    yield f'.TH "{_text(name.upper())}" "1" "" "crondor" "User Commands"'
    yield ".SH NAME"
    yield f"{_text(name)} \\- {_text(command.title.rstrip('.'))}"
    yield ".SH SYNOPSIS"
    yield f".B {_text(command.name)}"
    yield _text(command.synopsis.removeprefix(command.name).strip())
    yield ".SH DESCRIPTION"
    yield _text(command.sentence)
    for note in command.notes:
        yield from _note(note)
    inner = [each for each in every if each.path[:-1] == command.path]
    if inner:
        yield ".SH COMMANDS"
        for each in inner:
            yield from (".TP", f".BR {_text('-'.join(each.path))} (1)", _text(each.title))
    if command.options:
        yield ".SH OPTIONS"
        for option in command.options:
            yield from _option(option)
    if command.examples:
        yield ".SH EXAMPLES"
        yield from _as_written(command.examples)
    if command.exit_status:
        yield ".SH EXIT STATUS"
        yield _text(EXIT_STATUS.sub("", command.exit_status))
    yield ".SH ENVIRONMENT"
    yield _text(_ENVIRONMENT)
    yield ".SH SEE ALSO"
    yield _see_also(command, every)


def _note(note: str) -> Iterator[str]:
    yield ".PP"
    head = _LINES.match(note)
    if head is None:
        yield _text(note)
        return
    yield _text(head[0].strip())
    yield from _as_written(note[head.end() :])


def _as_written(text: str) -> Iterator[str]:
    yield from (".PP", ".nf", ".RS 4")
    yield from map(_text, text.strip("\n").split("\n"))
    yield from (".RE", ".fi")


def _option(option: OptionFacts) -> Iterator[str]:
    value = f" \\fI{_text(option.value)}\\fR" if option.value else ""
    yield ".TP"
    yield ", ".join(f"\\fB{_text(name)}\\fR{value}" for name in option.names)
    more = [f"Default: {option.default}."] if option.default else []
    if option.setting is not None:
        more.append(f"Setting {option.setting.name}, variable {option.setting.variable}.")
    yield _text(" ".join([option.meaning, *more]))


def _see_also(command: CommandFacts, every: Sequence[CommandFacts]) -> str:
    around = [each.path for each in every if each.path == command.path[:-1]]
    beside = [each.path for each in every if each.path[:-1] == command.path[:-1] and each.path != command.path]
    near = [*around, *beside] if len(command.path) > 2 else [("crondor",)] if command.path[1:] else []
    names = ["-".join(path) for path in near] + ["condor_submit"]
    return ",\n".join(f"\\fB{_text(name)}\\fR(1)" for name in names)


def _text(text: str) -> str:
    """Return a text as roff reads it: nothing in it is a request, and a hyphen is the sign that is typed."""
    safe = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", safe, flags=re.MULTILINE)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
