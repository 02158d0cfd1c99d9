"""What is read, how it is printed, and where errors point."""

import pytest

from crondor.classad import ClassAdSyntaxError, EvaluationFailed, Expression, UnparseForm, parse_ad
from crondor.diagnostics import Source
from tests.classad.helpers import ad, shown
from tests.rows import rows


@pytest.mark.parametrize(
    ("text", "compact", "old"),
    [
        ("a&&!b", "a &&  !b", "a &&  !b"),
        ("- 1", " -1", " -1"),
        ("-1", "-1", "-1"),
        ("a -1", "a - 1", "a - 1"),
        ("0.1", "1.000000000000000E-01", "0.1"),
        ("1e15", "1.000000000000000E+15", "1000000000000000.0"),
        ("a is 'b c'", "a is 'b c'", "a =?= 'b c'"),
        ("{1,{}}", "{ 1,{  } }", "{ 1,{  } }"),
        ("[Zz=1;aaa=2;B=3;a=4;A=5]", "[ a = 5; B = 3; Zz = 1; aaa = 2 ]", "[ a = 5; B = 3; Zz = 1; aaa = 2 ]"),
        ('"é"', '"\\303\\251"', '"é"'),
        ('"\\1" "01"', '"A"', '"A"'),
        ("9223372036854775808", "0", "0"),
        ("-0x10 + -010", "0 + -10", "0 + -10"),
        ("a..b", "a.b", "a.b"),
        ("x.'c d'", "x.'c d'", "x.'c d'"),
        ("a ? : b", "a ?: b", "a ?: b"),
        ('relTime("65")', 'relTime("01:05")', 'relTime("01:05")'),
    ],
)
def test_an_expression_is_printed_as_htcondor_prints_it(text: str, compact: str, old: str) -> None:
    """Blanks, parentheses, reals and quotes are HTCondor's."""
    expression = Expression(text)
    assert str(expression) == compact
    assert expression.unparse(UnparseForm.OLD) == old


def test_lists_and_ads_are_printed_over_lines() -> None:
    """The pretty form indents by four and three."""
    assert Expression("{1,[a=2]}").unparse(UnparseForm.PRETTY) == (
        "\n   {\n      1,\n      \n          [\n              a = 2\n          ]\n   }"
    )


@pytest.mark.parametrize(
    ("text", "piece", "message"),
    [
        ("1 +", "", "the text ends"),
        ("a = 1", "=", "complete before"),
        ("007", "007", "begin with a zero"),
        ("1.", "1.", "digit after its point"),
        ('"abc', '"', "closing quote"),
        ("(1 + 2", "(", "never closed"),
        ("f(1 2)", "2", "an operator or )"),
        ("a.1", ".1", "complete before"),
        ("a ?: -b", "-", "expected here"),
        ('absTime("soon")', '"soon"', "not a time"),
        ("é", "é", "does not begin a name"),
        ("1 \0", "\0", "NUL"),
        ('"\ud800"', "\ud800", "surrogate"),
        ("[a = 1; 2]", "2", "an attribute is expected"),
        ("[;]", "]", "an ad needs an attribute"),
        ("a =? b", "=?", "there is no operator"),
        ('"\\0"', '"\\0"', "NUL"),
    ],
)
def test_an_error_underlines_the_piece(text: str, piece: str, message: str) -> None:
    """The span of an error is what is wrong, and the message says why."""
    with pytest.raises(ClassAdSyntaxError) as caught:
        Expression(text)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.span is not None
    assert diagnostic.span.text == piece
    assert message in diagnostic.message


def test_an_error_names_the_place_of_a_named_source() -> None:
    """A text that was refused before is refused again at its new place."""
    for name in ("first", "second"):
        with pytest.raises(ClassAdSyntaxError, match=f"{name}:1:5"):
            Expression.parse(Source("1 + )", name))


@pytest.mark.parametrize(
    ("text", "value"),
    [(r'"C:\dir\new"', r"C:\dir\new"), (r'"say \"hi\""', 'say "hi"'), ('"x\\"', "x\\"), ('1 junk"', "1")],
)
def test_the_right_side_of_a_long_line(text: str, value: str) -> None:
    """In old syntax only a quote is escaped, and what follows an expression is ignored."""
    expression = Expression.parse(Source(text), old=True, partial=True)
    found = expression.evaluate()
    assert (found if isinstance(found, str) else str(expression)) == value


