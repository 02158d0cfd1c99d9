"""Transforms in a row that make an attribute refer to itself: found of the rules alone, before any ad is there."""

import pytest

from crondor.diagnostics import Severity
from crondor.transform import Transform, TransformFacts
from crondor.transform.loading import find_circles


def found(*texts: str, knobs: dict[str, str] | None = None) -> list[tuple[str, str, str]]:
    """Return severity, message up to the colon, and place of each finding of transforms in a row."""
    facts = TransformFacts(knobs)
    said = find_circles([Transform.parse(text) for text in texts], facts)
    return [(each.severity.value, each.message.partition(":")[0], each.span.text if each.span else "") for each in said]


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ('SET X strcat(X, "a")', "X refers to itself", 'SET X strcat(X, "a")'),
        ("SET Requirements (Requirements) && TARGET.a", "Requirements refers to itself", None),
        ("DEFAULT X X + 1", "X refers to itself", "DEFAULT X X + 1"),
        ("SET X MY.X + 1", "X refers to itself", "SET X MY.X + 1"),
        ("SET A B\nCOPY A B", "B refers to itself", "COPY A B"),
        ("SET A B\nRENAME A B", "B refers to itself", "RENAME A B"),
        ("SET A B\nSET B A", "B refers to A, A to B", "SET B A"),
        ("SET A B\nSET B C\nSET C A", "C refers to A, A to B, B to C", "SET C A"),
        ("r = (X)\nSET X $(r) + 1", "X refers to itself", "SET X $(r) + 1"),
        ("SET X $(from_configuration)", "X refers to itself", "SET X $(from_configuration)"),
        ("if defined MY.X\nSET X X + 1\nendif", "X refers to itself", "SET X X + 1"),
        ("if $(unknown)\nSET Y 1\nelse\nSET X X + 1\nendif", "X refers to itself", "SET X X + 1"),
    ],
)
def test_a_circle_is_found_at_the_line_that_closes_it(text: str, message: str, place: str | None) -> None:
    """Whatever writes it: SET, DEFAULT, COPY, RENAME, a macro, a line below a condition."""
    known = {"from_configuration": "X + 1"}
    assert found(text, knobs=known) == [("error", message, text if place is None else place)]


@pytest.mark.parametrize(
    "text",
    [
        'EVALSET X strcat(X, "a")',
        "SET Requirements ($(MY.Requirements)) && TARGET.a",
        'SET X "$(MY.X)a"',
        "COPY X Old\nSET X Old + 1",
        "RENAME X Old\nSET X Old + 1",
        "SET X TARGET.X",
        "SET A B\nDELETE B",
        "SET A B\nSET B A\nSET A 1",
        "SET X ifThenElse(false, X, 1)",
        "if 0\nSET X X + 1\nendif",
        "NAME X\nREQUIREMENTS X\nSET Y X",
    ],
)
def test_what_is_no_circle_is_none(text: str) -> None:
    """A value, the expression that was there, another name, another ad, what is gone again."""
    assert found(text) == []


def test_a_reference_that_is_not_always_needed_is_no_error() -> None:
    """It may have a value; a way round through others may be meant."""
    assert found("SET X Y ? X : 1") == [("warning", "X refers to itself", "SET X Y ? X : 1")]
    branches = "if $(a)\nSET A B\nendif\nif $(b)\nSET B A\nendif"
    assert [each[0] for each in found(branches)] == ["note"]


def test_transforms_in_a_row_close_a_circle_together() -> None:
    """Each alone does not."""
    assert found("SET A B") == found("SET B A") == []
    assert found("SET A B", "SET C 1", "SET B A") == [("error", "B refers to A, A to B", "SET B A")]


def test_what_to_write_fits_the_line() -> None:
    """A value where that is one, the expression for what is evaluated beside a machine."""

    def help_of(text: str) -> str | None:
        (only,) = find_circles([Transform.parse(text)], TransformFacts())
        assert only.severity is Severity.ERROR
        return only.help

    assert help_of("SET X X + 1") == "write EVALSET X for its value, or $(MY.X) for the expression that the job has"
    assert help_of("SET Rank Rank + 1") == "write $(MY.Rank) for the expression that the job has"
    assert help_of("SET A B\nCOPY A B") == "write EVALSET B A to take the value, not the expression"
    assert help_of("SET A B\nSET B A") == "COPY one of them to another name first, and refer to that"


def test_many_lines_and_conditions_take_no_time() -> None:
    """Ways through conditions are bounded, and so are lines."""
    many = "\n".join(f"if $(c{n})\nSET A{n} A{n + 1}\nendif" for n in range(200)) + "\nSET A200 A0"
    assert len(found(many)) == 1
    assert found("SET X X\n" + "SET Y 1\n" * 20_000) == []
