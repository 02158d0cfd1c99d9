"""`crondor route explain`, `explain` and `apply`: status 0 fine, 1 a finding, 2 wrong usage."""

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest

from crondor.classad import read_ads
from tests.cli.running import PROGRAM, ROOT, SLOWEST, crondor, environment

CONFIG = """\
JOB_ROUTER_SOURCE_JOB_CONSTRAINT = WantJobRouter
JOB_ROUTER_ROUTE_NAMES = Small Large Edit
JOB_ROUTER_ROUTE_Small @=end
REQUIREMENTS RequestMemory <= 1024
GridResource = batch slurm
MaxJobs = 2
SET Queue "short"
@end
JOB_ROUTER_ROUTE_Large @=end
REQUIREMENTS RequestMemory > 4096
UNIVERSE VANILLA
@end
JOB_ROUTER_ROUTE_Edit @=end
REQUIREMENTS Raise
EditJobInPlace = true
SET JobPrio 10
DELETE Raise
@end
"""


def _ad(cluster: int, **attributes: object) -> str:
    texts = {"ClusterId": cluster, "ProcId": 0, "JobUniverse": 5, "JobStatus": 1, "Owner": '"alice"'}
    return "".join(f"{name} = {text}\n" for name, text in {**texts, "WantJobRouter": "true", **attributes}.items())


ADS = "\n".join(
    [
        _ad(1, RequestMemory=512),
        _ad(2, RequestMemory=8192),
        _ad(3, RequestMemory=2048, Raise="true"),
        _ad(4, RequestMemory=512, JobStatus=5),
        _ad(5, RequestMemory=512),
        _ad(6, RequestMemory=512),
    ]
)


@pytest.fixture
def config(tmp_path: Path) -> str:
    """Return the path of a configuration."""
    path = tmp_path / "routes.conf"
    path.write_text(CONFIG)
    return str(path)


@pytest.fixture
def ads(tmp_path: Path) -> str:
    """Return the path of a file with six jobs."""
    path = tmp_path / "jobs.ads"
    path.write_text(ADS)
    return str(path)


def test_match_prints_a_line_for_each_match(config: str, ads: str) -> None:
    """In the order of the jobs; limits count."""
    result = crondor("route", "explain", "--summary", "--config", config, ads)
    assert (result.status, result.err) == (0, "")
    rows = [line.split() for line in result.lines]
    assert rows[:-1] == [["JOB", "ROUTE"], ["1.0", "Small"], ["2.0", "Large"], ["3.0", "Edit"], ["5.0", "Small"]]
    assert result.lines[-1] == "4 of 6 jobs go to a route"


def test_match_in_the_words_of_htcondor(config: str, ads: str) -> None:
    """Those of condor_job_router_info -match-jobs -log-steps."""
    result = crondor(
        "route", "explain", "--summary", "--config", config, ads, "--format", "long", "--load", "Small=1/1"
    )
    assert result.lines[0] == "Checking for candidate jobs. routing table is:"
    assert result.lines[2] == "Small                    Small             1/      2       1/     50     none"
    assert result.lines[6].startswith("Umbrella constraint: (WantJobRouter) && ( (Raise) || (RequestMemory > 4096) || ")
    assert result.lines[7:] == [
        "Found candidate job src=1.0,route=Small",
        "Found candidate job src=2.0,route=Large",
        "Found candidate job src=3.0,route=Edit",
        "3 candidate jobs found",
    ]


def test_match_as_data(config: str, ads: str) -> None:
    """With what the routes then have."""
    data = crondor("route", "explain", "--summary", "--config", config, ads, "--format", "json").data
    assert data["matches"][0] == {"job": "1.0", "route": "Small"}
    assert (data["jobs_read"], data["is_stopped"], data["rejected"]) == (6, False, [])
    assert data["routes"][0] == {"route": "Small", "jobs": 2, "idle": 2, "limit": "full"}
    assert data["umbrella"].startswith("(WantJobRouter) && ")


def test_full_routes_end_the_search(config: str, ads: str) -> None:
    """As in the daemon, no job is looked at once nothing takes any; the line says so."""
    full = ("--load", "Small=2", "--load", "Large=100", "--load", "Edit=99/49")
    result = crondor("route", "explain", "--summary", "--config", config, ads, *full)
    assert result.lines[-1] == "1 of the first 3 jobs go to a route; then all routes are full"
    none = crondor("route", "explain", "--summary", "--config", config, ads, *full[:4], "--load", "Edit=100")
    assert none.lines == ["no route takes jobs: no job was examined"]


