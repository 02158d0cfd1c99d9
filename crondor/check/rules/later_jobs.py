"""CRN517: what the jobs behind the first of a cluster have from it, whatever their own commands say."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.check.given import GivenJob, GivenValue
from crondor.check.rule import RuleHit, rule
from crondor.check.subject import CheckedFile
from crondor.diagnostics import CrondorError, Severity
from crondor.job.arguments import split_environment


@rule("CRN517", "kept-variables", Severity.WARNING, "variables of the first job that later jobs have as well")
def kept_variables(file: CheckedFile) -> Iterator[RuleHit]:
    """condor_submit puts the variables of the first job of a cluster into the environment of every other one."""
    jobs = file.given.jobs
    _, kept = _environment(jobs[0]) if len(jobs) > 1 else (None, {})
    for job in jobs[1:] if kept else ():
        value, own = _environment(job)
        more = [name for name in kept if name not in own]
        if value is None or not more:
            continue
        shown = ", ".join(f"{name}={kept[name]}" for name in more[:3]) + (", ..." if len(more) > 3 else "")
        message = f"later jobs have {shown[:80]} as well: they keep the variables of the first job of the cluster"
        yield RuleHit(message, value.span, f"give every job each variable; its own value of {more[0]} wins")
        return


def _environment(job: GivenJob) -> tuple[GivenValue | None, dict[str, str]]:
    """Return the command that gives a job's variables, and them; none where the command cannot be read."""
    value = job.first("environment2") or job.first("environment", "env")
    try:
        return value, split_environment(value.text) if value is not None else {}
    except CrondorError:
        return None, {}
