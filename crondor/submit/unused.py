"""The assignments of a description that condor_submit has no use for, and says so (SubmitHash::warn_unused)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from crondor.source import Span
from crondor.submit.file import SubmitFile

_SILENT: Final = frozenset(
    (
        *("dag_status", "failed_count", "job", "retry", "process", "cluster"),
        *("submitwarnemptymatches", "submitfailemptymatches", "submitwarnduplicatematches"),
        *("submitwarnemptyfields", "submitfailemptyfields"),
    )
)
"""Names of which condor_submit never says that they were unused."""

_OF_LISTS: Final = (
    *("submitallowduplicatematches", "submit_allow_duplicate_matches", "submitmatchdirectories"),
    *("submit_match_directories", "submit_warn_empty_matches", "submit_fail_empty_matches"),
    *("submit_warn_duplicate_matches", "submit_warn_empty_fields", "submit_fail_empty_fields"),
)
_OF_AUTHENTICATION: Final = ("rendezvousdir", "rendezvous_dir", "rendezvousdirectory", "rendezvous_directory")
_INTERACTIVE: Final = ("interactive_args", "interactive_executable")
_ELSEWHERE: Final = frozenset((*_OF_AUTHENTICATION, *_INTERACTIVE))
"""What condor_submit looks up outside of making jobs; a dry run does not look at what a real submission does."""


class UnusedName(NamedTuple):
    """A name that was assigned in vain, as it is written; ``span`` is where, None for a loop variable.

    ``is_variable``: condor_submit speaks of a queue variable, and not of a line.
    """

    key: str
    name: str
    span: Span | None
    is_variable: bool


def unused_names(file: SubmitFile, used: Collection[str]) -> Iterator[UnusedName]:
    """Yield what condor_submit says was unused; ``used`` is what job_ads() gathered.

    It passes over attributes and whatever else has a dot in its name, and says nothing where no job was made.
    """
    if not file.job_count:
        return
    has_lists = any(queue.arguments.items is not None for queue in file.queues)
    taken = {*used, *file.looked_up, *_SILENT, *_ELSEWHERE, *(_OF_LISTS if has_lists else ())}
    for key in file.keys:
        if key not in taken and "." not in key:
            span = file.name(key)
            yield UnusedName(key, span.text if span else key, span, is_variable=False)
    assigned = set(file.keys)
    for variable in dict.fromkeys(name for queue in file.queues for name in queue.arguments.variables):
        if variable not in taken and variable not in assigned and "." not in variable:
            yield UnusedName(variable, variable, None, is_variable=True)
