"""The recordings: every line passes or is an accepted difference, and an altered line fails."""

import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.examples import some
from tests.golden.judging import differences, judge
from tests.golden.kinds import KINDS
from tests.golden.kinds.case import Case, NotApplicable
from tests.golden.kinds.routes_config import compare_config
from tests.golden.recording import read_accepted, read_recording

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


@pytest.mark.parametrize(
    ("kind", "file", "passed", "accepted", "not_applicable"),
    [
        ("access-point", "access_point/submissions.jsonl.gz", 62, 0, 0),
        ("classad-ads", "classad/ads.jsonl.gz", 183, 0, 0),
        ("classad-parse", "classad/parse.jsonl.gz", 955, 0, 0),
        ("classad-eval", "classad/eval.jsonl.gz", 4486, 4, 0),
        ("classad-match", "classad/match.jsonl.gz", 160, 0, 0),
        ("classad-refs", "classad/refs.jsonl.gz", 202, 0, 0),
        ("daemon-timeline", "daemon/timeline.jsonl.gz", 21, 0, 0),
        ("daemon-timeline", "daemon/timeline_23.jsonl.gz", 69, 0, 0),
        ("hooks", "hooks/calls.jsonl.gz", 73, 0, 0),
        ("hooks", "hooks/cron_jobs.jsonl", 8, 0, 0),
        ("hooks", "hooks/cron_ads.jsonl.gz", 10, 0, 0),
        ("legacy-routed", "legacy_routes/routed.jsonl.gz", 25, 1, 0),  # the umbrella constraint
        ("legacy-routes", "legacy_routes/conversions.jsonl.gz", 120, 0, 0),
        ("queue-log", "queue_logs/snapshots.jsonl", 6, 0, 0),
        ("queue-log", "queue_logs/damaged.jsonl", 20, 5, 0),  # where more is kept than by HTCondor
        ("router-steps", "router/steps.jsonl.gz", 22, 0, 0),
        ("router-timeline", "router/jobs.jsonl.gz", 8, 0, 3),  # the jobs of starters are none of the router's
        ("router-tools", "router_tools/tools.jsonl", 26, 0, 1),  # the help is our own
        ("routes", "routes/routes.jsonl.gz", 120, 0, 0),
        ("submit", "submit/submit.jsonl.gz", 597, 0, 3),  # a command to be run, another machine
        ("submit", "submit/odd.jsonl", 42, 0, 0),
        ("submit-full", "submit/full.jsonl.gz", 521, 3, 0),
        ("transforms", "transforms/runs.jsonl.gz", 706, 11, 0),
        ("transforms", "transforms/odd.jsonl", 11, 0, 0),  # of another release of HTCondor
    ],
)
def test_every_recorded_line_passes(kind: str, file: str, passed: int, accepted: int, not_applicable: int) -> None:
    """What is accepted has a reason, and differs; of ClassAds it is a defect of the library's."""
    names = [f"accepted_{Path(file).name.partition('.')[0]}.txt", "accepted.txt"]
    found = [path for name in names if (path := (GOLDEN / file).with_name(name)).exists()]
    result = judge(KINDS[kind], read_recording(GOLDEN / file), read_accepted(found[0]) if accepted else {})
    assert [(case.id, case.value, differ) for case, differ in result.failed[:3]] == []
    assert (result.passed, len(result.accepted)) == (passed, accepted)
    assert (result.not_applicable.total(), result.idle) == (not_applicable, {})
    for case, _ in result.accepted if kind.startswith("classad") else ():
        assert isinstance(case.value, dict)
        assert "upstream_defect" in case.value


def _fails(kind: str, case: Case) -> bool:
    try:
        return bool(differences(KINDS[kind], case))
    except NotApplicable:
        return True


def _each(line: dict[str, Any], *fields: str) -> Iterator[dict[str, Any]]:
    """Yield the line without each field, and with a field of another type."""
    for field in fields:
        yield {name: value for name, value in line.items() if name != field}
        yield {**line, field: 7.5}


