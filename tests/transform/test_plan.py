"""Ads with the same names go through a transform by a plan: never with another result than line by line."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crondor.classad import ClassAd, Format, Order, read_ads
from crondor.diagnostics import Diagnostic
from crondor.macro.lines import Budget
from crondor.transform import Chain, Transform, TransformFacts
from crondor.transform.apply import TransformRun
from crondor.transform.plan import Plans

AD = 'A = 5\nB = "two words"\nC = A + 1\nOwner = "alice"\nTransferErr = "e"\nTransferOut = "o"\n'
NAMES = st.sampled_from(["A", "B", "Owner", "owner", "TransferErr", "x", "X", "New", "1b", "odd-one", "MY.A"])
VALUES = st.sampled_from(
    [
        "1",
        '"s"', "A + 1", "undefined", "$(MY.B)", "$(MY.C)", "{ 1,A }", "(", "$(V)$(V)", "$(V:0)", "toUpper(Owner)",
        "strcat(Owner, V)", "MY", "size(MY.B)", "error", "1..2", "A ?: 3", '"$(V)-$(MY.A)"', "$INT(MY.A)",
        "$EVAL(MY.C)",
        "$RANDOM_INTEGER(1,9)", "$(MY.X)", "New", "[ y = A ]", "random(9)",
    ]
)  # fmt: skip
LINES = st.one_of(
    st.builds("SET {} {}".format, NAMES, VALUES),
    st.builds("DEFAULT {} {}".format, NAMES, VALUES),
    st.builds("EVALSET {} {}".format, NAMES, VALUES),
    st.builds("EVALMACRO {} {}".format, st.sampled_from(["V", "v", "MY.A", "XFORM.V"]), VALUES),
    st.builds("COPY {} {}".format, NAMES, NAMES),
    st.builds("RENAME {} {}".format, NAMES, NAMES),
    st.builds("DELETE {}".format, NAMES),
    st.builds(
        "{} /^({})(.*)$/ {}".format, st.sampled_from(["COPY", "RENAME"]), NAMES, st.sampled_from(["N\\2", "$(V)"])
    ),
    st.builds("DELETE /{}/".format, NAMES),
    st.builds("V{}{}".format, st.sampled_from(["=", " += "]), VALUES),
    st.sampled_from(["XFORM.V = 3", "warning : there", "error : here", "+A = 7"]),
)  # fmt: skip
RULES = st.lists(LINES, max_size=8).map("\n".join)


@pytest.fixture(scope="module", autouse=True)
def _less_work() -> Iterator[None]:
    """A macro in itself takes all that macros may cost, which is less here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Budget.__init__, "__defaults__", (1 << 20, 1 << 20, 100))
        yield


def _ads(values: list[str]) -> list[ClassAd]:
    """Return ads that share the mapping of their names."""
    first = next(read_ads(AD, Format.LONG))
    ads = [first.copy() for _ in values]
    for ad, value in zip(ads, values, strict=True):
        ad.put("A", value)
    return ads


class _Found(NamedTuple):
    """What becomes of an ad: its print, what was found, the names of the transforms, and the macros."""

    printed: str
    diagnostics: tuple[Diagnostic, ...]
    applied: tuple[str, ...]
    macros: dict[str, str]


def _through(chain: Chain, ad: ClassAd, *, trace: bool) -> _Found:
    chain.macros.clear()
    (outcome,) = chain.rounds(ad, trace=trace)
    printed = "" if outcome.ad is None else outcome.ad.print(Format.LONG, Order.KEPT)
    if outcome.ad is not None:
        assert outcome.ad.names.keys() == outcome.ad.codes.keys()
        assert outcome.changes.undo(outcome.ad.copy()) == ad
    return _Found(printed, outcome.diagnostics, outcome.applied, dict(chain.macros))


