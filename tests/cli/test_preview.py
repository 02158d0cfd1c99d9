"""`crondor preview`, and --pool-config of check, next and simulate: what a user sees of an access point."""

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Write
from tests.cli.running import NOW, ROOT, Result, at_now, crondor, process

SITE = """\
SCHEDD_INTERVAL = 45
UID_DOMAIN = example.org
JOB_TRANSFORM_NAMES = Spread
JOB_TRANSFORM_Spread @=end
  REQUIREMENTS CronMinute == "0"
  SET CronMinute "17"
  SET AcctGroup "physics"
@end
SUBMIT_REQUIREMENT_NAMES = Memory
SUBMIT_REQUIREMENT_Memory = JOB.RequestMemory <= 4096
SUBMIT_REQUIREMENT_Memory_REASON = strcat(JOB.RequestMemory, " MB are too many")
EXTENDED_SUBMIT_COMMANDS @=end
  Cron_Hours = "a string"
@end
"""
JOB = ("executable = /bin/date", "cron_minute = 0", "cron_hour = 3", "on_exit_remove = false")


@pytest.fixture
def site(tmp_path: Path) -> str:
    """Return the path of a configuration."""
    path = tmp_path / "site.conf"
    path.write_text(SITE, encoding="utf-8")
    return str(path)


def preview(*arguments: str) -> Result:
    """Run the command as alice, in UTC."""
    return at_now("preview", "--tz", "UTC", "--owner", "alice", *arguments)


def test_a_session(site: str, write: Write) -> None:
    """A user looks what becomes of a job, mends what is refused, and sees when it runs."""
    large = write(*JOB, "request_memory = 8GB", "queue")
    refused = preview("--pool-config", site, large, "--diff")
    assert refused.status == 1
    assert refused.lines == [
        f"@@ job 1.0 of {large}:6 @@",
        f'+ AcctGroup = "physics"    # JOB_TRANSFORM_Spread ({site}:7)',
        '- CronMinute = "0"',
        f'+ CronMinute = "17"    # JOB_TRANSFORM_Spread ({site}:6)',
        f"refused by SUBMIT_REQUIREMENT_Memory ({site}:10): 8192 MB are too many",
    ]
    found = at_now("check", "--pool-config", site, large, "--select", "CRN7")
    assert found.status == 1
    assert "the access point refuses the job: 8192 MB are too many [CRN701]" in found.out
    assert "   5 | request_memory = 8GB" in found.out
    assert f"SUBMIT_REQUIREMENT_Memory ({site}:10) is not met" in found.out

    mended = write(*JOB, "request_memory = 4GB", "queue")
    assert preview("--pool-config", site, mended, "--diff").lines[-1] == "the job is accepted"
    runs = at_now("next", "--spec", mended, "--pool-config", site, "-n", "1", "--format", "json")
    assert runs.status == 0
    assert runs.jobs[0]["schedule"]["canonical"] == "17 3 * * *"
    assert f"{site}:6:3: note: JOB_TRANSFORM_Spread makes" in runs.err
    pool = at_now("simulate", mended, "--pool-config", site, "--days", "2", "--format", "json")
    assert pool.data["schedd_interval"] == 45
    assert pool.data["readings"][0]["jobs"][0]["planned"] == 2


def test_an_access_point_may_change_what_requirements_exclude(tmp_path: Path, write: Write) -> None:
    """Those of the stored ad count, with what a transform adds to the file's own."""
    conf = tmp_path / "pool.conf"
    conf.write_text(
        "JOB_TRANSFORM_NAMES = Even\nJOB_TRANSFORM_Even @=end\n"
        '  SET CronHour "*"\n  SET Requirements DeferralTime % 7200 == 0 && $(MY.Requirements)\n@end\n',
        encoding="utf-8",
    )
    path = write(*JOB, "requirements = DeferralTime % 10800 == 0", "queue")
    runs = at_now("next", path, "--pool-config", str(conf), "--tz", "UTC", "-n", "3", "--format", "epoch").lines
    assert [int(time) % 21600 for time in runs] == [0, 0, 0]


