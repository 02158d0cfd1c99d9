"""Findings while a text is written: those of the commands, at places as the client counts them."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import EXAMPLES, NOW, ROOT, ZONE, crondor, process
from tests.lsp.client import Client, place, serving

SEVERITIES = {"error": 1, "warning": 2, "note": 3}
WRONG = "executable = /bin/x\ncron_minutes = 0\ncron_hour = MON\nqueue\n"


def of_command(path: Path, *command: str) -> list[tuple[object, ...]]:
    """Return what a command finds in a file: code, severity, and place from 0."""
    result = crondor(*command, str(path), "--now", NOW, "--tz", ZONE, "--format", "json")
    findings = [each for file in result.data["files"] for each in file["findings"]]
    return sorted(
        (each["code"], SEVERITIES[each["severity"]], at["line"] - 1, at["column"] - 1)
        for each in findings
        if (at := each["place"])
    )


def of_server(diagnostics: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    """Return the same of the server's findings."""
    return sorted(
        (each["code"], each["severity"], each["range"]["start"]["line"], each["range"]["start"]["character"])
        for each in diagnostics
    )


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_submit_files_have_the_findings_of_check(client: Client, path: Path) -> None:
    """All of them, with codes, severities and places."""
    uri = client.open(path, path.read_text(encoding="utf-8"))
    assert of_server(client.diagnostics(uri)) == of_command(path, "check")


def test_a_router_has_the_findings_of_route_check(client: Client) -> None:
    """Of the whole configuration."""
    path = ROOT / "examples/routes-traps.conf"
    uri = client.open(path, path.read_text(encoding="utf-8"))
    found = of_server(client.diagnostics(uri))
    assert found == of_command(path, "route", "check", "--config")
    assert found


@pytest.mark.parametrize(
    ("name", "language", "text", "found"),
    [
        ("a.sub", "", WRONG, [("CRN104", 2, 12), ("CRN501", 1, 0)]),
        ("noname", "htcondor-submit", WRONG, [("CRN104", 2, 12), ("CRN501", 1, 0)]),
        ("a.conf", "", "A = 1\nb\n", [("CRN601", 1, 0)]),
        ("a.rules", "", "SET x 1\nSET Y foo(\n", [("set-expression", 1, 6)]),
        ("a.ad", "", 'a = 1\n\nb = "x\n', [("classad-syntax", 2, 4)]),
        ("crontab", "", "60 1 * * * a\n", [("CRN101", 0, 0)]),
        (
            "a.dag",
            "",
            "JOB A {\n cron_hour = 99\n executable = /bin/x\n}\nRETRY B 3\n",
            [("CRN101", 1, 13), ("CRN802", 4, 6), ("CRN808", 0, 6)],
        ),
    ],
)
def test_each_language_has_its_findings(
    client: Client, name: str, language: str, text: str, found: list[tuple[object, ...]]
) -> None:
    """By the name of the file, or by what the editor calls the language."""
    uri = client.open(f"/nowhere/{name}", text, language)
    assert [(code, line, column) for code, _, line, column in of_server(client.diagnostics(uri))] == found


def test_a_text_in_no_language_of_ours_is_left_alone(client: Client) -> None:
    """Nothing is said of it; the next text is."""
    client.open("/nowhere/a.py", "import x\n", "python")
    uri = client.open("/nowhere/b.sub", WRONG)
    assert client.diagnostics(uri)
    assert (
        client.about("codeAction", "file:///nowhere/a.py", range=place(0, 0, 0, 0), context={"diagnostics": []}) == []
    )


def test_a_diagnostic_says_what_to_write_and_where_the_rule_is_explained(client: Client) -> None:
    """The page is a file that is there."""
    uri = client.open("/nowhere/c.sub", WRONG)
    first = client.diagnostics(uri)[0]
    assert first["message"].endswith("\nhelp: did you mean cron_minute?")
    assert first["source"] == "crondor"
    page = Path(first["codeDescription"]["href"].removeprefix("file://"))
    assert page.read_text(encoding="utf-8").startswith("# CRN501")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-32"])  # UTF-16 is what all the other tests have
