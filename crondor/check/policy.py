"""What a job's policy expressions say of it at a moment of its life."""

from __future__ import annotations

from collections.abc import Mapping

from crondor.check.subject import CheckedJob
from crondor.zones import zone_of

IDLE, HELD, COMPLETED = 1, 5, 4  # JobStatus

REMOVE = ("on_exit_remove", "onexitremove", "my.onexitremove")
RELEASE = ("periodic_release", "periodicrelease", "my.periodicrelease")
PERIODIC = tuple(
    name for kind in ("remove", "hold") for name in (f"periodic_{kind}", f"periodic{kind}", f"my.periodic{kind}")
)

CLEAN = {"ExitBySignal": "false", "ExitCode": "0", "JobStatus": str(COMPLETED)}
FAILED = {"ExitBySignal": "false", "ExitCode": "1", "JobStatus": str(COMPLETED)}
KILLED = {"ExitBySignal": "true", "ExitSignal": "9", "JobStatus": str(COMPLETED)}


def holds(job: CheckedJob, names: tuple[str, ...], state: Mapping[str, str], at: int | None = None) -> bool | None:
    """Evaluate the expression that one of ``names`` sets for a job whose ad says ``state`` (expression texts).

    ``at`` is the moment in epoch seconds, now by default. None where no name is set or the text is no expression.
    """
    name = job.first(*names)
    if name is None:
        return None
    from crondor.classad import AdValue, ClassAdSyntaxError, Context, Expression  # noqa: PLC0415 - few jobs have one

    ad = AdValue({key.lower(): text for key, text in state.items()}, {key.lower(): key for key in state})
    try:
        expression = Expression(job.values[name])
    except ClassAdSyntaxError:
        return None
    context = Context(now=job.settings.now if at is None else at, zone=zone_of(job.settings.zone).info)
    return expression.holds(ad, None, context)


def ran(times: int, outcome: Mapping[str, str] = CLEAN) -> dict[str, str]:
    """Return what the ad says of a job that has just run for the nth time."""
    count = str(times)
    return {**outcome, "NumJobStarts": count, "NumJobCompletions": count, "JobRunCount": count}


def repeats(job: CheckedJob) -> bool:
    """Say whether the job stays in the queue after a run that ends well."""
    return holds(job, REMOVE, ran(1)) is False


def functions(text: str) -> frozenset[str]:
    """Return the lower-case names of the functions that an expression calls, none for what is no expression."""
    from crondor.classad import ClassAdSyntaxError, Expression  # noqa: PLC0415 - few jobs have one
    from crondor.classad.tree import Call, children  # noqa: PLC0415 - the same

    try:
        pending = [Expression(text).tree]
    except ClassAdSyntaxError:
        return frozenset()
    called = set()
    while pending:
        node = pending.pop()
        pending += children(node)
        if isinstance(node, Call):
            called.add(node.name.lower())
    return frozenset(called)
