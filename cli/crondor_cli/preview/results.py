"""What `crondor preview` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, TypedDict

from crondor_cli.kit.results import Diagnostic, Result


class Refusal(TypedDict):
    """Why jobs are refused or warned of."""

    what: Annotated[str, "what refuses or warns", ("requirement", "transform", "limit")]
    knob: Annotated[str, "the knob"]
    reason: Annotated[str, "the schedd's words; empty where it is not known"]
    help: Annotated[str | None, "why, in other words"]
    file: Annotated[str | None, "the file that sets the knob"]
    line: Annotated[int | None, "the line, from 1"]


class Change(TypedDict):
    """An attribute that was changed."""

    name: Annotated[str, "the attribute"]
    before: Annotated[str | None, "its expression before; null: it was missing"]
    after: Annotated[str | None, "its expression afterwards; null: it is missing"]


class PlacedChange(Change):
    """An attribute that a transform changed, and where."""

    line: Annotated[int | None, "the line that changed it, from 1"]


class Step(TypedDict):
    """A transform that ran."""

    knob: Annotated[str, "the knob of the transform"]
    converted: Annotated[bool, "whether it is written as a ClassAd"]
    file: Annotated[str | None, "the file that sets it"]
    line: Annotated[int | None, "the line, from 1"]
    changes: Annotated[Iterable[PlacedChange], "what it changed"]


class Previewed(TypedDict):
    """Jobs with the same result."""

    first: Annotated[str, "ClusterId.ProcId of the first of them"]
    count: Annotated[int, "how many they are"]
    line: Annotated[int | None, "the line of their queue statement, from 1"]
    accepted: Annotated[bool, "whether they are taken"]
    refusal: Annotated[Refusal | None, "what refuses them"]
    warned_of: Annotated[Iterable[Refusal], "requirements that only warn"]
    unsure: Annotated[Iterable[Refusal], "requirements whose answer only the schedd knows"]
    transforms: Annotated[Iterable[Step], "the transforms that ran, in their order"]
    changes: Annotated[Iterable[Change], "the attributes that differ in the end"]
    before: Annotated[Mapping[str, object], "the ad as condor_submit sends it"]
    after: Annotated[Mapping[str, object], "the ad as the schedd would store it"]
    diagnostics: Annotated[Iterable[Diagnostic], "failures of transforms"]


class Preview(TypedDict):
    """A submit file, its jobs, and whether the access point accepts them."""

    file: Annotated[str, "the submit file"]
    cluster: Annotated[int, "the ClusterId that its jobs are shown with"]
    accepted: Annotated[bool, "whether all its jobs are"]
    refusal: Annotated[Refusal | None, "what refuses so many jobs at once"]
    jobs: Annotated[Iterable[Previewed], "jobs that end alike, together"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the file"]


RESULTS = {"preview": Result("Jobs as the access point stores them, or why not", Iterable[Preview])}
