"""`crondor route q`, `history` and `rm`: what HTCondor's router tools do, with all their options honoured."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from crondor.classad.ad import ClassAd
from crondor.schedd.embedded import EmbeddedSchedd
from crondor_cli.kit.configs import two_dashes
from tests.cli.running import NOW, NOW_EPOCH, Result, crondor
from tests.schedd.conftest import StandIn

ROUTED = (
    ("Alpha", 1, 'GridResource = "batch slurm, long"'),
    ("Alpha", 2, ""),
    ("Beta", 5, ""),
    ("Beta", 7, ""),
    (None, 1, ""),
)
Tool = Callable[..., Result]


def _text(jobs: tuple[tuple[str | None, int, str], ...] = ROUTED) -> str:
    ads = []
    for cluster, (route, status, more) in enumerate(jobs, start=1):
        name = "" if route is None else f'RouteName = "{route}"\nRoutedFromJobId = "90.{cluster}"\n'
        ads.append(
            f"ClusterId = {cluster}\nProcId = 0\nJobStatus = {status}\nJobUniverse = 5\n"
            f'Owner = "alice"\nCmd = "/bin/date"\nQDate = {NOW_EPOCH - 60}\n{name}{more}\n'
        )
    return "\n".join(ads)


def q(*arguments: str, ads: str | None = None) -> Result:
    """Ask about the routed jobs of a text of ads."""
    return crondor("route", "q", "--ads", "-", "--now", NOW, *arguments, stdin=_text() if ads is None else ads)


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    """Return a function that runs a tool on an embedded queue with the routed jobs, and one that is not routed."""
    folder = tmp_path / "queue"
    with EmbeddedSchedd(folder, clock=lambda: NOW_EPOCH - 60) as schedd:
        for route, status, _ in ROUTED:
            ad = ClassAd({"Owner": "alice", "Cmd": "/bin/date", "JobStatus": status})
            if route is not None:
                ad["RouteName"] = route
            schedd.submit([ad])

    def run(name: str, *arguments: str) -> Result:
        return crondor("route", name, "--queue", str(folder), "--now", NOW, *arguments)

    return run


def _ids(result: Result) -> list[str]:
    return [job["job"] for job in result.jobs]


def test_the_summary_counts_by_route_state_and_resource() -> None:
    """A GridResource with a comma stays whole, and a suspended job has a letter."""
    assert q("-S").lines == [
        "   JOBS ST Route                GridResource",
        "      1  R Alpha                ",
        "      1  I Alpha                batch slurm, long",
        "      1  H Beta                 ",
        "      1  S Beta                 ",
    ]
    assert [line.split()[1] for line in q("-I").lines[1:]] == ["I", "H", "S"]
    assert [line.split()[1] for line in q("-R").lines[1:]] == ["R"]
    assert [line.split()[1] for line in q("-H").lines[1:]] == ["H"]
    row = q("-S", "-route", "Alpha", "-idle", "--format", "json").data["summary"]
    assert row == [{"jobs": 1, "state": "I", "route": "Alpha", "grid_resource": "batch slurm, long"}]


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        ((), ["1.0", "2.0", "3.0", "4.0"]),
        (("-idle",), ["1.0"]),
        (("--held",), ["3.0"]),
        (("-route", "beta"), ["3.0", "4.0"]),
        (("-site", "Alpha", "--route", "Beta"), ["1.0", "2.0", "3.0", "4.0"]),
        (("-route", "Alpha", "-idle", "-constraint", "ClusterId > 1"), []),
        (("-constraint", "ClusterId > 1", "--constraint=ClusterId < 4"), ["2.0", "3.0"]),
        (("-constraint", "true // all"), ["1.0", "2.0", "3.0", "4.0"]),
        (("2", "3.0"), ["2.0", "3.0"]),
        (("alice",), ["1.0", "2.0", "3.0", "4.0"]),
        (("-route", 'A"lpha'), []),
    ],
)
def test_all_options_hold_at_once(arguments: tuple[str, ...], ids: list[str]) -> None:
    """In both spellings, and never for a job that is not routed."""
    assert _ids(q(*arguments, "--format", "json")) == ids


def test_lists_and_values() -> None:
    """By batch, by job, as ads, and some attributes of each."""
    assert q().lines[3:5] == [
        "OWNER    BATCH_NAME    SUBMITTED   DONE   RUN    IDLE   HOLD  TOTAL JOB_IDS",
        "alice    ID: 1       11/20 18:26      _      _      1      _      _ 1.0",
    ]
    nobatch = q("-nobatch")
    assert nobatch.lines[4] == "   1.0   alice          11/20 18:26   0+00:00:00 I  0      ? date"
    assert nobatch.lines[-3:] == [
        "Total for query: 4 jobs; 0 completed, 0 removed, 1 idle, 1 running, 1 held, 1 suspended ",
        "Total for all users: 5 jobs; 0 completed, 0 removed, 2 idle, 1 running, 1 held, 1 suspended",
        "",
    ]
    assert q("-af:jl", "RouteName", "Nothing", "-idle").lines == ["1.0 RouteName = Alpha Nothing = undefined"]
    assert q("-held", "-af:r,", "RouteName", "JobStatus").lines == ['"Beta", 5']
    assert q("-long", "-held").out.count("ClusterId = 3\n") == 1


def test_a_batch_joins_jobs_of_one_name() -> None:
    """JobBatchName and owner make a batch; else the cluster does."""
    more = 'JobBatchName = "night"\nTotalSubmitProcs = 2'
    text = _text((("A", 1, more), ("A", 2, more), ("A", 6, "")))
    assert [line.split() for line in q(ads=text).lines[4:6]] == [
        ["alice", "night", "11/20", "18:26", "_", "1", "1", "4", "1.0", "...", "2.0"],
        ["alice", "ID:", "3", "11/20", "18:26", "_", "1", "_", "_", "3.0"],
    ]


def test_a_job_that_is_not_routed_is_named() -> None:
    """It is in the queue, and still no answer to the question."""
    result = q("5.0", "2.0", "77", "-S")
    assert (result.status, len(result.lines)) == (1, 2)
    assert result.err.count("unknown-job") == 2


def test_an_empty_queue(tmp_path: Path) -> None:
    """There is nothing to say, and that is fine; a queue that is not there is said."""
    assert q("-S", ads="").lines == ["   JOBS ST Route                GridResource"]
    assert q(ads="").lines[-2].startswith("Total for all users: 0 jobs;")
    result = crondor("route", "q", "-S", "--queue", str(tmp_path / "none"))
    assert (result.status, "no queue yet" in result.err) == (0, True)
    gone = crondor("route", "rm", "-all", "--queue", str(tmp_path / "none"))
    assert (gone.status, "no queue yet" in gone.err) == (1, True)
    assert not (tmp_path / "none").exists()


HOSTILE = """\
ClusterId = 1
ProcId = 0
RouteName = "a\\n\\tb\x1b[31m"
JobStatus = 1e300
Owner = 5
QDate = 99999999999999999
ShadowBday = -1
RemoteWallClockTime = real("inf")
ImageSize = "big"
MemoryUsage = MemoryUsage
JobPrio = 1/0
Cmd = "/x/\x1b]0;t"
Arguments = "one\\ntwo"