def test_explain_says_why_not(config: str, ads: str) -> None:
    """Requirements first, then limits, each with its figures; and what keeps a job from being a candidate."""
    result = crondor(
        "route", "explain", "--each", "--config", config, ads, "--load", "Large=60/50", "--throttled", "Edit"
    )
    assert result.status == 0
    blocks = result.out.split("job ")[1:]
    assert blocks[0].splitlines() == [
        f"1.0 ({ads}:1): goes to Small",
        "  Small  matched",
        "  Large  no match: RequestMemory > 4096: 512 > 4096",
        "  Edit   no match: Raise: undefined",
    ]
    assert "  Large  idle limit: 50 idle, MaxIdleJobs = 50" in blocks[1]
    assert "  Edit   throttled: too many failures; 1 routed in 600 s, the limit is 1" in blocks[2]
    held = "only idle jobs (JobStatus 1) are routed: JobStatus = 5 (held)"
    assert f"  not a candidate: {held}\n  Small  matched, if it were a candidate" in blocks[3]
    assert "  Small  full: 2 jobs, MaxJobs = 2" in blocks[5]


def test_explain_as_data(config: str, ads: str) -> None:
    """For programs all reasons are whole."""
    held = "only idle jobs (JobStatus 1) are routed: JobStatus = 5 (held)"
    data = crondor("route", "explain", "--each", "--config", config, ads, "--format", "json").data
    assert data["jobs"][3] == {
        "job": "4.0",
        "route": None,
        "missed": [{"clause": "idle", "reason": held}],
        "routes": [
            {"route": "Small", "outcome": "not a candidate", "reason": held},
            {"route": "Large", "outcome": "no match", "reason": "RequestMemory > 4096: 512 > 4096"},
            {"route": "Edit", "outcome": "no match", "reason": "Raise: undefined"},
        ],
    }


def test_apply_prints_the_routed_ads(config: str, ads: str) -> None:
    """Of a job that is edited in place, the job as it would be, below a comment; the ads can be read again."""
    result = crondor("route", "apply", "--config", config, ads)
    assert (result.status, result.err) == (0, "")
    copies = result.out.removesuffix("\n\n").split("\n\n")
    assert [copy.count("RoutedFromJobId") for copy in copies] == [1, 1, 0, 1]
    edited = copies[2].splitlines()
    assert edited[0] == "# 3.0 edited in place by Edit"
    assert "JobPrio = 10" in edited
    assert not any(line.startswith("Raise") for line in edited)
    assert [ad.value("ClusterId") for ad in read_ads(result.out)][2] == 3
    assert 'Queue = "short"' in copies[0].splitlines()
    assert 'GridResource = "batch slurm"' in copies[0].splitlines()


def test_apply_shows_a_difference(config: str, ads: str) -> None:
    """With edits, and without colours where nobody looks."""
    result = crondor("route", "apply", "--config", config, ads, "--diff")
    assert result.lines[0] == "@@ 1.0 -> Small @@"
    at = result.lines.index("@@ 3.0 edited in place by Edit @@")
    assert result.lines[at + 1 : at + 3] == ["+JobPrio = 10", "-Raise = true"]
    assert "\033" not in result.out


def test_apply_as_a_table_and_as_data(config: str, ads: str) -> None:
    """One line, or one object, a job."""
    rows = [line.split() for line in crondor("route", "apply", "--config", config, ads, "--format", "table").lines]
    assert rows[1][:3] + rows[1][4:] == ["1.0", "Small", "copied", "GRID", "batch", "slurm"]
    assert rows[3] == ["3.0", "Edit", "edited", "2"]
    data = crondor("route", "apply", "--config", config, ads, "--format", "json").data
    assert [each["job"] for each in data] == ["1.0", "2.0", "3.0", "5.0"]
    assert data[0]["ad"]["RouteName"] == "Small"
    assert (data[2]["ad"], data[2]["in_place"]) == (None, True)
    assert data[2]["changes"][1] == {"name": "Raise", "before": "true", "after": None}
    assert crondor("route", "apply", "--config", config, "-", "--format", "json", stdin="").data == []


def test_apply_traces(config: str, ads: str) -> None:
    """What each line of the rules does is said on stderr, with its place."""
    result = crondor("route", "apply", "--config", config, ads, "--trace")
    assert result.err.splitlines()[:2] == ["# job 1.0, route Small: Small", f'{config}:7: SET Queue to "short"']


def test_apply_takes_a_route_for_all(config: str, ads: str) -> None:
    """Whether they match or not."""
    result = crondor("route", "apply", "--config", config, ads, "--route", "large", "--format", "table")
    assert [line.split()[1] for line in result.lines[1:]] == ["Large"] * 6
    assert crondor("route", "apply", "--config", config, ads, "--route", "No").status == 2


def test_a_job_that_cannot_be_routed_is_a_finding(config: str, tmp_path: Path) -> None:
    """The others are routed."""
    path = tmp_path / "bad.ads"
    path.write_text(ADS.replace("JobUniverse = 5\n", "", 1))
    result = crondor("route", "apply", "--config", config, str(path), "--format", "table")
    assert result.status == 1
    assert [line.split()[2] for line in result.lines[1:]] == ["failed", "copied", "edited", "copied"]
    assert "no-universe" in result.err
    assert "job 1.0 could not be routed by Small" in result.err


