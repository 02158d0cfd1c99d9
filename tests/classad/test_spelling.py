"""Ads that share their names are printed as others are, whatever they have in common."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import ClassAd, Expression, Format, Order
from crondor.classad.printing import Spelling, print_ad

_NAMES = [f"Name{number}" for number in range(12)]
_TEXTS = st.sampled_from(["1", '"a"', '"a\\\\b"', "x + 1", '"two\nlines"', "undefined", '"' + "long" * 9000 + '"'])
_CODES = _TEXTS | st.sampled_from(["y * 2", '"b"']).map(lambda text: Expression(text).code)
_CHANGES = st.lists(st.dictionaries(st.sampled_from(_NAMES), _CODES, max_size=9), max_size=30)


@given(_CHANGES, st.sampled_from(Order), st.booleans())
def test_what_ads_have_in_common_changes_nothing(changes: list[dict[str, str]], order: Order, faithful: bool) -> None:
    """The text of each ad is that of an ad with names of its own."""
    shared = Spelling({name.lower(): name for name in _NAMES})
    codes = dict.fromkeys(shared, "0")
    for change in changes:
        codes = {**codes, **{name.lower(): text for name, text in change.items()}}
        ad, alone = ClassAd.of(dict(codes), shared), ClassAd.of(dict(codes), dict(shared))
        assert print_ad(ad, Format.LONG, order, faithful=faithful) == print_ad(
            alone, Format.LONG, order, faithful=faithful
        )


def test_an_ad_that_is_changed_has_names_of_its_own() -> None:
    """Another attribute, or one less, does not reach the ads that shared the names."""
    shared = Spelling({name.lower(): name for name in _NAMES})
    ads = [ClassAd.of(dict.fromkeys(shared, str(number)), shared) for number in range(20)]
    for ad in ads:
        ad.print(Format.LONG)
    ads[0]["More"] = 1
    del ads[1]["Name3"]
    assert "More = 1" in ads[0].print(Format.LONG)
    assert "Name3" not in ads[1].print(Format.LONG)
    assert list(ads[2]) == _NAMES
    assert copy.copy(shared) == shared