def test_places_are_counted_in_the_units_that_were_agreed_on(encoding: str) -> None:
    """Beyond ASCII, and beyond the first plane; edits are read in the same units."""
    with serving(capabilities={"general": {"positionEncodings": [encoding]}}) as client:
        assert client.capabilities["positionEncoding"] == encoding
        text = 'executable = /bin/x\nx = "é𝄞"\ncron_hour = "é𝄞'
        uri = client.open("/nowhere/a.sub", f"{text}\nqueue\n")
        client.diagnostics(uri)
        client.change(uri, 2, {"range": place(2, 0, 2, 99), "text": "queue"}, {"range": place(2, 5, 2, 5), "text": ""})
        client.diagnostics(uri, 2)
        end = {"utf-8": 11, "utf-32": 7}[encoding]
        client.change(
            uri, 3, {"range": place(1, 5, 1, end), "text": "b"}, {"range": place(2, 0, 2, 0), "text": "bad\n"}
        )
        found = client.diagnostics(uri, 3)
        places = [each["range"]["start"] for each in found if each["code"] == "CRN001"]
        assert places == [{"line": 2, "character": 0}]
        client.change(
            uri, 4, {"text": 'executable = /bin/x\narguments = é𝄞 " $(x\n' + "x = é𝄞\ncron_hour = 3 #é𝄞\nqueue\n"}
        )
        ends = [
            each["range"]["end"]["character"]
            for each in client.diagnostics(uri, 4)
            if each["range"]["start"]["line"] == 3
        ]
        assert max(ends) == {"utf-8": 21, "utf-32": 17}[encoding]