@pytest.mark.parametrize("form", ["new", "json", "xml"])
def test_ads_of_any_form(config: str, ads: str, form: str, tmp_path: Path) -> None:
    """The kind is told by what is in the file."""
    path = tmp_path / "jobs"
    path.write_text(crondor("classad", "convert", ads, "--to", form).out)
    assert (
        crondor("route", "explain", "--summary", "--config", config, str(path)).lines[-1] == "4 of 6 jobs go to a route"
    )


def test_a_submit_file(config: str, tmp_path: Path) -> None:
    """Its jobs are taken as they would be in the queue, of the person who asks or of a named one."""
    path = tmp_path / "job"
    path.write_text("executable = /bin/true\nrequest_memory = 512MB\n+WantJobRouter = true\nqueue 2\n")
    data = crondor(
        "route", "apply", "--config", config, str(path), str(path), "--job-owner", "bob", "--format", "json"
    ).data
    assert [each["job"] for each in data] == ["1.0", "1.1"]
    assert data[0]["ad"]["Owner"] == "bob"
    assert crondor("route", "explain", "--summary", "--config", config, "-", stdin=path.read_text()).lines[
        1
    ].split() == ["1.0", "Small"]


def test_a_queue_log(tmp_path: Path) -> None:
    """Jobs over their clusters; copies among them count on their routes if that is asked for."""
    log = tmp_path / "job_queue.log"
    records = ["107 1 CreationTimestamp 1700000000", "105 "]
    for cluster in (1, 2, 3):
        records += [
            f"101 0{cluster}.-1 Job Machine",
            f'103 0{cluster}.-1 Owner "alice"',
            f"103 0{cluster}.-1 JobUniverse 5",
        ]
        records += [f"101 {cluster}.0 Job Machine", f"103 {cluster}.0 ProcId 0", f"103 {cluster}.0 ClusterId {cluster}"]
        records += [f"103 {cluster}.0 JobStatus {1 if cluster < 3 else 2}"]
    records += ['103 02.-1 RoutedBy "jobrouter"', '103 02.-1 RouteName "A"', '103 03.-1 RoutedBy "jobrouter"']
    records += ['103 03.-1 RouteName "A"', "106 "]
    log.write_text("\n".join(records) + "\n")
    conf = tmp_path / "one.conf"
    conf.write_text("JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A @=end\nREQUIREMENTS true\nMaxIdleJobs = 1\n@end\n")
    plain = crondor("route", "explain", "--summary", "--config", str(conf), str(log))
    assert plain.lines[-2].split() == ["1.0", "A"]
    counted = crondor("route", "explain", "--each", "--config", str(conf), str(log), "--count-copies")
    assert "job 1.0: no route" in counted.out
    assert "idle limit: 1 idle, MaxIdleJobs = 1" in counted.out
    assert (
        crondor("route", "explain", "--summary", "--config", str(conf), "-", stdin=log.read_text()).lines == plain.lines
    )


def test_prior_routing_can_be_ignored(config: str, tmp_path: Path) -> None:
    """As condor_job_router_info does it."""
    path = tmp_path / "managed.ads"
    path.write_text(_ad(1, RequestMemory=1, JobStatus=2, Managed='"External"'))
    assert (
        crondor("route", "explain", "--summary", "--config", config, str(path)).lines[-1]
        == "0 of 1 job goes to a route"
    )
    ignoring = crondor("route", "explain", "--summary", "--config", config, str(path), "--ignore-prior-routing")
    assert ignoring.lines[-1] == "1 of 1 job goes to a route"


def test_an_ad_without_ids_is_left_out(config: str, tmp_path: Path) -> None:
    """It is reported, and the others are looked at."""
    path = tmp_path / "some.ads"
    path.write_text(f'Owner = "x"\n\n{_ad(7, RequestMemory=1)}')
    result = crondor("route", "explain", "--summary", "--config", config, str(path))
    assert (result.status, result.lines[1].split()) == (1, ["7.0", "Small"])
    assert f"{path}:1: an ad without ClusterId or ProcId is skipped" in result.err


def test_a_bad_line_is_reported_and_the_rest_read(config: str, tmp_path: Path) -> None:
    """With its place."""
    path = tmp_path / "bad.ads"
    path.write_text(f"{_ad(1, RequestMemory=1)}Broken = (1 +\n\n{_ad(7, RequestMemory=1)}")
    result = crondor("route", "explain", "--summary", "--config", config, str(path))
    assert result.status == 1
    assert "7.0" in result.out
    assert f"{path}:8:14: error" in result.err


