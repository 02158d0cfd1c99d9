"""What a route makes of a job: the conversion of the copy, the transforms in a row, editing in place, failures."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import ClassAd, Context, read_ads
from crondor.diagnostics import Severity
from crondor.router import RoutingTable
from crondor.router.applying import RoutedAd, apply_route
from crondor.router.match.matcher import Matcher, RouteState
from crondor.router.match.reasons import Candidates
from crondor.router.table.route import DELETED, RESET, EndlessRemaps, remapped
from crondor.transform import TransformFacts
from tests.router.tables import job, table_of

NOW = 1_700_000_000
_ANY = "JOB_ROUTER_SOURCE_JOB_CONSTRAINT = true\n"


def _routed(commands: str, ad: ClassAd, config: str = "", **how: object) -> RoutedAd:
    table = table_of({"A": commands}, _ANY + config)
    return apply_route(table, table.routes[0], ad, **how)  # type: ignore[arg-type]  # the keywords of apply_route


def _texts(ad: ClassAd | None) -> dict[str, str]:
    assert ad is not None
    return {name: ad.text(name) for name in ad}


def test_the_copy_begins_anew() -> None:
    """What belongs to the job alone is gone, counters are at their beginning, and the old universe is kept."""
    ad = job(**dict.fromkeys((*DELETED, *(name for name, _ in RESET)), "7"), CurrentHosts="1", Keep="A + 1")
    routed = _routed("UNIVERSE VANILLA", ad)
    assert _texts(routed.ad) == {
        "CurrentHosts": "1",
        "JobUniverse": "5",
        "Keep": "A + 1",
        "Owner": '"alice"',
        "Remote_JobUniverse": "5",
        "RouteName": '"A"',
        "RoutedBy": '"jobrouter"',
        "RoutedFromJobId": '"7.7"',
        **dict(RESET),
    }
    assert ad.text("QDate") == "7"


def test_a_grid_copy_has_its_resource() -> None:
    """Only a copy for the grid loses CurrentHosts and gets a GridResource, empty where the route has none."""
    grid = _texts(_routed('GridResource = "batch slurm"', job(CurrentHosts="1")).ad)
    assert (grid["GridResource"], grid["JobUniverse"]) == ('"batch slurm"', "9")
    assert "CurrentHosts" not in grid
    assert _texts(_routed("SET B 1", job(GridResource='"mine"')).ad)["GridResource"] == '""'


def test_transforms_share_their_macros() -> None:
    """What one defines, those after it see; those whose REQUIREMENTS are not met as the ad then is are left out."""
    config = (
        "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = First Second\n"
        "JOB_ROUTER_TRANSFORM_First @=end\nvia = first\nSET Stage 1\n@end\n"
        "JOB_ROUTER_TRANSFORM_Second @=end\nREQUIREMENTS Stage == 2\nvia = second\n@end\n"
        "JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = Last\n"
        "JOB_ROUTER_TRANSFORM_Last @=end\nREQUIREMENTS Stage == 3\n"
        'SET Via "$(via) $(route)"\nSET RouteName "fake"\n@end'
    )
    routed = _routed("REQUIREMENTS Stage == 7\nroute = A\nSET Stage 3", job(), config)
    assert routed.applied == ("First", "A", "Last")
    texts = _texts(routed.ad)
    assert (texts["Via"], texts["RouteName"], texts["RoutedBy"]) == ('"first A"', '"A"', '"jobrouter"')


def test_a_route_converted_from_a_classad_has_no_transforms_around_it() -> None:
    """takes_transforms is false for the entries of JOB_ROUTER_ENTRIES."""
    config = "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = T\nJOB_ROUTER_TRANSFORM_T = SET Early 1"
    table = table_of({"A": "SET B 1"}, _ANY + config)
    route = table.routes[0]
    assert apply_route(table, route, job()).applied == ("T", "A")
    legacy = route.__class__(**{**route.__dict__, "takes_transforms": False})
    assert apply_route(table, legacy, job()).applied == ("A",)


def test_the_first_transform_that_fails_ends_it() -> None:
    """The failure names the transform; HTCondor calls those after the route pre-route too."""
    config = (
        "JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = T U\nJOB_ROUTER_TRANSFORM_T = FROB x\nJOB_ROUTER_TRANSFORM_U = SET A 1"
    )
    routed = _routed("SET B (1", job(), config)
    assert routed.failed
    assert list(routed.changes) == []
    assert [each.severity for each in routed.diagnostics] == [Severity.WARNING, Severity.ERROR]
    assert routed.diagnostics[1].message == (
        "JobRouter failure in post-route transform T: FROB is not a valid transform keyword"
    )
    assert routed.diagnostics[1].span is not None
    faithful = _routed("SET B 1", job(), config, faithful=True)
    assert faithful.diagnostics[0].message.startswith("JobRouter failure in pre-route transform T: FROB")


def test_a_job_without_universe_fails_alone() -> None:
    """HTCondor's daemon ends there, and at each start again; here it is this job's fault."""
    ad = job()
    del ad["JobUniverse"]
    routed = _routed("SET B 1", ad)
    assert routed.failed
    assert [each.kind for each in routed.diagnostics] == ["no-universe"]
    assert not _routed("SET B 1\nEditJobInPlace = true", ad).failed


@pytest.mark.parametrize(
    ("commands", "attributes", "code"),
    [
        ("SET B 1", {"Owner": "undefined"}, "no-owner"),
        ("SET B 1", {"ProcId": "undefined"}, "no-job-id"),
        ("UseSharedX509UserProxy = true\nJobShouldBeSandboxed = true", {}, "shared-proxy"),
        ('UseSharedX509UserProxy = true\nSharedX509UserProxy = "/p"', {}, "shared-proxy"),
        ("SendIDTokens = 5", {}, "id-tokens"),
        ('SendIDTokens = "nope"', {}, "id-tokens"),
    ],
)
def test_other_failures(commands: str, attributes: dict[str, str], code: str) -> None:
    """What the router refuses after the transforms is said by a code of its own."""
    routed = _routed(commands, job(**attributes))
    assert routed.failed
    assert [each.kind for each in routed.diagnostics] == [code]


def test_sandbox_proxy_and_tokens_are_data() -> None:
    """Nothing is copied or spooled: what would be is said."""
    commands = (
        'JobShouldBeSandboxed = Cloud\nUseSharedX509UserProxy = Owner == "alice"\n'
        'SharedX509UserProxy = strcat("/proxies/", Owner)\nSendIDTokens = "a, b"\nSET B 1'
    )
    tokens = {"a": "/tokens/a", "b": "/tokens/b", "c": "/tokens/c"}
    routed = _routed(commands, job(Cloud="1", TransferInput='"x, y"'), id_tokens=tokens)
    assert (routed.sandboxed, routed.id_tokens) == (True, ("a", "b"))
    assert routed.input_files == ("/tokens/a", "/tokens/b", "x", "y")
    assert routed.proxy is not None
    assert (routed.proxy.file, routed.proxy.copy) == ("/proxies/alice", "/proxies/alice.1.0")
    texts = _texts(routed.ad)
    assert texts["x509userproxy"] == '"/proxies/alice.1.0"'
    assert texts["TransferInput"] == '"/tokens/a,/tokens/b,x, y"'
    assert texts["JobStatus"] == "1"
    plain = _routed(commands.replace("UseShared", "NoShared"), job(), id_tokens=tokens)
    assert (plain.sandboxed, plain.input_files, plain.proxy) == (False, (), None)


def test_the_global_tokens_are_sent_where_the_route_says_nothing() -> None:
    """SendIDTokens of undefined sends none."""
    config = "JOB_ROUTER_SEND_ROUTE_IDTOKENS = a"
    assert _routed("SET B 1", job(), config, id_tokens={"a": "/t"}).id_tokens == ("a",)
    assert _routed("SendIDTokens = undefined\nSET B 1", job(), config, id_tokens={"a": "/t"}).id_tokens == ()


def test_a_hook_translates_the_job() -> None:
    """What the hook made is converted and transformed; the ids, and the expressions of the route, are the job's."""
    translated = ClassAd.of_texts({"JobUniverse": "12", "Seen": "1"})
    routed = _routed("JobShouldBeSandboxed = Mine\nUNIVERSE 5\nSET B Seen", job(Mine="true"), translated=translated)
    texts = _texts(routed.ad)
    assert (texts["Remote_JobUniverse"], texts["Seen"], texts["RoutedFromJobId"]) == ("12", "1", '"1.0"')
    assert routed.sandboxed


