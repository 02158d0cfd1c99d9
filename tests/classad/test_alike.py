"""Ads that are like one before are read by what they have in common: never with another result than alone."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crondor.classad import ClassAd, Format, Order, ReadMode, read_ads
from crondor.classad.formats import long_form as module
from crondor.classad.formats.long_form import AdTemplate, Alike
from crondor.classad.scope import Code

NAMES = [f"Name{number}" for number in range(12)]
VALUES = [
    "1", "-7", "0", "007", "1.50", '"text"', '"two \\"quoted\\" words"', '"\\\\"', '"caf\u00e9"', "true",
    "undefined", "A + 1", "( A == 2 )", "'odd' + 1", '"a" "b"', "1 +", '"open', "x = y", "", " 3", "4 ",
    "{ 1,2 }", '"\udcff"', "1e3",
]  # fmt: skip


def _text(values: list[str], odd: str) -> str:
    lines = [f"{name} = {value}" for name, value in zip(NAMES, values, strict=True)]
    return "\n".join([*lines, odd] if odd else lines)


ODD = st.sampled_from(["", "", "", "", "More = 1", "name1 = 2", "Name1 = 3", "no line", "# note", "Name0=4"])
TEXTS = st.builds(
    _text,
    # Most lines are the same in most ads.
    st.tuples(*(st.one_of(st.just("1"), st.just('"same"'), st.sampled_from(VALUES)) for _ in NAMES)).map(list),
    ODD,
)
SLOWLY = st.lists(st.tuples(st.sampled_from(range(len(NAMES))), st.sampled_from(VALUES), ODD), max_size=30)


class _Read(NamedTuple):
    """An ad: spelling and expressions in their order, and the line it begins on."""

    attributes: list[tuple[str, str]]
    line: int


def _read(text: str, mode: ReadMode, line: int = 1) -> list[_Read]:
    """Return the ads of a text that begins on a line; faults are skipped."""
    ads = read_ads(text, Format.LONG, mode, report=lambda _: None)
    return [_Read([(name, ad.text(name)) for name in ad], ad.place.line + line - 1) for ad in ads if ad.place]


def _one_by_one(texts: list[str], mode: ReadMode) -> list[_Read]:
    found: list[_Read] = []
    line = 1
    for text in texts:
        found += _read(text, mode, line)
        line += text.count("\n") + 2
    return found


@given(st.lists(TEXTS, max_size=12), st.sampled_from([ReadMode.STRICT, ReadMode.LAZY]))
def test_ads_together_are_the_ads_alone(texts: list[str], mode: ReadMode) -> None:
    """Whatever stands before them."""
    assert _read("\n\n".join(texts) + "\n", mode) == _one_by_one(texts, mode)


@given(SLOWLY, st.sampled_from([ReadMode.STRICT, ReadMode.LAZY]))
@example(
    [(0, value, "") for value in ("2", "3", "4", "")] + [(11, "5", ""), (11, "", ""), (0, "6", "")], ReadMode.STRICT
)
@example([(11, value, "") for value in ("2", '"open', "3", "4 ", "x = y", "6")], ReadMode.LAZY)
@example([(0, "2", ""), (0, "3", ""), (0, "4", ""), (0, "5", "More = 1"), (0, "6", "Name1 = 3")], ReadMode.STRICT)
@example([(1, f"{number}", "Name1 = 3") for number in range(5)], ReadMode.STRICT)
def test_ads_that_differ_in_a_line(changes: list[tuple[int, str, str]], mode: ReadMode) -> None:
    """From the one before."""
    values, texts = ["1"] * len(NAMES), []
    for at, value, odd in changes:
        values[at] = value
        texts.append(_text(values, odd))
    assert _read("\n\n".join(texts), mode) == _one_by_one(texts, mode)


def test_what_one_ad_is_given_another_does_not_have() -> None:
    """They share nothing that changes."""
    same = "".join(f"{name} = 1\n" for name in NAMES)
    ads = list(read_ads("\n".join(f"{same}Own = {number}\n" for number in range(6)), Format.LONG))
    for number, ad in enumerate(ads):
        ad[f"New{number}"] = number
        ad["Name3"] = number
        del ad["Name4"]
    assert [ad.text("Own") for ad in ads] == [ad.text("Name3") for ad in ads] == [str(number) for number in range(6)]
    assert [[*ad][-1] for ad in ads] == [f"New{number}" for number in range(6)]
    assert all("Name4" not in ad and len(ad) == len(NAMES) + 1 for ad in ads)


def test_most_ads_are_read_by_what_they_have_in_common() -> None:
    """A dozen are read line by line, and another when a line differs that did not in these."""
    known = _Lines()
    alike = Alike(known)
    keys, names = [name.lower() for name in NAMES], {name.lower(): name for name in NAMES}
    hits = 0
    for number in range(100):
        values = ["1"] * len(NAMES)
        values[2], values[5], values[11] = f"{number}.5 * A", str(number % 4 // 2), str(number // 50)
        block = _text(values, "")
        found = alike.read(block)
        if found is None:
            lines = block.split("\n")
            alike.learn(lines, keys, names, [known[line][1] for line in lines])
            continue
        hits += 1
        assert ClassAd.of(found[0], found[1]).print(Format.LONG, Order.KEPT) == block + "\n"
        assert found[2] == len(NAMES)
    assert hits == 100 - 2 * 12


def test_what_differs_all_the_time_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A template has to be worth its cost: here each ad would need one of its own."""
    known, alike = _Lines(), Alike(_Lines())
    made: list[AdTemplate] = []

    class Counted(AdTemplate):
        def __init__(
            self,
            lines: Sequence[str],
            keys: Sequence[str],
            codes: Sequence[Code | str],
            patterns: Mapping[int, Sequence[str]],
        ) -> None:
            super().__init__(lines, keys, codes, patterns)
            made.append(self)

    monkeypatch.setattr(module, "AdTemplate", Counted)
    keys, names = [name.lower() for name in NAMES], {name.lower(): name for name in NAMES}
    for number in range(400):
        lines = [
            f"{name} = {' + '.join('x' * (number + 2)) if number % 12 == at else 0}" for at, name in enumerate(NAMES)
        ]
        lines[0] = f"{NAMES[0]} = x{number} + 1"
        if alike.read("\n".join(lines)) is None:
            alike.learn(lines, keys, names, [known[line][1] for line in lines])
    assert 0 < len(made) <= 400 / 12


class _Lines(dict[str, "tuple[str, str]"]):
    """Names and texts of lines, the same object for the same line."""

    def __missing__(self, line: str) -> tuple[str, str]:
        name, _, text = line.partition(" = ")
        self[line] = (name, text)
        return self[line]