def test_the_whole_ad_line_by_line(site: str, write: Write) -> None:
    """Each attribute once, in order; what stays begins with blanks."""
    lines = preview("--pool-config", site, write(*JOB, "queue")).lines
    names = [line[2:].partition(" = ")[0] for line in lines[1:-1] if not line.startswith("- ")]
    assert names == sorted(names, key=str.lower)
    assert {"Owner", "QDate", "Requirements", "CronMinute", "TotalSubmitProcs"} <= set(names)
    assert '  Owner = "alice"' in lines
    assert '  User = "alice@example.org"' in lines


def test_jobs_that_end_alike_are_one(site: str, write: Write) -> None:
    """One by one only where a number makes a difference."""
    path = write(*JOB, "queue 3")
    assert preview("--pool-config", site, path, "--diff").lines[0].endswith(":5, and 2 like it @@")
    varied = write(*JOB, "arguments = $(ProcId)", "queue 3", name="varied.sub")
    assert preview("--pool-config", site, varied, "--diff").lines[0].endswith(":6, and 2 with the same result @@")
    assert len(preview("--pool-config", site, varied, "--format", "json").data[0]["jobs"]) == 3
    Path(site).write_text(f"{SITE}JOB_TRANSFORM_Spread = SET Odd $(MY.ProcId) % 2\n", encoding="utf-8")
    lines = preview("--pool-config", site, path, "--diff").lines
    assert sum(line.startswith("@@") for line in lines) == 3
    only = preview("--pool-config", site, path, "--diff", "--job", "2").lines
    assert only[0].startswith("@@ job 1.2 of ")
    assert preview("--pool-config", site, path, "--job", "7").status == 2


def test_the_stored_ads_can_be_read_again(site: str, write: Write, tmp_path: Path) -> None:
    """As condor_q prints them; nothing of a file that is refused."""
    stored = preview("--pool-config", site, write(*JOB, "queue 2"), "--format", "long")
    (tmp_path / "jobs.ads").write_text(stored.out, encoding="utf-8")
    runs = at_now("next", "--ads", str(tmp_path / "jobs.ads"), "-n", "1", "--format", "json")
    assert [job["schedule"]["canonical"] for job in runs.jobs] == ["17 3 * * *"] * 2
    several = write(*JOB, "request_memory = $(size)", "queue size in (1, 5000)")
    refused = preview("--pool-config", site, several, "--format", "long")
    assert (refused.status, refused.out) == (1, "")
    assert "job 1.1" in refused.err


def test_the_json(site: str, write: Write) -> None:
    """It has both ads, and which line changed what; its schema is checked with it."""
    (file,) = preview("--pool-config", site, write(*JOB, "queue"), "--format", "json").data
    (job,) = file["jobs"]
    assert (file["accepted"], job["first"], job["count"]) == (True, "1.0", 1)
    (step,) = job["transforms"]
    assert {(each["name"], each["line"]) for each in step["changes"]} == {("CronMinute", 6), ("AcctGroup", 7)}
    assert (job["before"]["CronMinute"], job["after"]["CronMinute"]) == ("0", "17")
    (limited,) = preview("--pool-config", site, write(*JOB, "queue 20001"), "--format", "json").data
    assert limited["refusal"]["knob"] == "MAX_JOBS_PER_SUBMISSION"
    assert not limited["accepted"]


def test_a_transform_of_an_older_release(tmp_path: Path, write: Write) -> None:
    """A ClassAd, which --target 24 converts."""
    conf = tmp_path / "old.conf"
    conf.write_text("JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = [ set_X = 5; ]\n", encoding="utf-8")
    path = write(*JOB, "queue")
    old = preview("--pool-config", str(conf), "--target", "24", path, "--diff")
    assert f"+ X = 5    # JOB_TRANSFORM_A ({conf}:2)" in old.lines
    new = preview("--pool-config", str(conf), path, "--diff")
    assert new.lines[1:] == ["the job is accepted"]
    assert "no longer accepts" in new.err
    conf.write_text('JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = [ set_CronMinute = "5"; ]\n', encoding="utf-8")
    for target, minute in (("24", "5"), ("25", "0")):
        runs = at_now("next", path, "--pool-config", str(conf), "--target", target, "-n", "1", "--format", "json")
        assert runs.jobs[0]["schedule"]["canonical"] == f"{minute} 3 * * *"


