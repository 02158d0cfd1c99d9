"""What HTCondor's daemons take an attribute for: every kind of value, read in every way."""

import math
from collections.abc import Callable
from typing import Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import ERROR, UNDEFINED, Context
from crondor.classad.ad import ClassAd
from crondor.job import attributes
from crondor.job.attributes import ExitValue
from tests.job.odd import ODD, UNREADABLE

LEAST: Final = -(2**63)


class Read(NamedTuple):
    """What a value is read as; the exact readings are those of a value of the very type."""

    integer: int | None = None
    int32: int | None = None
    number: float | None = None
    boolean: bool | None = None
    string: str | None = None
    exact_integer: int | None = None
    exact_boolean: bool | None = None
    fires: bool = False


def whole(number: int, int32: int | None = None) -> Read:
    """Return how an integer is read."""
    low = number if int32 is None else int32
    return Read(number, low, number, bool(number), None, number, None, bool(number))


def real(number: float, integer: int, int32: int | None = None) -> Read:
    """Return how a real is read, which loses its fraction."""
    low = integer if int32 is None else int32
    return Read(integer, low, number, number != 0, fires=bool(integer))


TABLE: Final = {
    "5": whole(5),
    "0": whole(0),
    "-1": whole(-1),
    "2 + 3": whole(5),
    "Five": whole(5),
    "4294967297": whole(2**32 + 1, 1),
    "2147483648": whole(2**31, -(2**31)),
    "9223372036854775807": whole(2**63 - 1, -1),
    "9223372036854775808": whole(0),  # what the language reads there
    "5.9": real(5.9, 5),
    "-5.9": real(-5.9, -5),
    "0.5": real(0.5, 0),  # true, and fires nothing
    "1e300": real(1e300, LEAST, 0),
    'real("INF")': real(math.inf, LEAST, 0),
    '-real("INF")': real(-math.inf, LEAST, 0),
    "true": Read(1, 1, 1, True, None, None, True, True),
    "false": Read(0, 0, 0, False, None, None, False),
    '"5"': Read(string="5"),
    '""': Read(string=""),
    '"a\\"b"': Read(string='a"b'),
    "undefined": Read(),
    "error": Read(),
    "{}": Read(),
    "{5}": Read(),
    "[a = 5]": Read(),
    'absTime("2020-01-01T00:00:00Z")': Read(),
    "A": Read(),  # itself
    "A + 1": Read(),
    "NoSuchThing": Read(),
    "05": Read(),
    "5K": Read(),
    "a b (": Read(),
    f"{'(' * 400}5{')' * 400}": Read(),
}


def ad_of(text: str) -> ClassAd:
    """Return an ad whose attribute A has a text, which nobody has looked at yet."""
    ad = ClassAd({"Five": 5})
    ad.put("A", text)
    return ad


@pytest.mark.parametrize("text", TABLE)
def test_each_value_is_read(text: str) -> None:
    """By the name in any case; what is none of a kind is missing."""
    ad = ad_of(text)
    readers: list[Callable[[ClassAd, str], object]] = [
        attributes.integer, attributes.int32, attributes.number, attributes.boolean, attributes.string,
        attributes.exact_integer, attributes.exact_boolean, attributes.fires,
    ]  # fmt: skip
    found = Read(*(reader(ad, "a") for reader in readers))  # type: ignore[arg-type]
    assert found == TABLE[text]
    assert [type(each) for each in found] == [type(each) for each in TABLE[text]]


def test_nan_is_a_number_and_no_sum() -> None:
    """The least integer, and true, as in C."""
    ad = ad_of('real("NaN")')
    assert (attributes.integer(ad, "A"), attributes.int32(ad, "A"), attributes.boolean(ad, "A")) == (LEAST, 0, True)
    assert math.isnan(attributes.number(ad, "A") or 0)
    assert attributes.finite(ad, "A") is None


def test_what_is_not_there_is_missing() -> None:
    """Undefined; a text that is no expression is an error."""
    assert attributes.value(ClassAd(), "A") is UNDEFINED
    assert attributes.value(ad_of("05"), "A") is ERROR
    assert attributes.integer(ClassAd(), "A") is None
    assert attributes.expression(ClassAd(), "A") is None
    assert attributes.expression(ad_of("05"), "A") is None
    assert (attributes.printed(ad_of("05"), "A"), attributes.printed(ad_of("1+2"), "A")) == ("05", "1 + 2")