def test_an_ad_is_read_with_what_follows_it_or_not() -> None:
    """Only a partial reading ignores text after the ad."""
    assert len(parse_ad(Source("[a = 1; b = 2] junk"), partial=True).items) == 2
    with pytest.raises(ClassAdSyntaxError):
        parse_ad(Source("[a = 1] junk"))


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("0x1F.5", "3.131250000000000E+01"),
        ("-0x1F.5", "-3.131250000000000E+01"),
        ("0xe.5e3+1", "1.436791992187500E+01 + 1"),
        ("0x1F.5e+3", "3.136718750000000E+01"),
    ],
)
def test_reals_may_be_hexadecimal(text: str, printed: str) -> None:
    """The C library reads them so; an exponent's letter is a digit, and its sign ends the number."""
    assert str(Expression(text)) == printed


@pytest.mark.parametrize("text", ["0x1F.", "0x1F.a", "0x.5", "0x1F.5e", "0x1F..5", "0x1F"])
def test_not_all_hexadecimal_numbers_are_reals(text: str) -> None:
    """A point needs a digit after it, and before it."""
    with pytest.raises(ClassAdSyntaxError):
        Expression(text)


@pytest.mark.parametrize(("text", "printed", "old"), rows("classad/printed"))
def test_what_is_read_is_printed(text: str, printed: str, old: str | None) -> None:
    """In new syntax and, where it is known, as in a ``-long`` ad."""
    assert str(Expression(text)) == printed
    assert old is None or Expression(text).unparse(UnparseForm.OLD) == old


@pytest.mark.parametrize(
    "text",
    [
        "a ?: !b",
        "a ?: -b",
        "007",
        "0x10",
        "1.",
        "1.e5",
        "1K",
        '"a" /* c */ "b"',
        '"a\\08"',
        "é",
        "[;]",
        "true(1)",
        'absTime("bogus")',
    ],
)
def test_what_is_no_expression(text: str) -> None:
    """These look as if they were."""
    with pytest.raises(ClassAdSyntaxError):
        Expression(text)


@pytest.mark.parametrize(("text", "expected"), rows("classad/values"))
def test_values(text: str, expected: str) -> None:
    """Alone, in an empty ad."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "my", "target", "expected"),
    [
        ("x", {}, {"x": "5"}, "5"),
        ("MY.x", {}, {"x": "5"}, "undefined"),
        ("x", {"x": "undefined"}, {"x": "5"}, "undefined"),
        ("[y=x].y", {}, {"x": "5"}, "undefined"),
        ("TARGET.y", {"x": "1"}, {"y": "MY.x", "x": "2"}, "2"),
        ("TARGET.y", {"x": "1"}, {"y": "TARGET.x"}, "1"),
        ("n.y", {"n": "[a=1]", "y": "7"}, None, "7"),
        ("n.a", {"n": "[a=y]", "y": "7"}, None, "7"),
        ("other.x", {}, {"x": "5"}, "5"),
        ("self.x", {"x": "5"}, None, "5"),
        ("size(MY)", {"x": "5"}, None, "1"),
        ("a", {"a": "a + 1"}, None, "undefined"),
        ("a || true", {"a": "b", "b": "a"}, None, "true"),
        ("{1+1,x}", {"x": "3"}, None, "{ 1 + 1,x }"),
    ],
)
def test_names(text: str, my: dict[str, str], target: dict[str, str] | None, expected: str) -> None:
    """Looked up in MY and TARGET."""
    assert shown(text, ad(**my), None if target is None else ad(**target)) == expected


@pytest.mark.parametrize(
    "text", ["random(0)", "userHome()", "absTime(0,-1)", "isError(random(0))", "+".join("1" * 500)]
)
def test_no_value_at_all(text: str) -> None:
    """The daemons see these as if nothing were there."""
    with pytest.raises(EvaluationFailed):
        shown(text)
