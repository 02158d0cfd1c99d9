"""Which route takes which job: candidates, order, limits, round robin."""

from collections.abc import Iterator

import pytest

from crondor.classad import ClassAd, Context, Format, read_ads, write_ads
from crondor.router import RoutingTable
from crondor.router.match.matcher import Matcher, RouteLoad, RouteState, Throttle
from crondor.router.match.umbrella import umbrella_text
from crondor.router.table.route import id_text
from tests.router.tables import job, table_of

NOW = 1_700_000_000
CONTEXT = Context(now=NOW)


def _matches(
    table: RoutingTable, *jobs: ClassAd, route_state: RouteState | None = None, context: Context = CONTEXT
) -> list[str]:
    """Return `position:route` of each match."""
    search = Matcher(table).match(((str(n), ad) for n, ad in enumerate(jobs)), route_state or RouteState(), context)
    return [f"{match.job}:{match.route.name}" for match in search]


def test_the_first_route_that_matches_takes_the_job() -> None:
    """Routes are asked in the order of JOB_ROUTER_ROUTE_NAMES."""
    table = table_of({"B": "REQUIREMENTS Group == 1", "A": "REQUIREMENTS Group <= 2", "C": "REQUIREMENTS true"})
    assert _matches(table, *(job(Group=str(n)) for n in (3, 2, 1))) == ["0:C", "1:A", "2:B"]


@pytest.mark.parametrize(
    ("requirements", "expected"),
    [
        ("true", True),
        ("false", False),
        ("2.5", True),
        ("0", False),
        ("undefined", False),
        ("error", False),
        ('"yes"', False),
        ("Nope", False),
        ('RequestMemory + "x"', False),
        ("RequestMemory", True),
        ("TARGET.RequestMemory > 1", False),
        ("RequestMemory > 1 || TARGET.RequestMemory > 1", True),
    ],
)
def test_requirements_are_a_boolean_or_a_number(requirements: str, expected: bool) -> None:
    """They are evaluated in the job's ad alone, where there is no TARGET."""
    table = table_of({"A": f"REQUIREMENTS {requirements}"})
    assert _matches(table, job(RequestMemory="1024")) == (["0:A"] if expected else [])


def test_my_is_no_job_in_the_umbrella_constraint() -> None:
    """HTCondor selects candidates with the job as TARGET: requirements on MY alone select none, whatever they say."""
    alone = table_of({"A": 'REQUIREMENTS MY.VO == "atlas"'})
    assert _matches(alone, job(VO='"atlas"')) == []
    beside = table_of({"A": 'REQUIREMENTS MY.VO == "atlas"', "B": "REQUIREMENTS true"})
    assert _matches(beside, job(VO='"atlas"')) == ["0:A"]


def test_an_error_before_a_true_keeps_every_job_away() -> None:
    """In the umbrella constraint routes stand in the order of their names, and error || true is error."""
    assert _matches(table_of({"B": "REQUIREMENTS true", "A": "REQUIREMENTS error"}), job()) == []
    assert _matches(table_of({"A": "REQUIREMENTS true", "B": "REQUIREMENTS error"}), job()) == ["0:A"]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, True),
        ({"ProcId": "-1"}, False),
        ({"ProcId": "undefined"}, False),
        ({"ProcId": "1 - 1"}, True),
        ({"JobStatus": "2"}, False),
        ({"JobStatus": "3 - 2"}, True),
        ({"StageInStart": "5"}, False),
        ({"StageInStart": "5", "StageInFinish": "6"}, True),
        ({"StageInStart": "undefined"}, True),
        ({"Managed": '"Schedd"'}, True),
        ({"Managed": '"External"'}, False),
        ({"Managed": '"external"'}, True),
        ({"Managed": '"ScheddDone"'}, False),
        ({"Owner": "undefined"}, False),
        ({"Owner": "Nobody"}, False),
        ({"Owner": 'strcat("a", "b")'}, True),
        ({"RoutedBy": '"jobrouter"'}, False),
        ({"RoutedBy": '"other"'}, True),
    ],
)
def test_the_built_in_clauses(attributes: dict[str, str], expected: bool) -> None:
    """A job that is no idle job of its own is no candidate; expressions count by their values."""
    table = table_of({"A": "REQUIREMENTS true"})
    plain = [job() for _ in range(3)]
    assert _matches(table, *plain, job(**attributes))[3:] == (["3:A"] if expected else [])
    assert _matches(table, job(**attributes)) == (["0:A"] if expected else [])


def test_whose_jobs_are_candidates() -> None:
    """A router that does not run as root looks at the jobs of its user alone."""
    table = table_of({"A": "REQUIREMENTS true"})
    jobs = [("1.0", job()), ("2.0", job(Owner='"bob"')), ("3.0", job(Owner='"bob"'))]
    search = Matcher(table, "bob").match(jobs, RouteState(), CONTEXT)
    assert [match.job for match in search] == ["2.0", "3.0"]
    assert search.umbrella is not None
    assert search.umbrella.endswith(' && (target.Owner == "bob")')