def test_routing_that_is_switched_off_is_a_finding(ads: str, tmp_path: Path) -> None:
    """No job is matched then."""
    path = tmp_path / "off.conf"
    path.write_text(CONFIG + "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = Missing\n")
    result = crondor("route", "explain", "--summary", "--config", str(path), ads)
    assert (result.status, result.lines) == (1, ["no route takes jobs: no job was examined"])
    assert "JobRouter is disabled." in result.err


def test_a_rejected_route_is_named(ads: str, tmp_path: Path) -> None:
    """The others take jobs."""
    path = tmp_path / "rejected.conf"
    path.write_text(CONFIG.replace("NAMES = Small", "NAMES = Small Gone"))
    result = crondor("route", "explain", "--summary", "--config", str(path), ads)
    assert result.status == 0
    assert result.err.startswith("rejected: Gone: route 'Gone' from JOB_ROUTER_ROUTE_NAMES not found")
    assert result.err.endswith("; see crondor route check\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain",),
        ("explain", "--config", "CONFIG"),
        ("explain", "--config", "CONFIG", "no-such-file"),
        ("explain", "--config", "CONFIG", "docs"),
        ("explain", "--config", "-", "-"),
        ("explain", "--config", "CONFIG", "ADS", "--load", "Small"),
        ("explain", "--config", "CONFIG", "ADS", "--load", "Small=1/2"),
        ("explain", "--config", "CONFIG", "ADS", "--load", "No=1"),
        ("explain", "--config", "CONFIG", "ADS", "--throttled", "No"),
        ("explain", "--config", "CONFIG", "ADS", "--each", "--format", "long"),
        ("apply", "--config", "CONFIG", "ADS", "--now", "nonsense words"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], config: str, ads: str) -> None:
    """Status 2, with a word of help."""
    given = [{"CONFIG": config, "ADS": ads}.get(each, each) for each in arguments]
    result = crondor("route", *given)
    assert result.status == 2
    assert result.err


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no /dev/zero here")  # noqa: PTH110
def test_a_file_without_end_is_refused(config: str) -> None:
    """At once: a device is no file."""
    result = crondor("route", "explain", "--summary", "--config", config, "/dev/zero")
    assert (result.status, result.err) == (2, "Error: cannot read '/dev/zero': it is not a plain file\n")


def test_a_closed_pipe_is_quiet(config: str, tmp_path: Path) -> None:
    """Whoever has seen enough ends it."""
    path = tmp_path / "many.ads"
    path.write_text("\n".join(_ad(n, RequestMemory=8192) for n in range(1, 3001)))
    command = [*PROGRAM, "route", "apply", "--config", config, str(path), "--load", "Small=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(SLOWEST)


def test_the_recorded_configurations_run(tmp_path: Path) -> None:
    """Each of some recorded configurations matches on the command line what HTCondor matched."""
    with gzip.open(ROOT / "tests" / "golden" / "routes" / "routes.jsonl.gz", "rt") as file:
        lines = [json.loads(line) for line in file][::17]
    for number, line in enumerate(lines):
        conf, jobs = tmp_path / f"{number}.conf", tmp_path / f"{number}.ads"
        conf.write_text(line["config"])
        jobs.write_text("\n".join(line["jobs"]))
        ignoring = ["--ignore-prior-routing"] if line["options"] else []
        result = crondor(
            "route", "explain", "--summary", "--config", str(conf), str(jobs), "--format", "json", *ignoring
        )
        assert result.data["matches"] == line["matches"], (line["name"], os.linesep, result.err)


def test_a_route_that_takes_everything_is_named(ads: str, tmp_path: Path) -> None:
    """REQUIREMENTS with an = is a macro: the route has none, and explain shows why it takes every candidate."""
    path = tmp_path / "trap.conf"
    path.write_text(CONFIG.replace("REQUIREMENTS RequestMemory <= 1024", "REQUIREMENTS = RequestMemory <= 1024"))
    result = crondor("route", "explain", "--each", "--config", str(path), ads)
    assert result.lines[5] == "  Small  matched (without REQUIREMENTS every candidate matches)"
    assert "  Small  matched, if it were a candidate (without REQUIREMENTS every candidate matches)" in result.lines


def test_no_routed_ad_is_no_silence(config: str) -> None:
    """Jobs that no route takes leave stdout empty; stderr says what explains them."""
    none = crondor("route", "apply", "--config", config, "-", stdin=_ad(1, RequestMemory=2048))
    assert (none.status, none.out, none.err) == (0, "", "no job is routed; crondor route explain says why\n")
    edited = crondor("route", "apply", "--config", config, "-", stdin=_ad(1, RequestMemory=2048, Raise="true"))
    assert "no job is routed" not in edited.err
    assert crondor("route", "apply", "--config", config, "-", stdin="").err == ""
