"""Matching by autoclusters is matching job by job, whatever attributes refer to, and whatever else is in the queue."""

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import assume, example, given
from hypothesis import strategies as st

from crondor.classad import ClassAd, Context, Expression
from crondor.router import Route, RouterSettings, RoutingTable
from crondor.router.daemon.status import queue_parts
from crondor.router.match.matcher import Match, Matcher, RouteState, Search, judge
from crondor.router.match.reasons import Candidates, RouteOutcome, why
from crondor.router.match.umbrella import umbrella_text
from crondor.transform import Transform

_NAMES = ["A", "B", "C", "D", "Owner", "JobStatus", "ProcId"]
_TEXTS = ["0", "1", "2", "true", "false", "undefined", "error", '"x"', '"C > 1"', "time()", "CurrentTime"]
_PARTS = ["[B = A; D = 2].B", "{A, B}[0]"]
_SCOPED = [f"{scope}.{name}" for scope in ("MY", "TARGET") for name in _NAMES[:4]]
_LEAVES = st.sampled_from([*_NAMES, *_SCOPED, *_TEXTS, *_PARTS])


def _wider(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(inner, st.sampled_from("&& || == =?= =!= < + ?:".split()), inner)  # noqa: SIM905
    return st.one_of(
        pairs.map(lambda each: f"({each[0]} {each[1]} {each[2]})"),
        inner.map(lambda each: f"(!({each}))"),
        st.tuples(inner, inner, inner).map(lambda each: f"ifThenElse({each[0]}, {each[1]}, {each[2]})"),
        inner.map(lambda each: f"eval({each})"),
        inner.map(lambda each: f"isUndefined({each})"),
        inner.map(lambda each: f"strcat({each}, 1)"),
    )


_EXPRESSIONS = st.recursive(_LEAVES, _wider, max_leaves=5)
_ADS = st.dictionaries(st.sampled_from([*_NAMES, "TARGET", "MY"]), _EXPRESSIONS, max_size=6)
_TABLES = st.tuples(st.lists(_EXPRESSIONS, min_size=1, max_size=3), st.none() | _EXPRESSIONS, st.booleans())
_TIMES = st.integers(0, 3)


def _job(texts: dict[str, str], number: int) -> ClassAd:
    plain = {"ProcId": str(number), "Owner": '"alice"', "JobStatus": "1"}
    return ClassAd.of_texts({**plain, **texts})


def _table(routes: list[str], constraint: str | None, round_robin: bool) -> RoutingTable:
    made = []
    for number, text in enumerate(routes):
        transform = Transform.parse(f"REQUIREMENTS {text}\nSET A 1", name=f"R{number}")
        made.append(Route(f"R{number}", transform.source, transform, max_jobs=1000, max_idle_jobs=-1))
    source = None if constraint is None else Expression(constraint)
    return RoutingTable(tuple(made), settings=RouterSettings(source_constraint=source, round_robin=round_robin))


def _one_by_one(table: RoutingTable, jobs: Iterable[tuple[str, ClassAd]], context: Context) -> list[Match]:
    """Match each job by itself, with HTCondor's own words: the umbrella constraint and the requirements."""
    umbrella = ClassAd({"Requirements": Expression(umbrella_text(table, table.routes))})
    asked = Expression("MY.Requirements")
    found: list[Match] = []
    for name, ad in jobs:
        if not asked.holds(umbrella, ad, context):
            continue
        matched = [route for route in table.routes if route.transform.matches(ad.copy(), context)]
        if matched:
            turn = len(found) if table.settings.round_robin else 0
            found.append(Match(name, matched[turn % len(matched)]))
    return found


@example((["isUndefined(MY.B)"], None, False), [{}, {"A": "0", "MY": "A"}], [1])
@given(_TABLES, st.lists(_ADS, max_size=5), st.lists(_TIMES, min_size=1, max_size=3))
def test_autoclusters_change_nothing(
    table_parts: tuple[list[str], str | None, bool], ads: list[dict[str, str]], times: list[int]
) -> None:
    """One matcher over equal and different jobs, at several times, gives what each job gives by itself."""
    table = _table(*table_parts)
    matcher = Matcher(table)
    for now in times:
        context = Context(now=now)
        jobs = [(f"1.{n}", _job(texts, n % 2)) for n, texts in enumerate(ads * 2)]
        expected = _one_by_one(table, jobs, context)
        assert list(matcher.match(jobs, RouteState(), context)) == expected
        kept = Candidates(matcher)
        for name, ad in jobs:
            kept.put(name, ad, Context(now=5))
        assert list(kept.poll(RouteState(), context).matches) == expected


@example((["MY.A isnt 1"], None, False), {}, 1)
@example((["TARGET.A == 1", "error"], "B", False), {"A": "1", "B": "1"}, 1)
@given(_TABLES, _ADS, _TIMES)
def test_no_match_is_hidden_from_a_router_that_asks(
    table_parts: tuple[list[str], str | None, bool], texts: dict[str, str], now: int
) -> None:
    """A schedd that evaluates the first of a router's parts in a job's own ad sends each job that matches."""
    assume(not {"TARGET", "MY"} & texts.keys() and not any("TARGET" in text or "MY" in text for text in texts.values()))
    table, context, ad = _table(*table_parts), Context(now=now), _job(texts, 0)
    waiting, own = queue_parts(table)
    if list(Matcher(table).match([("1.0", ad)], RouteState(), context)):
        assert waiting.constraint.holds(ad, None, context)
    assert not own.constraint.holds(ad, None, context)


@given(_TABLES, st.lists(_ADS, min_size=1, max_size=4), _TIMES)
def test_the_rest_of_the_queue_does_not_count(
    table_parts: tuple[list[str], str | None, bool], ads: list[dict[str, str]], now: int
) -> None:
    """Limits and turns apart, a job goes the same way alone."""
    table = _table(table_parts[0], table_parts[1], round_robin=False)
    context = Context(now=now)
    jobs = [(f"1.{n}", _job(texts, n)) for n, texts in enumerate(ads)]
    together = list(Matcher(table).match(jobs, RouteState(), context))
    alone = [match for each in jobs for match in Matcher(table).match([each], RouteState(), context)]
    assert together == alone


@given(_TABLES, _ADS, _TIMES)
def test_why_says_what_matching_does(
    table_parts: tuple[list[str], str | None, bool], ad: dict[str, str], now: int
) -> None:
    """The route that is chosen is the match; without one, each route has a reason."""
    table = _table(*table_parts)
    context = Context(now=now)
    job = _job(ad, 0)
    told = why(table, job, RouteState(), context)
    found = list(Matcher(table).match([("1.0", job)], RouteState(), context))
    assert [told.chosen] == [each.route for each in found] or (told.chosen is None and not found)
    if not found:
        assert all(
            each.outcome in {RouteOutcome.NO_MATCH, RouteOutcome.NOT_CANDIDATE} and each.reason
            for each in told.verdicts
        )


@given(
    st.lists(st.tuples(st.sampled_from(["put", "drop"]), st.integers(0, 5), _ADS), max_size=12),
    _TABLES,
    st.integers(0, 4),
)
def test_changes_are_followed(
    changes: list[tuple[str, int, dict[str, str]]], table_parts: tuple[list[str], str | None, bool], most: int
) -> None:
    """Jobs that come, change and go leave the same candidates as the queue that they make, in order of arrival."""
    routes = _table(*table_parts)
    table = RoutingTable(routes.routes, settings=RouterSettings(max_jobs=most, round_robin=table_parts[2]))
    kept, queue, context = Candidates(Matcher(table)), dict[str, ClassAd](), Context(now=1)
    for what, number, texts in changes:
        name, ad = f"1.{number}", _job(texts, number)
        if what == "put":
            queue[name] = ad
            kept.put(name, ad.copy(), context)
        else:
            queue.pop(name, None)
            kept.drop(name)
    assert len(kept) == len(queue)
    expected = Matcher(table).match(queue.items(), RouteState(), context)
    found = kept.poll(RouteState(), context)
    assert list(found.matches) == list(expected)
    assert found.route_state == expected.route_state


@given(_TABLES, st.lists(_ADS, max_size=6), _TIMES, st.integers(0, 4), st.integers(0, 3))
def test_judging_jobs_elsewhere_changes_nothing(
    table_parts: tuple[list[str], str | None, bool], ads: list[dict[str, str]], now: int, most: int, room: int
) -> None:
    """Jobs that were judged by other matchers, some by each, are matched as the jobs are: limits, turns, the end."""
    routes = [replace(route, max_jobs=room) if room else route for route in _table(*table_parts).routes]
    settings_of = RouterSettings(max_jobs=most, round_robin=table_parts[2])
    table, context = RoutingTable(tuple(routes), settings=settings_of), Context(now=now)
    jobs = [(f"1.{n}", _job(texts, n % 2)) for n, texts in enumerate(ads * 2)]
    expected = Matcher(table).match([(name, ad.copy()) for name, ad in jobs], RouteState(), context)
    matches = list(expected)
    others = [Matcher(table), Matcher(table)]
    judged = [
        (job, matched, f"of {job}")
        for number, each in enumerate(jobs)
        for job, matched, _ in judge(others[number % 3 % 2], [each], RouteState(), context)
    ]
    search = Search(Matcher(table), judged, RouteState())
    for match, other in zip(search, matches, strict=True):
        assert match == other
        assert search.kept == f"of {match.job}"
    assert (search.is_stopped, search.route_state) == (expected.is_stopped, expected.route_state)
