"""How a router stands: for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.diagnostics import printable
from crondor.job_queue import JobId
from crondor.router.daemon import Because, QueueStatus, RouteNow, RouteReason, RouterReport
from crondor.router.match.throttle import WINDOW
from crondor_cli.common.columns import cell, plural, print_rows
from crondor_cli.common.options import Clock
from crondor_cli.common.output import say
from crondor_cli.common.streaming import echo_json
from crondor_cli.times.text import local_text

_SETTLED = (RouteReason.ROUTED, RouteReason.COPY)


def print_table(survey: QueueStatus, report: RouterReport | None, clock: Clock) -> None:
    """Print the routes, and how many jobs are not routed now for each reason."""
    say("\n".join(_head(survey, report, clock)))
    rows = [_row(now, survey, report) for now in survey.routes()]
    if rows:
        say()
        print_rows(["route", "jobs", "idle", "throttle", "failed", "succeeded", "takes jobs"], rows)
    left = _left(survey)
    say(f"\nnot routed now: {plural(sum(count for _, _, count in left), 'job')}")
    for reason, about, count in left:
        say(f"  {count:>7}  {reason.value}{about and f' ({printable(about)})'}")
    if survey.unpaired:
        one = "has" if len(survey.unpaired) == 1 else "have"
        say(
            f"{plural(len(survey.unpaired), 'source')} of this router {one} no copy: a router that runs is about to"
            " submit it, or gives the job back"
        )


def _head(survey: QueueStatus, report: RouterReport | None, clock: Clock) -> Iterator[str]:
    if report is None:
        yield f"{printable(survey.name)}: no router is known to run here; throttles are not known, all else is counted"
        return
    when = local_text(report.polled, clock.zone)
    failed = "" if report.answered else ", and the queue did not answer"
    alone = f"; for {plural(report.pause, 'poll')} more nothing is written there" if report.pause else ""
    yield f"{printable(survey.name)}: a router runs here; its last poll was {when}{failed}{alone}"


def _row(now: RouteNow, survey: QueueStatus, report: RouterReport | None) -> list[str]:
    route, load, throttle, _, text = now
    idle = f"{load.idle}/{route.max_idle_jobs}" if route.max_idle_jobs >= 0 else f"{load.idle}"
    if report is None:
        results = ["-", "-", "-"]
    else:
        failed = f"{throttle.failed} ({_rate(now, survey.now):.3g}/s of {route.failure_rate_threshold:g}/s)"
        results = [str(throttle), failed, str(throttle.succeeded)]
    return [cell(route.name), f"{load.jobs}/{route.max_jobs}", idle, *results, text or "yes"]


def _rate(now: RouteNow, time: int) -> float:
    """Return failures a second in the window that is under way."""
    return now.throttle.failed / max(1, time - now.throttle.begin)


def _left(survey: QueueStatus) -> list[tuple[RouteReason, str, int]]:
    """Return how many jobs are not on a route, by reason and route, in the order of the reasons."""
    found = survey.summary()
    order = list(RouteReason)
    kept = [(reason, about, count) for (reason, about), count in found.items() if reason not in _SETTLED]
    return sorted(kept, key=lambda each: (order.index(each[0]), each[1]))


def print_job(survey: QueueStatus, job: JobId | None) -> None:
    """Print why a job is not routed now."""
    if job is None:
        return
    found = survey.why(job)
    say(f"job {job}: {found.reason.value}{found.text and f': {printable(found.text)}'}")
    width = max((len(each.route.name) for each in found.verdicts), default=0)
    for verdict in found.verdicts:
        said = f"{verdict.outcome.value}{'' if verdict.reason is None else f': {printable(verdict.reason)}'}"
        say(f"  {printable(verdict.route.name):<{min(width, 24)}}  {said}")


def print_json(survey: QueueStatus, report: RouterReport | None, job: JobId | None) -> None:
    """Print one object; `crondor config schema route status` has the keys."""
    data: dict[str, object] = {
        "name": survey.name,
        "now": survey.now,
        "router": None
        if report is None
        else {"started": report.started, "polled": report.polled, "answered": report.answered, "pause": report.pause},
        "routes": [_route(now, survey, report) for now in survey.routes()],
        "jobs": [
            {"reason": reason.value, "route": about or None, "count": count}
            for (reason, about), count in sorted(survey.summary().items(), key=lambda each: (each[0][0].name, each[0]))
        ],
        "unpaired": [str(each) for each in survey.unpaired],
        "rejected": [each.name for each in survey.table.rejected],
    }
    if job is not None:
        data["job"] = _job(job, survey.why(job))
    echo_json(data)


def _route(now: RouteNow, survey: QueueStatus, report: RouterReport | None) -> dict[str, object]:
    route, load, throttle, limit, text = now
    known = report is not None
    return {
        "route": route.name,
        "jobs": load.jobs,
        "max_jobs": route.max_jobs,
        "idle": load.idle,
        "max_idle_jobs": route.max_idle_jobs,
        "limit": None if limit is None else limit.value,
        "text": text or None,
        "throttle": throttle.jobs / WINDOW if known and throttle.jobs > 0 else None,
        "window": throttle.begin if known else None,
        "routed": throttle.routed if known else None,
        "failed": throttle.failed if known else None,
        "succeeded": throttle.succeeded if known else None,
        "failure_rate": _rate(now, survey.now) if known else None,
        "failure_rate_threshold": route.failure_rate_threshold,
    }


def _job(job: JobId, found: Because) -> dict[str, object]:
    return {
        "job": str(job),
        "reason": found.reason.value,
        "text": found.text or None,
        "routes": [
            {"route": each.route.name, "outcome": each.outcome.value, "reason": each.reason} for each in found.verdicts
        ],
    }
