"""`crondor route diff`: as diff(1), 0 the same, 1 they differ, 2 trouble."""

from pathlib import Path

import pytest

from tests.cli.running import Result, crondor

OLD = """JOB_ROUTER_ROUTE_NAMES = Short, Large, Rest
JOB_ROUTER_ROUTE_Short @=end
  UNIVERSE VANILLA
  REQUIREMENTS Queue == "short"
  SET Tag 1
@end
JOB_ROUTER_ROUTE_Large @=end
  GridResource = batch slurm
  REQUIREMENTS RequestMemory > 8000
  MaxJobs = 10
@end
JOB_ROUTER_ROUTE_Rest @=end
  UNIVERSE VANILLA
  REQUIREMENTS true
@end
"""
NEW = OLD.replace("> 8000", ">= 8000").replace("Tag 1", "Tag 2").replace("MaxJobs = 10", "MaxJobs = 20")
JOB = 'ClusterId = {}\nProcId = 0\nJobUniverse = 5\nJobStatus = 1\nOwner = "ann"\n{}\n\n'


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.conf").write_text(OLD, encoding="utf-8")
    Path("new.conf").write_text(NEW, encoding="utf-8")


def diff(*arguments: str, stdin: str = "") -> Result:
    """Compare old.conf with new.conf."""
    return crondor("route", "diff", "old.conf", "new.conf", *arguments, stdin=stdin)


def test_a_table_does_what_itself_does() -> None:
    """Status 0 and one line."""
    found = crondor("route", "diff", "old.conf", "old.conf")
    assert (found.status, found.err) == (0, "")
    assert found.out.startswith("old.conf and old.conf: no difference; compared over ")


def test_made_jobs_show_each_difference() -> None:
    """The job on the boundary, the attribute, the limit."""
    found = diff()
    assert found.status == 1
    assert "Rest -> Large: " in found.out
    assert "as a job with RequestMemory = 8000" in found.out
    assert "Short, Tag: " in found.out
    assert "    1 -> 2" in found.out
    assert "Large: MaxJobs 10 -> 20" in found.out
    assert diff("--made").out == found.out


def test_jobs_of_a_queue_are_counted() -> None:
    """With the ids of those that show it."""
    queue = "".join(JOB.format(number, f"RequestMemory = {7999 + number % 3}") for number in range(9))
    found = diff("--ads", "-", "--format", "json", stdin=queue)
    assert found.status == 1
    assert found.data["jobs"] == {"source": "queue", "read": 9, "candidates": 9}
    assert [(each["before"], each["after"], each["jobs"]) for each in found.data["moved"]] == [("Rest", "Large", 3)]
    assert found.data["moved"][0]["example"] == {"job": "1.0", "attributes": None}
    assert found.data["unproven"] == ["Short"]


def test_jobs_of_submit_files() -> None:
    """They are made as for route match."""
    Path("job.sub").write_text(
        'executable = /bin/true\nrequest_memory = 8000\n+Queue = "x"\nqueue 2\n', encoding="utf-8"
    )
    found = diff("--spec", "job.sub", "--format", "json")
    assert found.data["jobs"] == {"source": "submitted", "read": 2, "candidates": 2}
    assert [each["jobs"] for each in found.data["moved"]] == [2]


def test_markdown_is_a_comment_that_no_text_of_a_job_breaks() -> None:
    """Tables, and what could be markup as it is."""
    Path("new.conf").write_text(NEW.replace("Tag 2", 'Tag "a|b`c"'), encoding="utf-8")
    found = diff("--format", "markdown")
    assert found.out.startswith("### Routes: routing changes\n")
    for line in found.lines:
        if line.startswith("| "):
            assert line.count("|") - line.count("\\|") >= 3
    assert '`` "a\\|b`c" ``' in found.out or '``"a\\|b`c"``' in found.out


