"""What a job's policy expressions say of it at a moment of its life."""

from __future__ import annotations

from collections.abc import Mapping

from crondor.check.subject import CheckedJob
from crondor.source import Source
from crondor.zones import zone_of

IDLE, HELD, COMPLETED = 1, 5, 4  # JobStatus

# condor_submit puts attributes with + or MY. into the ad last, so these win.
REMOVE = ("my.onexitremove", "on_exit_remove", "onexitremove")
RELEASE = ("my.periodicrelease", "periodic_release", "periodicrelease")
PERIODIC_REMOVE = ("my.periodicremove", "periodic_remove", "periodicremove")
PERIODIC_HOLD = ("my.periodichold", "periodic_hold", "periodichold")
PERIODIC = (*PERIODIC_REMOVE, *PERIODIC_HOLD)
RETRIES = ("max_retries", "jobmaxretries", "success_exit_code", "jobsuccessexitcode", "retry_until")
POLICIES = (*REMOVE, *RELEASE, *PERIODIC, "my.onexithold", "on_exit_hold", "onexithold")

_LITERALS = {"true": True, "false": False}  # most policies; they need no engine
_MANY = 1_000_000  # runs
_LONGEST = 2000  # characters of an expression that is tried on every outcome
_LATE = 50 * 366 * 86400  # seconds from now


def holds(job: CheckedJob, names: tuple[str, ...], state: Mapping[str, str], at: int | None = None) -> bool | None:
    """Evaluate the expression that one of ``names`` sets for a job whose ad says ``state`` (expression texts).

    ``at`` is the moment in epoch seconds, now by default. None where no name is set or the text is no expression.
    """
    name = job.first(*names)
    if name is None:
        return None
    text = job.values[name].strip()
    if text.lower() in _LITERALS:
        return _LITERALS[text.lower()]
    from crondor.classad import AdValue, ClassAdSyntaxError, Context, Expression  # noqa: PLC0415 - most are literals

    own = {key[3:]: value for key, value in job.values.items() if key.startswith("my.") and value.strip()}
    codes = {**own, **{key.lower(): text for key, text in state.items()}}
    ad = AdValue(codes, {key: key for key in codes})
    context = Context(
        now=job.settings.now if at is None else at, zone=zone_of(job.settings.zone).info, effort=job.file.effort
    )
    try:
        expression = Expression.parse(Source(text), old=True) if "\\" in text else Expression(text)
        return expression.holds(ad, None, context)
    except ClassAdSyntaxError:  # condor_submit refuses it: CRN312
        return None


def repeats(job: CheckedJob) -> bool:
    """Say whether the job stays in the queue after a run that ends well."""
    return removed(job, _ran(1, code=0)) is False


def removed(job: CheckedJob, state: Mapping[str, str], at: int | None = None) -> bool | None:
    """Say whether a job leaves the queue after a run, None where nothing is said of it and it does.

    With max_retries and its like condor_submit makes OnExitRemove of them, OR on_exit_remove: success ends the job.
    """
    if job.first(*REMOVE[:1]) is None and job.first(*RETRIES) is not None and state.get("ExitCode") == "0":
        return True  # unless success_exit_code is another one; then that ends it
    return holds(job, REMOVE, state, at)


def never_removed(job: CheckedJob) -> bool:
    """Say whether on_exit_remove is false whatever the outcome of a run, now and in fifty years, the first or last."""
    if job.first(*RETRIES) is not None or not repeats(job):
        return False
    name = job.first(*REMOVE)
    text = job.values[name].strip() if name is not None else ""
    if text.lower() in _LITERALS:
        return True
    if len(text) > _LONGEST:
        return False  # nobody knows, and trying it out takes long
    outcomes = [_ran(times, code=code) for times in (1, _MANY) for code in range(256)]
    outcomes += [_ran(times, signal=signal) for times in (1, _MANY) for signal in range(1, 32)]
    return not any(holds(job, REMOVE, state, job.settings.now + _LATE) for state in outcomes)


def _ran(times: int, *, code: int | None = None, signal: int | None = None) -> dict[str, str]:
    """Return what the ad says of a job that has just run for the nth time."""
    ended = {"ExitBySignal": "false", "ExitCode": str(code)} if signal is None else {"ExitBySignal": "true"}
    if signal is not None:
        ended["ExitSignal"] = str(signal)
    counts = dict.fromkeys(("NumJobStarts", "NumJobCompletions", "JobRunCount"), str(times))
    return {"JobStatus": str(COMPLETED), **ended, **counts}


def functions(text: str) -> frozenset[str]:
    """Return the lower-case names of the functions that an expression calls, none for what is no expression."""
    from crondor.classad import ClassAdSyntaxError, Expression  # noqa: PLC0415 - few jobs have one
    from crondor.classad.tree import functions as called  # noqa: PLC0415 - the same

    try:
        return called(Expression(text).tree)
    except ClassAdSyntaxError:
        return frozenset()
