"""Jobs through a job router: 20,000 ads matched and routed, a million in memory matched, polls without a change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from statistics import median
from time import perf_counter
from typing import NamedTuple

from benchmarks.classad import peer_inputs
from benchmarks.classad_ads import ADS, texts
from benchmarks.classad_peer import Peer, one_round
from crondor.classad import ClassAd, Context, Format, read_ads, write_ads
from crondor.config import read_config
from crondor.router import Candidates, Matcher, RouteState, RoutingTable, apply_route, id_text, load_table

NOW = 1_700_000_000
CONFIG = """\
JOB_ROUTER_SOURCE_JOB_CONSTRAINT = JobUniverse == 5
JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE = 100000000
JOB_ROUTER_DEFAULT_MAX_IDLE_JOBS_PER_ROUTE = -1
JOB_ROUTER_ROUTE_NAMES = Small Large Rest
JOB_ROUTER_ROUTE_Small @=end
  REQUIREMENTS ImageSize < 300
  GridResource = batch slurm
  SET BatchQueue "short"
  DELETE LeaveJobInQueue
@end
JOB_ROUTER_ROUTE_Large @=end
  REQUIREMENTS ImageSize >= 600 && RequestCpus == 1
  GridResource = arc arc.example.org
  EVALSET ArcMemory RequestCpus * 1024 + ImageSize
@end
JOB_ROUTER_ROUTE_Rest @=end
  UNIVERSE VANILLA
  COPY Requirements OrigRequirements
  SET Requirements true
@end
JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = Defaults
JOB_ROUTER_TRANSFORM_Defaults @=end
  SET PeriodicRemove JobStatus == 5 || (JobStatus == 1 && time() - EnteredCurrentStatus > 6 * 3600)
@end
"""
ROUTES = 3
MOST = 1.0  # times what the library takes to read and write alone
MOST_LOOP = 3.0  # times a bare loop that builds the keys
MOST_POLL = 2.0  # times a poll of FEW jobs, which is some microseconds
FEW, MANY = 1000, 100_000
JOBS = 1_000_000
CLUSTERS = 1000
_ROUNDS = 5  # of seconds each
_POLLS = 100  # in a row, of few jobs and of many in turn
_TURNS = 200


def table() -> RoutingTable:
    """Return the routing table."""
    made = load_table(read_config(CONFIG, context=Context(now=NOW)))
    if len(made.routes) != ROUTES:
        raise ValueError(made.diagnostics)
    return made


def routed(whole: str, of: RoutingTable) -> str:
    """Return the ``-long`` text of the routed copies of all ads of a ``-long`` text."""
    return "".join(write_ads(_copies(whole, of)))


def _copies(whole: str, of: RoutingTable) -> Iterator[ClassAd]:
    jobs = ((id_text(ad) or "", ad) for ad in read_ads(whole, Format.LONG))
    search = Matcher(of).match(jobs, RouteState(), Context(now=NOW))
    for match in search:
        made = None if search.ad is None else apply_route(of, match.route, search.ad).ad
        if made is not None:
            yield made


class Routing(NamedTuple):
    """Median microseconds of an ad, ours and the library's for reading and writing alone, and the median ratio."""

    ours: float
    theirs: float | None
    ratio: float | None
    missing: str | None


def routing() -> Routing:
    """Time rounds of ours and of HTCondor's library in turn."""
    ads = texts()
    whole, of = "\n".join(ads), table()
    if routed(whole, of).count("RoutedFromJobId") != ADS:
        raise ValueError("not all jobs are routed")
    ours, theirs = [], []
    with closing(Peer(peer_inputs(ads))) as peer:
        for _ in range(_ROUNDS):
            ours.append(one_round(lambda: routed(whole, of), 1) / ADS)
            if peer.missing is None:
                theirs.append(peer.round("copy"))
    if not theirs:
        return Routing(median(ours), None, None, peer.missing)
    ratio = median(our / their for our, their in zip(ours, theirs, strict=True))
    return Routing(median(ours), median(theirs), ratio, None)


class Clusters(NamedTuple):
    """Seconds for a million jobs in a thousand autoclusters: a bare loop over the keys, matching, and the ratio."""

    loop: float
    matching: float
    ratio: float
    matches: int


def clusters(count: int = JOBS) -> Clusters:
    """Time the bare loop and the matching in turn; every job matches a route."""
    jobs, of = _jobs(count), table()
    matcher, context = Matcher(of), Context(now=NOW)
    names = matcher.clusters.names
    loops, matchings, found = [], [], 0
    for _ in range(_ROUNDS):
        begin = perf_counter()
        for _job, ad in jobs:
            tuple(map(ad.codes.get, names))
        middle = perf_counter()
        found = sum(1 for _ in matcher.match(jobs, RouteState(), context))
        loops.append(middle - begin)
        matchings.append(perf_counter() - middle)
    ratio = median(matching / loop for matching, loop in zip(matchings, loops, strict=True))
    return Clusters(median(loops), median(matchings), ratio, found)


def _jobs(count: int) -> list[tuple[str, ClassAd]]:
    """Return jobs of which each thousandth is alike, with the attributes that a router asks for and some more."""
    names = ("ClusterId", "ProcId", "Owner", "JobStatus", "JobUniverse", "ImageSize", "RequestCpus", "Cmd", "QDate")
    spelling = {name.lower(): name for name in names}
    sizes = [str(size) for size in range(CLUSTERS)]
    return [
        (
            f"{number // 1000}.{number % 1000}",
            ClassAd.of(
                {
                    "clusterid": str(number // 1000),
                    "procid": sizes[number % 1000],
                    "owner": '"ann"',
                    "jobstatus": "1",
                    "jobuniverse": "5",
                    "imagesize": sizes[number % CLUSTERS],
                    "requestcpus": "1",
                    "cmd": '"/bin/true"',
                    "qdate": str(NOW + number),
                },
                spelling,
            ),
        )
        for number in range(count)
    ]


class Polls(NamedTuple):
    """Median microseconds of a poll with nothing changed, of few jobs and of many, and the median ratio of both."""

    what: str
    few: float
    many: float
    ratio: float


def polls(few: int = FEW, many: int = MANY) -> list[Polls]:
    """Time polls of jobs that no route matches, and of jobs whose routes are full; few and many in turn."""
    of = table()
    full = RouteState().after({route.name: 100_000_000 for route in of.routes})
    return [
        _in_turn("match no route", RouteState(), *(_kept(of, count, universe="7") for count in (few, many))),
        _in_turn("find routes full", full, *(_kept(of, count, universe="5") for count in (few, many))),
    ]


def _kept(of: RoutingTable, count: int, universe: str) -> Candidates:
    kept, context = Candidates(Matcher(of)), Context(now=NOW)
    for job, ad in _jobs(count):
        ad.put("JobUniverse", universe)
        kept.put(job, ad, context)
    return kept


def _in_turn(what: str, route_state: RouteState, few: Candidates, many: Candidates) -> Polls:
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(_TURNS):
        for kept, found in zip((few, many), times, strict=True):
            found.append(_poll(kept, route_state))
    ratio = median(more / less for less, more in zip(*times, strict=True))
    return Polls(what, median(times[0]), median(times[1]), ratio)


def _poll(kept: Candidates, route_state: RouteState) -> float:
    context = Context(now=NOW)
    begin = perf_counter()
    for _ in range(_POLLS):
        if kept.poll(route_state, context).matches:
            raise ValueError("a job was matched")
    return (perf_counter() - begin) / _POLLS * 1e6