ClusterId = "x"
RouteName = 7
JobStatus = (((
"""


@pytest.mark.parametrize("arguments", [("-S",), ("-nobatch",), (), ("--format", "json"), ("-af:jl", "RouteName")])
def test_hostile_ads_are_shown_as_text(arguments: tuple[str, ...]) -> None:
    """No value of an ad breaks a line, moves the cursor or ends in a traceback."""
    result = q(*arguments, ads=HOSTILE)
    assert result.status in (0, 1)
    assert "\x1b" not in result.out + result.err
    assert "Traceback" not in result.err
    assert "b" in result.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("q", "-constraint", "x) || (true"), "--constraint:1"),
        (("q", "-af:z", "A"), "does not know the option"),
        (("q", "-af"), "needs attributes"),
        (("q", "-frobnicate"), "No such option"),
        (("rm",), "select jobs"),
        (("rm", "-constraint", "x) || (true"), "--constraint:1"),
        (("rm", "1.x"), "not a job number"),
        (("history", "--days", "nan"), "number of days"),
        (("history", "--age", "-1"), "number of days"),
        (("history", "--start", "yesterday"), "YYYY-MM-DD"),
        (("history", "--start", "2030-01-01 00:00"), "later than the end"),
        (("history", "--spool", "a", "--history", "b"), "choose one"),
        (("history", "--spool", "/nowhere/at/all"), "cannot read"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    """Status 2, and what to write instead; a constraint cannot get out of its parentheses."""
    result = crondor("route", *arguments, "--now", NOW, env={"CRONDOR_QUEUE": str(tmp_path)})
    assert result.status == 2
    assert said in result.err


def test_a_value_is_no_option() -> None:
    """One dash or two, and what follows an option that takes a value stays as it is."""
    takes = {"--constraint": True, "--idle": False, "-S": False}
    assert [*two_dashes(["-constraint", "-idle", "-idle", "-S", "--", "-idle"], takes)] == [
        "--constraint", "-idle", "--idle", "-S", "--", "-idle",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "gone"),
    [
        (("-route", "Beta", "-held"), ["3.0"]),
        (("-idle", "-route", "Alpha", "-constraint", "true"), ["1.0"]),
        (("-constraint", "ClusterId != 2", "-route", "Alpha"), ["1.0"]),
        (("-all",), ["1.0", "2.0", "3.0", "4.0"]),
    ],
)
def test_rm_honours_every_option(tool: Tool, arguments: tuple[str, ...], gone: list[str]) -> None:
    """condor_router_rm looks at the first alone."""
    before = _ids(tool("q", "--format", "json"))
    result = tool("rm", *arguments)
    assert result.status == 0
    assert result.lines[0].endswith("have been marked for removal")
    assert [each for each in before if each not in _ids(tool("q", "--format", "json"))] == gone
    assert tool("q").lines[-2].startswith(f"Total for all users: {len(ROUTED) - len(gone)} jobs;")


def test_rm_says_what_it_did_not_do(tool: Tool) -> None:
    """A job that is not routed stays, is named, and the exit status says so."""
    result = tool("rm", "5.0", "3.0", "--format", "json")
    assert result.status == 1
    assert (result.data["done"], [each["code"] for each in result.data["diagnostics"]]) == (1, ["unknown-job"])
    assert "5.0" in result.err
    nobody = tool("rm", "-route", "Gamma")
    assert (nobody.status, nobody.out) == (1, "0 jobs removed\n")
    assert "no routed job selected" in nobody.err


def test_history_of_the_embedded_queue(tool: Tool) -> None:
    """Removed jobs count as aborted; condor_router_history counts none of them."""
    tool("rm", "-route", "Alpha")
    site = tool("history", "--format", "json").data["routes"]
    assert site == [{"route": "Alpha", "completed": 0, "aborted": 2, "completed_seconds": 0}]
    assert tool("history", "-records").lines[2:] == [
        "JobID Status Site Runtime ", "1.0 X Alpha 0 ", "2.0 X Alpha 0 ",
    ]  # fmt: skip
    assert tool("history", "--as-htcondor").lines[-1].split() == ["TOTAL", "0", "0", "0"]


def _record(cluster: int, route: str, status: int, completed: int, hours: float = 0) -> str:
    return (
        f'ClusterId = {cluster}\nProcId = 0\nRouteName = "{route}"\nJobStatus = {status}\nSUBMIT_Iwd = "/home/x"\n'
        f"CompletionDate = {completed}\nEnteredCurrentStatus = {NOW_EPOCH - 5}\nRemoteWallClockTime = {hours * 3600}\n"
        f"*** Offset = 0 ClusterId = {cluster}\n"
    )


def test_history_of_a_spool(tmp_path: Path) -> None:
    """Rotated files come first, the newest ad of a job counts, and a route without a completed job has its row."""
    (tmp_path / "history.20261101T000000").write_text(_record(1, "A", 3, 0) + _record(2, "B", 4, NOW_EPOCH, 2.6))
    (tmp_path / "history").write_text(_record(1, "A", 4, NOW_EPOCH, 1) + _record(3, "C", 3, 0) + _record(4, "D", 3, 0))
    (tmp_path / "history.d").mkdir()
    result = crondor("route", "history", "--spool", str(tmp_path), "--now", NOW)
    assert result.lines[5:] == [
        "B                   3       1     0",
        "A                   1       1     0",
        "C                   0       0     1",
        "D                   0       0     1",
        "-" * 55,
        "TOTAL               4       2     2",
    ]
    beside = crondor("route", "history", "--log", str(tmp_path / "job_queue.log"), "--now", NOW)
    assert beside.out == result.out
    iwd = crondor("route", "history", "--spool", str(tmp_path), "--now", NOW, "--show_records", "--show_iwd")
    assert iwd.lines[3] == "1.0 C A 3600 /home/x "


@pytest.mark.parametrize(
    ("arguments", "period"),
    [
        ((), "2026-11-19 18:27 to 2026-11-20 18:27"),
        (("--days=2", "--age", "1"), "2026-11-17 18:27 to 2026-11-19 18:27"),
        (("--days", "0.5"), "2026-11-20 06:27 to 2026-11-20 18:27"),
        (("--start=2026-11-01 00:00",), "2026-11-01 00:00 to 2026-11-20 18:27"),
        (("--start", "2026-11-01 00:00", "--days", "1"), "2026-11-01 00:00 to 2026-11-02 00:00"),
        (("--start", "2026-03-29 02:30"), "2026-03-29 03:00 to 2026-11-20 18:27"),
    ],
)
def test_the_period(arguments: tuple[str, ...], period: str, tmp_path: Path) -> None:
    """--start is local time of the zone, an hour that is skipped begins where the clock goes on."""
    result = crondor("route", "history", "--spool", str(tmp_path), "--now", NOW, *arguments)
    assert result.lines[0] == f"Routed job history from {period}"


def test_a_damaged_history_is_read_on(tmp_path: Path) -> None:
    """Bad lines are findings, the first ten in full; good jobs around them count, and one without a time is named."""
    timeless = 'ClusterId = 8\nProcId = 0\nRouteName = "A"\n*** x\nClusterId = 9\nProcId = 1\nRouteName = "A"\n*** x\n'
    bad = "".join(f"no attribute {number}\n" for number in range(1000))
    (tmp_path / "history").write_text(_record(1, "A", 4, NOW_EPOCH, 1) + timeless + bad + _record(2, "A", 4, NOW_EPOCH))
    result = crondor("route", "history", "--history", str(tmp_path / "history"), "--now", NOW)
    assert (result.status, result.lines[-1].split()) == (1, ["TOTAL", "1", "2", "0"])
    assert "more findings" in result.err
    assert result.err.count("error:") == 10
    (tmp_path / "history").write_text(timeless)
    result = crondor("route", "history", "--history", str(tmp_path / "history"), "--now", NOW)
    assert (result.status, "job 8.0 and 1 other not counted" in result.err) == (0, True)


def test_a_live_schedd_and_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JOB_ROUTER_SCHEDD2_NAME and _POOL name the queue of the copies, in every mode."""
    stand_in = StandIn(tmp_path / "stand_in.json")
    for name, value in stand_in.environment.items():
        monkeypatch.setenv(name, value)
    since = NOW_EPOCH - 60
    routed = {"JobStatus": 5, "Owner": "alice", "Cmd": "/bin/date", "RouteName": "A", "EnteredCurrentStatus": since}
    stand_in.add(ClassAd(routed))
    stand_in.add(ClassAd({"JobStatus": 1, "Owner": "alice", "Cmd": "/bin/date"}))
    config = tmp_path / "router.conf"
    config.write_text("JOB_ROUTER_SCHEDD2_NAME = copies\nJOB_ROUTER_SCHEDD2_POOL = pool.example.org\n")
    asked = ("--config", str(config), "--now", NOW)
    assert crondor("route", "q", "-S", *asked).lines[1].split() == ["1", "H", "A"]
    listed = crondor("route", "q", "-nobatch", *asked)
    assert listed.lines[2] == "-- Schedd: copies : pool.example.org @ 11/20/26 18:27:05"
    assert listed.lines[-2].startswith("Total for all users: 2 jobs;")
    removed = crondor("route", "rm", "-held", *asked)
    assert (removed.status, removed.lines[-1]) == (0, "1 job removed")
    assert crondor("route", "q", "-S", *asked).lines[1:] == []
    assert crondor("route", "history", *asked, "--format", "json").data["routes"][0]["aborted"] == 1
    assert set(stand_in.read()["calls"]) == {"locate copies in pool.example.org", "query", "act", "history"}


@pytest.mark.parametrize("command", [("q", "-S"), ("rm", "-all"), ("history",)])
def test_a_schedd_that_is_not_there(command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No other schedd is taken in its place: nothing is shown, and nothing removed."""
    stand_in = StandIn(tmp_path / "stand_in.json")
    for name, value in stand_in.environment.items():
        monkeypatch.setenv(name, value)
    stand_in.add(ClassAd({"JobStatus": 5, "Owner": "alice", "Cmd": "/bin/date", "RouteName": "A"}))
    result = crondor("route", *command, "-name", "nobody", "--now", NOW)
    assert (result.status, result.out) == (1, "")
    assert "'nobody'" in result.err
    assert "1.0" in stand_in.read()["jobs"]


def test_a_configuration_that_names_a_log(tool: Tool, tmp_path: Path) -> None:
    """Its jobs can be shown and not removed; a configuration that names nothing says so."""
    assert tool("q", "-S").status == 0
    config = tmp_path / "router.conf"
    config.write_text(f"JOB_ROUTER_SCHEDD2_SPOOL = {tmp_path / 'queue'}\n")
    assert len(crondor("route", "q", "-S", "--config", str(config)).lines) == 5
    refused = crondor("route", "rm", "-all", "--config", str(config))
    assert (refused.status, "read only" in refused.err) == (1, True)
    config.write_text("JOB_ROUTER_NAME = x\n")
    nothing = crondor("route", "q", "--config", str(config))
    assert (nothing.status, "names no queue" in nothing.err) == (1, True)


def test_json_of_the_list_has_totals() -> None:
    """Every key that the page documents is there."""
    data = json.loads(q("--format", "json").out)
    assert data["totals"]["all_users"]["idle"] == 2
    assert data["jobs"][0] == {
        "job": "1.0", "owner": "alice", "route": "Alpha", "routed_from": "90.1", "grid_resource": "batch slurm, long",
        "job_status": 1, "submitted": NOW_EPOCH - 60, "submitted_local": "2026-11-20T18:26:05+01:00", "run_time": 0,
        "priority": 0, "size_mb": None, "batch_name": None, "cmd": "date",
    }  # fmt: skip
