"""--baseline and --update-baseline."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import click


class BaselineOptions(NamedTuple):
    """The file, and whether it is to be written."""

    path: str | None
    update: bool


def baseline_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add --baseline and --update-baseline, which come as one argument ``baseline``."""

    @wraps(function)
    def command(*args: object, baseline_path: str | None, update_baseline: bool, **options: Any) -> None:  # noqa: ANN401
        context = click.get_current_context()
        if update_baseline and baseline_path is None:
            raise click.UsageError("--update-baseline goes with --baseline FILE", context)
        is_given = context.get_parameter_source("baseline_path") is click.core.ParameterSource.COMMANDLINE
        if update_baseline and not is_given:
            message = "--update-baseline writes only the file that --baseline names here: no setting names one to write"
            raise click.UsageError(message, context)
        function(*args, baseline=BaselineOptions(baseline_path, update_baseline), **options)

    help_text = "Keep quiet what this file knows already; what is new is found."
    update = "Write what is found now to --baseline FILE."
    add = click.option("--baseline", "baseline_path", metavar="FILE", help=help_text)
    return add(click.option("--update-baseline", is_flag=True, help=update)(command))
