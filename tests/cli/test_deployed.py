"""Configurations as they are deployed: --config-root, --ce, this host's own; and what one job passes there."""

from pathlib import Path

import pytest

from tests.cli.running import crondor

ROOT = "LOCAL_CONFIG_DIR = /usr/share/condor-ce/config.d,/etc/condor-ce/config.d\n"
ROUTER = """\
JOB_ROUTER_SOURCE_JOB_CONSTRAINT = true
JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = Queue Late
JOB_ROUTER_TRANSFORM_Queue @=end
  if defined default_queue
    SET BatchQueue "$(default_queue)"
  endif
  SET Cores $(default_cores:1)
@end
JOB_ROUTER_TRANSFORM_Late @=end
  REQUIREMENTS false
  SET X "$(LIMIT)"
@end
"""
SITE = """\
LIMIT = 5
JOB_ROUTER_ROUTE_NAMES = Grid
JOB_ROUTER_ROUTE_Grid @=end
  default_queue = long
  GridResource = "batch slurm"
  SET Y $(LIMIT)
@end
"""
JOBS = """\
ClusterId = 1
ProcId = 0
JobUniverse = 5
JobStatus = 1
Owner = "alice"

ClusterId = 1
ProcId = 1
JobUniverse = 5
JobStatus = 5
Owner = "alice"
"""
ENTRYPOINT = ("--ce", "--config-root", "image")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a tree of an entrypoint, two jobs, and go there."""
    for name, text in {
        "image/etc/condor-ce/condor_config": ROOT,
        "image/usr/share/condor-ce/config.d/01-router.conf": ROUTER,
        "image/etc/condor-ce/config.d/99-site.conf": SITE,
        "jobs.ads": JOBS,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CONDOR_CONFIG", raising=False)
    return tmp_path


def test_a_tree_is_read_as_if_it_were_the_root() -> None:
    """All its files, in their order; findings stand in them, and the files are counted."""
    shown = crondor("route", "show", *ENTRYPOINT)
    assert (shown.status, shown.err) == (0, "")
    assert "Post-Route Transform : Queue" in shown.out
    checked = crondor("route", "check", *ENTRYPOINT)
    assert checked.lines == ["3 files checked: nothing found"]
    matched = crondor("route", "explain", "--summary", *ENTRYPOINT, "--ads", "jobs.ads")
    assert matched.lines[1].split() == ["1.0", "Grid"]
    applied = crondor("route", "apply", *ENTRYPOINT, "--ads", "jobs.ads")
    assert 'BatchQueue = "long"' in applied.out


def test_another_file_is_tried_over_a_tree(folder: Path) -> None:
    """An absolute path is one of the tree, another is of this folder, and later lines win."""
    (folder / "mine.conf").write_text("LIMIT = 6\n")
    named = ("--config", "/etc/condor-ce/condor_config", "--config", "mine.conf")
    assert "Y = 6\n" in crondor("route", "apply", *ENTRYPOINT, *named, "--ads", "jobs.ads").out


def test_a_file_that_is_named_twice_over_is_read_once(folder: Path) -> None:
    """A file of its folder that is named, too, is read where it is named."""
    (folder / "d").mkdir()
    (folder / "root.conf").write_text(f"LOCAL_CONFIG_DIR = {folder}/d\n{ROUTER}{SITE}")
    (folder / "d" / "1.conf").write_text("LIMIT = $(LIMIT) + 1\n")
    named = ("--config", "root.conf", "--config", str(folder / "d" / "1.conf"))
    assert "Y = 5 + 1\n" in crondor("route", "apply", *named, "--ads", "jobs.ads").out


def test_this_host_s_own_configuration(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What CONDOR_CONFIG names and its folders, with the variables over it; without it it is said where one looked."""
    (folder / "d").mkdir()
    (folder / "root.conf").write_text(f"LOCAL_CONFIG_DIR = {folder}/d\n{ROUTER}")
    (folder / "d" / "1.conf").write_text(SITE)
    none = crondor("route", "show")
    assert none.status == 2
    assert "CONDOR_CONFIG is not set, and none of /etc/condor/condor_config" in none.err
    monkeypatch.setenv("CONDOR_CONFIG", str(folder / "root.conf"))
    monkeypatch.setenv("_CONDOR_LIMIT", "7")
    assert "Y = 7\n" in crondor("route", "apply", "--ads", "jobs.ads").out
    monkeypatch.setenv("CONDOR_CONFIG", "ONLY_ENV")
    monkeypatch.setenv("_CONDOR_JOB_ROUTER_ROUTE_NAMES", "A")
    monkeypatch.setenv("_CONDOR_JOB_ROUTER_ROUTE_A", "REQUIREMENTS true")
    assert '"A"' in crondor("route", "show").out


