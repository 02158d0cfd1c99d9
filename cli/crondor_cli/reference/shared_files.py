"""What an installed crondor has below share/: the manual pages, and the completion of three shells."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from click.shell_completion import get_completion_class

from crondor_cli.main import cli
from crondor_cli.reference.commands import commands
from crondor_cli.reference.man import man_pages

_SHELLS: Final = {
    "bash": "bash-completion/completions/crondor",
    "zsh": "zsh/site-functions/_crondor",
    "fish": "fish/vendor_completions.d/crondor.fish",
}


def shared_files() -> dict[str, str]:
    """Return the text of each file by its path below share/."""
    found = {f"man/man1/{name}": text for name, text in man_pages(list(commands(cli))).items()}
    for shell, path in _SHELLS.items():
        kind = get_completion_class(shell)
        if kind is None:
            raise AssertionError(f"click completes {shell}")
        found[path] = kind(cli, {}, "crondor", "_CRONDOR_COMPLETE").source().strip("\n") + "\n"
    return found


def shared_files_behind(folder: Path) -> dict[Path, str | None]:
    """Return the files of a folder that are behind, as they should be: None for one that should not be there."""
    wanted = {folder / name: text for name, text in shared_files().items()}
    there = [path for path in folder.rglob("*") if path.is_file()]
    behind: dict[Path, str | None] = {
        path: text for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    return behind | {path: None for path in there if path not in wanted}
