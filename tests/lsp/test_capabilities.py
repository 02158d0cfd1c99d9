"""One test for each capability in each language where no other file has it."""

import json
from pathlib import Path

import pytest

from crondor.diagnostics import Source
from crondor.lint import RULES, CheckSettings, check_submit, page
from crondor.submit.edits import apply
from tests.cli.running import ROOT
from tests.lsp.client import Client, place, serving
from tests.lsp.test_editing import applied, at

CONFIG = """\
# The routes of the site.
BASE = 4096
JOB_ROUTER_ROUTE_NAMES = Far
JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = Tidy
JOB_ROUTER_TRANSFORM_Tidy @=end
  SET Tidied true
@end
JOB_ROUTER_ROUTE_Far @=end
  UNIVERSE GRID
  GridResource = "batch slurm"
  REQUIREMENTS RequestMemory < $(BASE)
@end
"""
RULES_TEXT = (
    "# once\nLIMIT = 3\nREQUIREMENTS JobUniverse == 5\nSET MaxRetries $(LIMIT)\nEVALMACRO X 1 + 1\nSET Y $(X)\n"
)
AD = 'Cpus = 4\nDouble = Cpus * 2\nName = strcat("a", "b")\n\nCpus = 8\nDouble = Cpus * 2\n'
CRONTAB = "# nightly\nMAILTO=root\n30 2 * * 1-5 /bin/x\n60 1 * * * /bin/y\n"


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("a.sub", "executable = /bin/x\ncron_hour = 24\nqueue\n", "CRN101"),
        ("a.conf", "JOB_ROUTER_ROUTE_NAMES = A\n", "CRN6"),
        ("a.conf", "A = 1\nb\n", "CRN601"),
        ("crontab", CRONTAB, "CRN101"),
    ],
)
def test_a_finding_with_a_rule_has_the_page_of_the_rule(client: Client, name: str, text: str, code: str) -> None:
    """Which is a file that is there, or an address."""
    uri = client.open(f"/pages/{name}", text)
    found = [each for each in client.diagnostics(uri) if each["code"].startswith(code)]
    assert found
    for each in found:
        path = Path(each["codeDescription"]["href"].removeprefix("file://"))
        assert path.read_text(encoding="utf-8").startswith(f"# {each['code']}")


def faulty_texts() -> list[str]:
    """Return the descriptions that the pages of the rules show, and planted mistakes."""
    found = []
    for code in RULES:
        for block in page(code).split("```")[1::2]:
            language, _, text = block.partition("\n")
            if language.strip() in {"", "condor", "submit", "text"} and "=" in text and "$ crondor" not in text:
                found.append(text)
    lines = (ROOT / "tests/check/planted.jsonl").read_text(encoding="utf-8").splitlines()
    planted = ("\n".join(["executable = /bin/x", *json.loads(line)["lines"], "queue", ""]) for line in lines[::6])
    return [*found, *planted]


def test_every_fix_is_an_action(client: Client) -> None:
    """That makes of the text what the fix makes of it, preferred where it is safe."""
    settings = CheckSettings(1_795_172_400, "Europe/Berlin")
    seen: set[str] = set()
    for number, text in enumerate(faulty_texts()):
        source = Source(text)
        found = [each for each in check_submit(source, settings).findings if each.fix is not None]
        codes = {each.diagnostic.code for each in found}
        if codes <= seen and number % 9:
            continue
        seen |= codes
        wanted = [each.fix for each in found if each.fix is not None]
        uri = client.open(f"/fixes/{number}.sub", text)
        end = text.count("\n")
        actions = client.about("codeAction", uri, range=place(0, 0, end, 0), context={"diagnostics": [], "only": []})
        fixes = [each for each in actions if "edit" in each and not each["title"].startswith("Silence CRN")]
        fixes = [each for each in fixes if each["kind"] == "quickfix"]
        assert sorted((each["title"].removesuffix(" (changes the meaning)")) for each in fixes) == sorted(
            fix.title for fix in wanted
        )
        for fix in wanted:
            made = {applied(text, each["edit"]) for each in fixes if each["title"].startswith(fix.title)}
            assert apply(source, fix.edits) in made, (text, fix.title)
    assert len(seen) > 30