def test_files_that_both_have_and_folders() -> None:
    """--config stands before either; of a folder backups and programs are left out, as HTCondor does."""
    Path("base.conf").write_text("LIMIT = 5\n", encoding="utf-8")
    for name, text in (("a.d", OLD), ("b.d", NEW)):
        Path(name).mkdir()
        Path(name, "50-routes.conf").write_text(text.replace("MaxJobs = ", "MaxJobs = $(LIMIT)"), encoding="utf-8")
        for left_out in ("50-routes.conf~", "60-made.sh", "70.py", "80.cfsaved"):
            Path(name, left_out).write_text("JOB_ROUTER_ROUTE_NAMES = Gone\n", encoding="utf-8")
    found = crondor("route", "diff", "a.d", "b.d", "--config", "base.conf", "--format", "json")
    assert found.data["before"] == ["base.conf", "a.d/50-routes.conf"]
    assert found.data["settings"] == [{"route": "Large", "name": "MaxJobs", "before": "510", "after": "520"}]


def test_trees() -> None:
    """A folder with an etc/condor is read as if it were the root; with --ce it is etc/condor-ce that counts."""
    for name, text in (("a", OLD), ("b", NEW)):
        for folder, of in (("etc/condor", text), ("etc/condor-ce", OLD)):
            Path(name, folder).mkdir(parents=True)
            Path(name, folder, "condor_config").write_text(f"LOCAL_CONFIG_FILE = /{folder}/r.conf\n", encoding="utf-8")
            Path(name, folder, "r.conf").write_text(of, encoding="utf-8")
    found = crondor("route", "diff", "a", "b", "--format", "json")
    assert (found.status, found.data["settings"][0]["after"]) == (1, "20")
    assert crondor("route", "diff", "a", "b", "--ce").status == 0
    assert crondor("route", "diff", "a", "b", "--config", "old.conf").status == 2


def test_trouble() -> None:
    """A file that is not there, jobs that cannot be read, no routes on either side, options that do not go together."""
    assert crondor("route", "diff", "old.conf", "none.conf").status == 2
    assert crondor("route", "diff", "old.conf").status == 2
    assert diff("--made", "--ads", "x").status == 2
    assert diff("--ads", "none.ads").status == 2
    assert diff("--ads", "-", stdin="this is no ad\n\n").status == 2
    Path("empty.conf").write_text("", encoding="utf-8")
    Path("empty.d").mkdir()
    assert crondor("route", "diff", "empty.conf", "empty.conf").status == 2
    assert crondor("route", "diff", "old.conf", "empty.d").status == 2


def test_routing_that_is_switched_off_is_a_difference() -> None:
    """Every job loses its route, and it is said why."""
    Path("new.conf").write_text(NEW.replace("JOB_ROUTER_ROUTE_NAMES", "JOB_ROUTER_ROUTE_NAME"), encoding="utf-8")
    found = diff("--format", "json")
    assert found.status == 1
    assert {each["after"] for each in found.data["moved"]} == {None}
    assert "JOB_ROUTER_ROUTE_NAMES is not defined" in found.err


def test_text_of_strangers_stays_text() -> None:
    """Nothing in a job's ad or a route's name acts on a terminal."""
    queue = JOB.format(1, 'RequestMemory = 8000\nQueue = "short"\nTag = "\\033[31m"')
    found = diff("--ads", "-", stdin=queue)
    assert "\x1b" not in found.out


def test_old_routes_and_their_conversion() -> None:
    """With --legacy old routes are live, and what the conversion makes of them does the same."""
    Path("legacy.conf").write_text(
        "JOB_ROUTER_USE_DEPRECATED_ROUTER_ENTRIES = true\nJOB_ROUTER_ENTRIES @=end\n"
        '[ Name = "A"; TargetUniverse = 5; Requirements = RequestMemory < 8000; '
        "set_Foo = 5; eval_set_Bar = RequestCpus * 2; ]\n"
        "@end\n",
        encoding="utf-8",
    )
    assert crondor("route", "convert", "--config", "legacy.conf", "-o", "converted.conf").status == 0
    same = crondor("route", "diff", "legacy.conf", "converted.conf", "--legacy", "--format", "json")
    assert (same.data["moved"], same.data["routes"]["added"]) == ([], [])
    assert [each["attribute"] for each in same.data["copies"]] == []
    text = Path("converted.conf").read_text(encoding="utf-8").replace("< 8000", "<= 8000")
    Path("converted.conf").write_text(text, encoding="utf-8")
    assert crondor("route", "diff", "legacy.conf", "converted.conf", "--legacy", "--format", "json").data["moved"]


