"""A text line by line, also while it is wrong, and what stands at a place of it."""

from itertools import pairwise

import pytest

from crondor.diagnostics import Source
from crondor.editing import EditSettings, ReadText, TextKind, check_text, kind_of
from crondor.editing.findings import difference, silenced
from crondor.editing.reading import LineKind, Outline, PieceKind, Spot, SpotKind, pieces, spot_at
from crondor.editing.structure import words
from crondor.lint import RULES, CheckSettings
from crondor.submit.edits import apply

SETTINGS = EditSettings(CheckSettings(1_795_195_625, "Europe/Berlin"))


def outline(text: str, kind: TextKind = TextKind.SUBMIT) -> Outline:
    """Return the lines of a text."""
    return Outline(Source(text, "a"), kind)


@pytest.mark.parametrize(
    ("path", "language", "kind"),
    [
        ("/a/b.sub", "", TextKind.SUBMIT),
        ("b.JDL", "plaintext", TextKind.SUBMIT),
        ("/etc/condor/condor_config", "", TextKind.CONFIG),
        ("condor_config.local", "", TextKind.CONFIG),
        ("50.conf", "", TextKind.CONFIG),
        ("x.rules", "", TextKind.TRANSFORM),
        ("x.ads", "", TextKind.AD),
        ("x.dag", "", TextKind.DAG),
        ("/etc/crontab", "", TextKind.CRONTAB),
        ("/etc/cron.d/x", "", TextKind.CRONTAB),
        ("x.py", "python", None),
        (".sub", "", None),
        ("", "", None),
        ("x.py", "htcondor-submit", TextKind.SUBMIT),
        ("x.sub", "crontab", TextKind.CRONTAB),
    ],
)
def test_a_language_is_told_by_its_name_or_the_files(path: str, language: str, kind: TextKind | None) -> None:
    """What the editor calls it decides."""
    assert kind_of(path, language) is kind


@pytest.mark.parametrize(
    ("text", "kind", "key"),
    [
        ("cron_hour = 3", LineKind.ASSIGNMENT, "cron_hour"),
        ("+X = 3", LineKind.ASSIGNMENT, "my.x"),
        ("MY.X += 3", LineKind.ASSIGNMENT, "my.x"),
        ("queue 3", LineKind.QUEUE, "queue"),
        ("Queue", LineKind.QUEUE, "queue"),
        ("queue = 3", LineKind.QUEUE, "queue"),
        ("if defined x", LineKind.KEYWORD, "if"),
        ("include : x", LineKind.KEYWORD, "include"),
        ("@include : x", LineKind.KEYWORD, "include"),
        ("cron_ho", LineKind.OTHER, "cron_ho"),
        ("a b = 3", LineKind.OTHER, "a"),
    ],
)
def test_a_line_is_what_condor_submit_takes_it_for(text: str, kind: LineKind, key: str) -> None:
    """Whatever else is wrong with it."""
    (line,) = outline(text).lines
    assert (line.kind, line.key) == (kind, key)


def test_rows_of_a_list_and_lines_of_a_value_belong_to_the_line_that_begins_them() -> None:
    """Nothing in them is a command."""
    lines = outline("queue x from (\ncron_hour = 3\n)\nv @=end\ncron_hour = 4\n@end\nlog = a\n").lines
    assert [(each.key, each.inside) for each in lines] == [("queue", ""), ("v", ""), ("", "v"), ("log", "")]


def test_routes_have_commands_in_them() -> None:
    """And other values of a configuration have none."""
    text = "JOB_ROUTER_ROUTE_A @=end\nSET X 1\nMaxJobs = 3\n@end\nB @=end\nSET X 1\n@end\n"
    lines = outline(text, TextKind.CONFIG).lines
    kinds = [(each.kind, each.inside) for each in lines]
    assert kinds == [
        (LineKind.ASSIGNMENT, ""),
        (LineKind.COMMAND, "job_router_route_a"),
        (LineKind.ASSIGNMENT, "job_router_route_a"),
        (LineKind.ASSIGNMENT, ""),
        (LineKind.OTHER, "b"),
    ]


def test_a_value_that_has_no_end_yet_is_one() -> None:
    """As while it is written."""
    found = outline("JOB_ROUTER_ROUTE_A @=end\nSET X 1\n", TextKind.CONFIG)
    assert [each.key for each in found.lines] == ["job_router_route_a", "set"]
    assert found.inside(30) == "job_router_route_a"


def spot(text: str, piece: str, kind: TextKind = TextKind.SUBMIT) -> Spot | None:
    """Return what stands one character into a piece of a text."""
    return spot_at(outline(text, kind), text.index(piece) + 1)


