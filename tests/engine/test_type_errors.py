"""A value of the wrong type is told by its name, with what to write instead."""

from __future__ import annotations

from typing import Any

import pytest

from crondor.recurrence import Recurrence
from crondor.spec import CronSpec


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (Recurrence, "spec is a CronSpec, not {kind}"),
        (CronSpec.from_line, "line is text with five fields"),
        (CronSpec.from_mapping, "ad is a mapping of job attributes, not {kind}"),
    ],
)
@pytest.mark.parametrize("wrong", [None, 5, b"* * * * *", ["*"]])
def test_the_argument_is_named(call: Any, said: str, wrong: object) -> None:  # noqa: ANN401 - any of the calls
    """And nothing from the depths."""
    with pytest.raises(TypeError) as caught:
        call(wrong)
    assert said.format(kind=type(wrong).__name__) in str(caught.value)


def test_a_line_is_no_spec() -> None:
    """The most common mistake has its cure."""
    with pytest.raises(TypeError, match=r"write Recurrence\(CronSpec.from_line"):
        Recurrence("*/5 * * * *")  # type: ignore[arg-type]
