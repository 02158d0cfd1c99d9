"""Explanations for programs; `crondor config schema explain` has the keys."""

from __future__ import annotations

from datetime import tzinfo

from crondor.audit import ClockChange
from crondor.day_rule import decided_by, is_unrestricted
from crondor.diagnostics import Diagnostic
from crondor.recurrence import ScheddAnswer, Why
from crondor.spec import FIELDS, CronSpec
from crondor.words import describe
from crondor_cli.common.data import diagnostic_data, instant
from crondor_cli.common.rows import DialectReason
from crondor_cli.common.schedule_facts import ExplainedJob, ScheddSide, ScheduleFacts, portable_line
from crondor_cli.common.streaming import echo_json
from crondor_cli.common.wording import day_rule_words, length
from crondor_cli.explain.why_words import answer


def print_json(explanations: list[ExplainedJob], warnings: list[Diagnostic]) -> None:
    """Print one object with the jobs in file order."""
    data = {"jobs": [_job(e) for e in explanations], "diagnostics": [diagnostic_data(w) for w in warnings]}
    echo_json(data)


def _job(e: ExplainedJob) -> dict[str, object]:
    clock = e.job.clock
    return {
        "name": e.job.name,
        "line": e.job.line,
        "count": e.job.count,
        "zone": clock.zone_name,
        "now": clock.now,
        "dialect": e.reading.dialect.value,
        **_terms(e),
        "schedule": e.spec and _schedule(e.spec),
        **_facts(e.facts, clock.zone),
        "schedd": e.schedd and _schedd(e.schedd),
        "answers": None if e.answers is None else [_answer(e, each) for each in e.answers],
        **_clock_changes(e),
        "at": e.why and e.spec and _why(e, e.why, e.spec),
        "diagnostics": [diagnostic_data(finding) for finding in e.findings],
    }


def _terms(e: ExplainedJob) -> dict[str, object]:
    """Return what holds beside the fields: the policy of a set of runs, the time of a job that runs once."""
    recurrence = None if e.schedule is None or e.answers is not None else e.schedule.recurrence
    once = e.schedule.time if e.schedule is not None and e.spec is None else None
    return {
        "policy": None if recurrence is None else recurrence.policy.value,
        "deferral_time": once if once is None or isinstance(once, int) else str(once),
    }


def _facts(facts: ScheduleFacts | None, zone: tzinfo) -> dict[str, object]:
    """Return the next run, the gaps and the counts; all are null where nothing is known of the runs."""
    if facts is None:
        return dict.fromkeys(("next", "gaps", "counts"))
    coming = None if facts.next is None else instant(facts.next, zone)
    return {"next": coming, "gaps": _gaps(facts), "counts": _counts(facts)}


def _clock_changes(e: ExplainedJob) -> dict[str, object]:
    """Return the clock changes and how far they were looked for; a job asked about one instant has no such end."""
    if e.changes is None:
        return dict.fromkeys(("until", "clock_changes"))
    changes = [_change(e, change) for change in e.changes]
    return {"until": e.until if e.why is None else None, "clock_changes": changes}


def _schedule(spec: CronSpec) -> dict[str, object]:
    return {
        "words": describe(spec),
        "canonical": str(spec),
        "portable": portable_line(spec),
        "fields": [
            {
                "field": field.name,
                "written": spec.given[field.index],
                "values": list(spec.values(field)),
                "unrestricted": is_unrestricted(spec, field),
            }
            for field in FIELDS
        ],
        "day_rule": {"rule": decided_by(spec).value, "words": day_rule_words(spec)},
    }


def _gaps(facts: ScheduleFacts) -> dict[str, object]:
    gaps = facts.gaps
    both = {"shortest": (gaps.shortest, gaps.shortest_from), "longest": (gaps.longest, gaps.longest_from)}
    return {
        name: {"seconds": seconds, "words": length(seconds, day), "first_after": day.isoformat()}
        for name, (seconds, day) in both.items()
    }


def _counts(facts: ScheduleFacts) -> dict[str, object]:
    units = zip(("day", "month", "year"), facts.counts, strict=True)
    data: dict[str, object] = {unit: {"least": low, "most": high} for unit, (low, high) in units}
    return {**data, "next_12_months": facts.year, "excluded": facts.excluded, "until": facts.year_end}


def _schedd(side: ScheddSide) -> dict[str, object]:
    return {
        "differences": [reason_data(reason) for reason in side.reasons],
        "day_zero": side.has_day_zero,
        "hold_reason": side.hold_reason,
        "hangs": side.hangs,
    }


def reason_data(reason: DialectReason) -> dict[str, object]:
    """Return a reason with its four parts."""
    return {"code": reason.code, "reason": reason.why, "write": reason.write, "is_clause": reason.is_clause}


def _answer(e: ExplainedJob, answer: ScheddAnswer) -> dict[str, object]:
    excluded = e.schedule is not None and e.job.times(e.schedule).excludes(answer)
    data = {**instant(answer, e.job.clock.zone), "retry": answer.is_retry, "computed": answer.computed}
    return {**data, "excluded": excluded}


def _change(e: ExplainedJob, change: ClockChange) -> dict[str, object]:
    zone = e.job.clock.zone
    runs: dict[str, object] = {
        policy.value: [instant(run, zone) for run in found] for policy, found in change.policies.items()
    }
    return {
        **instant(change.instant, zone),
        "seconds": change.seconds,
        "low": change.low.isoformat(),
        "high": change.high.isoformat(),
        **runs,
        "schedd": [_answer(e, answer) for answer in change.schedd],
    }


def _why(e: ExplainedJob, why: Why, spec: CronSpec) -> dict[str, object]:
    clock = e.job.clock
    near = {
        name: None if time is None else instant(time, clock.zone)
        for name, time in (("earlier", why.earlier), ("later", why.later))
    }
    return {
        **instant(why.instant, clock.zone),
        "fires": why.fires,
        "words": answer(e, spec, why),
        "fields": [{"field": m.field.name, "value": m.value, "matches": m.matches} for m in why.fields],
        "arm": why.arm.value,
        "blocking": [field.name for field in why.blocking],
        "note": why.note,
        **near,
    }