def test_a_release_is_that_of_an_access_point(write: Write) -> None:
    """Without one nothing would come of it."""
    for command in ("next", "simulate"):
        result = at_now(command, write(*JOB, "queue"), "--target", "24")
        assert result.status == 2
        assert "--target needs --pool-config" in result.err


def test_the_configuration_of_a_tree_and_of_an_entrypoint(write: Write, tmp_path: Path) -> None:
    """As route has it: all that the root file names, the entrypoint's with --ce; host is the tree's own."""
    tree, job = tmp_path / "image", write(*JOB, "queue")
    for name, attribute in (("condor", "Pool"), ("condor-ce", "Gate")):
        folder = tree / "etc" / name
        (folder / "config.d").mkdir(parents=True)
        (folder / "condor_config").write_text(f"LOCAL_CONFIG_DIR = /etc/{name}/config.d\n", encoding="utf-8")
        (folder / "config.d" / "50-site.conf").write_text(
            f"JOB_TRANSFORM_NAMES = T\nJOB_TRANSFORM_T @=end\nSET {attribute} true\nSET CronMinute 17\n@end\n",
            encoding="utf-8",
        )
    root = ("--config-root", str(tree))
    for arguments, made in (
        (root, "Pool"),
        ((*root, "--pool-config", "host"), "Pool"),
        ((*root, "--ce"), "Gate"),
        ((*root, "--pool-config", "/etc/condor-ce/condor_config"), "Gate"),
    ):
        found = preview(*arguments, job, "--diff")
        assert (found.status, f"+ {made} = true" in found.out) == (0, True), (arguments, found)
    runs = at_now("next", *root, job, "-n", "1", "--format", "json")
    assert runs.jobs[0]["schedule"]["canonical"] == "17 3 * * *"
    assert "JOB_TRANSFORM_T makes CronMinute" in at_now("simulate", *root, "--target", "24", job, "--days", "2").err
    assert "JOB_TRANSFORM_T" in at_now("check", *root, "--ce", job, "--select", "CRN7").out