def test_the_source_constraint_sees_the_job_as_target() -> None:
    """TARGET.x and the bare x are the job's; routes then need no requirements."""
    for text in ("TARGET.WantJobRouter", "WantJobRouter"):
        table = table_of({"A": "SET A 1"}, f"JOB_ROUTER_SOURCE_JOB_CONSTRAINT = {text}")
        assert _matches(table, job(WantJobRouter="true"), job(WantJobRouter="false"), job()) == ["0:A"]
    table = table_of({"A": "SET A 1"}, "JOB_ROUTER_SOURCE_JOB_CONSTRAINT = MY.WantJobRouter")
    assert _matches(table, job(WantJobRouter="true")) == []


def test_the_source_constraint_is_new_syntax() -> None:
    """A backslash escapes there, as in the rest of the umbrella constraint; what only old syntax has is kept."""
    table = table_of({"A": "SET A 1"}, r'JOB_ROUTER_SOURCE_JOB_CONSTRAINT = Owner == "a\lice"')
    assert _matches(table, job()) == ["0:A"]
    table = table_of({"A": "SET A 1"}, 'JOB_ROUTER_SOURCE_JOB_CONSTRAINT = Folder == "C:\\"')
    assert table.is_enabled


def test_the_umbrella_constraint_is_htcondors() -> None:
    """Its text is what condor_job_router_info 25.14 prints: routes by name, each requirement once."""
    config = "JOB_ROUTER_NAME = jr2\nJOB_ROUTER_SOURCE_JOB_CONSTRAINT = TARGET.WantJobRouter =?= $(Yes)\nYes = true"
    routes = {"b": "REQUIREMENTS X > 1", "A": 'REQUIREMENTS VO =?= "CMS"', "C": "SET A 1", "d": "REQUIREMENTS X > 1"}
    table = table_of(routes, config)
    assert umbrella_text(table, table.routes) == (
        '(TARGET.WantJobRouter =?= true) && ( (VO =?= "CMS") || (X > 1) || (True) ) && (target.ProcId >= 0 && '
        "target.JobStatus == 1 && (target.StageInStart is undefined || target.StageInFinish isnt undefined) && "
        'target.Managed isnt "ScheddDone" && target.Managed isnt "External" && target.Owner isnt Undefined && '
        'target.RoutedBy isnt "jr2")'
    )


def test_limits_count_within_a_search() -> None:
    """A route that is full leaves jobs to the next; when nothing takes any, jobs are not even read."""
    table = table_of({"A": "REQUIREMENTS true\nMaxJobs = 2", "B": "REQUIREMENTS true\nMaxIdleJobs = 1"})
    read = []

    def jobs() -> Iterator[tuple[str, ClassAd]]:
        for number in range(10):
            read.append(number)
            yield str(number), job()

    search = Matcher(table).match(jobs(), RouteState(), CONTEXT)
    assert [f"{match.job}:{match.route.name}" for match in search] == ["0:A", "1:A", "2:B"]
    assert search.is_stopped
    assert read == [0, 1, 2]
    assert search.route_state.loads == {"a": RouteLoad(2, 2), "b": RouteLoad(1, 1)}
    assert (search.route_state.managed, search.route_state.turn) == (3, 3)
    again = Matcher(table).match([("9.0", job())], search.route_state, CONTEXT)
    assert list(again) == []
    assert again.umbrella is None


def test_the_router_itself_has_a_limit() -> None:
    """JOB_ROUTER_MAX_JOBS counts the jobs that are managed already."""
    table = table_of({"A": "REQUIREMENTS true"}, "JOB_ROUTER_MAX_JOBS = 3")
    assert _matches(table, *[job()] * 5, route_state=RouteState(managed=1)) == ["0:A", "1:A"]
    assert _matches(table, job(), route_state=RouteState(managed=3)) == []
    assert _matches(table_of({"A": "REQUIREMENTS true"}, "JOB_ROUTER_MAX_JOBS = 0"), job()) == []


def test_a_throttle_is_a_limit() -> None:
    """As many jobs are routed in a window as the throttle has, a begun one counted."""
    table = table_of({"A": "REQUIREMENTS true"})
    route_state = RouteState(throttles={"a": Throttle(NOW, routed=1, jobs=2.5)})
    assert _matches(table, *[job()] * 5, route_state=route_state) == ["0:A", "1:A"]
    after = route_state.after({"A": 2})
    assert after.throttles["a"].routed == 3
    assert after.adjusted(table, NOW + 600).throttles["a"] == Throttle(NOW + 600, jobs=5.0)


def test_round_robin_takes_turns() -> None:
    """One count serves all jobs, whichever routes each of them matches."""
    routes = {"A": "REQUIREMENTS true", "B": "REQUIREMENTS Group > 0", "C": "REQUIREMENTS true"}
    table = table_of(routes, "JOB_ROUTER_ROUND_ROBIN_SELECTION = true")
    jobs = [job(Group=str(n % 2)) for n in range(6)]
    assert _matches(table, *jobs) == ["0:A", "1:B", "2:A", "3:A", "4:A", "5:C"]
    assert _matches(table, *jobs, route_state=RouteState(turn=(1 << 32) - 1)) == [
        "0:C",
        "1:A",
        "2:C",
        "3:C",
        "4:C",
        "5:B",
    ]


