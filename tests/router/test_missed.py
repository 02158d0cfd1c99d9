"""Why a job is no candidate, as an administrator reads it."""

import pytest

from crondor.classad import Context
from crondor.router import RouteState
from crondor.router.match.reasons import why
from crondor.router.match.umbrella import Clause
from tests.router.tables import job, table_of

_CONTEXT = Context(now=1)


@pytest.mark.parametrize(
    ("attributes", "clause", "reason"),
    [
        ({"JobStatus": "5"}, Clause.IDLE, "only idle jobs (JobStatus 1) are routed: JobStatus = 5 (held)"),
        ({"JobStatus": '"Idle"'}, Clause.IDLE, 'only idle jobs (JobStatus 1) are routed: JobStatus = "Idle"'),
        ({"JobStatus": "1 +"}, Clause.IDLE, "only idle jobs (JobStatus 1) are routed: JobStatus has no value"),
        ({"ProcId": "-1"}, Clause.JOB, "it is not a job: ProcId = -1"),
        (
            {"StageInStart": "7"},
            Clause.NOT_SPOOLING,
            "its input is still being spooled: StageInStart = 7, no StageInFinish",
        ),
        ({"Managed": '"ScheddDone"'}, Clause.NOT_DONE, 'a manager has finished it: Managed = "ScheddDone"'),
        (
            {"Managed": '"External"', "ManagedManager": '"other"', "RoutedToJobId": '"8.0"'},
            Clause.NOT_EXTERNAL,
            'a manager has it already: Managed = "External", ManagedManager = "other", RoutedToJobId = "8.0"',
        ),
        ({"Owner": "undefined"}, Clause.OWNED, "it has no Owner: Owner = undefined"),
        (
            {"RoutedBy": '"jobrouter"', "RoutedFromJobId": '"4.2"'},
            Clause.NOT_COPY,
            'it is a copy that this router made: RoutedBy = "jobrouter", RoutedFromJobId = "4.2"',
        ),
    ],
)
def test_what_every_job_is_asked(attributes: dict[str, str], clause: Clause, reason: str) -> None:
    """The reason is in words, with what the job has."""
    told = why(table_of({"A": "REQUIREMENTS true"}), job(**attributes), RouteState(), _CONTEXT)
    assert [(each.clause, each.reason) for each in told.missed] == [(clause, reason)]
    assert told.chosen is None


def test_a_job_without_a_status_and_of_another_user() -> None:
    """What is missing is said to be missing; all clauses that are not met are there."""
    ad = job()
    del ad["JobStatus"]
    told = why(table_of({"A": "REQUIREMENTS true"}), ad, RouteState(), _CONTEXT, owner="bob")
    assert [each.reason for each in told.missed] == [
        "only idle jobs (JobStatus 1) are routed: no JobStatus",
        'a router that does not run as root only takes its own user\'s jobs: Owner = "alice"',
    ]


def test_a_route_that_hides_others_is_named() -> None:
    """Requirements that are no boolean keep a job from routes after them in the order of names, not of the list."""
    table = table_of({"Z": "REQUIREMENTS true", "B": 'REQUIREMENTS "yes"', "A": "REQUIREMENTS false"})
    told = why(table, job(), RouteState(), _CONTEXT)
    assert [each.clause for each in told.missed] == [Clause.ROUTES]
    assert told.missed[0].reason.startswith("the requirements of B are neither true nor false, and hide the routes")


def test_my_where_candidates_are_asked() -> None:
    """A route that is met in the job's ad alone, and not where the job is TARGET, is said to be so."""
    table = table_of({"A": "REQUIREMENTS false", "M": "REQUIREMENTS MY.Color == 1"})
    told = why(table, job(Color="1"), RouteState(), _CONTEXT)
    assert told.missed[0].reason == (
        "for finding candidates the job is TARGET and MY is empty: M: MY.Color == 1: undefined == 1"
    )