def test_a_transform_of_this_host(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A knob that is asked for is looked up there; rules alone need no configuration."""
    (folder / "x.rules").write_text("SET Z 1\n")
    assert "Z = 1\n" in crondor("classad", "transform", "--rules", "x.rules", "jobs.ads").out
    assert crondor("classad", "transform", "--job-route", "Grid", "jobs.ads").status == 2
    (folder / "root.conf").write_text(SITE)
    monkeypatch.setenv("CONDOR_CONFIG", "root.conf")
    assert "Y = 5\n" in crondor("classad", "transform", "--job-route", "Grid", "jobs.ads").out
    assert "Y = 5\n" in crondor("classad", "transform", *ENTRYPOINT, "--job-route", "Grid", "jobs.ads").out


def test_a_router_starts_without_config(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where CONDOR_CONFIG is set."""
    (folder / "root.conf").write_text(ROUTER + SITE)
    monkeypatch.setenv("CONDOR_CONFIG", "root.conf")
    (folder / "job.sub").write_text("shell = date\nqueue\n")
    assert crondor("queue", "submit", "--queue", "q", "job.sub").status == 0
    ran = crondor("route", "run", "--queue", "q", "--once")
    assert (ran.status, "submitted job" in ran.out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--config-root", "none"), "cannot read 'none': No such file or directory"),
        (("--config-root", "jobs.ads"), "cannot read 'jobs.ads': Not a directory"),
        (("--config-root", "image"), "/etc/condor-ce/condor_config exists: add --ce"),
        ((*ENTRYPOINT, "--config", "/etc/none"), "cannot read '/etc/none': No such file or directory"),
        ((*ENTRYPOINT, "--job", "1.0"), "--job needs --effective FILE"),
        ((*ENTRYPOINT, "--effective", "jobs.ads", "--job", "9.0"), "'jobs.ads' has no job 9.0"),
    ],
)
def test_what_is_not_there_is_said_in_a_line(arguments: tuple[str, ...], said: str) -> None:
    """Status 2, and no traceback."""
    found = crondor("route", "show", *arguments)
    assert (found.status, found.out) == (2, "")
    assert said in found.err


def test_no_command_of_a_configuration_is_run(folder: Path) -> None:
    """It is reported, and its settings are unknown."""
    root = folder / "image/etc/condor-ce/condor_config"
    root.write_text(root.read_text() + "LOCAL_CONFIG_FILE = /usr/bin/touch ran|\n")
    found = crondor("route", "check", *ENTRYPOINT)
    assert "crondor does not run it: its settings are unknown [CRN602]" in found.out
    assert not (folder / "ran").exists()


def test_the_transforms_that_a_job_passes() -> None:
    """In order, with the variables each reads, their values, and who set them."""
    found = crondor("route", "show", *ENTRYPOINT, "--effective", "jobs.ads")
    assert found.status == 0
    site, router = "image/etc/condor-ce/config.d/99-site.conf", "image/usr/share/condor-ce/config.d/01-router.conf"
    assert found.lines == [
        "job 1.0 (jobs.ads:1): goes to Grid",
        "  Grid  matched (without REQUIREMENTS every candidate matches)",
        "",
        f"route      Grid  ({site}:4)",
        f"  LIMIT = 5  (knob LIMIT, {site}:1)",
        "",
        f"post-route Queue  ({router}:4)",
        f"  default_queue = long  (route Grid, {site}:4)",
        "  default_cores is not set: 1 is used",
        "",
        f"post-route Late  ({router}:10)",
        "  skipped: at this point the job does not meet false",
        f"  LIMIT = 5  (knob LIMIT, {site}:1)",
    ]
    assert "1 more job is in the file" in found.err


def test_what_a_job_passes_as_data() -> None:
    """The keys are those of the schema; a job that no route takes is status 1."""
    found = crondor("route", "show", *ENTRYPOINT, "--effective", "jobs.ads", "--format", "json")
    effective = found.data["effective"]
    assert (effective["route"], effective["is_routed"]) == ("Grid", True)
    assert [(each["position"], each["is_applied"]) for each in effective["transforms"]] == [
        ("route", True),
        ("post-route", True),
        ("post-route", False),
    ]
    queue = effective["transforms"][1]["variables"][0]
    assert (queue["value"], queue["set_by"]["source"], queue["set_by"]["name"]) == ("long", "route", "Grid")
    held = crondor("route", "show", *ENTRYPOINT, "--effective", "jobs.ads", "--job", "1.1")
    assert held.status == 1
    assert "not a candidate" in held.out


def test_a_conversion_of_a_tree_is_tried(folder: Path) -> None:
    """With the transforms that are around its routes now."""
    old = 'JOB_ROUTER_ENTRIES = [ Name = "A"; TargetUniverse = 5; set_default_queue = "grid" ]\n'
    (folder / "image/etc/condor-ce/config.d/99-site.conf").write_text(old)
    found = crondor("route", "convert", *ENTRYPOINT)
    assert found.status == 0
    assert "   default_queue = grid\n" in found.out
    assert found.err.endswith("no differences\n")
    data = crondor("route", "convert", *ENTRYPOINT, "--format", "json").data
    assert (data["verified"]["differences"], data["transforms"]) == (0, [])
    live = crondor("route", "apply", "--legacy", *ENTRYPOINT, "--ads", "jobs.ads")
    assert 'default_queue = "grid"' in live.out