def test_a_chained_job_is_copied_whole() -> None:
    """The copy has the cluster's attributes itself, and what the proc makes undefined."""
    cluster = job(Common="5", Hidden="6")
    cluster.prune("ProcId")
    proc = ClassAd.of_texts({"ProcId": "3", "Hidden": "undefined"}).chain(cluster)
    routed = _routed("SET B 1", proc)
    texts = _texts(routed.ad)
    assert (texts["Common"], texts["Hidden"], texts["RoutedFromJobId"]) == ("5", "undefined", '"1.3"')
    assert routed.ad is not None
    assert routed.ad.parent is None
    assert list(cluster) == ["ClusterId", "JobUniverse", "JobStatus", "Owner", "Common", "Hidden"]


def test_the_trace_has_the_steps_of_all_transforms() -> None:
    """Empty unless it is asked for."""
    config = "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = T\nJOB_ROUTER_TRANSFORM_T = SET Early 1"
    assert [step.text for step in _routed("SET B 1", job(), config, trace=True).trace] == [
        "SET Early to 1",
        "SET B to 1",
    ]
    assert _routed("SET B 1", job(), config).trace == ()


def _edit(table: RoutingTable, ad: ClassAd, now: int, kept: Candidates) -> bool:
    """Poll once at a time; where the job is edited, put it back as it then is."""
    context = Context(now=now)
    kept.put("1.0", ad, context)
    found = kept.poll(RouteState(), context).matches
    for match in found:
        routed = apply_route(table, match.route, ad, facts=TransformFacts(context=context))
        assert routed.in_place is not None
        for change in routed.in_place:
            ad.prune(change.name) if change.after is None else ad.set_text(change.name, change.after)
    return bool(found)


