"""What `crondor preview` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, TypedDict

from crondor_cli.kit.results import Diagnostic, Result


class Refusal(TypedDict):
    """Why jobs are refused, or get a warning."""

    what: Annotated[str, "the source", ("requirement", "transform", "limit")]
    knob: Annotated[str, "the knob"]
    reason: Annotated[str, "the schedd's message; empty if it is unknown"]
    help: Annotated[str | None, "an explanation"]
    file: Annotated[str | None, "the file that sets the knob"]
    line: Annotated[int | None, "the line, from 1"]


class Change(TypedDict):
    """An attribute that was changed."""

    name: Annotated[str, "the attribute"]
    before: Annotated[str | None, "its expression before; null: it was missing"]
    after: Annotated[str | None, "its expression afterwards; null: it is missing"]


class PlacedChange(Change):
    """An attribute that a transform changed, with the line."""

    line: Annotated[int | None, "the line that changed it, from 1"]


class Step(TypedDict):
    """A transform that ran."""

    knob: Annotated[str, "the knob of the transform"]
    converted: Annotated[bool, "whether it is written as a ClassAd"]
    file: Annotated[str | None, "the file that sets it"]
    line: Annotated[int | None, "the line, from 1"]
    changes: Annotated[Iterable[PlacedChange], "its changes"]


class Previewed(TypedDict):
    """Jobs with the same result."""

    first: Annotated[str, "ClusterId.ProcId of the first of them"]
    count: Annotated[int, "the number of these jobs"]
    line: Annotated[int | None, "the line of their queue statement, from 1"]
    accepted: Annotated[bool, "whether they are accepted"]
    refusal: Annotated[Refusal | None, "the reason of a refusal"]
    warned_of: Annotated[Iterable[Refusal], "requirements that only warn"]
    unsure: Annotated[Iterable[Refusal], "requirements that depend on values only the schedd knows"]
    transforms: Annotated[Iterable[Step], "the transforms that ran, in order"]
    changes: Annotated[Iterable[Change], "the attributes that differ in the end"]
    before: Annotated[Mapping[str, object], "the ad as condor_submit sends it"]
    after: Annotated[Mapping[str, object], "the ad as the schedd would store it"]
    diagnostics: Annotated[Iterable[Diagnostic], "failures of transforms"]


class Preview(TypedDict):
    """A submit file, its jobs, and whether the access point accepts them."""

    file: Annotated[str, "the submit file"]
    cluster: Annotated[int, "the ClusterId used for its jobs"]
    accepted: Annotated[bool, "whether all its jobs are accepted"]
    refusal: Annotated[Refusal | None, "why so many jobs at once are refused"]
    jobs: Annotated[Iterable[Previewed], "its jobs; those with the same result together"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the file"]


RESULTS = {"preview": Result("Jobs as the access point stores them, or why it refuses them", Iterable[Preview])}
