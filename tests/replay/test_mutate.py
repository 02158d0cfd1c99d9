"""A replay proves what it compares: every change of what is recorded is noticed, or stands in survivors.txt."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case, Difference, NotApplicable
from tests.golden.mutating import Change, Outcome, covers, is_input, mutate, name_of
from tests.golden.pinned_zones import pin_zones, unpin_zones
from tests.golden.recording import Unreadable, read_recording
from tests.golden.survivors import Listed, read_survivors, unlisted

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
LIST = GOLDEN / "survivors.txt"
RECORDINGS = {
    "crontab-htcondor": ["crontab/htcondor.jsonl.gz"],
    "crontab-unix": ["crontab/unix.jsonl.gz"],
    "crontab-manual": ["crontab/unix.jsonl.gz"],
    "odd-specs": ["crontab/odd_specs.jsonl"],
    "classad-parse": ["classad/parse.jsonl.gz"],
    "classad-eval": ["classad/eval.jsonl.gz"],
    "classad-match": ["classad/match.jsonl.gz"],
    "classad-refs": ["classad/refs.jsonl.gz"],
    "classad-ads": ["classad/ads.jsonl.gz"],
    "queue-log": ["queue_logs/snapshots.jsonl", "queue_logs/damaged.jsonl"],
    "daemon-timeline": ["daemon/timeline.jsonl.gz", "daemon/timeline_23.jsonl.gz"],
    "hooks": ["hooks/calls.jsonl.gz", "hooks/cron_jobs.jsonl", "hooks/cron_ads.jsonl.gz"],
    "router-timeline": ["router/jobs.jsonl.gz"],
    "router-steps": ["router/steps.jsonl.gz"],
    "submit": ["submit/submit.jsonl.gz", "submit/odd.jsonl"],
    "submit-full": ["submit/full.jsonl.gz"],
    "transforms": ["transforms/runs.jsonl.gz", "transforms/odd.jsonl"],
    "routes": ["routes/routes.jsonl.gz"],
    "router-tools": ["router_tools/tools.jsonl"],
    "legacy-routes": ["legacy_routes/conversions.jsonl.gz"],
    "legacy-routed": ["legacy_routes/routed.jsonl.gz"],
    "access-point": ["access_point/submissions.jsonl.gz"],
}


@pytest.fixture(scope="module", autouse=True)
def _pinned_zones() -> Iterator[None]:
    pin_zones()
    yield
    unpin_zones()


def test_every_kind_has_its_recordings() -> None:
    """A kind that is added is mutated here."""
    assert RECORDINGS.keys() == KINDS.keys()


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in RECORDINGS.items() for name in names])
def test_what_a_replay_does_not_notice_is_listed(kind: str, name: str) -> None:
    """A small sample of each recording, and every kind of change."""
    outcome = mutate(kind, KINDS[kind], read_recording(GOLDEN / name), sample=4, changes=100)
    assert unlisted(outcome, read_survivors(LIST)) == {}
    assert outcome.lines
    assert outcome.noticed.total() > outcome.survived.total() / 2


def _blind(case: Case) -> list[Difference]:
    """Look at one field alone."""
    value = case.value
    assert isinstance(value, dict)
    if value.get("seen") == "away":
        raise NotApplicable("away")
    return [] if value.get("seen") in {1, "one"} else [Difference("seen", "is not one")]


def _cases(*lines: dict[str, object]) -> list[Case]:
    return [Case(number, str(number), line, Path()) for number, line in enumerate(lines, start=1)]


def test_every_way_of_being_otherwise_is_tried() -> None:
    """Dropped, emptied, a number by one and far off, a letter, a boolean, a list's last element."""
    line: dict[str, object] = {"seen": 1, "text": "abc", "is": True, "list": [1, 2], "ad": {"a": "b"}, "none": None}
    outcome = mutate("made", _blind, _cases(line), sample=1, changes=1000)
    assert outcome.noticed == {Change("made", "seen", what): 1 for what in ("dropped", "by one", "far off")}
    survived = {(change.field, change.what): count for change, count in outcome.survived.items()}
    assert survived == {
        **{(field, "dropped"): 1 for field in ("text", "is", "list", "ad", "ad.a", "none")},
        **{(field, "emptied"): 1 for field in ("text", "list", "ad", "ad.a")},
        **{(field, "a letter"): 1 for field in ("text", "ad.a")},
        ("is", "flipped"): 1,
        ("list", "shortened"): 1,
        ("list[]", "by one"): 2,
        ("list[]", "far off"): 2,
    }