def test_a_number_that_sums_are_made_of_is_bounded() -> None:
    """Dates and columns of a table have an end."""
    texts = ("5.5", "true", "1e18", "1e300", 'real("INF")', '"5"')
    assert [attributes.finite(ad_of(text), "A") for text in texts] == [5.5, 1, 1e18, None, None, None]


def test_a_counter_is_never_below_zero() -> None:
    """Nor is it where there is none."""
    assert [attributes.count(ad_of(text), "A") for text in ("3", "-3", "2.9", '"x"', "4294967297")] == [3, 0, 2, 0, 1]


def test_the_clock_and_the_other_ad_are_asked() -> None:
    """Where the reader has them."""
    ad = ad_of("time() + TARGET.Five")
    assert attributes.integer(ad, "A", Context(now=10), ClassAd({"Five": 5})) == 15
    assert attributes.integer(ad, "A", Context(now=10)) is None


def test_a_parents_attribute_counts() -> None:
    """A proc ad has what its cluster's has."""
    ad = ClassAd({"ProcId": 3}).chain(ad_of("7").copy())
    assert attributes.integer(ad, "A") == 7


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"ExitBySignal": "true", "ExitSignal": "9", "ExitCode": "0"}, ExitValue(9, by_signal=True)),
        ({"ExitBySignal": "false", "ExitSignal": "9", "ExitCode": "3"}, ExitValue(3, by_signal=False)),
        ({"ExitCode": "3"}, ExitValue(3, by_signal=False)),
        ({"ExitSignal": "9"}, ExitValue(9, by_signal=True)),
        ({"ExitBySignal": "true", "ExitCode": "3"}, None),
        ({"ExitBySignal": '"no"', "ExitCode": "3.5"}, ExitValue(3, by_signal=False)),
        ({}, None),
    ],
)
def test_how_a_program_ended(texts: dict[str, str], expected: ExitValue | None) -> None:
    """By a signal or with a code, never both."""
    assert attributes.ending(ClassAd.of_texts(texts)) == expected


@pytest.mark.parametrize(
    ("cluster", "proc", "expected"),
    [("12", "3", (12, 3)), ("10 + 2", "3", (12, 3)), ("12.0", "3", None), ("12", "true", None), ("05", "3", None)],
)
def test_the_numbers_of_a_job(cluster: str, proc: str, expected: tuple[int, int] | None) -> None:
    """Integers, since they are its key in the queue."""
    ad = ClassAd()
    for name, text in (("ClusterId", cluster), ("ProcId", proc)):
        ad.put(name, text)
    assert attributes.job_numbers(ad) == expected


@given(st.integers(-(2**70), 2**70))
def test_a_plain_text_is_what_its_expression_is(number: int) -> None:
    """The short cut gives what evaluation gives, or nothing."""
    text = str(number)
    plain = attributes.plain(text)
    assert plain in (None, ad_of(f"0 + {text}").value("A"))
    assert attributes.integer(ad_of(text), "A") == attributes.integer(ad_of(f"({text})"), "A")
    assert attributes.plain(f"0{text}") is None


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    """Every text has an answer in every reading."""
    ad = ad_of(text)
    assert attributes.integer(ad, "A") is None or abs(attributes.integer(ad, "A") or 0) <= 2**63
    assert attributes.string(ad, "A") is None or attributes.number(ad, "A") is None
    assert attributes.alone(text) is ERROR or attributes.plain(text) in (None, attributes.alone(text))


@pytest.mark.parametrize("text", [*ODD, *UNREADABLE])
def test_the_kinds_agree(text: str) -> None:
    """What is an integer is a number and a boolean, and what is none of them is none."""
    ad = ad_of(text.replace("SELF", "A"))
    found = {reader(ad, "A") is None for reader in (attributes.integer, attributes.number, attributes.boolean)}
    assert len(found) == 1
    assert attributes.exact_integer(ad, "A") in (None, attributes.integer(ad, "A"))