def test_an_ads_words_have_their_values_in_it(client: Client) -> None:
    """Each in the ad that it stands in; a function's call is evaluated."""
    uri = client.open("/nowhere/b.ad", AD)
    first = client.about("hover", uri, *at(AD, "Cpus * 2", 1))["contents"]["value"]
    assert "in this ad: `4`" in first
    line = AD.rindex("Cpus * 2")
    second = client.about("hover", uri, AD[:line].count("\n"), 10)["contents"]["value"]
    assert "in this ad: `8`" in second
    assert 'in this ad: `"ab"`' in client.about("hover", uri, *at(AD, "strcat", 1))["contents"]["value"]


def test_words_of_an_expression_have_the_values_of_a_job_and_a_machine(client: Client) -> None:
    """Of the description's first job, and of a sample machine."""
    text = (
        "executable = /bin/x\nrequest_memory = 2048\n"
        "requirements = TARGET.Memory >= RequestMemory && max({RequestMemory, 3}) > 2\nqueue\n"
    )
    uri = client.open("/nowhere/b.sub", text)
    said = {word: client.about("hover", uri, *at(text, word, 1))["contents"]["value"] for word in ("Memory >=", "max")}
    assert "of a sample machine: `16384`" in said["Memory >="]
    assert "in the first job's ad: `2048`" in said["max"]
    assert (
        "in the first job's ad: `2048`"
        in client.about("hover", uri, *at(text, "RequestMemory &&", 1))["contents"]["value"]
    )


def test_a_transform_is_renamed_in_its_list_and_its_knob(client: Client) -> None:
    """As a route is."""
    uri = client.open("/nowhere/d.conf", CONFIG)
    wanted = CONFIG.replace("NAMES = Tidy", "NAMES = Clean").replace("TRANSFORM_Tidy", "TRANSFORM_Clean")
    edit = client.about("rename", uri, *at(CONFIG, "NAMES = Tidy", 9), newName="Clean")
    assert applied(CONFIG, edit) == wanted
    found = client.about("definition", uri, *at(CONFIG, "NAMES = Tidy", 9))
    assert [each["range"]["start"]["line"] for each in found] == [4]
    uses = client.about("references", uri, *at(CONFIG, "BASE", 1), context={"includeDeclaration": True})
    assert [each["range"]["start"]["line"] for each in uses] == [1, 10]


def test_a_macro_of_rules_is_renamed(client: Client) -> None:
    """One that a line sets, and one that a command computes."""
    uri = client.open("/nowhere/d.rules", RULES_TEXT)
    edit = client.about("rename", uri, *at(RULES_TEXT, "$(LIMIT)", 3), newName="MOST")
    assert applied(RULES_TEXT, edit) == RULES_TEXT.replace("LIMIT", "MOST")
    found = client.about("definition", uri, *at(RULES_TEXT, "$(X)", 2))
    assert [each["range"]["start"] for each in found] == [{"line": 4, "character": 10}]


def test_an_include_leads_to_its_file(client: Client, tmp_path: Path) -> None:
    """And links do, as they do to an executable that is there; nothing leads out of the folder."""
    for name in ("site.inc", "run.sh"):
        (tmp_path / name).write_text("x = 1\n", encoding="utf-8")
    text = "include : site.inc\nexecutable = run.sh\ninput = /etc/passwd\nqueue\n"
    uri = client.open(tmp_path / "a.sub", text)
    found = client.about("definition", uri, 0, 12)
    assert found == [{"uri": (tmp_path / "site.inc").as_uri(), "range": place(0, 0, 0, 0)}]
    targets = {each["target"] for each in client.about("documentLink", uri)}
    assert targets == {(tmp_path / name).as_uri() for name in ("site.inc", "run.sh")}
    assert client.about("definition", uri, 2, 12) == []