def test_a_typed_tree_wins_over_the_settings(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose files are of another place."""
    (tmp_path / "etc" / "condor").mkdir(parents=True)
    (tmp_path / "etc" / "condor" / "condor_config").write_text("UID_DOMAIN = tree.org\n", encoding="utf-8")
    (tmp_path / "site.conf").write_text("UID_DOMAIN = site.org\n", encoding="utf-8")
    (tmp_path / "crondor.toml").write_text('pool-config = ["site.conf"]\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    job = write(*JOB, "queue")
    assert '  User = "alice@site.org"' in preview(job).lines
    assert '  User = "alice@tree.org"' in preview(job, "--config-root", str(tmp_path)).lines


def test_files_that_a_named_file_names_are_read(site: str, write: Write) -> None:
    """Those below its own folder."""
    folder = Path(site).parent / "config.d"
    folder.mkdir()
    (folder / "60-more.conf").write_text("UID_DOMAIN = more.org\n", encoding="utf-8")
    Path(site).write_text(f"{SITE}LOCAL_CONFIG_DIR = {folder}\n", encoding="utf-8")
    assert '  User = "alice@more.org"' in preview("--pool-config", site, write(*JOB, "queue")).lines


def test_where_no_configuration_is(write: Write, tmp_path: Path) -> None:
    """The option that names files is this one."""
    job = write(*JOB, "queue")
    for command in ("preview", "check", "next", "simulate"):
        found = at_now(command, job, "--config-root", str(tmp_path))
        assert (found.status, "with --pool-config FILE" in found.err) == (2, True)
        assert at_now(command, job, "--config-root", str(tmp_path / "gone")).status == 2


def test_standard_input_is_one_file(site: str) -> None:
    """A configuration or a description, not both."""
    for command in ("preview", "check", "next", "simulate"):
        result = crondor(command, "-", "--pool-config", "-", stdin=SITE)
        assert result.status == 2
        assert "standard input (-) can be read only once" in result.err
    result = crondor("preview", "-", "--pool-config", site, "--diff", stdin="\n".join((*JOB, "queue\n")))
    assert result.lines[-1] == "the job is accepted"


@pytest.mark.parametrize("target", ["26", "x", "25.", "25.7.2.1", ""])
def test_a_release_that_there_is_not(target: str, write: Write) -> None:
    """Wrong usage, with what is right."""
    result = preview("--target", target, write(*JOB, "queue"))
    assert result.status == 2
    assert "release" in result.err


def test_without_a_configuration_the_defaults_count(write: Write) -> None:
    """Of HTCondor: no surprise from this host."""
    path = write(*JOB, "queue")
    result = preview(path, "--diff")
    assert (result.status, result.lines[1:], result.err) == (0, ["the job is accepted"], "")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((), "no submit command"),
        (("executable = /bin/date", "request_memory = two gigabytes", "queue"), "RequestMemory"),
        (("executable = /bin/date", "queue a in ()"), "the file queues no job"),
    ],
)
def test_files_that_make_no_job(lines: tuple[str, ...], words: str, site: str, write: Write) -> None:
    """Status 1, and why."""
    result = preview("--pool-config", site, write(*lines))
    assert result.status == 1
    assert words.lower().split()[-1] in result.err.lower()
    assert "Traceback" not in result.err


def test_what_cannot_be_read(site: str, write: Write, tmp_path: Path) -> None:
    """Wrong usage: which file, and why."""
    path = write(*JOB, "queue")
    for conf in ("nowhere.conf", str(tmp_path)):
        result = preview("--pool-config", conf, path)
        assert result.status == 2
        assert conf in result.err
    assert preview("--pool-config", site, "nowhere.sub").status == 2
    assert preview("--pool-config", site).status == 2
    assert preview("--pool-config", site, "--pool-config", "host", path).status == 2
    (tmp_path / "bytes.conf").write_bytes(b"A = \xff\xfe\x00\n")
    assert preview("--pool-config", str(tmp_path / "bytes.conf"), path).status == 1


def test_a_configuration_that_htcondor_does_not_start_with(tmp_path: Path, write: Write) -> None:
    """An error, once, and no ad."""
    (tmp_path / "bad.conf").write_text("if true\nA = 1\n", encoding="utf-8")
    result = preview("--pool-config", str(tmp_path / "bad.conf"), write(*JOB, "queue"))
    assert (result.status, result.out) == (1, "")
    assert result.err.count("error:") == 1


def test_this_hosts_own(tmp_path: Path, write: Write) -> None:
    """As CONDOR_CONFIG and what it names say; variables win."""
    (tmp_path / "config.d").mkdir()
    (tmp_path / "condor_config").write_text(f"LOCAL_CONFIG_DIR = {tmp_path}/config.d\n", encoding="utf-8")
    (tmp_path / "config.d" / "50-site").write_text(SITE, encoding="utf-8")
    (tmp_path / "config.d" / "99-old~").write_text("JOB_TRANSFORM_NAMES =\n", encoding="utf-8")
    env = {"CONDOR_CONFIG": str(tmp_path / "condor_config"), "_CONDOR_SUBMIT_REQUIREMENT_Memory": "false"}
    result = crondor("preview", "--pool-config", "host", write(*JOB, "queue"), "--diff", "--now", NOW, env=env)
    assert result.status == 1
    assert '+ CronMinute = "17"' in result.out
    assert "refused by SUBMIT_REQUIREMENT_Memory: 128 MB are too many" in result.out
    none = crondor("preview", "--pool-config", "host", write(*JOB, "queue"), env={"CONDOR_CONFIG": "/nowhere/conf"})
    assert (none.status, none.out) == (2, "")
    assert "/nowhere/conf" in none.err


def test_a_setting_names_the_configuration(site: str, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the folder of its file; without the setting nobody looks."""
    path = write(*JOB, "queue")
    folder = Path(site).parent
    (folder / "crondor.toml").write_text('pool-config = ["site.conf"]\n', encoding="utf-8")
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    assert '+ CronMinute = "17"' in preview(path, "--diff").out
    assert "[CRN704]" in at_now("check", path).out
    assert at_now("next", "--spec", path, "-n", "1", "--format", "json").jobs[0]["schedd_interval"] == 45
    plain = crondor("--no-config", "preview", path, "--diff", "--now", NOW)
    assert plain.lines[1:] == ["the job is accepted"]


def test_the_interval_that_counts(site: str, write: Write) -> None:
    """The access point's, unless one is typed."""
    path = write(*JOB, "queue")

    def interval(*arguments: str) -> int:
        data = at_now("simulate", path, "--days", "1", "--format", "json", *arguments).data
        return int(data["schedd_interval"])

    assert interval() == 300
    assert interval("--pool-config", site) == 45
    assert interval("--pool-config", site, "--schedd-interval", "30") == 30


def test_commands_of_the_administrator_are_known(site: str, write: Write) -> None:
    """`cron_hours` looks like a cron field that is misspelt."""
    path = write(*JOB, "cron_hours = nightly", "queue")
    assert "[CRN501]" in at_now("check", path).out
    assert "[CRN501]" not in at_now("check", path, "--pool-config", site).out
    assert "cron_hours" in at_now("next", "--spec", path).err
    assert "cron_hours" not in at_now("next", "--spec", path, "--pool-config", site).err
    assert '  Cron_Hours = "nightly"' in preview(path, "--pool-config", site).lines


def test_a_refused_job_is_not_simulated(site: str, write: Write) -> None:
    """Nor has it runs."""
    path = write(*JOB, "request_memory = 8GB", "queue")
    for command in ("simulate", "next"):
        result = at_now(command, path, "--pool-config", site)
        assert (result.status, result.out) == (1, "")
        assert f"SUBMIT_REQUIREMENT_Memory ({site}:10): 8192 MB are too many" in result.err


def test_a_policy_ends_a_simulated_job(site: str, write: Write) -> None:
    """As the schedd's own look at the queue does it."""
    Path(site).write_text(
        'SYSTEM_PERIODIC_REMOVE = NumJobStarts >= 2\nSYSTEM_PERIODIC_REMOVE_REASON = "twice"\n', encoding="utf-8"
    )
    path = write(*JOB, "queue")
    (job,) = at_now("simulate", path, "--pool-config", site, "--days", "5", "--format", "json").data["readings"][0][
        "jobs"
    ]
    assert (job["starts"], job["removed"], job["has_left"]) == (2, "twice", True)
    found = at_now("check", path, "--pool-config", site, "--select", "CRN7").out
    assert f"SYSTEM_PERIODIC_REMOVE ({site}:1) removes the job after 10 runs at the latest: twice [CRN706]" in found


def test_jobs_of_a_universe_that_does_not_start(site: str, write: Write) -> None:
    """They stay idle."""
    Path(site).write_text("START_LOCAL_UNIVERSE = false\n", encoding="utf-8")
    path = write("universe = local", *JOB, "queue")
    assert "[CRN707]" in at_now("check", path, "--pool-config", site).out
    assert at_now("simulate", path, "--pool-config", site).status == 1


def test_the_example_works() -> None:
    """Every example is taken or refused, and nothing is wrong with the configuration."""
    conf = str(ROOT / "examples" / "access-point.conf")
    for path in sorted((ROOT / "examples").glob("*.sub")):
        result = preview("--pool-config", conf, str(path), "--diff")
        is_local = re.search(r"^universe *= *local", path.read_text(encoding="utf-8"), re.MULTILINE) is not None
        assert result.status == int(is_local), (path, result.err)
        assert "access-point.conf" not in result.err


def test_a_closed_pipe_and_a_terminal_of_80_columns(site: str, write: Write) -> None:
    """No traceback; ad lines are never broken."""
    path = write(*JOB, "queue")
    done = process("preview", "--pool-config", site, path, env={"COLUMNS": "80", "NO_COLOR": "1"})
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout
    assert any(len(line) > 200 for line in done.stdout.splitlines())
