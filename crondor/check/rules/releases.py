"""CRN508, CRN510, CRN511: what the release that a file is submitted to does not have, refuses, or is about to lose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from crondor.check.made import MOST_JOBS
from crondor.check.rule import RuleHit, rule
from crondor.check.subject import CheckedFile
from crondor.diagnostics import CrondorError, Severity
from crondor.knowledge.commands import SubmitCommand, submit_commands
from crondor.knowledge.releases import NEWEST, Release

_REFERENCE: Final = re.compile(r"\$\w{0,30}\([ \t]{0,30}([\w./]{1,200})")  # to a macro of the author's own
_REMAPS: Final = ("transfer_output_remaps", "transferoutputremaps")
_LONG_TERM: Final = Release(24, 0)  # its fix 24.0.5 takes them
_TAKES_REMAPS: Final = Release(24, 5)
_SEVERAL_DEPRECATED: Final = Release(23, 7)


@rule("CRN508", "not-in-release", Severity.WARNING, "a command that the release does not have")
def not_in_release(file: CheckedFile) -> Iterator[RuleHit]:
    """To a release that does not have it a command is a macro of the author's own, and does nothing."""
    if file.submit is None or (file.made is not None and file.made.is_plain and file.settings.target == NEWEST):
        return
    table, target = submit_commands(), file.settings.target
    macros = {name.lower() for name in _REFERENCE.findall(file.source.text)}
    for key in file.submit.keys:
        command = None if "." in key else table.get(key)
        if command is None or target in command.releases or key in macros:
            continue
        span = file.submit.name(key)
        name = span.text if span else key
        since, until = command.releases
        if until is not None and until < target:
            message = f"{until} was the last release with {name}: HTCondor {target} passes over it as unused"
        else:
            message = f"{name} came with {since}: HTCondor {target} passes over it as unused"
        successor = _successor(command, target)
        yield RuleHit(message, span, f"write {successor} instead" if successor else "remove it")


def _successor(command: SubmitCommand, target: Release) -> str | None:
    others = (each for each in submit_commands() if each.attribute and each.attribute == command.attribute)
    return next((each.name for each in others if each is not command and target in each.releases), None)


@rule("CRN511", "unquoted-remaps", Severity.ERROR, "remaps without quotes, which older releases refuse")
def unquoted_remaps(file: CheckedFile) -> Iterator[RuleHit]:
    """condor_submit wants transfer_output_remaps in double quotes before 24.5, and before 24.0.5."""
    target = file.settings.target
    if file.submit is None or target >= _TAKES_REMAPS or target == _LONG_TERM:
        return
    try:
        groups = list(file.submit.groups(_REMAPS, MOST_JOBS + len(file.submit.queues)))
    except CrondorError:
        return
    for group in groups:
        name = next((name for name in _REMAPS if group.values.get(name)), None)
        text = "" if name is None else group.values[name]
        if name is not None and not (len(text) > 1 and text[0] == text[-1] == '"'):
            message = f"transfer_output_remaps must be a quoted string, not: {text[:100]}: HTCondor {target} refuses it"
            yield RuleHit(message, group.spans[name], "write the value in double quotes")


@rule("CRN510", "several-queues", Severity.WARNING, "several queue statements in one file")
def several_queues(file: CheckedFile) -> Iterator[RuleHit]:
    """condor_submit warns of the second one since 23.7: the lists of one queue statement do what they did."""
    queues = file.submit.queues if file.submit is not None else ()
    if len(queues) < 2 or file.settings.target < _SEVERAL_DEPRECATED:
        return
    message = (
        f"the file has {len(queues)} queue statements: that is deprecated since {_SEVERAL_DEPRECATED}, condor_submit "
        "warns of it, and a release of the 25 series is to refuse it"
    )
    yield RuleHit(message, queues[1].span, "write one queue statement with a list: queue name, value from ( ... )")
