"""Output in pieces is the output there was at once."""

import io
import json
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor_cli.kit.screen import echo_lines
from crondor_cli.kit.tables import echo_json

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), VALUES, min_size=1, max_size=4), st.sets(st.text(), max_size=4))
def test_an_array_that_is_an_iterator_prints_as_a_list(data: dict[str, object], streamed: set[str]) -> None:
    """Byte for byte what ``json.dumps`` writes, with empty arrays and line ends in strings."""
    data |= {key: data.get(key) if isinstance(data.get(key), list) else [] for key in streamed}
    given_ = {key: iter(value) if key in streamed and isinstance(value, list) else value for key, value in data.items()}
    written = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", written)
        echo_json(given_)
    assert written.getvalue() == json.dumps(data, indent=2) + "\n"


@given(VALUES)
def test_iterators_within_print_as_lists(value: object) -> None:
    """In objects, and in the items of arrays that are iterators themselves."""
    written = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", written)
        echo_json({"jobs": iter([{"runs": iter([value]), "state": {"seen": iter([])}, "of": value}]), "n": 1})
    expected = {"jobs": [{"runs": [value], "state": {"seen": []}, "of": value}], "n": 1}
    assert written.getvalue() == json.dumps(expected, indent=2) + "\n"


def test_lines_go_out_before_the_last_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    """What has been printed need not be kept."""
    seen: list[int] = []

    def lines() -> Iterator[str]:
        for number in range(10_000):
            if number == 9_999:
                seen.append(len(capsys.readouterr().out))
            yield f"{number:09}"

    echo_lines(lines())
    assert seen[0] + len(capsys.readouterr().out) == 100_000
    assert seen[0] > 30_000
