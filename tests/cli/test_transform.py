"""`crondor classad transform`: ads through rules; status 0 fine, 1 a finding, 2 wrong usage."""

import json
import subprocess
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO

import pytest

from tests.cli.running import PROGRAM, SLOWEST, crondor, environment

ADS = 'ClusterId = 1\nOwner = "alice"\n\nClusterId = 2\nOwner = "bob"\n'


@pytest.fixture
def ads(tmp_path: Path) -> str:
    """Return the path of a file with two ads."""
    path = tmp_path / "jobs.ads"
    path.write_text(ADS)
    return str(path)


@pytest.fixture
def rules(tmp_path: Path) -> str:
    """Return the path of rules."""
    path = tmp_path / "site.rules"
    path.write_text('NAME site\nREQUIREMENTS Owner == "bob"\nSET Queue "$(queue_name:short)"\nDELETE ClusterId\n')
    return str(path)


def test_ads_are_written_in_long_form_by_name(ads: str, rules: str) -> None:
    """Those whose REQUIREMENTS are not met as they were."""
    result = crondor("classad", "transform", "--rules", rules, ads)
    assert (result.status, result.err) == (0, "")
    assert result.out == 'ClusterId = 1\nOwner = "alice"\n\nOwner = "bob"\nQueue = "short"\n\n'


def test_standard_input_is_the_default(rules: str) -> None:
    """And a file may take the output."""
    result = crondor("classad", "transform", "--rules", rules, "-D", "queue_name=long", "--format", "jsonl", stdin=ADS)
    assert [json.loads(line) for line in result.lines][1] == {"Owner": "bob", "Queue": "long"}
    assert result.status == 0


def test_out_names_a_file(ads: str, rules: str, tmp_path: Path) -> None:
    """One that cannot be written is wrong usage."""
    assert crondor("classad", "transform", "--rules", rules, ads, "--output", str(tmp_path / "new.ads")).out == ""
    assert (tmp_path / "new.ads").read_text().endswith('Queue = "short"\n\n')
    assert (
        crondor("classad", "transform", "--rules", rules, ads, "--output", str(tmp_path / "no" / "new.ads")).status == 2
    )


def test_diff_shows_what_changes(ads: str, rules: str) -> None:
    """With the place of each ad."""
    result = crondor("classad", "transform", "--rules", rules, ads, "--diff")
    assert result.out == f'@@ {ads}:1 @@\n@@ {ads}:4 @@\n-ClusterId = 2\n+Queue = "short"\n'


def test_trace_says_what_was_done(ads: str, rules: str) -> None:
    """On stderr, with the line of the rules."""
    result = crondor("classad", "transform", "--rules", rules, ads, "--trace")
    assert result.err == f'# ad 2 of {ads}:4: site\n{rules}:3: SET Queue to "short"\n{rules}:4: DELETE ClusterId\n'
    assert result.status == 0


def test_knobs_of_a_configuration(ads: str, tmp_path: Path) -> None:
    """By the names that condor_transform_ads takes."""
    config = tmp_path / "50-site.conf"
    config.write_text("JOB_TRANSFORM_One @=end\nSET One $(N)\n@end\nJOB_ROUTER_ROUTE_R @=end\nSET R 2\n@end\nN = 1\n")
    arguments = ("--config", str(config), "--job-transform", "One, None", "--job-route", "R", ads)
    result = crondor("classad", "transform", *arguments)
    assert "One = 1\nOwner" in result.out
    assert "R = 2\n" in result.out
    assert "JOB_TRANSFORM_None is not defined" in result.err
    assert result.status == 0


def test_all_faults_are_shown_with_their_place(ads: str, tmp_path: Path) -> None:
    """And the run goes on as condor_transform_ads does, up to the ad that leads to one."""
    bad = tmp_path / "bad.rules"
    bad.write_text("SET X 1\nif defined MY.Two\nSETT Y 1\nendif\nSET Z=2\nDELETE /a\n")
    result = crondor("classad", "transform", "--rules", str(bad), ads)
    assert result.status == 1
    assert f"{bad}:5:1: error: SET needs 2 arguments" in result.err
    assert f"{bad}:6:8: error: invalid regex" in result.err
    assert f"{bad}:3:1: warning: SETT is not a valid transform keyword: an ad that leads here fails" in result.err
    assert f"Transform of ad 1 of {ads}:1 failed!" in result.err
    assert result.out == ""