@given(RULES, RULES, st.lists(st.sampled_from(["5", '"$(V)"', "C", "undefined", '"\\"q\\""']), min_size=3, max_size=6))
@example("SET X 1\nEVALSET Y MY\nRENAME A B", "SET Z MY.X\nDELETE /^T/", ["5", "6", "7"])
@example("V=$(MY.A)\nSET X $(V)", "DEFAULT X $(V)", ["5", "5", '"$(V)"', "5"])
@example('SET X "$(V:none)"\nV=2\nDELETE B\nEVALSET Z MY\nSET Y $(MY.A)', "", ["5", "5", '"$(V)"', "5"])
@example("V=2", 'SET X "$(V:none)"\nSET Y $(MY.A)', ["5", "5", '"$(V)"', "5"])
@example("COPY A owner\nSET b 1\nEVALSET c 2", "EVALMACRO XFORM.V 1\nV=2\nSET X $(V)", ["5", "5", "5"])
@example("", "EVALMACRO V A ?: 3\nV += 1", ["5", "5", '"$(V)"'])
@example("EVALSET X A + 1\nSET Y $(MY.A)", "COPY /^(.)$/ New\\1", ["5", "5", '"\\"q\\""', "C", "5"])
def test_a_plan_does_what_the_lines_do(first: str, second: str, values: list[str]) -> None:
    """A trace makes each line run by itself."""
    transforms = [Transform.parse(f"SET S 1\n{rules}", strict=False, name="t") for rules in (first, second)]
    chain = Chain(transforms, TransformFacts())
    for ad in _ads(values):
        printed = ad.print(Format.LONG, Order.KEPT)
        assert _through(chain, ad, trace=False) == _through(chain, ad, trace=True)
        assert ad.print(Format.LONG, Order.KEPT) == printed


def _planned(monkeypatch: pytest.MonkeyPatch, rules: str, values: list[str]) -> list[bool]:
    """Return for each ad whether there was a plan for it."""
    found: list[bool] = []
    run_plan = Plans.run

    def noted(self: Plans, run: TransformRun) -> bool:
        found.append(run_plan(self, run))
        return found[-1]

    monkeypatch.setattr(Plans, "run", noted)
    transform = Transform.parse(rules)
    for ad in _ads(values):
        transform.apply(ad)
    return found


@pytest.mark.parametrize(
    "rules",
    [
        'V=1\nSET X $(V)\nSET Y 1\nDEFAULT A 1\nDEFAULT N "$(MY.Owner)-$(MY.A)"\nEVALSET Z A + 1\nEVALMACRO W A',
        "COPY A Z\nRENAME B Y\nDELETE C\nDELETE Nope\nRENAME /^Transfer(.*)/ Old\\1\nDELETE /^O/",
        "EVALSET X strcat(Owner, A)\nEVALSET Y MY\nEVALSET Z $(MY.A) + 1",
    ],
)
def test_the_second_ad_is_the_first_with_a_plan(monkeypatch: pytest.MonkeyPatch, rules: str) -> None:
    """The first is run line by line."""
    assert _planned(monkeypatch, rules, ["5", "6", "7"]) == [False, True, True]


@pytest.mark.parametrize(
    "rules",
    ["SET X (", "SET X $INT(A)", "V=$(MY.A)\nSET X $(V)", "RENAME A 1b", "EVALSET X 1..2", "XFORM.V=1\nSET X 1"],
)
def test_what_depends_on_more_has_no_plan(monkeypatch: pytest.MonkeyPatch, rules: str) -> None:
    """Lines that fail, functions of macros, macros in macros."""
    assert not any(_planned(monkeypatch, rules, ["5"] * 4))


def test_a_plan_that_fails_too_often_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these ads would go through the lines after the plan has failed."""
    rules = "SET X $(MY.A)"
    assert _planned(monkeypatch, rules, ["5", "5", '"$(V)"', "5"]) == [False, True, False, True]
    monkeypatch.undo()
    found = _planned(monkeypatch, rules, ["5", *['"$(V)"'] * 30, *["5"] * 5])
    assert not any(found)
