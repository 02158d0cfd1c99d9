"""Hints in grey, knobs, route names and zones: over the protocol."""

from pathlib import Path
from typing import Any

import pytest

from crondor.knowledge import config_knobs
from tests.lsp.client import Client, place, serving

TEXT = (
    "executable = /bin/x\nhour = 6\nhours = $(hour),18\ncron_minute = 15\ncron_hour = $(hours)\n"
    "arguments = $(n)\nqueue n in (a b c d)\n"
)
ROUTES = """\
BASE = 4096
JOB_ROUTER_ROUTE_NAMES = Far
MEMORY_MOST = $(BASE) * 2
JOB_ROUTER_ROUTE_Far @=end
  UNIVERSE GRID
  GridResource = "batch slurm"
@end
"""
ALL = place(0, 0, 99, 0)


@pytest.fixture(scope="module")
def client() -> Any:  # noqa: ANN401 - a Client, one for the module
    """Return a client of a server that shows every hint."""
    with serving("--hints", "all") as found:
        yield found


def shown(client: Client, uri: str, where: object = ALL) -> list[tuple[int, str]]:
    """Return the hints: line and text, in the order of the lines."""
    found = client.about("inlayHint", uri, range=where)
    return sorted((each["position"]["line"], each["label"]) for each in found)


def test_a_line_with_macros_shows_what_it_comes_to(client: Client) -> None:
    """Of several jobs their values; a list of them is cut."""
    uri = client.open("/nowhere/a.sub", TEXT)
    assert shown(client, uri) == [
        (2, "= 6,18"),
        (4, "= 6,18"),
        (4, "next: Sat 2026-11-21 06:15 +0100"),
        (5, "= a, b, c and 1 others"),
    ]
    assert shown(client, uri, place(2, 0, 2, 0)) == [(2, "= 6,18")]


def test_a_configuration_shows_what_its_macros_come_to(client: Client) -> None:
    """Not inside of routes, whose macros are replaced when they are applied."""
    uri = client.open("/nowhere/a.conf", ROUTES)
    assert shown(client, uri) == [(2, "= 4096 * 2")]


def test_a_crontab_shows_the_next_run_of_each_line(client: Client) -> None:
    """Of a schedule that cron runs at a time."""
    uri = client.open("/nowhere/crontab", "30 2 * * MON /bin/x\n@reboot /bin/y\n")
    assert shown(client, uri) == [(0, "next: Mon 2026-11-23 02:30 +0100")]


def test_the_settings_of_each_folder_say_which_hints_are_shown(tmp_path: Path) -> None:
    """The command line says it for all; no other setting of the folder that the server was started in does."""
    for name in ("none", "macros"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "crondor.toml").write_text(f'[lsp]\nhints = "{name}"\n', encoding="utf-8")
    (tmp_path / "crondor.toml").write_text('tz = "Asia/Tokyo"\n[lsp]\nhints = "all"\n', encoding="utf-8")
    with serving(folder=tmp_path) as client:
        found = {name: shown(client, client.open(tmp_path / name / "a.sub", TEXT)) for name in ("none", "macros")}
        assert found["none"] == []
        assert [line for line, _ in found["macros"]] == [2, 4, 5]
        assert len(shown(client, client.open(tmp_path / "a.sub", TEXT))) == 4


def test_every_knob_is_offered_and_explained(client: Client) -> None:
    """With its type, its default, who reads it, and one sentence."""
    uri = client.open("/nowhere/b.conf", "SCHEDD_INT\nSUBMIT_REQUIREMENT_Size = true\nMY_OWN = 1\n")
    items = {each["label"]: each for each in client.about("completion", uri, 0, 10)["items"]}
    assert {knob.name for knob in config_knobs() if "<" not in knob.name and not knob.is_removed} <= set(items)
    documented = client.ask("completionItem/resolve", **items["SCHEDD_INTERVAL"])["documentation"]["value"]
    assert "(integer)" in documented
    assert "read by: schedd; default: `300`" in documented
    said = client.about("hover", uri, 1, 5)["contents"]["value"]
    assert said.startswith("**SUBMIT_REQUIREMENT_<name>** (expression)")
    assert "line 3" in client.about("hover", uri, 2, 2)["contents"]["value"]


def test_route_names_are_offered_and_explained(client: Client) -> None:
    """In the lists that name them."""
    uri = client.open("/nowhere/c.conf", ROUTES)
    assert [each["label"] for each in client.about("completion", uri, 1, 25)["items"]] == ["Far"]
    assert "line 4" in client.about("hover", uri, 1, 26)["contents"]["value"]


@pytest.mark.parametrize(
    ("name", "text", "column"),
    [
        ("crontab", "CRON_TZ=Europe/Be\n", 17),
        ("a.sub", "# crondor: schedule = every day at 06:00 zone Europe/Be\nqueue\n", 55),
    ],
)
def test_zones_are_offered_and_explained(client: Client, name: str, text: str, column: int) -> None:
    """As they are written whole; with what their clocks show."""
    uri = client.open(f"/zones/{name}", text)
    items = {each["label"]: each["textEdit"] for each in client.about("completion", uri, 0, column)["items"]}
    assert items["Europe/Berlin"]["range"] == place(0, column - 9, 0, column)
    client.change(uri, 2, {"range": place(0, column, 0, column), "text": "rlin"})
    said = client.about("hover", uri, 0, column)["contents"]["value"]
    assert said.startswith("**Europe/Berlin**: it is ")
    assert "On Sun 2027-03-28 03:00 +0200 the clock goes forward by 60 minutes." in said


def test_policies_are_offered_and_explained(client: Client) -> None:
    """Names, values, and what a line means."""
    uri = client.open("/nowhere/p.sub", "queue\n# crondor: over\n# crondor: catch_up = once\n")
    names = {each["label"]: each["textEdit"] for each in client.about("completion", uri, 1, 15)["items"]}
    assert set(names) == {"schedule", "overlap", "start_deadline", "catch_up", "suspended"}
    assert names["overlap"] == {"range": place(1, 11, 1, 15), "newText": "overlap = "}
    (first, _) = client.about("completion", uri, 2, 26)["items"]
    assert (first["label"], first["textEdit"]["range"]) == ("once within 6h", place(2, 22, 2, 26))
    assert "after a downtime" in client.about("hover", uri, 2, 14)["contents"]["value"]


def test_the_schedule_of_a_description_is_explained(client: Client) -> None:
    """In words, with its runs; one that cannot be read with the reason."""
    text = "# crondor: schedule = every 2 days at 06:00 from 2026-11-20\nqueue\n"
    uri = client.open("/nowhere/d.sub", text)
    said = client.about("hover", uri, 0, 25)["contents"]["value"]
    assert said.count("\n- ") == 5
    assert "- Sun 2026-11-22 06:00 +0100" in said
    client.change(uri, 2, {"range": place(0, 22, 0, 27), "text": "whenever"})
    assert client.about("hover", uri, 0, 25)["contents"]["value"].startswith("No schedule: ")
