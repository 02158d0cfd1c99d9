"""Values: names and scopes, the clock and the zone of the context, the results a reader would not guess."""

from datetime import timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from crondor.classad import (
    ERROR,
    UNDEFINED,
    AbsTime,
    Context,
    EvaluationFailed,
    Expression,
    ListValue,
    matches,
    members,
    symmetric_match,
)
from tests.classad.helpers import NOW, ad, shown, value


def test_a_bare_name_falls_back_to_the_other_ad() -> None:
    """Presence decides: an attribute that is undefined does not fall back, and MY.x never does."""
    assert value("x", ad(), ad(x="5")) == 5
    assert value("x", ad(x="undefined"), ad(x="5")) is UNDEFINED
    assert value("MY.x", ad(), ad(x="5")) is UNDEFINED
    assert value("X", ad(x="1"), ad(x="5")) == 1


def test_my_and_target_are_swapped_inside_the_other_ad() -> None:
    """TARGET.y is evaluated as the other ad sees it."""
    assert value("TARGET.y", ad(x="1"), ad(y="MY.x", x="2")) == 2
    assert value("TARGET.y", ad(x="1"), ad(y="TARGET.x")) == 1


def test_a_circle_is_undefined() -> None:
    """Evaluation goes on around it."""
    assert value("a || true", ad(a="b", b="a")) is True
    assert value("a", ad(a="a + 1")) is UNDEFINED


def test_a_nested_ad_finds_the_names_around_it() -> None:
    """Its own come first; MY inside it is itself."""
    assert value("n.a", ad(n="[a = y]", y="7")) == 7
    assert value("n.a", ad(n="[a = MY.y; y = 1]", y="7")) == 1


def test_a_list_is_evaluated_when_asked() -> None:
    """A value keeps its members as they are written."""
    found = value("{x, 1 + 1}", ad(x="3"))
    assert isinstance(found, ListValue)
    assert shown("{x, 1 + 1}") == "{ x,1 + 1 }"
    assert members(found, NOW) == [3, 2]


@pytest.mark.parametrize("text", ["time()", "CurrentTime", "int(currentTime())", "int(absTime())"])
def test_the_clock_is_the_contexts(text: str) -> None:
    """No function looks at the machine's clock."""
    assert value(text) == NOW.now


def test_current_time_can_be_an_ordinary_name() -> None:
    """The context says whether the old attribute is the time."""
    assert value("CurrentTime", context=Context(now=5, current_time=False)) is UNDEFINED
    assert value("CurrentTime", ad(CurrentTime="1")) == 1


def test_the_zone_is_the_contexts() -> None:
    """Local times follow it, daylight saving too."""
    berlin = Context(now=1_752_000_000, zone=ZoneInfo("Europe/Berlin"))
    assert value('formatTime(time(), "%H:%M")', context=berlin) == "20:40"
    assert value("timeZoneOffset() is relTime(int(7200))", context=berlin) is True
    assert value('absTime("2025-07-08T20:40:00")', context=berlin) == AbsTime(1_752_000_000, 7200)
    fixed = Context(zone=timezone(timedelta(hours=-5)))
    assert shown("absTime(0)", context=fixed) == 'absTime("1969-12-31T19:00:00-05:00")'


def test_chance_comes_from_a_seed() -> None:
    """The same seed draws the same numbers."""
    first, second = (value("random(1000000)", context=Context(seed=seed)) for seed in (1, 1))
    assert first == second
    assert first != value("random(1000000)", context=Context(seed=2))


@pytest.mark.parametrize("text", ["random(0)", "userHome()", "absTime(0,-1)", "isError(random(0))"])
def test_some_calls_have_no_value_at_all(text: str) -> None:
    """That is another thing than error."""
    with pytest.raises(EvaluationFailed):
        value(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + nope ?: 2", "3"),
        ("error && false", "error"),
        ("false && error", "false"),
        ("undefined && false", "false"),
        ('"true" && true', "error"),
        ("-true", "error"),
        ("1.0 / 0", "error"),
        ("-1.0 / 0", 'real("-INF")'),
        ("9223372036854775807 + 1", "-9223372036854775808"),
        ("-9223372036854775808 / -1", "9223372036854775807"),
        ("{5}[4294967296]", "5"),
        ("1 =?= 1.0", "false"),
        ("{1} =?= {1}", "error"),
        ('{1} =?= split("a")', "false"),
        ("pow(-2,3)", "-7"),
        ('strcat("\\303", "\\251") == "é"', "true"),
        ('size("é")', "2"),
        ("relTime(5) * 2", 'relTime("10")'),
        ('relTime("5") * 2', "1.000000000000000E+01"),
        ('split("a b").c', "{ error,error }"),
    ],
)
def test_a_value_nobody_would_guess(text: str, expected: str) -> None:
    """The library's answers, defects included where they reach the daemons."""
    assert shown(text) == expected


def test_requirements_decide_a_match() -> None:
    """Missing, undefined and strings are no; a number is yes if it is not zero."""
    job, machine = ad(Requirements="TARGET.Memory >= 10"), ad(Requirements="1", Memory="20")
    assert symmetric_match(job, machine, NOW)
    assert not matches(ad(), machine, NOW)
    assert not matches(ad(Requirements='"true"'), machine, NOW)
    assert Expression("TARGET.Memory").holds(job, machine, NOW)
    assert not Expression("random(0)").holds()


def test_an_ads_text_is_read_once() -> None:
    """The text of an attribute gives way to the expression it was read as."""
    job = ad(a="1 + 1")
    assert value("a", job) == 2
    assert not isinstance(job.codes["a"], str)


def test_error_and_undefined_are_false() -> None:
    """A careless condition in Python takes neither for true."""
    assert not ERROR
    assert not UNDEFINED


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("%-d|%_d|%05d|%3d", "4| 4|00004|004"),
        ("%-3d|%--3OC", "  4| 20"),
        ("%^a|%#b|%#p|%P|%#Z|%8Z", "MON|MAR|am|am|utc|     UTC"),
        ("%12c|%012D|%^x", "Mon Mar  4 05:06:07 2024|000003/04/24|03/04/24"),
        ("%z|%_z|%7z", "+0000|+   0|      +0000000"),
        ("%5|%Ea|%OY|%#Eb|%^5q", "  %5|%Ea|%OY|%#EB| %^5Q"),
        ("%8s|%012s|%-s", "1709528767|001709528767|1709528767"),
        ("%C|%y|%5%|%En|", "20|24|    %|\\n|"),
    ],
)
def test_flags_width_and_modifiers(form: str, expected: str) -> None:
    """As glibc prints them."""
    assert shown(f'formatTime(1709528767, "{form}")') == f'"{expected}"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('absTime("2024-03-10T02:30:00")', 'absTime("2024-03-10T02:00:00+11:00")'),
        ('formatTime(1710053999, "%H:%M %s %Z")', '"17:59 1710055799 +1030"'),
    ],
)
def test_a_summer_time_of_half_an_hour(text: str, expected: str) -> None:
    """HTCondor takes a whole hour off; formatTime has the fields of summer and the name of standard time."""
    assert shown(text, context=Context(now=0, zone=ZoneInfo("Australia/Lord_Howe"))) == expected


def test_versions_of_arguments_are_cut_to_32_bits() -> None:
    """An integer argument is one of C's."""
    assert shown('argsToList("a b", 4294967297)') == '{ "a","b" }'
    assert shown('listToArgs({"a"}, 4294967298)') == '"a"'