def test_the_same_seed_makes_the_same_changes() -> None:
    """And another one others."""
    lines: list[dict[str, object]] = [{"seen": 1, "text": f"word {n}"} for n in range(40)]
    made = [mutate("made", _blind, _cases(*lines), sample=3, changes=4, seed=seed) for seed in (1, 1, 2)]
    assert made[0] == made[1]
    assert made[0].examples != made[2].examples
    assert (made[0].lines, made[0].noticed.total() + made[0].survived.total()) == (3, 4)


def test_a_line_that_fails_as_it_is_is_not_changed() -> None:
    """And one that is not compared any more once it is changed was not noticed."""
    assert mutate("made", _blind, _cases({"seen": 2}), sample=9, changes=99) == Outcome()
    away = mutate(
        "made",
        lambda case: _blind(case) if case.value != {"seen": ""} else [],
        _cases({"seen": "one"}),
        sample=1,
        changes=9,
    )
    assert Change("made", "seen", "emptied") in away.survived
    escaped = mutate("made", _escaping, _cases({"seen": True}), sample=1, changes=9)
    assert escaped.survived == {Change("made", "seen", "flipped"): 1}


def _escaping(case: Case) -> list[Difference]:
    if case.value == {"seen": False}:
        raise NotApplicable("it says so")
    return [] if case.value == {"seen": True} else [Difference("seen", "is missing")]


def test_names_leave_out_the_numbers_of_lists() -> None:
    """Who wrote a step is told, and numbers that are names are #."""
    line = {"steps": [{"by": "router", "set": {"A": "1"}}], "procs": {"0": [{"t": 1}]}}
    assert name_of(line, ("steps", 0, "set", "A")) == "steps[router].set.A"
    assert name_of(line, ("procs", "0", 0, "t")) == "procs.#[].t"


def test_inputs_are_known_by_kind_and_shape() -> None:
    """A field below an input is one, too; a result among them is none."""
    assert is_input("submit-full", "files.sub/x")
    assert is_input("hooks:JOB_EXIT", "stdout")
    assert not is_input("hooks:FETCH_WORK", "stdout")
    assert not is_input("submit", "submitted")
    assert is_input("router-timeline", "copies[].Cmd")
    assert not is_input("router-timeline", "copies[].JobStatus")
    assert covers("a[].*", "a[].b")
    assert not covers("a[].*", "a.b")


def test_a_list_says_what_may_survive() -> None:
    """By kind or its shape, field and change; sometimes: where the same field is noticed otherwise."""
    change = Change("k:x", "a.b", "dropped")
    seen, blind = Outcome(), Outcome()
    seen.noticed[Change("k:x", "a.b", "a letter")] += 1
    for each in (seen, blind):
        each.survived[change] += 1
        each.examples[change] = "there"
    assert unlisted(seen, []) == {change: "there"}
    for kind, field, what in (("k", "a.b", "dropped"), ("k:x", "a*", "*"), ("k:*", "*", "dropped")):
        assert unlisted(seen, [Listed(kind, field, what, "why")]) == {}
    for kind, field, what in (("k:y", "a.b", "dropped"), ("k", "a", "*"), ("k", "a.b", "emptied"), ("kk", "*", "*")):
        assert unlisted(seen, [Listed(kind, field, what, "why")]) == {change: "there"}
    sometimes = [Listed("k", "a.b", "sometimes", "why")]
    assert (unlisted(seen, sometimes), unlisted(blind, sometimes)) == ({}, {change: "there"})


def test_a_list_that_does_not_say_why_is_refused(tmp_path: Path) -> None:
    """With the line."""
    path = tmp_path / "list.txt"
    path.write_text("# comment\n\nk\ta\t*\twhy\nk\ta\t*\n")
    with pytest.raises(Unreadable, match=r"line 4: write kind, field, what was done and the reason"):
        read_survivors(path)


def test_the_command_tells_survivors_and_fails_for_those_that_are_not_listed(tmp_path: Path) -> None:
    """With the field and how many changes of it survived."""
    path = tmp_path / "odd.jsonl"
    lines = (GOLDEN / "crontab" / "odd_specs.jsonl").read_text().splitlines()
    path.write_text(next(line for line in lines if json.loads(line)["spec"] == "59-60 * * * *") + "\n")
    command = [sys.executable, str(GOLDEN / "mutate.py"), "odd-specs", str(path), "--sample", "1"]
    done = [
        subprocess.run([*command, *more], capture_output=True, text=True, check=False, cwd=tmp_path)
        for more in ([], ["--accept", str(LIST)])
    ]
    assert [each.returncode for each in done] == [1, 0]
    assert "1/1 odd-specs rejected_by.cronie emptied" in done[0].stdout
    assert ", 0 survived\n" in done[1].stdout
