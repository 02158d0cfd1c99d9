"""CRN517: the environment of the jobs after the first of a cluster."""

import pytest

from tests.check.asking import found, places


@pytest.mark.parametrize(
    ("lines", "queue", "expected"),
    [
        (('environment = "$(I)=1"',), "queue I in (A B)", ['"$(I)=1"']),
        (('environment = "A=1"', "queue", "environment = B=1"), "queue", ["B=1"]),
        (('environment2 = "C=1"', "queue", "environment2 =", "env = A=1;B=1"), "queue", ["A=1;B=1"]),
        (('environment = "A=$(I)"',), "queue I in (A B)", []),
        (('environment = "A=1"', "queue", "environment ="), "queue", []),
        (("queue", 'environment = "A=1"'), "queue", []),
        (('environment = "$(I)=1"',), "queue 1 I in (A)", []),
        (('environment = "$(I)"',), "queue I in (A=1 B)", []),
    ],
)
def test_variables_that_later_jobs_keep(lines: tuple[str, ...], queue: str, expected: list[str]) -> None:
    """Only where a job that has variables of its own has others beside them."""
    assert places("CRN517", *lines, queue=queue) == expected


def test_what_they_are_is_said() -> None:
    """With the values that the first job gave them."""
    (only,) = found("CRN517", 'environment = "A=1 B=2 C=3 D=4 E=5"', "queue", "environment = E=6", queue="queue")
    assert only.diagnostic.message.startswith("later jobs also get A=1, B=2, C=3, ...")
