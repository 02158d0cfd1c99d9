"""The reference of the commands: what is made of their options and schemas says what they say."""

import re
from pathlib import Path, PurePosixPath

import click
import pytest

from crondor_cli.kit.command import Command, LazyGroup
from crondor_cli.kit.results import results, schema, shared
from crondor_cli.main import cli
from reference import pages
from reference.facts import CommandFacts, JsonKey, Kind, OptionFacts, commands, documents, shared_objects
from reference.share import man_pages
from tests.cli.test_alike import COMMANDS
from tests.docs.test_docs import CLI
from tests.docs.test_links import FENCED, faults
from website import staging

EVERY = {" ".join(each.path[1:]): each for each in commands(cli)}


# The pages


MADE = {PurePosixPath(path).name: staging.text_of(path) for path in staging.sources() if path.startswith("docs/cli/")}


def test_every_command_and_group_has_a_page() -> None:
    """And each page that is written by hand is that of a command: its title is the command's name."""
    assert set(MADE) == {f"{name.replace(' ', '-') or 'README'}.md" for name in EVERY}
    assert {name for name, facts in EVERY.items() if not facts.is_group} == set(COMMANDS)
    for page in CLI.iterdir():
        title, _, text = page.read_text("utf-8").partition("\n")
        assert title == "# " + " ".join(["crondor", *page.stem.replace("README", "").split("-")]).strip()
        assert text.strip() in MADE[page.name]


@pytest.mark.parametrize("name", EVERY)
def test_a_page_has_each_option_of_its_command(name: str) -> None:
    """By the names that are typed, in a row of its own."""
    text = MADE[f"{name.replace(' ', '-') or 'README'}.md"]
    rows = [line for line in text.splitlines() if line.startswith("|")]
    for option in EVERY[name].options:
        wanted = re.compile("".join(rf"`{each}(?: [^`]*)?`.*" for each in option.names))
        assert [row for row in rows if wanted.search(row.split(" | ")[0])]


def test_headings_by_hand_are_none_of_those_that_are_made() -> None:
    """Links to made headings would lead to them."""
    for name, text in MADE.items():
        found = [line for line in re.findall(r"^#+ (.*)$", FENCED.sub("", text), re.MULTILINE) if "`" not in line]
        assert len(found) == len(set(found)), name


def test_links_between_the_pages_of_the_site_lead_to_headings(tmp_path: Path) -> None:
    """Of all pages, as they are gathered for the generator."""
    staging.stage(tmp_path)
    wrong = {page.relative_to(tmp_path): faults(page, tmp_path) for page in tmp_path.rglob("*.md")}
    assert {page: found for page, found in wrong.items() if found} == {}


# Options


@pytest.mark.parametrize("name", EVERY)
def test_an_option_is_told_as_click_takes_it(name: str) -> None:
    """Each that the help shows, in its order, with its names, its default and whether it is asked for."""
    facts, context = EVERY[name], click.Context(cli)
    command: click.Command = cli
    for word in name.split():
        assert isinstance(command, LazyGroup)
        found = command.get_command(context, word)
        assert found is not None
        command = found
    shown = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    assert [each.names for each in facts.options] == [(*each.opts, *each.secondary_opts) for each in shown]
    for option, each in zip(facts.options, shown, strict=True):
        assert option.meaning
        assert option.is_required == each.required
        assert bool(option.value) != each.is_flag
        if each.show_default and not each.is_flag:
            assert option.default == str(each.default)


def options(*made: click.Option) -> dict[str, OptionFacts]:
    """Return the facts of some options by their last names."""
    (facts,) = commands(Command("check", params=[*made], help="Look."))
    return {each.names[-1]: each for each in facts.options}


def test_what_an_option_takes_and_has_without_it() -> None:
    """In words: numbers have limits, two names a choice, a default in the help is taken out of it."""
    found = options(
        click.Option(["-n", "--count"], type=click.IntRange(1, 2000), default=10, show_default=True, help="Runs."),
        click.Option(["--low"], type=click.IntRange(min=1), help="Low."),
        click.Option(["--high"], type=click.FloatRange(max=9), metavar="H", help="High."),
        click.Option(["--far"], multiple=True, help="Far (default: now). And near."),
        click.Option(["--yes/--no"], default=True, show_default=True, help="Say so."),
        click.Option(["--kind"], type=click.Choice(["a", "b"]), required=True, help="Which."),
        click.Option(["--hide"], hidden=True),
        click.Option(["--ignore"], multiple=True, help="None of these."),
    )
    assert found["--count"] == (("-n", "--count"), "N", "10", "Runs (1 to 2,000).", False, None)
    assert found["--low"][1:4] == ("N", "", "Low (at least 1).")
    assert found["--high"][1:4] == ("H", "", "High (at most 9).")
    assert found["--far"][1:4] == ("TEXT", "now", "Far. And near. Repeatable.")
    assert found["--no"][:3] == (("--yes", "--no"), "", "--yes")
    assert found["--kind"][1:5] == ("[a|b]", "", "Which.", True)
    assert "--hide" not in found
    assert found["--ignore"].setting is not None
    assert found["--ignore"].setting.variable == "CRONDOR_CHECK_IGNORE"


