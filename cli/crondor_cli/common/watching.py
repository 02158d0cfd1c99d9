"""`--watch`: a command runs again whenever what it reads has changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, wraps

import click

from crondor.diagnostics import CrondorError
from crondor_cli.common.columns import plural
from crondor_cli.common.output import say
from crondor_cli.common.progress import PROGRESS
from crondor_cli.common.show import show_error

_SETTLE = 200  # milliseconds without a change before the command runs: editors write a file in several steps


def watch_option(*, here: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add --watch to a command that takes FILES and --spec; ``here``: without any it takes those of this folder."""

    def add(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def command(
            *args: object, watch: bool, files: tuple[str, ...], specs: tuple[str, ...], **options: object
        ) -> None:
            once = partial(function, *args, files=files, specs=specs, **options)
            if watch:
                run_on_changes(once, (*specs, *files) or ((".",) if here else ()))
            else:
                once()

        help_text = "Run again whenever a file changes, until Ctrl-C."
        return click.option("--watch", is_flag=True, help=help_text)(command)

    return add


def run_on_changes(once: Callable[[], None], paths: Sequence[str]) -> None:
    """Run a command, and again after each change of its files or of others in their folders, until Ctrl-C.

    Raises UsageError for standard input, for files that are not there, and without the package watchfiles.
    """
    context = click.get_current_context(silent=True)
    if "-" in paths or not paths:
        raise click.UsageError("--watch follows files and folders, and not standard input", context)
    folders = sorted({_folder(path) for path in paths})
    missing = [folder for folder in folders if not os.path.isdir(folder)]
    if missing:
        raise click.UsageError(f"--watch: there is no folder '{missing[0]}'", context)
    changes = _changes(folders)
    for _ in changes:
        PROGRESS.begin("working")
        if sys.stdout is not None and sys.stdout.isatty():
            click.clear()
        _shown(once)
        say(f"Watching {plural(len(folders), 'folder')}; Ctrl-C ends it.", err=True)
        PROGRESS.hide()


def _folder(path: str) -> str:
    return path if os.path.isdir(path) else os.path.dirname(path) or "."


def _changes(folders: Iterable[str]) -> Iterator[object]:
    """Yield once at the beginning, and then after each change."""
    try:
        from watchfiles import watch  # noqa: PLC0415 - optional, and 30 ms
    except ImportError:
        message = "--watch needs watchfiles, which is not installed: pip install '.[watch]' in a clone of crondor"
        raise click.UsageError(message, click.get_current_context(silent=True)) from None
    yield None
    yield from watch(*folders, debounce=_SETTLE, step=_SETTLE // 2)


def _shown(once: Callable[[], None]) -> None:
    """Run a command, and show what is wrong instead of ending: the next change may mend it."""
    try:
        once()
    except click.exceptions.Exit:
        pass
    except click.ClickException as error:
        error.show(sys.stderr)
    except CrondorError as error:
        show_error(error)