def test_a_failure_that_is_passed_over_is_shown_once_and_counts(ads: str, tmp_path: Path) -> None:
    """However many ads have it."""
    soft = tmp_path / "soft.rules"
    soft.write_text("SET X $(MY.Nope)\nSET Y 1\n")
    result = crondor("classad", "transform", "--rules", str(soft), ads)
    assert (result.status, result.err.count("SET X invalid expression")) == (1, 1)
    assert result.out.count("Y = 1") == 2


def test_a_warning_of_ours_alone_is_no_finding(ads: str, tmp_path: Path) -> None:
    """HTCondor does what the rules say."""
    trap = tmp_path / "trap.rules"
    trap.write_text("REQUIREMENTS = false\nSET X 1\n")
    result = crondor("classad", "transform", "--rules", str(trap), ads)
    assert (result.status, "CRN621" in result.err) == (0, True)


def test_ads_that_cannot_be_read_are_reported(rules: str) -> None:
    """The others are transformed."""
    result = crondor("classad", "transform", "--rules", rules, stdin='A = (\n\nOwner = "bob"\n')
    assert result.status == 1
    assert "<stdin>:1:" in result.err
    assert 'Queue = "short"' in result.out


def test_the_clock_and_the_seed_are_options(tmp_path: Path) -> None:
    """The same for the same."""
    path = tmp_path / "r"
    path.write_text("EVALSET T time()\nSET R $RANDOM_INTEGER(1,1000000)\n")
    arguments = (
        "classad",
        "transform",
        "--rules",
        str(path),
        "--now",
        "2026-12-24 18:00",
        "--tz",
        "UTC",
        "--seed",
        "7",
    )
    first = crondor(*arguments, stdin="A = 1\n")
    assert "T = 1798135200\n" in first.out
    assert first.out == crondor(*arguments, stdin="A = 1\n").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no rules: give a file with --rules"),
        (("r",), "no rules"),
        (("--rules", "nowhere"), "cannot read 'nowhere'"),
        (("--rules", "r", "nowhere.ads"), "cannot read 'nowhere.ads'"),
        (("--rules", "r", "a", "."), "cannot read '.': Is a directory"),
        (("--rules", "r", "-", "-"), "standard input (-) can be read only once"),
        (("--rules", "r", "-D", "x"), "write NAME=VALUE"),
        (("--rules", "r", "a", "--output", "a", "--force"), "--output 'a' is also read"),
        (("--rules", "r", "--output", "r", "--force"), "--output 'r' is also read"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is found before anything is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r").write_text("SET X 1\n")
    (tmp_path / "a").write_text(ADS)
    result = crondor("classad", "transform", *arguments, stdin=ADS)
    assert (result.status, result.out) == (2, "")
    assert said in " ".join(result.err.split())
    assert (tmp_path / "a").read_text() == ADS


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="it is not on every system")
def test_rules_without_an_end_are_refused() -> None:
    """At once: a device is no file."""
    result = crondor("classad", "transform", "--rules", "/dev/zero", stdin=ADS)
    assert (result.status, result.out) == (2, "")
    assert result.err == "Error: cannot read '/dev/zero': it is not a plain file\n"


def test_rules_and_ads_keep_their_order(ads: str, tmp_path: Path) -> None:
    """Each file of rules sees what the one before made, and a dash stands for standard input."""
    first, second = tmp_path / "1", tmp_path / "2"
    first.write_text("RENAME ClusterId Number\n")
    second.write_text("EVALSET Number Number * 10\nDELETE Owner\n")
    both = crondor(
        "classad", "transform", "--rules", str(first), ads, "--rules", str(second), "-", stdin="ClusterId = 3\n"
    )
    assert (both.status, both.out) == (0, "Number = 10\n\nNumber = 20\n\nNumber = 30\n\n")
    turned = crondor("classad", "transform", "--rules", str(second), "--rules", str(first), stdin="ClusterId = 3\n")
    assert turned.out == "Number = 3\n\n"


def test_a_fault_is_said_with_the_file_it_is_in(ads: str, rules: str, tmp_path: Path) -> None:
    """And the files after it are read."""
    bad = tmp_path / "bad.ads"
    bad.write_text("A = (\n")
    result = crondor("classad", "transform", "--rules", rules, str(bad), ads)
    assert (result.status, result.out.count("Owner")) == (1, 2)
    assert f"{bad}:1:" in result.err