@pytest.mark.parametrize(
    ("text", "piece", "kind", "name"),
    [
        ("cron_hour = $(hour)\n", "hour)", SpotKind.MACRO, "hour"),
        ("cron_hour = \\\n  $(Hour:$(b))\n", "b))", SpotKind.NAME, ""),
        ("arguments = $INT(abc)\n", "abc", SpotKind.MACRO, "abc"),
        ("arguments = $INT(abc)\n", "INT", SpotKind.MACRO_FUNCTION, "INT"),
        ("+A = MY.Foo == size(Bar)\n", "Foo", SpotKind.ATTRIBUTE, "foo"),
        ("+A = MY.Foo == size(Bar)\n", "size", SpotKind.FUNCTION, "size"),
        ("queue a,bcd from x\n", "bcd", SpotKind.NAME, "bcd"),
    ],
)
def test_a_place_has_its_meaning(text: str, piece: str, kind: SpotKind, name: str) -> None:
    """Over continued lines as well."""
    found = spot(text, piece)
    assert found is not None
    if name:
        assert (found.kind, found.name) == (kind, name)
    assert found.span.text.lower() == found.name.lower()


@pytest.mark.parametrize(("text", "piece"), [("# $(hour)\n", "hour"), ('+A = "size(x)"\n', "size"), ("\n\n", "\n")])
def test_a_comment_or_a_text_has_none(text: str, piece: str) -> None:
    """Nothing is said of them."""
    assert spot(text, piece) is None


def test_pieces_of_an_expression_are_in_order() -> None:
    """Macros in a text among them."""
    (line,) = outline('requirements = TARGET.A && "x$(b)" != c(1) && true\n').lines
    found = [(each.kind, each.name) for each in pieces(line, TextKind.SUBMIT)]
    assert found == [
        (PieceKind.SCOPE, "TARGET"),
        (PieceKind.ATTRIBUTE, "A"),
        (PieceKind.STRING, '"x$(b)"'),
        (PieceKind.MACRO, "b"),
        (PieceKind.FUNCTION, "c"),
        (PieceKind.NUMBER, "1"),
        (PieceKind.LITERAL, "true"),
    ]


@pytest.mark.parametrize(
    ("old", "new"), [("", "a"), ("a", ""), ("abc", "axc"), ("aa", "a"), ("a\nb", "a\nb\nb"), ("abab", "ab")]
)
def test_the_difference_of_two_texts_makes_one_of_the_other(old: str, new: str) -> None:
    """In one edit."""
    source = Source(old)
    edit = difference(source, new)
    assert edit is not None
    assert apply(source, [edit]) == new
    assert difference(source, old) is None


@pytest.mark.parametrize(
    "text",
    [
        "executable = /bin/x\ncron_minutes = 0\ncron_hour = 6\nqueue\n",
        "executable = /bin/x\r\n  cron_minutes = 0\r\ncron_hour = 6\r\nqueue\r\n",
        "executable = /bin/x\n# crondor: ignore[CRN101]\ncron_minutes = 0\ncron_hour = 60\nqueue\n",
        "executable = /bin/x\ncron_minutes = \\\n 0\ncron_hour = 6\nqueue\n",
    ],
)
def test_a_comment_keeps_a_rule_quiet(text: str) -> None:
    """It is put where `crondor check` looks for it."""
    source = Source(text, "a.sub")
    found = check_text(ReadText(source, TextKind.SUBMIT, SETTINGS)).findings
    span = next(each.diagnostic.span for each in found if each.diagnostic.code == "CRN501")
    assert span is not None
    edit = silenced(source, span.start, "CRN501")
    assert edit is not None
    after = check_text(ReadText(Source(apply(source, [edit]), "a.sub"), TextKind.SUBMIT, SETTINGS)).findings
    codes = [each.diagnostic.code for each in after]
    assert "CRN501" not in codes
    assert set(codes) - {"CRN902"} == {each.diagnostic.code for each in found} - {"CRN501", "CRN902"}


def test_words_never_overlap() -> None:
    """However the text is."""
    text = 'a = $($(b)) "\n+x = "$(a" $(c:"d") e(\\\n f) # g\nqueue $(h) in i, j\n'
    found = words(ReadText(Source(text, "a.sub"), TextKind.SUBMIT, SETTINGS))
    assert found
    for earlier, later in pairwise(found):
        assert earlier.span.end <= later.span.start
        assert "\n" not in earlier.span.text


def test_rules_are_those_that_may_be_explained() -> None:
    """Each code that is found has its rule beside it."""
    found = check_text(ReadText(Source("cron_minutes = 0\nqueue\n", "a.sub"), TextKind.SUBMIT, SETTINGS))
    assert {each.diagnostic.code for each in found.findings} <= set(RULES)
    assert all(each.name == RULES[each.diagnostic.code].name for each in found.findings)
