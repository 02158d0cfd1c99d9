"""A value of the wrong type is told by its name, with what to write instead: all of the front page."""

from collections.abc import Callable
from typing import Any

import pytest

import crondor
from crondor import (
    CheckSettings,
    ClassAd,
    CronSpec,
    Deferral,
    JobSchedule,
    Matcher,
    Recurrence,
    Source,
    apply_route,
    check_submit,
    describe,
    job_ads,
    load_table,
    never_reason,
    plan,
    read_ad,
    read_ads,
    read_config,
    read_queue,
    read_submit,
)

TABLE = load_table(read_config(""))
SPEC = CronSpec.from_line("30 2 * * *")
CALLS: dict[str, Callable[[Any], object]] = {
    "spec is a CronSpec, not {kind}: write CronSpec.from_line('30 2 * * *')": Recurrence,
    "spec is a CronSpec, not {kind}: write CronSpec.from_line(": describe,
    "spec is a CronSpec, not {kind}: ": never_reason,
    "line is text with five fields, not {kind}: write '*/5 * * * *'": CronSpec.from_line,
    "ad is a mapping of job attributes, not {kind}: for text CronSpec.from_line": CronSpec.from_mapping,
    "commands is a mapping of submit commands, not {kind}: for a file read_submit": JobSchedule.from_submit,
    "cron_hour is text as in a submit file, not {kind}": lambda wrong: JobSchedule.from_submit({"cron_hour": wrong}),
    "time is a number of seconds, not {kind}": Deferral,
    "source is a Source, not {kind}: write Source(text, 'job.sub')": read_submit,
    "source is a Source or a text, not {kind}: write Source": lambda wrong: check_submit(wrong, CheckSettings(0)),
    "settings is CheckSettings, not {kind}: write CheckSettings(": lambda wrong: check_submit(Source(""), wrong),
    "text is text or a Source, not {kind}: for a file read_ads(file)": read_ad,
    "a SubmitFile, not {kind}: write read_submit(": lambda wrong: list(job_ads(wrong)),
    "table is a RoutingTable, not {kind}: write load_table(": Matcher,
    "table is a RoutingTable, not {kind}: write": lambda wrong: apply_route(wrong, wrong, wrong),
    "configuration is a Configuration, not {kind}: write read_config(text)": load_table,
    "routes is a RoutingTable or a Configuration, not {kind}": lambda wrong: plan([], wrong, 0),
    "now is epoch seconds, not {kind}": lambda wrong: plan([], TABLE, wrong),
}


@pytest.mark.parametrize(("said", "call"), [*CALLS.items()], ids=range(len(CALLS)))
@pytest.mark.parametrize("wrong", [None, b"* * * * *", ["*"]])
def test_the_argument_is_named(said: str, call: Callable[[Any], object], wrong: object) -> None:
    """And nothing from the depths."""
    kind = "None" if wrong is None else type(wrong).__name__
    with pytest.raises(TypeError) as caught:
        call(wrong)
    assert said.format(kind=kind) in str(caught.value)


@pytest.mark.parametrize(
    ("call", "wrong", "said"),
    [
        (Source, b"queue", "text is text, not bytes: for bytes bytes.decode()"),
        (read_config, 5, "source is text, a Source, or a mapping of knobs, not int"),
        (lambda wrong: list(read_ads(wrong)), 5, "text is text, a Source, or an open text file, not int"),
        (lambda wrong: list(read_queue(wrong)), b"A = 1", "a piece of the text is text: open the file without 'b'"),
        (ClassAd, "A = 1", "attributes is a mapping, or pairs, not str: read_ad() reads text"),
        (ClassAd, {1: 2}, "an attribute is a pair of a name and a value"),
        (ClassAd, ["A"], "an attribute is a pair of a name and a value, not str"),
        (lambda wrong: plan(wrong, TABLE, 0), 5, "jobs is a JobSchedule, SubmitFile, ClassAd, QueuedJob or Schedd"),
        (lambda wrong: plan(wrong, TABLE, 0), ["job.sub"], "a planned job is a JobSchedule, SubmitFile, ClassAd"),
        (lambda wrong: Recurrence(SPEC, wrong), 5, "a zone is an IANA name or a tzinfo, not int"),
        (lambda wrong: Recurrence(SPEC).next(wrong), "now", "an instant is epoch seconds (int) or an aware datetime"),
        (lambda wrong: CronSpec(hour=wrong), 3, "hour is text as in a submit file, or None, not int"),
    ],
)
def test_what_is_nearly_right_is_told_too(call: Callable[[Any], object], wrong: object, said: str) -> None:
    """The mistakes that are made."""
    with pytest.raises(TypeError) as caught:
        call(wrong)
    assert said in str(caught.value)


def test_every_function_of_the_front_page_is_asked() -> None:
    """Classes of results and errors are made by the library alone."""
    functions = {name for name in crondor.__all__ if name[0].islower()}
    asked = {"apply_route", "check_submit", "describe", "job_ads", "load_table", "never_reason", "plan", "read_ad"}
    assert functions == asked | {"read_ads", "read_config", "read_queue", "read_submit"}