def test_the_parts_of_a_help_are_told_apart() -> None:
    """The sentence, notes, examples, and what the exit statuses mean."""
    command = Command(
        "do",
        help="Do it.\n\nMore\nof it.",
        example="crondor do",
        epilog="\b\nExamples:\n  crondor do a\n      b\n\nA note.\n\n"
        "\b\nA file:\n  x = 1\nand so on\n\nExit status: 0 fine,\n1 not.",
    )
    (facts,) = commands(command, "crondor do")
    assert facts == CommandFacts(
        ("crondor do",),
        "Do it.",
        "Do it.",
        "crondor do [OPTIONS]",
        ("More of it.", "A note.", "A file:\n  x = 1\nand so on"),
        "crondor do",
        "crondor do a\n    b",
        "Exit status: 0 fine, 1 not.",
        (),
        is_group=False,
    )
    assert pages.paragraphs(facts.notes[2]) == "A file:\n\n```\nx = 1\n```\n\nand so on"


def test_a_help_is_shown_as_it_is_in_markdown() -> None:
    """Signs of Markdown stand for themselves, options are code, pages are links."""
    shown = pages.prose("See *.sub, `a*b` of NAME_<x>, --at TIME and docs/run.md; a-b--c.")
    assert shown == r"See \*.sub, `a*b` of NAME_\<x>, `--at` TIME and [docs/run.md](../run.md); a-b--c."


def test_shared_options_are_those_of_commands() -> None:
    """No link is for an option that is gone, and no exception for what is not there."""
    used = {(name, option) for name, each in EVERY.items() for facts in each.options for option in facts.names}
    assert set(pages.LINKS) <= {option for _, option in used}
    assert used >= pages.OTHERS


# JSON


@pytest.mark.parametrize("name", results())
def test_every_key_of_a_schema_has_a_row(name: str) -> None:
    """Those of shared definitions aside, which stand on a page of their own."""
    rows = pages.json(documents(schema(name), shared()))
    found = schema(name)
    own = [found, *(part for each, part in found["$defs"].items() if each not in shared())]
    for part in own:
        for holder in (part, part.get("items", {})):
            for key in holder.get("properties", {}):
                assert f"| `{key}` |" in rows


def test_a_schema_is_read_as_objects_by_their_paths() -> None:
    """Units are taken out of the descriptions; what stands twice is told once; a definition may contain itself."""
    tree = {
        "type": "object",
        "properties": {
            "at": {"description": "when (epoch seconds); null: never", "type": ["integer", "null"]},
            "kind": {"description": "which", "enum": ["a", "b", None]},
            "below": {"description": "inner ones", "type": "array", "items": {"$ref": "#/$defs/tree"}},
            "found": {"description": "it", "anyOf": [{"$ref": "#/$defs/common"}, {"type": "null"}]},
        },
        "required": ["at", "below"],
    }
    whole = {
        "type": "object",
        "properties": {each: {"description": each, "$ref": "#/$defs/tree"} for each in ("left", "right")},
        "required": ["left", "right"],
        "$defs": {"tree": tree, "common": {"type": "object", "properties": {}}},
    }  # fmt: skip
    (form,) = documents(whole, {"common": {}})
    assert form.when == ""
    outer, inner = form.objects
    assert (outer.paths, inner.paths) == (("",), ("left", "left.below[]", "right"))
    one = {"is_list": False, "is_nullable": True}
    assert inner.keys == (
        JsonKey("at", Kind(("integer",), (), **one), "epoch seconds", "when; null: never", is_optional=False),
        JsonKey("kind", Kind(("`a`", "`b`"), (), **one), "", "which", is_optional=True),
        JsonKey("below", Kind((), ("left.below[]",), is_list=True, is_nullable=False), "", "inner ones", False),
        JsonKey("found", Kind((), ("$common",), **one), "", "it", is_optional=True),
    )
    rows = pages.json([form])
    assert "### `left`, `left.below[]`, `right`" in rows
    assert "| `below` | array of [objects](#left-leftbelow-right) |  | inner ones |" in rows
    assert "| `found` | [common](README.md#common) or null; optional |  | it |" in rows


def test_shared_objects_are_told_once() -> None:
    """Each definition has its words; those with keys a table."""
    found = shared_objects(shared())
    assert set(found) == set(shared())
    assert all(said for said, _ in found.values())
    assert [name for name, (_, each) in found.items() if not each.keys] == ["ad"]


def test_a_manual_page_has_no_line_that_is_taken_for_a_request() -> None:
    """Only the requests that we write begin a line with a full stop or an apostrophe."""
    ours = {".TH", ".SH", ".B", ".BR", ".PP", ".TP", ".nf", ".fi", ".RS", ".RE", '.\\"'}
    for name, text in man_pages(list(commands(cli))).items():
        requests = {line.split()[0] for line in text.splitlines() if line.startswith((".", "'"))}
        assert requests <= ours, name
        assert max(map(ord, text)) < 128, name


def test_text_of_a_manual_page_is_shown_as_it_is() -> None:
    """Signs of roff are letters."""
    note = "It reads:\n.dotted -x \\n\n'quoted"
    facts = CommandFacts(("crondor", "x"), "A thing.", "One.", "crondor x [OPTIONS]", (note,), "", "", "", (), False)
    page = man_pages([facts])["crondor-x.1"]
    assert ".nf\n.RS 4\n\\&.dotted \\-x \\en\n\\&'quoted\n.RE\n.fi\n" in page
