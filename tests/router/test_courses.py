"""What is worked out once for all jobs with the same names comes to the same as going step by step."""

from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import ClassAd, Context, Format, read_ads, write_ads
from crondor.router import RoutedAd, RoutingTable, apply_route
from crondor.transform import TransformFacts
from tests.router.tables import table_of

_TABLE = table_of(
    {
        "Grid": "REQUIREMENTS true\nGridResource = batch slurm\nEVALSET Twice RequestCpus * 2\nDELETE Color",
        "Here": 'UNIVERSE VANILLA\nCOPY Color Colour\nlane = long\nSET Lane "$(lane)-$(MY.Owner)"\nSET S $(n)',
        "Asked": "SET RoutedBy 1\nRENAME Color routedtojobid\nDELETE /^Request/",
        "Fails": "EVALMACRO v Color\nif $(v)\nSET Yes 1\nendif",
        "Breaks": "SET Color $(MY.Color)x",
        "NoOwner": "DELETE Owner",
    },
    """JOB_ROUTER_SOURCE_JOB_CONSTRAINT = true
JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = First Some
JOB_ROUTER_TRANSFORM_First @=end
n = 7
EVALMACRO p ProcId
SET Part $(p)-$(n)
@end
JOB_ROUTER_TRANSFORM_Some @=end
REQUIREMENTS RequestCpus > 1
SET Many true
@end
JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = Last
JOB_ROUTER_TRANSFORM_Last @=end
REQUIREMENTS Many
SET n "$(n)"
@end
""",
)
_VALUES = {
    "ClusterId": ["1", "22", "undefined", '"x"'],
    "ProcId": ["0", "3", "1 + 1"],
    "Owner": ['"ann"', '"b\\"c"', 'strcat("a", "b")', "undefined"],
    "JobUniverse": ["5", "9"],
    "color": ["1", "true", '"red"', "RequestCpus", "error"],
    "RequestCpus": ["1", "2", "Color"],
    "RouteName": ['"old"'],
    "RoutedToJobId": ['"9.9"'],
    "TransferOutputRemaps": ['"out = other"'],
    "CurrentHosts": ["0"],
    "Out": ['"out"'],
}
_ADS = st.lists(st.tuples(*(st.sampled_from([None, *texts]) for texts in _VALUES.values())), min_size=1, max_size=6)


def _shown(routed: RoutedAd) -> object:
    ad = None if routed.ad is None else (list(routed.ad), "".join(write_ads([routed.ad], Format.LONG)))
    return ad, routed.applied, [str(each) for each in routed.diagnostics], routed.failed


@given(_ADS, st.sampled_from(_TABLE.routes))
def test_a_plan_changes_nothing(values: list[tuple[str | None, ...]], route: object) -> None:
    """Each job comes out as it does step by step, whatever jobs there were before; it stays as it was itself."""
    table = RoutingTable(_TABLE.routes, _TABLE.before, _TABLE.after, _TABLE.settings)
    taken = table.route(getattr(route, "name", ""))
    assert taken is not None
    texts = "\n".join(
        "".join(f"{name} = {text}\n" for name, text in zip(_VALUES, each, strict=True) if text is not None)
        for each in values
        for _ in range(8)
    )
    facts = TransformFacts(context=Context(now=1))
    for ad in read_ads(texts, Format.LONG):
        before = ad.copy()
        planned = apply_route(table, taken, ad, facts=facts)
        assert list(ad) == list(before)
        assert ad == before
        assert _shown(planned) == _shown(apply_route(table, taken, before, facts=facts, trace=True))


def test_jobs_with_the_same_names_go_by_a_plan() -> None:
    """The plan is made when names come for the second time, and not for a job that is chained to its cluster's ad."""
    ads = list(read_ads('ClusterId = 1\nProcId = 0\nJobUniverse = 5\nOwner = "ann"\nColor = 2\n\n' * 3, Format.LONG))
    course = _TABLE.course(_TABLE.routes[0])
    made = [course.run(ad, TransformFacts()) for ad in ads * 3]
    assert [each is not None for each in made[-3:]] == [True] * 3
    assert made[-1] is not None
    assert made[-1][0].text("RoutedFromJobId") == '"1.0"'
    assert course.run(ClassAd().chain(ads[0]), TransformFacts()) is None
