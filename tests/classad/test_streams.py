"""Streams of ads with faults in them: what is whole comes out, and each fault is told once, with its place."""

import itertools
import random
import tracemalloc
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import ClassAdSyntaxError
from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, ReadMode, read_ads, write_ads
from crondor.classad.formats.pieces import UNFINISHED
from crondor.diagnostics import Diagnostic
from tests.examples import examples

FORMS = [Format.LONG, Format.NEW, Format.PRETTY, Format.JSON, Format.JSON_LINES, Format.XML]
MARKED = [form for form in FORMS if form is not Format.LONG]  # those that say where an ad ends
ADS = [
    ClassAd({"ClusterId": 1, "Cmd": "/bin/x \"[{<c>}]' // /*", "Environment": {"A": 1, "b c": [1, 2.5, None]}}),
    ClassAd({"ClusterId": 22, "Owner": "ä日\\", "In": [{"x": "</c>"}, {"y": {"z": True}}]}),
    ClassAd({"ClusterId": 333}),
    ClassAd({"ClusterId": 4444, "Args": "]}{[", "Requirements": "*/"}),
]
JUNK = ["junk", "WARNING: no such schedd", "0", "'", '"it', "\\", "=", "(1 +", "a = 1", "<", "&", "é", "#!"]


Faults = list[tuple[int, int]]


