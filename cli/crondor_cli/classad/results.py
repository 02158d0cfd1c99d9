"""What `crondor classad` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, TypedDict

from crondor_cli.kit.results import NotRequired, Part, Result


class EvalResult(TypedDict):
    """An expression and its value."""

    expression: Annotated[str, "the expression as HTCondor prints it"]
    value: Annotated[str, "its value, in ClassAd syntax"]
    reason: NotRequired[
        Annotated[str | None, "the shortest reason why it is not true; null: it is; only with `--explain`"]
    ]
    parts: NotRequired[Annotated[Iterable[Part], "its parts; only with `--explain`"]]


class Side(TypedDict):
    """An ad, and whether it accepts the other."""

    name: Annotated[str, "the file"]
    other: Annotated[str, "the file of the other ad"]
    accepts: Annotated[bool, "whether it accepts the other"]
    reason: Annotated[str | None, "why not; null: it does"]
    requirements: Annotated[Part | None, "its Requirements; null: it has none"]


class MatchResult(TypedDict):
    """Whether each of two ads accepts the other."""

    match: Annotated[bool, "whether both accept"]
    sides: Annotated[Iterable[Side], "A's verdict about B, and B's about A"]


RESULTS = {
    "classad-convert": Result("Ads", Iterable[Mapping[str, object]]),
    "classad-eval": Result("The value of an expression", EvalResult),
    "classad-match": Result("Whether two ads accept each other", MatchResult),
    "classad-transform": Result("Ads", Iterable[Mapping[str, object]]),
}
