"""Regular expressions are PCRE2's, on bytes."""

import pytest

from crondor.classad import ClassAd, EvaluationFailed
from tests.classad.helpers import shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r'regexp("^.{5}$", "café")', "true"),
        (r'regexp("^a++b$", "aaab")', "true"),
        (r'regexp("[[:digit:]]\\h+(?<n>x)\\k<n>", "1 xx")', "true"),
        (r'regexp("(?>a|ab)c", "abc")', "false"),
        (r'regexp("\\x41", "A")', "true"),
        (r'regexp("\\x{41}", "A")', "true"),
        (r'regexp("\\x{100}", "A")', "error"),
        (r'regexp("^\\C$", "A")', "true"),
        (r'regexp("\\u0041", "A")', "error"),
        (r'regexp("\\Q\\u\\E", "a\\u")', "true"),
        (r'regexp("(", "a")', "error"),
        (r'regexp("A", "a", "I")', "false"),
        (r'stringList_regexpMember("A", "a", ",", "I")', "true"),
        (r'replaceAll("(a)(b)?", "abac", "<\\1>")', '"<a><a>c"'),
        (r'replace("(a)(b)?", "ac", "\\2")', "error"),
        (r'replaceAll("x*", "abc", "-")', "error"),
        (r'replaceAll("b?c", "abcbc.", "-")', '"a--."'),
        (r'replaceAll("b*", "abc", "-")', "error"),
        (r'regexps("q", "xay", "Z")', '""'),
    ],
)
def test_a_dialect_is_htcondors(text: str, expected: str) -> None:
    """Possessive, atomic, classes, escapes; replacement with HTCondor's slips."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (r'regexp("a{,2}", "b")', "false"),
        (r'regexp("a{,2}", "a{,2}")', "true"),
        (r'regexp("a{ 1 }", "a")', "false"),
        (r'regexp("[{,2}]", ",")', "true"),
        (r'regexp("\\Qa{,2}\\E", "a{,2}")', "true"),
        (r'regexp("a{1,}$", "aa")', "true"),
        (r'regexp("a\\", "a")', "error"),
        (r'regexp("\\cA\\", "a")', "error"),
        (r'regexp("a\\\\", "a\\")', "true"),
    ],
)
def test_the_dialect_is_that_of_htcondors_pcre2(call: str, expected: str) -> None:
    """Which knows nothing of the repetitions of 10.43, and refuses a backslash with nothing after it."""
    assert shown(call) == expected


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (r'size(replaceAll("(?:(?:a|a)*c)?", S, "x"))', "steps"),
        (r'regexp("(?:a|a)*c", S)', "steps"),
        (r'regexps("(?s)(.*)", L, T)', "a string grows"),
        (r'replaceAll("(?=(.*))", L, "\\1")', "a string grows"),
    ],
)
def test_a_search_is_charged_for_each_place_where_it_begins(call: str, why: str) -> None:
    """PCRE2 counts anew at each of them; what replaces a match is measured before it is made."""
    ad = ClassAd.of_texts(
        {"S": '"' + ("a" * 18 + "b") * 200 + 'c"', "L": '"' + "x" * 20_000 + '"', "T": '"' + r"\\0" * 1000 + '"'}
    )
    with pytest.raises(EvaluationFailed, match=why):
        ad.evaluate(call)


def test_a_search_of_a_long_text_costs_what_it_takes() -> None:
    """A thousand characters before a match, and a beginning in only a few places."""
    ad = ClassAd.of_texts({"S": '"' + "x" * 50_000 + " foo and bar" * 1000 + '"'})
    assert ad.evaluate(r'regexp("foo.*and.*bar$", S)') is True
    assert ad.evaluate(r'regexp(".*foo.*baz", S)') is False
    assert ad.evaluate(r'size(replaceAll("foo", S, ""))') == 50_000 + 9000
