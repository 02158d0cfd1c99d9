"""`python -m crondor_cli.reference FOLDER --share FOLDER`: bring pages, manual pages and completions up to date."""

from __future__ import annotations

from pathlib import Path

import click

from crondor_cli.kit.screen import say
from crondor_cli.reference.pages import BrokenPage, updated
from crondor_cli.reference.shared_files import shared_files_behind


@click.command("reference")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--share", type=click.Path(file_okay=False, path_type=Path), help="Where what goes below share/ is.")
@click.option("--check", "is_check", is_flag=True, help="Name the pages that are behind, and exit with 1 for any.")
def main(folder: Path, share: Path | None, *, is_check: bool) -> None:
    """Write the parts of the pages in FOLDER that are made of the options, and name the files that change."""
    try:
        behind: dict[Path, str | None] = {folder / name: text for name, text in updated(folder).items()}
    except BrokenPage as error:
        raise click.ClickException(str(error)) from None
    if share is not None:
        behind |= shared_files_behind(share)
    for path, text in behind.items():
        say(f"{path}")
        if is_check:
            continue
        if text is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if is_check and behind:
        raise SystemExit(1)


main()
