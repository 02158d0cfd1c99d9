"""The recorded tables of condor_job_router_info -config: every line passes, an altered one fails."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.examples import some
from tests.golden.kinds.routes_config import compare_config
from tests.golden.recording import read_recording

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
