"""The facts about the language that nobody would guess, each as HTCondor 25.14 has it."""

import pytest

from crondor.classad import ClassAdSyntaxError, EvaluationFailed, Expression, UnparseForm
from tests.classad.helpers import ad, shown


@pytest.mark.parametrize(
    ("text", "printed", "old"),
    [
        ("a ?: -1", "a ?: -1", None),
        ("a ?: (!b)", "a ?: ( !b)", None),
        ("-1", "-1", None),
        ("- 1", " -1", None),
        ("2*-3", "2 * -3", None),
        ("a -1", "a - 1", None),
        ("9223372036854775808", "0", None),
        ("-9223372036854775809", "0", None),
        ("-010", "-10", None),
        ("-0x10", "0", None),
        ("00.5", "5.000000000000000E-01", "0.5"),
        (".5", "5.000000000000000E-01", "0.5"),
        ("0.1", "1.000000000000000E-01", "0.1"),
        ("99.99", "9.998999999999999E+01", "99.98999999999999"),
        ("1e23", "9.999999999999999E+22", None),
        ("0.0", "0.0", None),
        ("-0.0", "-0.0", None),
        ("1e400", 'real("INF")', None),
        ("1e15", "1.000000000000000E+15", "1000000000000000.0"),
        ("1e16", "1.000000000000000E+16", "1E+16"),
        ('a is "C:\\\\dir"', 'a is "C:\\\\dir"', 'a =?= "C:\\dir"'),
        ("!a", " !a", None),
        ("a&&!b", "a &&  !b", None),
        ("- -a", " - -a", None),
        ("((1))", "((1))", None),
        ("a+(b*c)", "a + (b * c)", None),
        ("{1,{}}", "{ 1,{  } }", None),
        ("[a=1;b=[]]", "[ a = 1; b = [  ] ]", None),
        ("[Zz=1;aaa=2;B=3;a=4]", "[ a = 4; B = 3; Zz = 1; aaa = 2 ]", None),
        ("[a=1;A=2]", "[ a = 2 ]", None),
        ("f( a , 1 )", "f(a,1)", None),
        ("'abc'", "abc", None),
        ("'true'", "'true'", None),
        ("parent.a", "'parent'.a", None),
        ('"a" "b"', '"ab"', None),
        ("'a' 'b'", "ab", None),
        ('"\\x41\\q"', '"x41q"', None),
        ('"\\101"', '"A"', None),
        ('"\\400"', '" 0"', None),
        ('"é"', '"\\303\\251"', '"é"'),
        ("[;a=1]", "[ a = 1 ]", None),
        ("[a=1;;b=2]", "[ a = 1; b = 2 ]", None),
        ("a..b", "a.b", None),
        ("f (1)", "f(1)", None),
        ("'f'(1)", "f(1)", None),
        ('relTime("5")', 'relTime("05")', None),
        ('absTime("2020-01-02")', 'absTime("2020-01-02T00:00:00-00:00")', None),
        ("absTime(0)", "absTime(0)", None),
    ],
)
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + nope ?: 2", "3"),
        ("nope ?: 1 + 2", "3"),
        ("9223372036854775807 + 1", "-9223372036854775808"),
        ("strcat(1.5)", '"1.500000000000000E+00"'),
        ("string(100.0)", '"1.000000000000000E+02"'),
        ('size("é")', "2"),
        ('substr("é",0,1)', '"\\303"'),
        ("noFunc(1)", "error"),
        ("error && false", "error"),
        ("false && error", "false"),
        ("undefined && false", "false"),
        ("undefined || error", "error"),
        ("1 && 0.5", "true"),
        ("!0.5", "false"),
        ("2 ? 3 : 4", "3"),
        ('"true" && true', "error"),
        ("true & 1", "error"),
        ("-true", "error"),
        ("+true", "error"),
        ("true + 1", "2"),
        ("true == 1.0", "true"),
        ("true < 2", "true"),
        ("1.0 / 0", "error"),
        ("-1.0 / 0", 'real("-INF")'),
        ("0.0 / 0", 'real("NaN")'),
        ("1e308 * 10", "error"),
        ("-1e308 * 10", 'real("-INF")'),
        ("7.0 % 2", "error"),
        ("-7 / 2", "-3"),
        ("-7 % 3", "-1"),
        ("-9223372036854775808 / -1", "9223372036854775807"),
        ('"a" == "A"', "true"),
        ('"a" =?= "A"', "false"),
        ("1 =?= 1.0", "false"),
        ("1 =?= true", "false"),
        ('"1" == 1', "error"),
        ("{1} =?= {1}", "error"),
        ("[a=1] == [a=1]", "error"),
        ("{1} =?= undefined", "false"),
        ('absTime("2020-01-01T00:00:00+05:00") == absTime("2019-12-31T19:00:00Z")', "true"),
        ('absTime("2020-01-01T00:00:00+05:00") =?= absTime("2019-12-31T19:00:00Z")', "false"),
        ("{[a=1],[b=2],3}.a", "{ 1,undefined,error }"),
        ("{1}[1]", "error"),
        ("{1}[-1]", "error"),
        ('[a=1]["b"]', "undefined"),
        ("{1}[1.0]", "error"),
        ("{5}[4294967296]", "5"),
        ("[a=1+1].a", "2"),
        ('stringListMax("-1,-2")', "0"),
        ('stringListMin("1e39,2e39")', "3.402823466385289E+38"),
        ('stringListAvg("1,2")', "1"),
        ('stringListSum("")', "0.0"),
        ('stringListSize("a,,b")', "2"),
        ('split("a,,b")', '{ "a","","b" }'),
        ('split(",a,")', '{ "a" }'),
        ('strcat("a",undefined)', "undefined"),
        ('join(",","a",undefined)', '"a"'),
        ('join(",","","b")', '"b"'),
        ('join(undefined,"a","b")', '"ab"'),
        ('regexp("A","a","I")', "false"),
        ('regexps("q","xay","Z")', '""'),
        ('replace("q","xay","Z")', '"xay"'),
        ('stringList_regexpMember("A","a",",","I")', "true"),
        ('member("A",{"a"})', "true"),
        ("member(1,{true})", "true"),
        ("member(1,{undefined,1})", "true"),
        ('anyCompare("<",{undefined,0},1)', "false"),
        ('anyCompare("<",{0,undefined},1)', "true"),
        ("sum({true,true})", "2"),
        ("sum({undefined})", "0"),
        ("avg({})", "0"),
        ("min({1,2.5})", "1.000000000000000E+00"),
        ('int(" 12abc")', "12"),
        ('int("0x1F")', "31"),
        ('int("1e3")', "1000"),
        ('int("abc")', "error"),
        ("int(1e30)", "-9223372036854775808"),
        ("int(undefined)", "undefined"),
        ("string(undefined)", "undefined"),
        ("ifThenElse(undefined,1,2)", "undefined"),
        ('bool("yes")', "undefined"),
        ('bool("TRUE")', "true"),
        ("bool(2)", "true"),
        ("pow(-2,3)", "-7"),
        ("pow(2,63)", "-9223372036854775808"),
        ("pow(2,-1)", "5.000000000000000E-01"),
        ("absTime(4294967296)", 'absTime("1970-01-01T00:00:00-00:00")'),
        ("interval(4294967296)", '"0"'),
        ('formatTime(4294967296,"%F")', '"2106-02-07"'),
        ("relTime(5) + 1", "error"),
        ("relTime(5) * 2", 'relTime("10")'),
        ("relTime(5) == 5", "error"),
        ("string(relTime(1.5))", '"01"'),
        (
            "splitTime(relTime(-3661))",
            '[ Days = 0; Type = "RelativeTime"; Hours = -1; Minutes = 1; Seconds = 1.000000000000000E+00 ]',
        ),
        ('getDayOfYear(absTime("2020-01-01T00:00:00Z"))', "0"),
        ('getHours(absTime("2020-01-01T00:00:00+05:00"))', "19"),
        ('versioncmp("1.01","1.1")', "-1"),
        ('versionEQ("1.0","1.0.0")', "false"),
        ('versioncmp("25.9","25.14")', "-1"),
    ],
)
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
