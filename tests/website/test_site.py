"""The site without its generator: what is gathered, where links lead, and the checker of what was built."""

import re
from pathlib import Path

import pytest

from crondor.lint import RULES as SUBMIT_RULES
from crondor.lint import address
from crondor.lint.routes import ROUTE_RULES
from website import playground, staging
from website.links import faults
from website.made import MODULES, knob_page, library_pages, rule_pages
from website.texts import write_texts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def rules() -> dict[str, str]:
    """Return the pages of the rules by their places."""
    return dict(rule_pages(SUBMIT_RULES, ROUTE_RULES))


def test_every_page_is_in_the_navigation() -> None:
    """The front page lists each page of docs/ that has no folder's index to list it."""
    front = (ROOT / "website" / "pages" / "index.md").read_text("utf-8")
    listed = {
        f"{line.strip()}.md"
        for block in re.findall(r"```\{toctree\}\n(.*?)```", front, re.DOTALL)
        for line in block.splitlines()
    }
    pages = {
        page
        for page in staging.sources().values()
        if page.endswith(".md") and not page.startswith(("cli/", "examples/"))
    }
    assert pages - listed == set()


@pytest.mark.parametrize("source", [name for name in staging.sources() if name.endswith(".md")])
def test_links_lead_to_pages_of_the_site(source: str) -> None:
    """No page has a link that would be dead there."""
    staging.relinked(staging.text_of(source), source, staging.sources()[source])


def test_every_example_is_listed_on_the_page_of_examples() -> None:
    """Since a folder has no page of its own."""
    page = (ROOT / "examples" / "README.md").read_text("utf-8")
    assert [name for name in staging.sources() if name[:9] == "examples/" and f"]({name[9:]})" not in page] == [
        "examples/README.md"
    ]


def test_links_are_led_to_where_pages_stand() -> None:
    """READMEs, examples, what the site has no page for, names of commands; a dead link is an error."""
    text = "[a](../README.md) [b](cli/README.md#options) [c](../examples/nightly.sub) [d](../tests/x.md) `[e](f)`\n"
    text = text.replace("`[e](f)`", "![g](pictures/moments.svg)") + "```\n[x](nowhere.md)\n```\n"
    led = "[a](index.md) [b](cli/index.md#options) [c](examples/nightly.sub.md) d ![g](pictures/moments.svg)\n"
    assert staging.relinked(text, "docs/python.md", "python.md") == f"{led}```\n[x](nowhere.md)\n```\n"
    named = "`crondor route plan --help` `crondor no` `crondor next -n 3` [`crondor at`](../README.md)\n"
    led = "[`crondor route plan --help`](cli/route-plan.md) `crondor no` `crondor next -n 3` [`crondor at`](index.md)\n"
    assert staging.relinked(named, "docs/python.md", "python.md") == led
    with pytest.raises(staging.DeadLink, match=r"docs/python\.md: nowhere\.md"):
        staging.relinked("[x](nowhere.md)", "docs/python.md", "python.md")


def test_every_rule_has_its_page_at_its_address(rules: dict[str, str]) -> None:
    """The last part of a finding's address is the folder of the rule's page."""
    codes = {*SUBMIT_RULES, *ROUTE_RULES}
    assert {f"rules/{re.split('[/:]', address(code))[-1]}/index.md" for code in codes} == {*rules} - {"rules/index.md"}
    assert all(f"[{code}]({code}/index.md)" in rules["rules/index.md"] for code in codes)


def test_a_rules_page_has_its_severity_its_fix_and_what_is_printed(rules: dict[str, str]) -> None:
    """As `crondor check` and `crondor route check` say it of the page's first example."""
    without = {"CRN002"}  # bytes that are no text cannot stand on a page
    for code, rule in {**ROUTE_RULES, **SUBMIT_RULES}.items():
        text = rules[f"rules/{code}/index.md"]
        assert f"\n\nSeverity: {rule.severity.value}. Fix: " in text
        assert code in without or re.search(rf"^```\n\ncrondor prints:\n\n```text\n.*\[{code}\]", text, re.MULTILINE)
    assert "Fix: `--fix` applies it.\n" in rules["rules/CRN204/index.md"]
    assert "| error | `--fix` applies it | a day of week alone" in rules["rules/index.md"]
    assert "error: the schedd adds day 0 to a day of week" in rules["rules/CRN204/index.md"]


def test_a_missing_page_is_said_to_be_one(rules: dict[str, str]) -> None:
    """404.html needs no other file, since it is shown at any depth, and knows the folders of the site."""
    text = (ROOT / "website" / "extra" / "404.html").read_text("utf-8")
    assert "<h1>Page not found</h1>" in text
    assert not re.search(r'<link (?!rel="icon" href="data:,")|src=|@import|url\(', text)
    made = [*rules, *(place for place, _ in library_pages())]
    folders = {place.split("/")[0] for place in [*staging.sources().values(), *made] if "/" in place} | {"playground"}
    known = re.search(r"search\(/\\/\(([^)]*)\)", text)
    assert known is not None
    assert folders <= set(known[1].split("|"))