@pytest.mark.parametrize(
    ("name", "text", "symbols"),
    [
        ("e.conf", CONFIG, ["BASE", "JOB_ROUTER_ROUTE_NAMES", "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES"]),
        ("e.rules", RULES_TEXT, ["LIMIT", "REQUIREMENTS JobUniverse == 5", "SET MaxRetries $(LIMIT)"]),
        ("e.ad", AD, ["Cpus", "Double", "Name"]),
        ("crontab", CRONTAB, ["/bin/x"]),
    ],
)
def test_each_language_has_symbols_folds_and_colours(client: Client, name: str, text: str, symbols: list[str]) -> None:
    """In the order of the lines."""
    uri = client.open(f"/structure/{name}", text)
    assert [each["name"] for each in client.about("documentSymbol", uri)][: len(symbols)] == symbols
    assert isinstance(client.about("foldingRange", uri), list)
    assert client.about("semanticTokens/full", uri)["data"]


def test_the_lens_counts_the_jobs_of_each_queue_statement(client: Client) -> None:
    """And says when the first of them starts."""
    text = "executable = /bin/x\nqueue 7\ncron_minute = 0\ncron_hour = 6\nqueue a in (x y)\n"
    uri = client.open("/nowhere/f.sub", text)
    titles = [each["command"]["title"] for each in client.about("codeLens", uri)]
    assert titles == ["7 jobs", "2 jobs, next start Sat 2026-11-21 06:00 +0100"]


@pytest.mark.parametrize(
    "queue", ["queue a from seq 3 |", "queue a from -", "queue a from /nowhere/else", "queue a matching /etc/*"]
)
def test_the_lens_of_a_list_that_nobody_looks_at_names_no_number(client: Client, queue: str) -> None:
    """What a command prints, and what lies outside, is not known."""
    uri = client.open("/somewhere/f.sub", f"executable = /bin/x\nqueue 2\n{queue}\n")
    titles = [each["command"]["title"] for each in client.about("codeLens", uri)]
    assert titles == ["2 jobs", "? jobs"]


def test_a_file_of_a_megabyte_is_served(client: Client) -> None:
    """Its findings come, and questions are answered while they are looked for."""
    text = "".join(f"# {'x' * 250}\nm{n} = {n}\n" for n in range(4_000)) + "cron_hour = 99\nexecutable = x\nqueue\n"
    assert len(text) > 1_000_000
    uri = client.open("/nowhere/large.sub", text)
    client.change(uri, 2, {"range": place(8_000, 12, 8_000, 14), "text": "98"})
    assert "The hours in which the job runs" in client.about("hover", uri, 8_000, 3)["contents"]["value"]
    assert "CRN101" in [each["code"] for each in client.diagnostics(uri, 2)]


def test_several_folders_are_one_session(tmp_path: Path) -> None:
    """A workspace with two roots, of which one comes later."""
    roots = [tmp_path / name for name in ("one", "two")]
    for number, root in enumerate(roots):
        root.mkdir()
        (root / "crondor.toml").write_text(f'tz = "{("Asia/Tokyo", "UTC")[number]}"\n', encoding="utf-8")
    text = "executable = /bin/x\ncron_minute = 0\ncron_hour = 6\nqueue\n"
    folders = [{"uri": root.as_uri(), "name": root.name} for root in roots]
    with serving(zone=None, capabilities={"workspace": {"workspaceFolders": True}}) as client:
        client.notify("workspace/didChangeWorkspaceFolders", event={"added": folders[1:], "removed": []})
        found = []
        for root in roots:
            uri = client.open(root / "a.sub", text)
            (hint,) = client.about("inlayHint", uri, range=place(0, 0, 9, 0))
            found.append(hint["label"][-5:])
    assert found == ["+0900", "+0000"]