def test_ads_are_written_while_more_are_to_come(rules: str) -> None:
    """The input never ends, the first ads are there all the same; a reader that has seen enough ends it quietly."""
    with subprocess.Popen(
        [*PROGRAM, "classad", "transform", "--rules", rules],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as running:
        thread = Thread(target=_feed, args=(running.stdin,))
        thread.start()
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == b"ClusterId = 1\n"
        running.stdout.close()
        assert (running.stderr.read(), running.wait(SLOWEST)) == (b"", 0)
        thread.join(SLOWEST)
        assert not thread.is_alive()


def _feed(pipe: IO[bytes]) -> None:
    with suppress(BrokenPipeError):
        while True:
            pipe.write((ADS + "\n").encode() * 100)


def test_items_come_from_files_beside_the_rules(ads: str, tmp_path: Path) -> None:
    """And from nowhere else."""
    path = tmp_path / "r"
    (tmp_path / "items").write_text("a\nb\n")
    path.write_text(f'SET X "$(Item)"\nTRANSFORM from {tmp_path}/items\n')
    assert crondor("classad", "transform", "--rules", str(path), ads).out.count("X = ") == 4
    path.write_text('SET X "$(Item)"\nTRANSFORM from /etc/passwd\n')
    assert "is outside" in crondor("classad", "transform", "--rules", str(path), ads).err


def test_a_configuration_is_read_as_htcondor_does(ads: str, tmp_path: Path) -> None:
    """With if, include below its folder, and a TRANSFORM that is the knob's own."""
    (tmp_path / "more.conf").write_text("QUEUE_NAME = long\n")
    (tmp_path / "site.conf").write_text(
        "include : more.conf\nif version >= 25.0\nJOB_TRANSFORM_One @=end\n"
        'SET Queue "$(QUEUE_NAME)"\nTRANSFORM 2\n@end\nendif\nJOB_TRANSFORM_Two = SET Late $(QUEUE_NAME)\n'
    )
    config = str(tmp_path / "site.conf")
    result = crondor("classad", "transform", "--config", config, "--job-transform", "One", ads)
    assert (result.status, result.err, result.out.count('Queue = "long"')) == (0, "", 4)
    result = crondor("classad", "transform", "--config", config, "--job-transform", "Two", ads)
    assert (result.status, result.out.count("Late = long")) == (0, 2)


def test_a_configuration_that_htcondor_does_not_start_with_ends_it(ads: str, tmp_path: Path) -> None:
    """And what is wrong is said."""
    path = tmp_path / "site.conf"
    path.write_text("JOB_TRANSFORM_One = SET X 1\nno assignment\n")
    result = crondor("classad", "transform", "--config", str(path), "--job-transform", "One", ads)
    assert (result.status, result.out) == (1, "")
    assert "site.conf:2:1: error: this line is not an assignment" in result.err


def test_rules_may_come_from_standard_input(ads: str) -> None:
    """But not rules and ads at once."""
    result = crondor("classad", "transform", "--rules", "-", ads, stdin="SET X 1\n")
    assert (result.status, result.err, result.out.count("X = 1")) == (0, "", 2)
    result = crondor("classad", "transform", "--rules", "-", stdin="SET X 1\n")
    assert result.status == 2
    assert "standard input (-) can be read only once" in result.err


def test_a_transform_makes_no_more_ads_than_the_bound(ads: str, tmp_path: Path) -> None:
    """It says how many there would be, and writes none; --max-ads raises the bound."""
    many = tmp_path / "many.rules"
    many.write_text("SET Step $(Step)\nTRANSFORM 99999999\n")
    refused = crondor("classad", "transform", "--rules", str(many), ads)
    assert (refused.status, refused.out) == (1, "")
    assert "makes 99,999,999 ads of each ad that is read; the bound is 100,000" in refused.err
    assert "--max-ads 99999999" in refused.err
    many.write_text("SET Step $(Step)\nTRANSFORM 3 a in (x, y)\n")
    assert crondor("classad", "transform", "--rules", str(many), ads, "--max-ads", "5").status == 1
    assert crondor("classad", "transform", "--rules", str(many), ads, "--max-ads", "6").out.count("Step = ") == 12