def test_the_page_of_knobs_has_a_row_for_each() -> None:
    """With type, default and meaning; the links of the repository to the data lead to it."""
    row = "| `JOB_ROUTER_POLLING_PERIOD` | integer | `10` |  | Seconds between two polls of the queue. |"
    assert row in knob_page()
    assert "| `JOB_ROUTER_ENTRIES` | ClassAds |  | up to 24 | Routes written as ClassAds. |" in knob_page()
    link = "[knobs](../crondor/knowledge/data/config_knobs.txt)"
    assert staging.relinked(link, "docs/route.md", "route.md") == "[knobs](knobs.md)"


def test_the_interface_has_a_page_for_each_module() -> None:
    """Modules that there are, each with the sentence of its docstring."""
    made = dict(library_pages())
    assert all(f".. automodule:: {name}\n" in made[f"interface/{name}.rst"] for name in MODULES)
    assert all(re.search(rf"\| \[`{re.escape(name)}`\]\(.*\) \| \w", made["interface/index.md"]) for name in MODULES)


def test_dead_links_and_foreign_resources_are_found(tmp_path: Path) -> None:
    """Of pages, anchors, styles; links for readers to other hosts are fine."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.html").write_text('<p id="here">', encoding="utf-8")
    good = '<a href="a/"><a href="a#here"><a href="https://x.org"><a href="#tab=x"><img src="data:,"><a href="">'
    bad = '<a href="b.html"><a href="a#gone"><script src="//x.org/a.js"></script><img src="http://x.org/i.png">'
    bad += '<a href="../x">'
    styles = "<style>p { background: url(https://x.org/p.png) }</style>"
    (tmp_path / "index.html").write_text(good, encoding="utf-8")
    assert faults(tmp_path) == []
    (tmp_path / "bad.html").write_text(bad + styles, encoding="utf-8")
    found = faults(tmp_path)
    assert [line.rpartition(": ")[2] for line in found] == [
        *("no such file", "no such anchor", "a resource of another host", "a resource of another host", "no such file"),
        "another host",
    ]
    assert all(line.startswith("bad.html: ") for line in found)


def test_the_playground_says_how_much_it_loads(tmp_path: Path) -> None:
    """Measured when the site is built, all files that a browser fetches; no number of its own in the source."""
    (tmp_path / "pyodide").mkdir()
    for size, name in enumerate((*playground.FIRST, *playground.LATER), 1):
        (tmp_path / name).write_bytes(bytes(size))
    source = (playground.SOURCE / "worker.js").read_text("utf-8")
    assert not re.search(r"\d MB", source)
    (tmp_path / "worker.js").write_text(source, encoding="utf-8")
    playground.say_sizes(tmp_path)
    made = (tmp_path / "worker.js").read_text("utf-8")
    assert '"now.zip": 4};' in made
    assert "const LATER = 11;" in made


def test_a_page_asks_for_the_files_of_its_own_build(tmp_path: Path) -> None:
    """By a version that any changed file changes."""
    for name in ("index.html", "app.js"):
        (tmp_path / name).write_text((playground.SOURCE / name).read_text("utf-8"), encoding="utf-8")
    playground.name_version(tmp_path)
    found = re.findall(r'="(?:app\.js|style\.css)\?v=([0-9a-f]{12})"', (tmp_path / "index.html").read_text("utf-8"))
    assert len(found) == 2
    assert len({*found}) == 1


def test_pages_are_there_as_markdown(tmp_path: Path) -> None:
    """With links to Markdown where there is some, and the pages of the navigation in llms.txt."""
    pages, site = tmp_path / "pages", tmp_path / "site"
    pages.mkdir()
    site.mkdir()
    tree = "```{toctree}\n:caption: Begin\n:hidden:\n\na\nb\n```\n"
    (pages / "index.md").write_text(f"# crondor\n\ncrondor **shows**\nwhen.\n\n{tree}")
    (pages / "a.md").write_text(
        "---\norphan: true\n---\n\n# A page\n\n[`b`](b.rst#x) says: this. And more.\n\n```\n[c](d.md)\n```\n"
    )
    for name in ("index", "a", "b"):
        (site / f"{name}.html").write_text("")
    write_texts(pages, site)
    assert (site / "a.md").read_text() == "# A page\n\n[`b`](b.html#x) says: this. And more.\n\n```\n[c](d.md)\n```\n"
    assert "toctree" not in (site / "index.md").read_text()
    said = "# crondor\n\n> crondor shows when.\n\n## Begin\n\n- [A page](a.md): `b` says: this.\n"
    assert (site / "llms.txt").read_text() == said
    (pages / "a.md").write_text("# A page\n\n[gone](gone.svg)\n")
    with pytest.raises(staging.DeadLink, match=r"a\.md: gone\.svg"):
        write_texts(pages, site)