def test_edits_one_after_the_other_are_as_the_text_at_the_end(client: Client) -> None:
    """Whatever the line ends; findings are those of the text as a whole."""
    dice = random.Random(7)  # noqa: S311 - which edits, no secret
    text = (ROOT / "examples/macros.sub").read_text(encoding="utf-8")
    assert client.capabilities["positionEncoding"] == "utf-16"
    uri = client.open("/nowhere/a.sub", text)
    client.diagnostics(uri)
    for version in range(2, 60):
        lines = text.split("\n")
        line = dice.randrange(len(lines))
        start = dice.randrange(len(lines[line]) + 1)
        end = min(len(lines[line]), start + dice.choice((0, 0, 1, 4)))
        new = dice.choice(("é", "\n", "\x0c", "\u2028", "𝄞", "x = 1\n", "$(", ")", "*", ""))
        at = sum(len(each) + 1 for each in lines[:line])
        units = [len(lines[line][:column].encode("utf-16-le")) // 2 for column in (start, end)]
        client.change(uri, version, {"range": place(line, units[0], line, units[1]), "text": new})
        text = text[: at + start] + new + text[at + end :]
    last = client.diagnostics(uri, 59)
    other = client.open("/nowhere/b.sub", text)
    again = client.diagnostics(other)
    assert json.dumps(last).replace("a.sub", "b.sub") == json.dumps(again)


def test_closing_a_text_takes_its_findings_back(client: Client) -> None:
    """And the server forgets it."""
    uri = client.open("/nowhere/d.sub", WRONG)
    assert client.diagnostics(uri)
    client.close(uri)
    assert client.diagnostics(uri, None) == []


def test_a_finding_of_an_included_file_stands_at_its_name(client: Client, tmp_path: Path) -> None:
    """With the place in that file beside it."""
    (tmp_path / "site.inc").write_text("cron_hour = 99\n", encoding="utf-8")
    uri = client.open(tmp_path / "a.sub", "include : site.inc\nexecutable = /bin/x\ncron_minute = 0\nqueue\n")
    found = [each for each in client.diagnostics(uri) if each["code"] == "CRN101"]
    assert [each["range"] for each in found] == [place(0, 10, 0, 18)]
    location = found[0]["relatedInformation"][0]["location"]
    assert location == {"uri": (tmp_path / "site.inc").as_uri(), "range": place(0, 12, 0, 14)}


def test_settings_are_those_of_the_folder_of_each_file(client: Client, tmp_path: Path) -> None:
    """Two folders, two crondor.toml; what cannot be used is said once, and the defaults hold."""
    for name, setting in (("one", 'ignore = ["CRN501"]'), ("two", "ignore = 3")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "crondor.toml").write_text(f"[check]\n{setting}\n", encoding="utf-8")
    codes = {}
    for name in ("one", "two"):
        uri = client.open(tmp_path / name / "a.sub", WRONG)
        codes[name] = [each["code"] for each in client.diagnostics(uri)]
    assert codes == {"one": ["CRN104"], "two": ["CRN501", "CRN104"]}
    assert "ignore" in client.message("window/showMessage")["message"]
    (tmp_path / "one/crondor.toml").write_text("", encoding="utf-8")
    client.notify("workspace/didChangeWatchedFiles", changes=[])
    uri = (tmp_path / "one/a.sub").as_uri()
    assert [each["code"] for each in client.diagnostics(uri)] == ["CRN501", "CRN104"]


def test_the_access_point_and_the_baseline_of_a_folder_count(client: Client, tmp_path: Path) -> None:
    """As they do for `crondor check`."""
    (tmp_path / "site.conf").write_text(
        "SUBMIT_REQUIREMENT_NAMES = A\nSUBMIT_REQUIREMENT_A = false\n", encoding="utf-8"
    )
    (tmp_path / "crondor.toml").write_text('pool-config = ["site.conf"]\n', encoding="utf-8")
    file = tmp_path / "a.sub"
    file.write_text(WRONG, encoding="utf-8")
    uri = client.open(file, WRONG)
    found = of_server(client.diagnostics(uri))
    assert found == of_command(file, "check", "--pool-config", str(tmp_path / "site.conf"))
    assert "CRN701" in {code for code, *_ in found}
    known = tmp_path / "known.json"
    pool = ("--pool-config", str(tmp_path / "site.conf"))
    crondor("check", str(file), *pool, "--now", NOW, "--baseline", str(known), "--update-baseline")
    (tmp_path / "crondor.toml").write_text(
        'pool-config = ["site.conf"]\n[check]\nbaseline = "known.json"\n', encoding="utf-8"
    )
    client.notify("workspace/didChangeConfiguration", settings={})
    assert client.diagnostics(uri) == []
    client.change(uri, 2, {"range": place(2, 0, 2, 0), "text": "cron_windows = 3\n"})
    assert [each["code"] for each in client.diagnostics(uri, 2)] == ["CRN501"]


@pytest.mark.parametrize(
    "text",
    [
        "a = $(a)\n" * 300 + "queue\n",
        "x = " + "(" * 20_000 + "\nqueue\n",
        "if true\n" * 1_000,
        "queue 1000000000\n" * 100,
        "\0\ud800",
        "requirements = " + "a+" * 3_000 + "1\nqueue\n",
        "x = " + "$(a)b" * 5_000 + "\n",
        "x = " + "é$(" * 5_000 + "\nqueue a" + " " * 30_000 + "\n" + "a" * 30_000 + " ",
        "".join(f"JOB_ROUTER_ROUTE_{n} @=e\nX = $(X)\n@e\n" for n in range(300)),
    ],
    ids=["circle", "deep", "ifs", "queues", "no text", "long", "macros", "blanks", "routes"],
)
@pytest.mark.parametrize("name", ["h.sub", "h.conf", "h.ad", "h.rules", "crontab"])
def test_a_hostile_text_does_not_end_the_server(client: Client, name: str, text: str) -> None:
    """It is answered, whatever is asked, and the next text is looked at."""
    uri = client.open(f"/hostile/{name}", text)
    client.diagnostics(uri)
    for line, column in ((0, 5), (1, 6), (2, 30_001)):
        for method in ("hover", "completion", "definition"):
            client.about(method, uri, line, column)
        client.about("references", uri, line, column, context={"includeDeclaration": True})
    for method in ("documentSymbol", "foldingRange", "semanticTokens/full", "codeLens", "documentLink"):
        client.about(method, uri)
    client.close(uri)
    assert client.diagnostics(uri, None) == []


def test_what_is_no_request_is_answered_with_an_error(client: Client) -> None:
    """And the conversation goes on."""
    assert client.answer("textDocument/noSuchThing", {})["error"]["code"] == -32601
    client.notify("textDocument/didChange", nothing=1)
    assert client.diagnostics(client.open("/nowhere/e.sub", WRONG))


def test_a_client_that_goes_away_ends_the_server() -> None:
    """Its standard input ends, without a goodbye."""
    ended = process("lsp")
    assert (ended.returncode, b"Traceback" in ended.stderr) == (0, False)


def test_without_pygls_it_says_what_to_install() -> None:
    """And exits with 2, as the other server does."""
    import sys  # noqa: PLC0415 - its modules are changed
    from unittest.mock import patch  # noqa: PLC0415 - the same

    with patch.dict(sys.modules, {"pygls": None, "mcp": None}):
        results = {name: crondor(name) for name in ("lsp", "mcp")}
    for name, result in results.items():
        assert result.status == 2
        assert f"pip install '.[{name}]'" in result.err
