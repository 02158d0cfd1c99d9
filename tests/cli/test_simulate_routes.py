"""`crondor simulate --routes`: sites that run, fail, swallow, hold and remove; lines of time; wrong usage."""

from pathlib import Path

import pytest

from tests.cli.running import NOW, Result, crondor

CONFIG = """JOB_ROUTER_SOURCE_JOB_CONSTRAINT = WantJobRouter
JOB_ROUTER_ROUTE_NAMES = Site1 Site2
JOB_ROUTER_ROUTE_Site1 @=end
  UNIVERSE vanilla
  MaxIdleJobs = 5
@end
JOB_ROUTER_ROUTE_Site2 @=end
  UNIVERSE vanilla
@end
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a configuration and a submit file of twenty jobs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "routes.conf").write_text(CONFIG)
    (tmp_path / "job.sub").write_text("executable = /bin/true\n+WantJobRouter = true\nqueue 20\n")
    return tmp_path


def simulate(*arguments: str) -> Result:
    """Simulate the folder's jobs and routes."""
    return crondor("simulate", "--spec", "job.sub", "--routes", "routes.conf", "--now", NOW, *arguments)


def test_sites_that_run() -> None:
    """All jobs are done, each once; without --site a route has --slots and --run-time."""
    found = simulate("--slots", "4", "--run-time", "5m", "--format", "json")
    assert (found.status, found.err) == (0, "")
    (jobs,) = found.data["jobs"]
    assert (jobs["count"], jobs["done"], jobs["copies"], jobs["runs"]) == (20, 20, 20, 20)
    assert sum(route["runs"] for route in found.data["routes"]) == 20
    assert simulate("--slots", "4", "--run-time", "5m", "--format", "json").out == found.out


@pytest.mark.parametrize(
    ("habit", "expected"),
    [
        ("fail", {"failed": 5, "held": 0, "removed": 0}),
        ("swallow", {"idle": 5, "runs": 0, "failed": 0}),
        ("hold", {"held": 5, "runs": 0}),
    ],
)
def test_sites_that_do_not(habit: str, expected: dict[str, int]) -> None:
    """What becomes of the copies of the first route; the others go on the second one."""
    found = simulate("--site", f"Site1={habit},slots=5,run-time=1h", "--site", "Site2=run,slots=20", "--format", "json")
    assert found.status == 1
    first, second = found.data["routes"]
    assert {name: first[name] for name in expected} == expected
    assert second["done"] == 15


def test_a_black_hole_is_throttled() -> None:
    """A site that removes what it gets: all jobs are done elsewhere, and the line of time shows both."""
    found = simulate("--site", "Site1=remove,slots=5,delay=1", "--site", "Site2=run,run-time=10m", "--timeline")
    assert found.status == 0
    lines = {line.split()[0]: line for line in found.lines if line.startswith("  ") and len(line.split()[-1]) == 72}
    assert set(lines) == {"job.sub:3", "at"}
    assert "r" in lines["job.sub:3"]
    (hole,) = [line for line in found.lines if line.startswith("  at Site1")]
    assert "w" in hole or "F" in hole
    (row,) = [line.split() for line in found.lines if line.startswith("Site1 ")]
    assert int(row[1]) > 18


def test_a_share_of_copies() -> None:
    """Drawn by the seed: about so many fail, others with another seed."""
    given = ("--site", "Site1=fail:50%,slots=20", "--site", "Site2=fail:50%,slots=20", "--format", "json")
    first, other = (simulate(*given, "--seed", seed).data["jobs"][0] for seed in ("0", "1"))
    assert 0 < first["failed"] < 20
    assert first["failed"] + first["done"] == 20
    assert other["failed"] + other["done"] == 20


def test_crontab_jobs_run_when_their_gates_open() -> None:
    """Each run is routed anew, and starts at its time."""
    Path("job.sub").write_text(
        "executable = /bin/true\n+WantJobRouter = true\ncron_minute = 0\ncron_hour = 19-22\n"
        "on_exit_remove = false\nqueue\n",
        encoding="utf-8",
    )
    found = simulate("--wait-for-gates", "--events")
    assert found.status == 0
    starts = [line.split()[2] for line in found.lines if line.endswith(": running")]
    assert len(starts) == 4
    assert all(time.endswith(":00") and time.count(":") == 1 for time in starts)


def test_wrong_usage() -> None:
    """All faults of --site at once, with their place; options that belong to the other kind."""
    found = simulate("--site", "Site1=sleep,slots=0", "--site", "Nope=run")
    assert found.status == 2
    assert "--site:1:1: error: this is not a site" in found.err
    assert "--site:1:13: error: 'slots=0' is not a setting of a site" in found.err
    assert "there is no route Nope (routes: Site1, Site2)" in found.err
    assert "--skew, --trace cannot be used with --routes" in simulate("--trace", "flow", "--skew", "5").err
    alone = crondor("simulate", "--spec", "job.sub", "--site", "Site1=run")
    assert (alone.status, "needs --routes" in alone.err) == (2, True)
    Path("routes.conf").write_text("JOB_ROUTER_NAME = x\n", encoding="utf-8")
    assert (simulate().status, "JobRouter is disabled." in simulate().err) == (1, True)