def _access_point(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from _each(line, *(line.keys() - {"name"}))
    yield {**line, "refused": "because"}
    yield {**line, "warned": ["it is late"]}
    ads = line["ads"]
    for number, ad in enumerate(ads):
        for name in ad:
            others = [*ads[:number], {each: text for each, text in ad.items() if each != name}, *ads[number + 1 :]]
            if name != "QDate":
                yield {**line, "ads": others}
        yield {**line, "ads": [*ads[:number], {**ad, "New": "1"}, *ads[number + 1 :]]}


def _classad_ads(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {**line, "ok": not line["ok"]}
    yield {**line, "expectation": 1}
    yield from _each(line, *line)
    ads = line.get("ads")
    if not isinstance(ads, list):
        return
    yield {**line, "ads": [*ads, {"attrs": {}, "old": "", "new": "", "json": ""}]}
    for number, ad in enumerate(ads):
        for field in ad:
            for altered in ({**ad, field: "x"}, {**ad, field: None}):
                yield {**line, "ads": [*ads[:number], altered, *ads[number + 1 :]]}
        attributes = dict(reversed(ad["attrs"].items()))
        if len(attributes) > 1:
            yield {**line, "ads": [*ads[:number], {**ad, "attrs": attributes}, *ads[number + 1 :]]}


def _classad(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Alter what the library answered, and leave each field out, but for notes and what is the same without it."""
    given = {"expr", "my", "target", "ad", "job", "machine"}
    fields = line.keys() - {"note", "upstream_defect"}
    for field in fields - given:
        yield from ({**line, field: value} for value in _other_values(line[field]))
    value = line.get("value")
    if isinstance(value, dict):
        for field in value:
            yield from ({**line, "value": {**value, field: other}} for other in _other_values(value[field]))
    for field in fields:
        if field not in {"compact", "old"}:
            yield {name: line[name] for name in line if name != field}
        yield {**line, field: 7.5}
    yield {**line, "expectation": 1}


def _other_values(value: object) -> list[object]:
    if isinstance(value, bool):
        return [not value, None, "x"]
    if isinstance(value, str):
        return [value + "x", None, 5]
    if isinstance(value, list):
        return [[*value, "x"], None]
    return [7.5, "x"]


def _hooks(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for field in line.keys() - {"env"}:
        yield {key: value for key, value in line.items() if key != field}
    if "type" in line:
        yield {**line, "argv": [*line["argv"], "more"]}
        yield {**line, "env": {**line.get("env", {"_CONDOR_JOB_IWD": "/", "_CONDOR_SLOT": ""}), "MORE": "1"}}
    elif "job" in line:
        yield {**line, "argv": [*line["argv"], "more"]}
        yield {**line, "env": {"MORE": "1"}}
        yield {**line, "log": ["Can't insert 'x' into 'y' ClassAd"]}
        if len(line["starts"]) > 2:
            yield {**line, "starts": [at * 1.5 for at in line["starts"]]}
    else:
        for name, ad in line["ads"].items():
            yield {**line, "ads": {**line["ads"], name: {**ad, "Sh_More": "1"}}}


def _legacy_routed(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {**line, "expectation": 1}
    yield {**line, "jobs": "none"}
    yield {**line, "umbrella": None}
    yield {**line, "rc": {**line["rc"], "match": 1}}
    yield {**line, "matches": line["matches"][:-1]}
    yield {**line, "routed": line["routed"][:-1]}
    yield from _each(line, "config", "jobs", "table", "umbrella", "matches", "routed", "rc", "stderr")
    for field in ("Name", "Universe", "MaxJobs", "MaxIdleJobs", "GridResource", "Requirements"):
        altered = copy.deepcopy(line)
        altered["table"][0][field] += "1"
        yield altered
    for name in line["routed"][0]["ad"] or ():
        altered = copy.deepcopy(line)
        altered["routed"][0]["ad"][name] = "7.25"
        yield altered


def _legacy_routes(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    out = line["out"]
    if "autoconversion" not in out:
        return
    yield {**line, "rc": 1}
    yield {**line, "expectation": 1}
    yield {**line, "stderr": "Failed to open"}
    yield {**line, "mode": "file" if line["mode"] == "config" else "config"}
    yield from _each(line, "mode", "text", "rc", "out", "stderr")
    yield {**line, "out": out.replace("NAME ", "NAME X", 1) if "NAME " in out else f"{out}x"}
    for found in re.finditer(r"(?m)^ *(SET|EVALSET|DELETE|COPY|REQUIREMENTS) .*$", out):
        yield {**line, "out": out[: found.start()] + out[found.end() + 1 :]}
        yield {**line, "out": f"{out[: found.end()]} x{out[found.end() :]}"}


def _router_tools(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Alter every field, and every digit of the output."""
    yield {**line, "rc": 1}
    yield {**line, "tool": "rm"}
    yield {**line, "expectation": 1}
    for field in ("tool", "args", "now", "ads", "rc", "stdout"):
        yield {name: value for name, value in line.items() if name != field}
    out = str(line["stdout"])
    for place, letter in enumerate(out.rstrip("\n")):
        if (
            letter.isdigit()
            and "Schedd:" not in out[out.rfind("\n", 0, place) + 1 : place]
            and "SCHEDD2" not in out[out.rfind("\n", 0, place) + 1 : out.find("\n", place)]
        ):
            yield {**line, "stdout": f"{out[:place]}{(int(letter) + 1) % 10}{out[place + 1 :]}"}


def _routes(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {**line, "expectation": 1}
    yield from _each(line, "config", "jobs", "options", "umbrella", "matches", "routed")
    yield {**line, "options": ["-unknown"]}
    yield {**line, "umbrella": None if line["umbrella"] else "true"}
    if line["umbrella"]:
        yield {**line, "umbrella": "true"}
    if line["matches"]:
        none = 'target.Owner isnt "alice" && target.Owner isnt "bob" && target.Owner isnt "carol"'
        yield {**line, "umbrella": f"{line['umbrella']} && {none}"}
    for field in ("matches", "routed"):
        yield from ({**line, field: altered} for altered in _altered_routes(line[field]))
    yield {**line, "matches": [*line["matches"][::-1], {"job": "1.0", "route": "x"}]}


def _altered_routes(listed: list[dict[str, Any]]) -> Iterator[Sequence[object]]:
    """Alter the first and the last of what was matched or routed."""
    for number in {0, len(listed) - 1} if listed else ():
        each = listed[number]
        before, after = listed[:number], listed[number + 1 :]
        yield before + after
        yield [*listed, each]
        yield [*before, {**each, "route": "Other"}, *after]
        yield [*before, {**each, "more": 1}, *after]
        ad = each.get("ad")
        if not isinstance(ad, dict):
            continue
        yield [*before, {**each, "in_place": True}, *after]
        for changed in (
            None,
            {**ad, "More": "1"},
            {name.swapcase(): text for name, text in ad.items()},
            *({**ad, name: "7.25"} for name in list(ad)[::7]),
            *({key: text for key, text in ad.items() if key != name} for name in list(ad)[::7]),
        ):
            yield [*before, {**each, "ad": changed}, *after]


def _submit(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Alter the acceptance, and every attribute of every job."""
    yield {**line, "rc": 1 - int(str(line["rc"]))}
    yield {**line, "expectation": 1}
    yield from _each(line, *(line.keys() - {"name", "config", "files", "args"}))
    ads = line["ads"]
    yield {**line, "ads": [*ads, {"ProcId": "99"}]}
    if ads:
        yield {**line, "ads": ads[:-1]}
    for number, ad in enumerate(ads):
        for attribute, value in ad.items():
            rest = {name: other for name, other in ad.items() if name != attribute}
            for altered in (rest, {**ad, attribute: value + "x"}, {**ad, attribute: 5}, {**rest, "Y1": value}):
                if attribute != "WantDocker" or altered is not rest:  # beside what is always compared
                    yield {**line, "ads": [*ads[:number], altered, *ads[number + 1 :]]}


def _submit_full(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Leave each attribute out of a full recording, or add one."""
    for number, ad in enumerate(line["ads"]):
        for altered in (*({k: v for k, v in ad.items() if k != name} for name in ad), {**ad, "Another": "1"}):
            yield {**line, "ads": [*line["ads"][:number], altered, *line["ads"][number + 1 :]]}


def _transforms(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {**line, "rc": 255 if line["rc"] == 1 else 1}
    yield {**line, "expectation": 1}
    yield from _each(line, "rules", "config", "args", "ads_in", "rc", "ads_out", "stderr")
    yield {**line, "stderr": f"{line['stderr']}ERROR: SET Nothing invalid expression : like this\n"}
    yield {**line, "args": [*line["args"], "-unknown"]}
    ads = line["ads_out"]
    yield {**line, "ads_out": [*ads, "More = 1\n"]}
    for number, ad in enumerate(ads):
        lines = ad.splitlines()
        reversed_ = "\n".join(reversed(lines)) + "\n"
        for altered in (ad + "Zz = 1\n", ad.swapcase(), *([reversed_] if len(lines) > 1 else [])):
            yield {**line, "ads_out": [*ads[:number], altered, *ads[number + 1 :]]}


@pytest.mark.parametrize(
    ("kind", "file", "most", "mutants"),
    [
        ("access-point", "access_point/submissions.jsonl.gz", 9, _access_point),
        ("classad-ads", "classad/ads.jsonl.gz", 37, _classad_ads),
        ("classad-parse", "classad/parse.jsonl.gz", 42, _classad),
        ("classad-eval", "classad/eval.jsonl.gz", 195, _classad),
        ("classad-match", "classad/match.jsonl.gz", 7, _classad),
        ("classad-refs", "classad/refs.jsonl.gz", 9, _classad),
        ("hooks", "hooks/calls.jsonl.gz", 19, _hooks),
        ("hooks", "hooks/cron_jobs.jsonl", 2, _hooks),
        ("hooks", "hooks/cron_ads.jsonl.gz", 3, _hooks),
        ("legacy-routed", "legacy_routes/routed.jsonl.gz", 3, _legacy_routed),
        ("legacy-routes", "legacy_routes/conversions.jsonl.gz", 5, _legacy_routes),
        ("router-tools", "router_tools/tools.jsonl", 3, _router_tools),
        ("routes", "routes/routes.jsonl.gz", 3, _routes),
        ("submit", "submit/submit.jsonl.gz", 15, _submit),
        ("submit-full", "submit/full.jsonl.gz", 21, _submit_full),
        ("transforms", "transforms/runs.jsonl.gz", 6, _transforms),
    ],
)
def test_an_altered_line_fails(kind: str, file: str, most: int, mutants: Callable[[Any], Iterator[Any]]) -> None:
    """Every recorded field counts, the order of attributes and matches too; none may be missing, unknown, ill-typed."""
    survivors = []
    tried = 0
    for case in some(read_recording(GOLDEN / file), most):
        if _fails(kind, case):  # it is accepted with a difference, or not compared
            continue
        for mutant in mutants(case.value):
            tried += 1
            if not _fails(kind, Case(case.number, case.id, mutant, case.folder)):
                survivors.append(mutant)
    assert tried > most
    assert survivors == []


@pytest.mark.parametrize("status", [0, 1])
def test_the_consequences_follow_from_status_and_output(status: int) -> None:
    """A TRANSLATE_JOB with another exit status does not end as recorded."""
    found = 0
    for case in read_recording(GOLDEN / "hooks/calls.jsonl.gz"):
        line: Any = case.value
        if line["type"] == "TRANSLATE_JOB" and (line["rc"], line["keyword"]) == (status, "RB" if status else "RA"):
            assert _fails("hooks", replace(case, value={**line, "rc": 1 - status})), case.id
            found += 1
    assert found


def test_the_text_of_an_error_counts() -> None:
    """The errors of the deferral, cron and universe commands are compared word by word."""
    altered = 0
    for case in read_recording(GOLDEN / "submit/submit.jsonl.gz"):
        line: Any = case.value
        stderr = re.sub(r"(?m)^(ERROR: .*)(non-negative integer|universe)", r"\1other \2", line["stderr"])
        if stderr != line["stderr"] and "Failed to parse" not in stderr:  # the language, not a command
            altered += 1
            assert _fails("submit", replace(case, value={**line, "stderr": stderr}))
    assert altered > 50


def test_what_was_unused_counts() -> None:
    """A line that condor_submit says was unused, and one of which it does not say so, are told apart."""
    altered = 0
    for name in ("submit", "full"):
        for case in read_recording(GOLDEN / f"submit/{name}.jsonl.gz"):
            line: Any = case.value
            stderr, found = re.subn(r"the (line|Queue variable) '(\w)", r"the \1 'another_\2", line["stderr"], count=1)
            if found and line["rc"] == 0:
                altered += 1
                assert _fails("submit", replace(case, value={**line, "stderr": stderr}))
    assert altered > 200


RECORDING = Path(__file__).resolve().parents[1] / "golden" / "routes" / "routes.jsonl.gz"


def _lines() -> list[dict[str, Any]]:
    lines = []
    for case in read_recording(RECORDING):
        assert isinstance(case.value, dict)
        lines.append(case.value)
    return lines


def test_every_recorded_table_is_made() -> None:
    """Routes with every field and their text, transforms, on or off, and why a route was left out."""
    lines = _lines()
    assert len(lines) == 120
    assert [(line["name"], found) for line in lines if (found := compare_config(line))] == []


def _mutants(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for number, route in enumerate(line["config_out"]["routes"]):
        for field, value in route.items():
            if field != "WARNING":
                mutant = copy.deepcopy(line)
                mutant["config_out"]["routes"][number][field] = value + 1 if field == "n" else f"{value}x"
                yield mutant
    for number in range(len(line["config_out"]["transforms"])):
        for field in ("kind", "name", "text"):
            mutant = copy.deepcopy(line)
            mutant["config_out"]["transforms"][number][field] += "x"
            yield mutant
    for field, value in (("routes", []), ("transforms", []), ("disabled", ["Site1"])):
        if line["config_out"][field] != value:
            yield {**line, "config_out": {**line["config_out"], field: value}}
    for more in (
        "JobRouter is disabled.",
        "route 'Nobody' from JOB_ROUTER_ROUTE_NAMES not found in the routing table.",
        "Ignoring route entry in JOB_ROUTER_ROUTE_Nobody",
        "CONFIGURATION ERROR: FROBNICATE is not a valid transform keyword",
        "Missing or invalid GridResource in job route. Jobs will fail if it's not set in routed job ad.",
        "Routes will be matched in this order: Nobody",
    ):
        said = line["config_out"]["diagnostics"]
        if more not in said or more.startswith("Missing"):
            yield {**line, "config_out": {**line["config_out"], "diagnostics": [*said, more]}}
    yield {**line, "rc": {**line["rc"], "config": 1}}


def test_an_altered_table_differs() -> None:
    """Every field counts."""
    survivors = []
    for line in some(_lines(), 3):
        survivors += [json.dumps(mutant)[:200] for mutant in _mutants(line) if not compare_config(mutant)]
    assert survivors == []


def test_a_configuration_that_is_refused_is_compared_by_its_line() -> None:
    """HTCondor counts the twelve lines that every recorded run has before its own."""
    line = {
        "config": "A = 1\nthis is nothing\n",
        "rc": {"config": 1, "match": 1, "route": 1},
        "stderr": {"config": "Configuration Error Line 14 while reading config source /etc/condor/condor_config\n"},
    }
    assert compare_config(line) == []
    assert compare_config({**line, "stderr": {"config": line["stderr"]["config"].replace("14", "13")}})  # type: ignore[index]
    assert compare_config({**line, "config": "A = 1\n"})
