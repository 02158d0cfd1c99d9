"""`python -m crondor_cli.reference FOLDER`: bring the pages of the command line up to date."""

from __future__ import annotations

from pathlib import Path

import click

from crondor_cli.common.output import say
from crondor_cli.reference.pages import BrokenPage, updated


@click.command("reference")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--check", "is_check", is_flag=True, help="Name the pages that are behind, and exit with 1 for any.")
def main(folder: Path, *, is_check: bool) -> None:
    """Write the parts of the pages in FOLDER that are made of the options, and name the pages that change."""
    try:
        behind = updated(folder)
    except BrokenPage as error:
        raise click.ClickException(str(error)) from None
    for name, text in behind.items():
        say(f"{folder / name}")
        if not is_check:
            (folder / name).write_text(text, encoding="utf-8")
    if is_check and behind:
        raise SystemExit(1)


main()