def test_a_job_is_edited_once_only() -> None:
    """An attribute that the edit sets keeps the job from matching again."""
    table = table_of(
        {"Once": "REQUIREMENTS EditedOnce is undefined\nEditJobInPlace = true\nSET EditedOnce true\nSET JobPrio 5"}
    )
    ad, kept = job(JobPrio="0", QDate="1"), Candidates(Matcher(table))
    assert [_edit(table, ad, NOW + each, kept) for each in (0, 10, 1000)] == [True, False, False]
    assert _texts(ad) == {**_texts(job(JobPrio="0", QDate="1")), "JobPrio": "5", "EditedOnce": "true"}


def test_a_job_is_edited_again_after_a_while() -> None:
    """A timestamp that is undefined or older than an hour lets it match; the clock alone makes it a candidate again."""
    commands = (
        "REQUIREMENTS LastEdit is undefined || time() - LastEdit >= 3600\nEditJobInPlace = true\n"
        "EVALSET LastEdit time()\nEVALSET JobPrio JobPrio + 1"
    )
    table = table_of({"Hourly": commands})
    ad, kept = job(JobPrio="0"), Candidates(Matcher(table))
    times = (0, 10, 3590, 3600, 3610, 7200, 7210)
    assert [_edit(table, ad, NOW + each, kept) for each in times] == [True, False, False, True, False, True, False]
    assert (ad.value("JobPrio"), ad.value("LastEdit")) == (3, NOW + 7200)


def test_editing_in_place_is_a_difference() -> None:
    """What is deleted is said as such, and nothing is converted."""
    ad = job(Old="1", QDate="7")
    routed = _routed('EditJobInPlace = Old\nDELETE Old\nSET Owner "alice"\nSET New 2', ad)
    assert routed.in_place is not None
    assert [tuple(change) for change in routed.in_place] == [("New", None, "2"), ("Old", "1", None)]
    assert routed.ad is None
    assert ad.text("Old") == "1"


@pytest.mark.parametrize(
    ("rules", "name", "expected"),
    [
        ("out=/data/o", "out", "/data/o"),
        ("out=/data/o", "other", None),
        (" out = a b ; err=c", "out", "a b"),
        ("out=a;out=b", "out", "a"),
        ("out=mid;mid=end", "out", "end"),
        ("d=e", "d/f/g", "e/f/g"),
        ("d=e;e=h", "d/f", "h/f"),
        (r"a\=b=c\;d", "a=b", "c;d"),
        ("junk;out=x", "out", "x"),
        ("out", "out", None),
        ("out=", "out", ""),
        ("", "out", None),
        ("o\tut=a\nb", "out", "ab"),
    ],
)
def test_remaps(rules: str, name: str, expected: str | None) -> None:
    """A rule leads on to others, and moves what is below a folder."""
    assert remapped(rules, name) == expected


def test_remaps_without_end() -> None:
    """A circle ends, and the copy keeps the name."""
    with pytest.raises(EndlessRemaps):
        remapped("a=b;b=a", "a")
    routed = _routed('GridResource = "batch"\nSET B 1', job(Out='"a"', Err='"e"', TransferOutputRemaps='"a=b;b=a;e=f"'))
    texts = _texts(routed.ad)
    assert (texts["Out"], texts["Err"]) == ('"a"', '"f"')
    assert "TransferOutputRemaps" not in texts
    assert [each.kind for each in routed.diagnostics] == ["endless-remaps"]


@given(st.text("ab=;\\/ \t", max_size=30), st.text("ab/", max_size=6))
def test_remaps_of_any_text_end(rules: str, name: str) -> None:
    """No rules hang."""
    with suppress(EndlessRemaps):
        remapped(rules, name)


def test_jobs_that_share_their_names_are_copied_alike() -> None:
    """Whether their names are one mapping, as those of one text are, or each has its own; spellings and order too."""
    table = table_of({"A": 'GridResource = "batch"\nSET B 1'}, _ANY)
    text = 'clusterid = 1\nProcId = 0\nJobUniverse = 5\nOwner = "x"\nJOBSTATUS = 1\nCurrentHosts = 1\n'
    text += 'RoutedToJobId = "2.0"\n'
    shared = list(read_ads("\n".join([text] * 3)))
    own = [ClassAd.of_texts({name: ad.text(name) for name in ad}) for ad in shared]
    made = [apply_route(table, table.routes[0], ad).ad for ad in (*shared, *own)]
    assert all(ad is not None and list(ad) == list(made[0] or ()) and ad == made[0] for ad in made)
    assert list(made[0] or ())[:3] == ["JobUniverse", "Owner", "JOBSTATUS"]
    assert "RoutedToJobId" not in (made[0] or ())
    assert [next(iter(ad)) for ad in (*shared, *own)] == ["clusterid"] * 6