def test_a_route_that_is_called_otherwise_is_renamed() -> None:
    """Nothing else of it is new: no job moves, no pair of routes overlaps more."""
    Path("new.conf").write_text(OLD.replace("Large", "Big"), encoding="utf-8")
    found = diff()
    assert found.status == 1
    assert found.lines[:3] == ["Routes", "  renamed  Large -> Big", ""]
    assert found.lines[3].startswith("old.conf and new.conf: they differ; compared over ")
    data = diff("--format", "json").data
    assert data["routes"] == {
        "added": [],
        "dropped": [],
        "renamed": [{"before": "Large", "after": "Big"}],
        "rejected": [],
        "order": None,
    }
    assert [data[name] for name in ("moved", "copies", "unreached", "overlaps", "settings", "unproven")] == [[]] * 6
    assert "| `Large` | renamed: `Big` now |" in diff("--format", "markdown").lines


def test_what_else_differs_of_a_renamed_route_is_said_of_it() -> None:
    """Its limit, its place in the list, and what other routes do."""
    text = OLD.replace("Large", "Big").replace("MaxJobs = 10", "MaxJobs = 20").replace("Short, Big", "Big, Short")
    Path("new.conf").write_text(text.replace("Tag 1", "Tag 2"), encoding="utf-8")
    data = diff("--format", "json").data
    assert data["routes"]["renamed"] == [{"before": "Large", "after": "Big"}]
    assert data["routes"]["order"] == {"before": ["Short", "Large", "Rest"], "after": ["Big", "Short", "Rest"]}
    assert data["settings"] == [{"route": "Big", "name": "MaxJobs", "before": "10", "after": "20"}]
    assert {(each["before"], each["after"]) for each in data["moved"]} == {("Short", "Big")}
    assert {each["attribute"] for each in data["copies"] if each["route_after"] == "Short"} == {"Tag"}


@pytest.mark.parametrize("named", [True, False])
def test_the_name_line_of_a_route_tells_which_it_was(named: bool) -> None:
    """Whatever became of its rules; without it, other rules are another route."""
    line = "\n  NAME Large" if named else ""
    text = (
        OLD.replace("> 8000", "> 9000")
        .replace("Short, Large", "Short, Big")
        .replace("ROUTE_Large @=end", f"ROUTE_Big @=end{line}")
    )
    Path("new.conf").write_text(text, encoding="utf-8")
    data = diff("--format", "json").data
    assert (data["routes"]["renamed"] == [{"before": "Large", "after": "Big"}]) is named
    assert (data["routes"]["added"], data["routes"]["dropped"]) == (([], []) if named else (["Big"], ["Large"]))
    assert (("Large", "Big") in {(each["before"], each["after"]) for each in data["moved"]}) is not named


def test_a_conversion_is_known_by_the_names_it_writes_down() -> None:
    """A name that no knob can have is another one there."""
    Path("old.conf").write_text(
        "JOB_ROUTER_SOURCE_JOB_CONSTRAINT = true\nJOB_ROUTER_ENTRIES @=end\n"
        '[ Name = "a b"; GridResource = "batch slurm"; Requirements = TARGET.X == 1; ]\n'
        '[ Name = "c"; GridResource = "batch pbs"; Requirements = TARGET.X == 3; ]\n@end\n',
        encoding="utf-8",
    )
    assert crondor("route", "convert", "--config", "old.conf", "-o", "new.conf", "--force").status == 0
    found = diff("--legacy")
    assert "  renamed  a b -> ab" in found.lines
    assert not {"  added    ab", "  dropped  a b", "Jobs that change their route"}.intersection(found.lines)
