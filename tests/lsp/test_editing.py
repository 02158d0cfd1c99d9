"""What the words mean, what may stand here, where names come from: over the protocol."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import ROOT
from tests.cli.test_route_fix import CURED, FAULTY
from tests.lsp.client import Client, place

MACROS = (ROOT / "examples/macros.sub").read_text(encoding="utf-8")
ROUTES = (ROOT / "examples/routes.conf").read_text(encoding="utf-8")


@pytest.fixture
def submit(client: Client) -> str:
    """Return a submit file that is open."""
    return client.open(ROOT / "examples/macros.sub", MACROS)


@pytest.fixture
def routes(client: Client) -> str:
    """Return a configuration that is open."""
    return client.open(ROOT / "examples/routes.conf", ROUTES)


def at(text: str, piece: str, shift: int = 0) -> tuple[int, int]:
    """Return line and column (from 0) of the first place of a piece, some characters into it."""
    before = text[: text.index(piece) + shift]
    return before.count("\n"), len(before) - before.rfind("\n") - 1


def test_all_that_was_promised_is_offered(client: Client) -> None:
    """Every capability."""
    offered = {name for name, value in client.capabilities.items() if value}
    assert offered >= {
        *("codeActionProvider", "codeLensProvider", "completionProvider", "definitionProvider"),
        *("documentHighlightProvider", "documentLinkProvider", "documentSymbolProvider", "executeCommandProvider"),
        *("foldingRangeProvider", "hoverProvider", "inlayHintProvider", "referencesProvider", "renameProvider"),
        *("semanticTokensProvider", "textDocumentSync"),
    }


@pytest.mark.parametrize(
    ("piece", "shift", "said"),
    [
        ("\ncron_hour ", 3, "The hours in which the job runs"),
        ("$(hours)", 3, "value: `6,18`"),
        ("$(ClusterId)", 4, "The number that all jobs of the submission share"),
        ("JobStatus", 1, "1 idle, 2 running"),
        ("time()", 1, "seconds since 1970"),
        ("= $(minute:15)", 2, "Runs at 06:15 and 18:15 every day.\n\n- Sat 2026-11-21 06:15 +0100"),
    ],
)
def test_words_of_a_submit_file_are_explained(client: Client, submit: str, piece: str, shift: int, said: str) -> None:
    """Commands, macros, attributes, functions, schedules."""
    found = client.about("hover", submit, *at(MACROS, piece, shift))
    assert said in found["contents"]["value"]


def test_a_schedule_that_the_schedd_reads_otherwise_is_said_to_be(client: Client) -> None:
    """With its runs there."""
    text = "executable = /bin/x\ncron_minute = 0\ncron_hour = 6\ncron_day_of_month = 1-10/3\nqueue\n"
    uri = client.open("/nowhere/schedd.sub", text)
    said = client.about("hover", uri, 3, 22)["contents"]["value"]
    assert "on the 1st, 4th, 7th and 10th" in said
    assert "The real schedd does something else:\n\n- Thu 2026-12-03 06:00 +0100" in said


@pytest.mark.parametrize(
    ("piece", "said"),
    [
        ("JOB_ROUTER_ROUTE_NAMES", "in which they are tried"),
        ("EVALSET", "the value that an expression has now"),
        ("Slurm ARC", "line 12"),
        ("EnteredCurrentStatus", "When the job entered"),
    ],
)
def test_words_of_a_configuration_are_explained(client: Client, routes: str, piece: str, said: str) -> None:
    """Knobs, commands of transforms, routes in a list, attributes."""
    assert said in client.about("hover", routes, *at(ROUTES, piece, 1))["contents"]["value"]


def test_a_crontab_line_is_explained(client: Client) -> None:
    """In words, with its runs."""
    uri = client.open("/nowhere/crontab", "30 2 * * MON /bin/x\n")
    said = client.about("hover", uri, 0, 4)["contents"]["value"]
    assert said.startswith("Runs at 02:30 on Mondays.\n\n- Mon 2026-11-23 02:30 +0100")


@pytest.mark.parametrize(
    ("name", "text", "labels"),
    [
        ("a.sub", "exec", {"executable", "cron_minute", "queue"}),
        ("a.sub", "+", {"JobPrio", "Owner"}),
        ("a.sub", "abc = 1\nx = $(", {"abc", "ClusterId"}),
        ("a.sub", "x = $EN", {"ENV", "RANDOM_CHOICE"}),
        ("a.sub", "universe = ", {"vanilla", "local"}),
        ("a.sub", "should_transfer_files = ", {"YES", "NO", "IF_NEEDED"}),
        ("a.sub", "requirements = TARGET.", {"OpSys", "Memory"}),
        ("a.sub", "requirements = ti", {"time", "JobStatus"}),
        ("a.sub", "x = 1\nqueue ", {"in", "from", "matching"}),
        ("a.conf", "JOB_", {"JOB_ROUTER_ROUTE_NAMES", "JOB_ROUTER_ROUTE_"}),
        ("a.conf", "JOB_ROUTER_ROUTE_A @=end\nS\n@end\n", {"SET", "REQUIREMENTS"}),
        ("a.conf", "JOB_ROUTER_ROUTE_Far = REQUIREMENTS true\nJOB_ROUTER_ROUTE_NAMES = ", {"Far"}),
        ("a.conf", "use FEATURE : ", {"GPUs"}),
        ("a.rules", "DEL", {"DELETE", "EVALSET"}),
        ("a.rules", "SET X siz", {"size"}),
        ("a.ad", "Cl", {"ClusterId", "Memory"}),
        ("a.ad", "A = str", {"strcat"}),
        ("crontab", "@", {"@daily"}),
        ("a.dag", "JOB A a.sub\nSPL", {"SPLICE", "ABORT-DAG-ON"}),
        ("a.dag", "JOB A a.sub\nSUBDAG EXTERNAL B b.dag\nPARENT A CHILD ", {"A", "B"}),
        ("crontab", "CRON_TZ=", {"Europe/Berlin"}),
    ],
)
def test_what_may_stand_here_is_offered(client: Client, name: str, text: str, labels: set[str]) -> None:
    """By language and place; each says what it means when it is asked."""
    uri = client.open(f"/complete/{name}", text)
    lines = text.split("\n")
    line = 1 if "@end" in text else len(lines) - 1
    found = client.about("completion", uri, line, len(lines[line]))["items"]
    by_label = {each["label"]: each for each in found}
    assert set(by_label) >= labels
    assert all(each["textEdit"]["range"]["end"] == {"line": line, "character": len(lines[line])} for each in found)


def test_a_word_that_is_offered_says_what_it_means(client: Client) -> None:
    """When the editor asks for it."""
    uri = client.open("/complete/b.sub", "cron")
    items = client.about("completion", uri, 0, 4)["items"]
    item = next(each for each in items if each["label"] == "cron_minute")
    assert item["textEdit"] == {"range": place(0, 0, 0, 4), "newText": "cron_minute = "}
    assert "The minutes at which the job runs" in client.ask("completionItem/resolve", **item)["documentation"]["value"]


def test_nothing_is_offered_in_a_comment(client: Client) -> None:
    """Nor is a comment explained."""
    uri = client.open("/complete/c.sub", "# cron_mi\nqueue\n")
    assert client.about("completion", uri, 0, 9)["items"] == []
    assert client.about("hover", uri, 0, 4) is None


def test_a_macro_leads_to_its_definition(client: Client, submit: str) -> None:
    """And to all its uses."""
    found = client.about("definition", submit, *at(MACROS, "$(hours)", 3))
    assert [each["range"]["start"] for each in found] == [
        dict(zip(("line", "character"), at(MACROS, "\nhours", 1), strict=True))
    ]
    uses = client.about("references", submit, *at(MACROS, "task =", 1), context={"includeDeclaration": True})
    assert len(uses) == MACROS.count("$(task)") + 1
    assert len(client.about("documentHighlight", submit, *at(MACROS, "task =", 1))) == len(uses)


def test_a_definition_may_stand_in_an_included_file(client: Client, tmp_path: Path) -> None:
    """There it is found; it keeps its name."""
    (tmp_path / "site.inc").write_text("# é\nhour = 7\n", encoding="utf-8")
    text = "include : site.inc\nexecutable = /bin/x\ncron_hour = $(hour)\nqueue\n"
    uri = client.open(tmp_path / "a.sub", text)
    found = client.about("definition", uri, 2, 15)
    assert found == [{"uri": (tmp_path / "site.inc").as_uri(), "range": place(1, 0, 1, 4)}]
    assert client.about("prepareRename", uri, 2, 15) is None
    assert client.about("documentLink", uri) == [
        {"range": place(0, 10, 0, 18), "target": (tmp_path / "site.inc").as_uri()}
    ]


def applied(text: str, edit: dict[str, Any]) -> str:
    """Return a text after an edit of the server's."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    places = []
    for each in edit["documentChanges"][0]["edits"]:
        ends = (each["range"]["start"], each["range"]["end"])
        places.append((*(starts[end["line"]] + end["character"] for end in ends), each["newText"]))
    for start, end, new in sorted(places, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def test_a_macro_is_renamed_everywhere(client: Client, submit: str) -> None:
    """Not inside other names."""
    edit = client.about("rename", submit, *at(MACROS, "\nhour =", 1), newName="oClock")
    assert applied(MACROS, edit) == MACROS.replace("\nhour =", "\noClock =").replace("$(hour)", "$(oClock)")


def test_a_route_is_renamed_in_its_list_and_its_knob(client: Client, routes: str) -> None:
    """From either place."""
    wanted = ROUTES.replace("Slurm ARC", "Batch ARC").replace("ROUTE_Slurm", "ROUTE_Batch")
    for piece in ("Slurm ARC", "ROUTE_Slurm"):
        assert (
            applied(
                ROUTES, client.about("rename", routes, *at(ROUTES, piece, 6 if "_" in piece else 1), newName="Batch")
            )
            == wanted
        )


def test_a_macro_of_one_route_is_no_macro_of_another(client: Client) -> None:
    """Though both are called the same."""
    text = (
        "JOB_ROUTER_ROUTE_A @=end\n  X = 1\n  SET Y $(X)\n@end\nJOB_ROUTER_ROUTE_B @=end\n  X = 2\n  SET Y $(X)\n@end\n"
    )
    uri = client.open("/nowhere/two.conf", text)
    edit = client.about("rename", uri, 2, 11, newName="Z")
    assert applied(text, edit) == text.replace("X = 1", "Z = 1").replace("$(X)", "$(Z)", 1)


@pytest.mark.parametrize(
    ("piece", "name", "reason"),
    [
        ("cron_hour", "x", "nothing here can be renamed"),
        ("$(ClusterId)", "x", "nothing here can be renamed"),
        ("task =", "executable", "already"),
        ("task =", "hours", "already"),
        ("task =", "a b", "not a name"),
    ],
)
def test_what_cannot_be_renamed_is_refused(client: Client, submit: str, piece: str, name: str, reason: str) -> None:
    """With the reason."""
    line, column = at(MACROS, piece, 3)
    params = {"textDocument": {"uri": submit}, "position": {"line": line, "character": column}, "newName": name}
    assert reason in client.answer("textDocument/rename", params)["error"]["message"]


def test_the_parts_of_a_text_are_its_symbols(client: Client, submit: str, routes: str) -> None:
    """Jobs with the lines that lead to them, routes with theirs."""
    (jobs,) = client.about("documentSymbol", submit)
    assert jobs["name"] == "queue"
    assert [each["name"] for each in jobs["children"]][:3] == ["hour", "task", "universe"]
    found = {each["name"]: each for each in client.about("documentSymbol", routes)}
    names = [each["name"] for each in found["JOB_ROUTER_ROUTE_Slurm"]["children"]]
    assert names[:3] == ["REQUIREMENTS RequestMemory <= 4096", "UNIVERSE GRID", "GridResource"]
    for each in (jobs, *jobs["children"], *found.values()):
        assert each["range"]["start"]["line"] <= each["selectionRange"]["start"]["line"]
        assert each["selectionRange"]["end"]["line"] <= each["range"]["end"]["line"]


def test_blocks_can_be_folded(client: Client) -> None:
    """Conditionals, values and lists of several lines, comments, jobs."""
    text = "# a\n# b\nif true\nx = 1\nendif\ny @=end\na\n@end\nqueue z from (\n1\n2\n)\n"
    uri = client.open("/nowhere/fold.sub", text)
    found = {(each["startLine"], each["endLine"], each["kind"]) for each in client.about("foldingRange", uri)}
    assert found == {(0, 1, "comment"), (2, 4, "region"), (5, 7, "region"), (8, 11, "region"), (3, 11, "region")}


def test_words_have_their_colours(client: Client) -> None:
    """In order, in the units of the protocol, none over another."""
    text = '# 𝄞\ncron_hour = $(h)\nh = 3\n+A = MY.B + strcat("x", 1) # 𝄞\nqueue x in (1)\n'
    uri = client.open("/nowhere/colour.sub", text)
    data = client.about("semanticTokens/full", uri)["data"]
    legend = client.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"]
    line = column = 0
    found = []
    for down, right, size, kind, _ in zip(*[iter(data)] * 5, strict=True):
        line, column = line + down, right + (0 if down else column)
        units = text.split("\n")[line].encode("utf-16-le")
        found.append((legend[kind], units[2 * column : 2 * (column + size)].decode("utf-16-le")))
    assert found == [
        ("comment", "# 𝄞"),
        ("property", "cron_hour"),
        ("macro", "h"),
        ("macro", "h"),
        ("variable", "+A"),
        ("namespace", "MY"),
        ("variable", "B"),
        ("function", "strcat"),
        ("string", '"x"'),
        ("number", "1"),
        ("keyword", "queue"),
        ("macro", "x"),
    ]


def test_the_next_run_stands_behind_a_schedule_and_above_its_queue(client: Client, submit: str) -> None:
    """As an inlay hint, and as a code lens."""
    (hint,) = client.about("inlayHint", submit, range=place(0, 0, 99, 0))
    assert hint["label"] == "next: Sat 2026-11-21 06:15 +0100"
    assert client.about("inlayHint", submit, range=place(0, 0, 2, 0)) == []
    (lens,) = client.about("codeLens", submit)
    assert lens["command"]["title"] == "1 job, next start Sat 2026-11-21 06:15 +0100"


def test_fixes_are_offered_where_the_finding_is(client: Client) -> None:
    """The safe one is preferred; a comment keeps the rule quiet; its page can be had."""
    text = "executable = /bin/x\ncron_minutes = 0\ncron_hour = 6\nqueue\n"
    uri = client.open("/nowhere/fix.sub", text)
    found = client.about("codeAction", uri, range=place(1, 3, 1, 3), context={"diagnostics": []})
    by_title = {each["title"]: each for each in found}
    assert applied(text, by_title["write cron_minute"]["edit"]) == text.replace("minutes", "minute")
    assert by_title["write cron_minute"]["isPreferred"]
    assert "# crondor: ignore[CRN501]\ncron_minutes" in applied(text, by_title["Silence CRN501 here"]["edit"])
    command = by_title["Explain CRN501"]["command"]
    page = client.ask("workspace/executeCommand", command=command["command"], arguments=command["arguments"])
    assert page.startswith("# CRN501")


def test_fixes_of_routes_are_offered(client: Client) -> None:
    """Those of `crondor route check --fix`."""
    uri = client.open("/nowhere/slips.conf", FAULTY)
    client.diagnostics(uri)
    text = FAULTY
    for line in range(5, 8):
        context = {"diagnostics": [], "only": ["quickfix"]}
        found = client.about("codeAction", uri, range=place(line, 0, line, 0), context=context)
        text = applied(text, next(each["edit"] for each in found if each.get("isPreferred")))
    assert text == CURED


def test_all_safe_fixes_are_made_at_once(client: Client) -> None:
    """Where that is asked for, as on saving; the unsafe ones are not."""
    text = "executable = /bin/x\ncron_minutes = 0\ncron_hour = 60\ncron_day_of_week = MON\nqueue\n"
    uri = client.open("/nowhere/all.sub", text)
    context = {"diagnostics": [], "only": ["source.fixAll"]}
    (action,) = client.about("codeAction", uri, range=place(0, 0, 0, 0), context=context)
    edits = action["edit"]["documentChanges"][0]["edits"]
    client.change(uri, 2, *({"range": each["range"], "text": each["newText"]} for each in edits))
    left = [each["code"] for each in client.diagnostics(uri, 2)]
    assert "CRN101" in left
    assert not {"CRN501", "CRN104"} & set(left)
    assert client.about("codeAction", uri, range=place(0, 0, 0, 0), context=context) == []