def test_a_route_that_is_listed_twice_has_its_limit_once() -> None:
    """Round robin finds it twice among those that match, and each time its jobs count."""
    table = table_of({"A": "REQUIREMENTS true\nMaxJobs = 3"}, "JOB_ROUTER_ROUND_ROBIN_SELECTION = true")
    twice = RoutingTable(table.routes * 2, settings=table.settings)
    search = Matcher(twice).match(((str(n), job()) for n in range(9)), RouteState(), CONTEXT)
    assert [match.job for match in search] == ["0", "1", "2"]
    assert search.route_state.loads == {"a": RouteLoad(3, 3)}


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs of which no two are alike are matched as well, and leave little behind."""
    monkeypatch.setattr("crondor.router.match.umbrella.MOST_KEYS", 10)
    monkeypatch.setattr("crondor.router.match.matcher.MOST_KEYS", 10)
    table = table_of({"A": "REQUIREMENTS Want\nMaxJobs = 1000\nMaxIdleJobs = -1"})
    matcher = Matcher(table)
    jobs = [(str(n), job(Want="Seen > 50", Seen=str(n))) for n in range(100)]
    for _ in range(2):
        assert len(list(matcher.match(jobs, RouteState(), CONTEXT))) == 49
        assert len(matcher.clusters) <= 12
    odd = [(str(n), job(Want=f"{n} > 50")) for n in range(100)]
    assert len(list(matcher.match(odd, RouteState(), CONTEXT))) == 49


def test_jobs_that_are_managed_are_passed_over() -> None:
    """The router does not take what it has."""
    search = Matcher(table_of({"A": "REQUIREMENTS true"})).match(
        [("1.0", job()), ("2.0", job())], RouteState(), CONTEXT, managed={"1.0"}
    )
    assert [match.job for match in search] == ["2.0"]


def test_routing_that_is_disabled_takes_nothing() -> None:
    """A transform before the routes that does not load switches routing off."""
    table = table_of({"A": "REQUIREMENTS true"})
    off = RoutingTable(table.routes, is_enabled=False)
    assert _matches(off, job()) == []


def test_after_a_local_rejection_only() -> None:
    """+WantJobRouter = LastRejMatchTime =!= UNDEFINED routes a job once the local pool has rejected it."""
    want = "LastRejMatchTime =!= UNDEFINED"
    table = table_of({"Site1": "SET A 1"}, "JOB_ROUTER_SOURCE_JOB_CONSTRAINT = WantJobRouter")
    jobs = [job(WantJobRouter=want), job(WantJobRouter=want, LastRejMatchTime=str(NOW)), job(WantJobRouter=want)]
    assert _matches(table, *jobs) == ["1:Site1"]


def test_the_clock_is_not_remembered() -> None:
    """What depends on the time, in requirements or in an attribute that they refer to, is asked again at another."""
    table = table_of({"A": "REQUIREMENTS time() >= 100", "B": "REQUIREMENTS Ready", "C": "REQUIREMENTS Late"})
    jobs = [("1.0", job(Ready="CurrentTime >= 50")), ("2.0", job(Late='eval("time() >= 20")'))]
    matcher = Matcher(table)
    found = []
    for now in (0, 20, 50, 100, 50, 0):
        search = matcher.match(jobs, RouteState(), Context(now=now))
        found.append(" ".join(match.route.name for match in search))
    assert found == ["", "C", "B C", "A A", "B C", ""]


def test_ids() -> None:
    """A job is called as the router calls it; an ad without ids is no job."""
    assert id_text(job(ClusterId="12", ProcId="3")) == "12.3"
    assert id_text(job(ClusterId="10 + 2", ProcId="3")) == "12.3"
    assert id_text(job(ProcId="undefined")) is None
    assert id_text(ClassAd({"ClusterId": 1})) is None
    assert id_text(job(ProcId="true")) is None
    assert id_text(job(ProcId="-3")) == "1.-3"
    broken = job()
    broken.put("ProcId", "(1 +")
    assert id_text(broken) is None


@pytest.mark.parametrize("form", list(Format))
def test_jobs_are_known_by_their_texts_in_every_form(form: Format) -> None:
    """A queue of any length takes the memory of what is different in it."""
    table = table_of({"A": 'REQUIREMENTS VO == "atlas" && Cores == 2'})
    jobs = [job(ClusterId=str(number), VO='"atlas"', Cores="2") for number in range(50)]
    matcher = Matcher(table)
    read = ((str(id_text(ad)), ad) for ad in read_ads(write_ads(jobs, form), form))
    assert len(list(matcher.match(read, RouteState(), CONTEXT))) == 50
    assert len(matcher.clusters) == 1