@pytest.fixture
def longest(monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how long an ad may be, which is less than usual."""
    monkeypatch.setattr("crondor.classad.formats.pieces.MAX_AD", 1 << 20)
    return 1 << 20


def _written(form: Format, ads: list[ClassAd] = ADS) -> tuple[str, list[tuple[int, int]]]:
    """Return a stream of ads, and where each of them begins and ends in it."""
    text = "".join(write_ads(ads, form))
    extents, at = [], 0
    for ad in ads:
        printed = ad.print(form).strip()
        begin = text.index(printed, at)
        at = begin + len(printed)
        extents.append((begin, at))
    return text, extents


def _read(text: str | Iterable[str], form: Format, mode: ReadMode = ReadMode.STRICT) -> tuple[list[ClassAd], Faults]:
    """Return the ads, and the line and the column of each fault."""
    told: list[Diagnostic] = []
    found = list(read_ads(text, form, mode, report=told.append))
    places = [(fault.span.line, fault.span.column) for fault in told if fault.span is not None]
    assert len(places) == len(told)
    return found, places


def _place(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _pieces(text: str, dice: random.Random) -> Iterator[str]:
    at = 0
    while at < len(text):
        size = dice.randrange(1, 30)
        yield text[at : at + size]
        at += size


@pytest.mark.parametrize("mode", [ReadMode.STRICT, ReadMode.LAZY])
@pytest.mark.parametrize("form", MARKED)
def test_a_stream_cut_anywhere_gives_the_ads_before_the_cut(form: Format, mode: ReadMode) -> None:
    """And tells once that it is cut, with a place in the ad that is; it comes in pieces of any size."""
    text, extents = _written(form)
    dice = random.Random(0)  # noqa: S311 - test data
    for cut in range(len(text) + 1):
        for given_text in (text[:cut], _pieces(text[:cut], dice)):
            found, faults = _read(given_text, form, mode)
            assert found == ADS[: sum(end <= cut for _, end in extents)], text[:cut]
            assert len(faults) <= 1, text[:cut]
            for begin, end in extents:
                if begin < cut < end:
                    assert [place for place in faults if _place(text, begin) <= place <= _place(text, cut)], text[:cut]


def test_a_long_stream_cut_anywhere_gives_the_ads_before_the_cut() -> None:
    """And what stands of the last one: its line that is cut may still be one."""
    text, extents = _written(Format.LONG)
    ads = _read(text, Format.LONG)[0]
    for cut in range(len(text) + 1):
        found, faults = _read(text[:cut], Format.LONG)
        whole = sum(end <= cut for _, end in extents)
        assert found[:whole] == ads[:whole]
        assert len(found) <= whole + 1
        assert [line for line, _ in faults] in ([], [_place(text, len(text[:cut].rstrip()))[0]])


@pytest.mark.parametrize(
    ("form", "text", "place"),
    [
        (Format.NEW, "{\n[a = 1],\n", (1, 1)),
        (Format.JSON, '\n[\n{"a": 1}', (2, 1)),
        (Format.XML, "<?xml version='1.0'?><classads>\n<c></c>\n", (1, 22)),
        (Format.XML, "<classads><c></c>\n<classads><c></c></classads>", (2, 1)),
        (Format.JSON, '[{"a": 1}, [{"a": 2}]', (1, 12)),
        (Format.XML, "<!DOCTYPE c [<!ENTITY a 'b'>]>\n<c></c>", (1, 1)),
    ],
)
def test_a_list_without_an_end_is_a_fault(form: Format, text: str, place: tuple[int, int]) -> None:
    """It may have been longer."""
    found, faults = _read(text, form)
    assert found
    assert faults == [place]


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize("form", MARKED)
def test_what_stands_between_ads_is_told_and_passed_over(form: Format, junk: str) -> None:
    """On a line of its own or beside an ad, before a list's comma or after it."""
    text, extents = _written(form)
    dice = random.Random(0)  # noqa: S311 - test data
    for (_, end), (begin, _) in itertools.pairwise(extents):
        for at, blank in itertools.product({end, begin}, ("\n", " ", "\n  ")):
            broken = f"{text[:at]}{blank}{junk}{blank}{text[at:]}"
            for given_text in (broken, _pieces(broken, dice)):
                found, faults = _read(given_text, form)
                assert found == ADS
                assert faults == [_place(broken, at + len(blank))]


@pytest.mark.parametrize("junk", [junk for junk in JUNK if junk not in {"#!", "a = 1"}])
def test_lines_between_long_ads_are_told_and_passed_over(junk: str) -> None:
    """Alone between blank lines, or right before an ad: that has all the rest."""
    text, extents = _written(Format.LONG)
    ads = _read(text, Format.LONG)[0]
    for (_, end), (begin, _) in itertools.pairwise(extents):
        for broken in (f"{text[:end]}\n\n{junk}\n\n{text[begin:]}", f"{text[:begin]}{junk}\n{text[begin:]}"):
            found, faults = _read(broken, Format.LONG)
            assert found == ads
            assert [line for line, _ in faults] == [_place(broken, broken.index(f"\n{junk}\n", end) + 1)[0]]


def test_a_comment_without_an_end_costs_no_ad_that_begins_a_line() -> None:
    """Each is told."""
    found, faults = _read("[a = 1] /* x\n[a = 2]\n/* y\n[a = 3]", Format.NEW)
    assert [ad.value("a") for ad in found] == [1, 2, 3]
    assert faults == [(1, 9), (3, 1)]
    found, faults = _read("<c></c><!-- x\n<c></c>\n", Format.XML)
    assert len(found) == 2
    assert faults == [(1, 8)]


@pytest.mark.parametrize("form", MARKED)
def test_an_ad_that_lost_its_end_costs_no_other(form: Format) -> None:
    """What follows is read from the next line that begins one; ads within ads begin none."""
    ads = [ClassAd({"Id": number, "In": {"a": "x", "b": [{"c": "y"}]}, "Z": True}) for number in range(5)]
    text, extents = _written(form, ads)
    for number, ((begin, end), (following, _)) in enumerate(itertools.pairwise(extents)):
        rest = text[text.rindex("\n", end, following) :]
        for cut in range(begin + 1, end):
            found, faults = _read(text[:cut] + rest, form)
            assert found == [*ads[:number], *ads[number + 1 :]], text[begin:cut]
            assert len(faults) == 1, text[begin:cut]
            assert _place(text, begin) <= faults[0] <= (_place(text, cut)[0] + 1, 1)


def test_a_fault_between_ads_is_told_once_whatever_is_in_it() -> None:
    """Brackets and quotes, which look like an ad and are none."""
    for junk in ("WARNING: [x] y", "see [1", "[oops}", "] [", "[[[", "a ] b [ c"):
        found, faults = _read(f"[a = 1]\n{junk}\n[a = 2]\n[a = 3]\n", Format.NEW)
        assert [ad.value("a") for ad in found] == [1, 2, 3], junk
        assert len(faults) == 1, junk
        assert faults[0][0] == 2


def test_faults_of_different_lines_are_different_faults() -> None:
    """An ad that cannot be read after a text that is none."""
    found, faults = _read("[a = 1] junk\n[b = (]\nmore\n[a = 2]", Format.NEW)
    assert [ad.value("a") for ad in found] == [1, 2]
    assert faults == [(1, 9), (2, 7), (3, 1)]


def test_a_text_that_ends_in_an_ad_has_a_fault_of_its_own_code() -> None:
    """So that a reader of what is still being written can wait for the rest."""
    for text in ("[a = 1] [b", '{"a": 1}{"b"', "<c></c>\n<c><a", "<c></c>\n<c"):
        told: list[Diagnostic] = []
        assert len(list(read_ads(text, report=told.append))) == 1
        assert [fault.kind for fault in told] == [UNFINISHED], text


@pytest.mark.parametrize("form", FORMS)
def test_without_a_listener_the_ads_before_the_fault_are_there(form: Format) -> None:
    """They have been yielded when it is raised."""
    text, extents = _written(form)
    whole = _read(text, form)[0]
    at = extents[1][1]
    found: list[ClassAd] = []
    with pytest.raises(ClassAdSyntaxError):
        found.extend(read_ads(f"{text[:at]}\n\n(junk\n\n{text[at:]}", form))
    assert found == whole[:2]


@pytest.mark.parametrize(
    ("form", "begin", "piece"),
    [
        (Format.NEW, "[a = 1]", "x" * 5000),
        (Format.NEW, "[a = 1]\n[", " a = 1;" * 1000),
        (Format.NEW, "[a = 1]\n/*", "[" * 1000),
        (Format.JSON, '{"a": 1}', "[" * 5000),
        (Format.JSON, '{"a": 1}{"', "a" * 5000),
        (Format.XML, "<c></c>", "<d>" * 2000),
        (Format.XML, "<c></c><c>", " " * 5000),
        (Format.LONG, "a = 1\n\n", "b = 1\n" * 1000),
    ],
)
def test_a_stream_without_another_ad_ends(form: Format, begin: str, piece: str, longest: int) -> None:
    """After as many characters as an ad may have, without raising anything, and with the fault told once."""
    consumed = 0

    def endless() -> Iterator[str]:
        nonlocal consumed
        yield begin
        while True:
            consumed += len(piece)
            yield piece

    found, faults = _read(endless(), form)
    assert (len(found), len(faults)) == (1, 1)
    assert consumed < 5 * longest


@pytest.mark.parametrize("form", [Format.NEW, Format.JSON_LINES, Format.XML])
def test_an_ad_that_is_too_long_costs_no_other(form: Format, longest: int) -> None:
    """It is the one that has lost its end, in a stream much longer than an ad may be."""
    printed = [ClassAd({"a": number, "s": "x" * 20_000}).print(form).rstrip("\n") + "\n" for number in range(3)]
    count = longest // len(printed[0]) * 2
    stream = (printed[number % 3] if number != 5 else printed[0][:20] + "\n" for number in range(count))
    found, faults = _read(stream, form)
    assert len(found) == count - 1
    assert len(faults) == 1


@pytest.mark.parametrize("form", FORMS)
def test_memory_does_not_grow_with_a_stream(form: Format) -> None:
    """Faults between its ads or not."""
    ad = ClassAd({"a": 1, "b": "x" * 100}).print(form).strip("\n")

    def stream(count: int) -> Iterator[str]:
        for number in range(count):
            yield f"{ad}\n\n" + ("junk\n\n" if number % 10 == 0 else "")

    def peak(count: int) -> int:
        tracemalloc.start()
        faults = 0

        def report(_found: Diagnostic) -> None:
            nonlocal faults
            faults += 1

        assert sum(1 for _ in read_ads(stream(count), form, report=report)) == count
        assert faults == count // 10
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(500)
    assert peak(2000) < peak(500) + (1 << 17)


SIGNS = """[ ] { } " ' , /* */ // < > a = 1 [a=1] {"a":1} <c></c> <c> </c> <classads> </classads> <?xml ?> <!-- -->"""
TEXTS = st.lists(st.sampled_from([*SIGNS.split(), "\n", " ", "\n[", "\n{", "\n<c>"]), max_size=30).map("".join)


@given(TEXTS, st.sampled_from(MARKED), st.integers(0, 1 << 30))
@examples(62)
def test_faults_are_the_same_wherever_a_text_is_cut_into_pieces(text: str, form: Format, seed: int) -> None:
    """And every one of them has a line of its own, or another column."""
    whole = _read(text, form)
    found, faults = _read(_pieces(text, random.Random(seed)), form)  # noqa: S311 - test data
    assert (found, faults) == whole
    assert len(set(faults)) == len(faults)
