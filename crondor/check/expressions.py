"""What rules ask of ClassAd expressions. The engine takes a while to load: this is imported where a job has any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crondor.check.subject import CheckedJob
from crondor.classad import ClassAdSyntaxError, Context, Expression
from crondor.classad.ad import ClassAd
from crondor.classad.tree import functions
from crondor.diagnostics import Diagnostic
from crondor.job.attributes import ExitValue
from crondor.job.policy import Act, at_exit, ended, periodic
from crondor.job.status import JobStatus
from crondor.source import Source
from crondor.zones import zone_of


def faults(text: str, name: str) -> tuple[Diagnostic, ...]:
    """Return what is wrong with the right side of a command, as an expression."""
    try:
        Expression.parse(Source(text, name), old=True)
    except ClassAdSyntaxError as error:
        return error.diagnostics
    return ()


def called(text: str) -> frozenset[str]:
    """Return the lower-case names of the functions that an expression calls, none for what is no expression."""
    try:
        return functions(Expression(text).tree)
    except ClassAdSyntaxError:
        return frozenset()


def left_alone(
    job: CheckedJob,
    policies: Mapping[str, str],
    status: JobStatus,
    state: Mapping[str, object],
    moments: Iterable[int],
) -> bool:
    """Say whether the policies leave a job alone, at all of some moments (epoch seconds), whose ad says ``state``."""
    ad = _ad(job, policies)
    if ad is None:
        return False
    for name, value in (("JobStatus", int(status)), *state.items()):
        ad.set(name, value)
    return all(periodic(ad, status, now, _context(job, now)).act in (Act.STAY, Act.UNDEFINED) for now in moments)


def idle_again(job: CheckedJob, policies: Mapping[str, str], runs: Iterable[tuple[int, int, bool]], now: int) -> bool:
    """Say whether the policies have the job idle after each of some runs: the how many-th, and its ending."""
    ad, context = _ad(job, policies), _context(job, now)
    return ad is not None and all(
        at_exit(ended(ad, times, ExitValue(number, by_signal)), now, context).act is Act.STAY
        for times, number, by_signal in runs
    )


def _ad(job: CheckedJob, policies: Mapping[str, str]) -> ClassAd | None:
    """Return what is known of the job's ad, None where a policy in it is no expression."""
    ad = ClassAd()
    for key, text in job.values.items():
        if key.startswith("my.") and text.strip():
            ad.put(key[3:], text)
    try:
        for attribute, text in policies.items():
            ad[attribute] = Expression.parse(Source(text.strip()), old=True)
    except ClassAdSyntaxError:
        return None
    return ad


def _context(job: CheckedJob, now: int) -> Context:
    return Context(now=now, zone=zone_of(job.settings.zone).info, effort=job.file.effort)
