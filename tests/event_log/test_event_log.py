"""User logs: the recorded ones in all forms, damage, and hostile text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.diagnostics import Diagnostic
from crondor.event_log import EventType, InvalidEvent, JobEvent, read_events, write_event
from crondor.job_queue import JobId

LOGS = Path(__file__).parents[1] / "golden" / "queue_logs" / "user_logs"
NOW = 1_795_210_000  # 2026-11-20
SUBMITTED = "000 (001.000.000) 2026-11-20 18:33:56 Job submitted from host: <127.0.0.1:9618>\n...\n"


def recorded(name: str) -> str:
    """Return a recorded log."""
    return (LOGS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["event_text.log", "event_router.log"])
def test_a_text_log_is_written_as_it_was_read(name: str) -> None:
    """Byte for byte."""
    text = recorded(name)
    assert "".join(map(write_event, read_events(text))) == text


def test_the_older_dates_get_the_year_of_now() -> None:
    """A date that would lie ahead is last year's."""
    old, new = (list(read_events(recorded("event_legacy.log"), now=now)) for now in (NOW - 86_400, NOW))
    assert new[0].time == 1_795_199_195
    assert new[0].time - old[0].time == 365 * 86_400


def test_the_forms_agree() -> None:
    """JSON and XML have fractions of seconds; numbers, jobs and attributes are those of the text."""
    json_log = list(read_events(recorded("event_json.log")))
    legacy = list(read_events(recorded("event_legacy.log"), now=NOW))
    assert [e.number for e in json_log] == [e.number for e in legacy]
    assert [int(e.time) for e in json_log] == [e.time for e in legacy]
    held, other = (next(e for e in log if e.number == EventType.JOB_HELD) for log in (json_log, legacy))
    assert held.attributes == other.attributes
    xml = list(read_events(recorded("event_xml.log")))
    assert (xml[0].type, xml[0].job) == (EventType.SUBMIT, JobId(14, 0))
    assert xml[3].attributes["SlotName"] == "slot1_2@schedd.example.org"


def test_what_a_held_job_says() -> None:
    """Reason, code and subcode."""
    held = [e for e in read_events(recorded("event_text.log")) if e.number == EventType.JOB_HELD]
    assert held[0].attributes == {
        "HoldReason": "Invalid cron schedule parameters: Invalid parameter value 'abc' for CronMinute",
        "HoldReasonCode": 25,
        "HoldReasonSubCode": 0,
    }


def test_an_event_that_is_being_written_is_left_out() -> None:
    """It is there the next time."""
    assert len(list(read_events(SUBMITTED + SUBMITTED[:-2]))) == 1


def test_damage_is_named_and_passed_over() -> None:
    """With its line, and what an event looks like."""
    found: list[Diagnostic] = []
    text = f"{SUBMITTED}garbage\n...\n{SUBMITTED.replace('11-20', '13-45')}{SUBMITTED}"
    assert len(list(read_events(text, name="job.log", report=found.append))) == 2
    assert [str(fault.span.location) for fault in found if fault.span] == ["job.log:3:1", "job.log:5:1"]
    with pytest.raises(InvalidEvent, match="no beginning of an event"):
        list(read_events(text))


def test_an_ad_that_is_no_event() -> None:
    """It has no number."""
    with pytest.raises(InvalidEvent, match="EventTypeNumber"):
        list(read_events('{"Proc": 0}'))


def test_a_kind_that_cannot_be_written() -> None:
    """The kinds that can are named."""
    with pytest.raises(InvalidEvent, match="number 21"):
        write_event(JobEvent(21, 1, 0, NOW))


@given(st.text())
def test_a_reason_stays_one_reason(reason: str) -> None:
    """Whatever it holds, the log has one event, of the same kind and job."""
    event = JobEvent(EventType.JOB_HELD, 1, 0, NOW, attributes={"HoldReason": reason, "HoldReasonCode": 20})
    found = list(read_events(write_event(event)))
    assert [(e.number, e.cluster, e.proc, e.time) for e in found] == [(12, 1, 0, NOW)]
    assert found[0].attributes["HoldReasonCode"] == 20


@given(st.text(alphabet='0123456789 ().:-/TZ\n.{}<>c"', max_size=200))
def test_any_text_ends_in_events_or_findings(text: str) -> None:
    """Never in a traceback of another kind."""
    found: list[Diagnostic] = []
    try:
        list(read_events(text, report=found.append))
    except Exception as error:  # noqa: BLE001 - that is the point
        assert hasattr(error, "diagnostics")  # noqa: PT017 - whatever it is, it carries findings
