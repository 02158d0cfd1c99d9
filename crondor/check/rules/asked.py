"""CRN556 to CRN558: policies whose value is no condition, that ask what is not there, or that always hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from crondor.check.policy_names import ALWAYS_RELEASED, CONDITIONS, POLICIES, RELEASE, RELEASE_FOR
from crondor.check.rule import MANY, RuleHit, rule
from crondor.check.subject import CheckedFile
from crondor.diagnostics import Severity

_STRING: Final = re.compile(r'"[^"\\]*"')
_TRUE: Final = re.compile(r"[( ]*(?:true|0*[1-9][0-9]*)[) ]*", re.IGNORECASE)
_RANKS: Final = ("rank", "my.rank", "preferences")


@rule(
    "CRN556", "no-condition", Severity.WARNING, "a policy or a rank whose value is a string, or a bare word", most=MANY
)
def no_condition(file: CheckedFile) -> Iterator[RuleHit]:
    """condor_submit takes any expression; what comes of it is neither true nor false, nor a number."""
    for value in file.given.of(CONDITIONS):
        if _STRING.fullmatch(value.text):
            message = f"{value.text} is a string, which is neither true nor false: the condition is an error"
            yield RuleHit(message, value.span, "write a condition, such as ExitCode == 2")
    for value in file.given.of(_RANKS):
        if _STRING.fullmatch(value.text):
            message = f"{value.text} is a string, and a rank is a number: all machines are liked alike"
            yield RuleHit(message, value.span, "write the expression without quotes")
    if any(each.value.key in CONDITIONS for each in file.written):
        from crondor.check.policy_reads import no_condition as found  # noqa: PLC0415 - with the engine, which few files need

        for each in file.written:
            yield from found(each, file)


@rule(
    "CRN557", "out-of-reach", Severity.WARNING, "a policy that asks for what is not there when it is asked", most=MANY
)
def out_of_reach(file: CheckedFile) -> Iterator[RuleHit]:
    """A policy is evaluated in the job's own ad, without a machine's, as long as the job is in the queue."""
    if any(each.value.key in POLICIES for each in file.written):
        from crondor.check.policy_reads import out_of_reach as found  # noqa: PLC0415 - with the engine, which few files need

        for each in file.written:
            yield from found(each, file)


@rule("CRN558", "always-released", Severity.WARNING, "a policy that holds whenever it is asked", most=MANY)
def always_released(file: CheckedFile) -> Iterator[RuleHit]:
    """A fault is still there after the release: the job is held and released again, without an end."""
    for value in file.given.of(RELEASE):
        if _TRUE.fullmatch(value.text):
            yield RuleHit(ALWAYS_RELEASED, value.span, RELEASE_FOR)
    if any(each.value.key in POLICIES for each in file.written):
        from crondor.check.policy_reads import always  # noqa: PLC0415 - with the engine, which few files need

        for each in file.written:
            yield from always(each)
