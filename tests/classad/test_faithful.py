"""Texts as HTCondor 25.14 prints them, also where they do not read back, against texts that do."""

import pytest

from crondor.classad import (
    ClassAd,
    ClassAdSyntaxError,
    Context,
    Expression,
    Format,
    UnparseForm,
    detect,
    matches,
    print_ad,
    print_value,
    read_ad,
    write_ads,
)

NAMES = [
    ("a.'b c'", "a.b c"),
    ("a.'b\\'c'", "a.b'c"),
    ("a.'é'", "a.é"),
    ("a.'true'.b", "a.true.b"),
    ("'f g'(1)", "f g(1)"),
    ("'is'(1)", "is(1)"),
    (".'a b'", ".'a b'"),
    ("'a b'.c", "'a b'.c"),
    ("x['b c']", "x['b c']"),
    ("{ a.'b c' }", "{ a.b c }"),
    ("[ n = a.'b c' ]", "[ n = a.b c ]"),
]


@pytest.mark.parametrize(("text", "theirs"), NAMES)
@pytest.mark.parametrize("form", list(UnparseForm))
def test_names_lose_their_quotes_where_htcondor_takes_them(text: str, theirs: str, form: UnparseForm) -> None:
    """After a dot and before parentheses, nowhere else; without the switch the text reads back."""
    expression = Expression(text)
    assert "".join(expression.unparse(form, faithful=True).split()) == "".join(theirs.split())
    assert Expression(expression.unparse(form)) == expression


@pytest.mark.parametrize(
    ("form", "theirs"),
    [
        (Format.LONG, "x = a.b c\n"),
        (Format.NEW, "[ x = a.b c ]"),
        (Format.JSON, '{\n  "x": "\\/Expr(a.b c)\\/"\n}'),
        (Format.XML, '<c>\n    <a n="x"><e>a.b c</e></a>\n</c>\n'),
    ],
)
def test_whole_ads_in_every_form(form: Format, theirs: str) -> None:
    """The same attribute text printed both ways, in either order, is not mistaken for the other."""
    ad = ClassAd.of_texts({"x": "a.'b c'"})
    for _ in range(2):
        assert print_ad(ad, form, faithful=True) == theirs
        assert "a.'b c'" in print_ad(ad, form)
        assert read_ad(ad.print(form), form) == ad
    assert theirs.strip() in "".join(write_ads([ad], form, faithful=True))
    assert theirs.strip() not in "".join(write_ads([ad], form))


def test_evaluation_and_references_are_always_htcondors() -> None:
    """The text is a value there."""
    ad = ClassAd.of_texts({"x": "a.'b c'", "y": "[ n = a.'b c' ]"})
    assert ad.evaluate("unparse(x)") == "a.b c"
    assert ad.evaluate("string(y)") == "[ n = a.b c ]"
    assert Expression("a.'b c'.'d e'").references(ad).external == ("a.b c.d e",)
    assert print_value(ad.value("y")) == "[ n = a.'b c' ]"


@pytest.mark.parametrize("text", ["a.b c", "f g(1)"])
def test_the_faithful_text_does_not_read_back(text: str) -> None:
    """That is why it is not the default."""
    with pytest.raises(ClassAdSyntaxError):
        Expression(text)


@pytest.mark.parametrize(
    ("text", "form"),
    [("a = 1", Format.LONG), (" [a=1]", Format.NEW), ("/* */[a=1]", Format.NEW), ('{"a": 1}', Format.LONG)],
)
def test_the_library_guesses_two_forms(text: str, form: Format) -> None:
    """JSON and XML it takes for -long."""
    assert detect(text, faithful=True) is form
    assert detect("<c/>", faithful=True) is Format.LONG


NESTED = {"v": "[q = [z = 1; y = w; s = [t = 2]; l = {[z = 7],3}]; w = 5]", "a": 'v["q"]', "w": "6"}


@pytest.mark.parametrize(
    ("text", "theirs", "mended"),
    [
        ('v["q"].z', "undefined", "1"),
        ('v["q"]["z"]', "1", "1"),
        ('v["q"]["y"]', "undefined", "5"),
        ('v["q"]["s"].t', "undefined", "2"),
        ('v["q"]["s"]["t"]', "2", "2"),
        ('v["q"].z =?= undefined', "true", "false"),
        ('v["q"].z ?: 3', "3", "1"),
        ("a.z", "undefined", "1"),
        ('a["z"]', "1", "1"),
        ('{ v["q"] }.z', "{ undefined }", "{ 1 }"),
        ('v["q"]["l"][0].z', "undefined", "7"),
        ('v["q"]["l"][1]', "3", "3"),
        ('v["q"].root.w', "6", "6"),
        ("v.q.z", "1", "1"),
        ('v.q["z"]', "1", "1"),
        ("v.q.y", "5", "5"),
        ('v["w"].z', "error", "error"),
    ],
)
def test_a_name_selected_from_a_subscript(text: str, theirs: str, mended: str) -> None:
    """HTCondor looks for it in a copy that it has given back already."""
    ad = ClassAd.of_texts(NESTED)
    assert print_value(Expression(text).evaluate(ad, None, Context(faithful=True))) == theirs
    assert print_value(Expression(text).evaluate(ad)) == mended


def test_a_match_may_hang_on_it() -> None:
    """The switch is the evaluation's, wherever the expression stands."""
    job = ClassAd.of_texts({"Requirements": 'TARGET.Sites["north"].Open'})
    slot = ClassAd.of_texts({"Requirements": "true", "Sites": "[ north = [ Open = true ] ]"})
    assert matches(job, slot, Context())
    assert not matches(job, slot, Context(faithful=True))
