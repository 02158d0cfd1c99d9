"""User logs: the recorded ones in all forms, damage, and hostile text."""

from pathlib import Path

import pytest
from hypothesis import example, given
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
    with pytest.raises(InvalidEvent, match="not the beginning of an event"):
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


LINES = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=30)


@given(st.integers(0, 999), LINES, st.lists(LINES.filter(lambda line: line != "..."), max_size=4))
def test_an_event_of_any_kind_is_written_as_it_was_read(number: int, head: str, lines: list[str]) -> None:
    """With its lines that begin without a tab, its blanks, and whatever is no character for a terminal."""
    text = "".join(f"{line}\n" for line in (f"{number:03} (012.000.-01) 2026-11-20 18:33:56 {head}", *lines, "..."))
    assert "".join(map(write_event, read_events(text))) == text


NUMBERS = st.none() | st.booleans() | st.integers() | st.floats()
WRITTEN = (
    "SubmitHost ExecuteHost SlotName ReasonCode ReasonSubCode TerminatedAndRequeued Checkpointed Reason ReturnValue",
    "TerminatedBySignal TerminatedNormally SentBytes ReceivedBytes TotalSentBytes TotalReceivedBytes NumberOfPIDs",
    "HoldReason HoldReasonCode HoldReasonSubCode Type Host",
)
ATTRIBUTES = st.dictionaries(st.sampled_from(" ".join(WRITTEN).split()), NUMBERS | st.text(max_size=20))


class Huge(int):
    """An integer of more digits than Python prints, which a failing test can show."""

    def __repr__(self) -> str:
        """Return a name."""
        return "Huge"


KINDS = [0, 1, 4, 5, 9, 10, 11, 12, 13, 40]


@given(st.sampled_from(KINDS), ATTRIBUTES)
def test_what_is_written_reads_back(number: int, attributes: dict[str, object]) -> None:
    """The same event: every attribute that is of its type and that the text has."""
    event = JobEvent(number, 7, 3, NOW, attributes=attributes)
    text = write_event(event)
    (found,) = read_events(text)
    assert (found.number, found.job, found.time) == (number, JobId(7, 3), NOW)
    assert write_event(JobEvent(number, 7, 3, NOW, attributes=found.attributes)) == text
    for name, value in found.attributes.items():
        said = attributes.get(name)
        if isinstance(value, float) and isinstance(said, float):
            assert f"{value:.0f}" == f"{said:.0f}"
        elif isinstance(value, str) and isinstance(said, str) and said.isprintable():
            assert value == said.strip()


@pytest.mark.parametrize(
    "event",
    [
        JobEvent(-1, 1, 0, NOW, head="x"),
        JobEvent(1000, 1, 0, NOW, head="x"),
        JobEvent(12, 10**10, 0, NOW),
        JobEvent(12, 1, -(10**5000), NOW),
        JobEvent(12, 1, 0, float("nan")),
        JobEvent(12, 1, 0, float("inf")),
        JobEvent(12, 1, 0, 1e18),
        JobEvent(12, 1, 0, -1e11),
        JobEvent(12, 1, 0, -(10**5000)),
    ],
)
def test_an_event_that_the_text_has_no_room_for_is_refused(event: JobEvent) -> None:
    """It would not read back."""
    with pytest.raises(InvalidEvent, match=r"too large|no date"):
        write_event(event)


@given(NUMBERS | st.sampled_from([1e308, -1e308]).map(int) | st.just(1 << 64))
@example(Huge(10**5000))
def test_a_number_of_any_size_can_be_written(number: object) -> None:
    """One that is not HTCondor's is written as what HTCondor has without it."""
    values = dict.fromkeys(("SentBytes", "ReturnValue", "HoldReasonCode", "NumberOfPIDs", "ReasonCode"), number)
    for kind in KINDS:
        assert len(list(read_events(write_event(JobEvent(kind, 1, 0, NOW, attributes=values))))) == 1


@pytest.mark.parametrize("name", ["event_text.log", "event_router.log", "event_legacy.log"])
def test_a_text_log_cut_anywhere_has_the_events_before_the_cut(name: str) -> None:
    """The one that is being written is left out, without a word."""
    _cut_anywhere(recorded(name)[:1000], "\n...\n")


@pytest.mark.parametrize(("name", "end"), [("event_json.log", "\n}"), ("event_xml.log", "\n</c>")])
def test_a_log_of_ads_cut_anywhere_has_the_events_before_the_cut(name: str, end: str) -> None:
    """As in a log of text."""
    _cut_anywhere(recorded(name)[:900], end)


def _cut_anywhere(text: str, end: str) -> None:
    whole = list(read_events(text, now=NOW))
    assert whole
    for cut in range(len(text)):
        told: list[Diagnostic] = []
        count = text.count(end, 0, cut)
        assert list(read_events(text[:cut], now=NOW, report=told.append)) == whole[:count]
        assert list(read_events(text[:cut], now=NOW)) == whole[:count]
        assert not told


@pytest.mark.parametrize("name", ["event_json.log", "event_xml.log"])
@pytest.mark.parametrize("junk", ["junk\n", "000 (1.0.0)\n...\n", '"\n', "\0\n", "]\n", "&&\n", "\udcff\n"])
def test_what_is_no_event_in_a_log_of_ads_is_told_and_passed_over(name: str, junk: str) -> None:
    """Once, with its line; without a listener it is raised, as for any other log."""
    text = recorded(name)
    whole = list(read_events(text))
    begin = "{\n" if name == "event_json.log" else "<c>\n"
    at = text.index(begin, len(text) // 2)
    told: list[Diagnostic] = []
    broken = text[:at] + junk + text[at:]
    assert list(read_events(broken, name="job.log", report=told.append)) == whole
    assert [fault.span and fault.span.location for fault in told] == [f"job.log:{text.count(chr(10), 0, at) + 1}:1"]
    with pytest.raises(InvalidEvent, match=f"job.log:{text.count(chr(10), 0, at) + 1}:1"):
        list(read_events(broken, name="job.log"))


@pytest.mark.parametrize(
    "ad",
    [
        '{"EventTypeNumber": NaN, "Cluster": 1, "Proc": 0, "EventTime": "2026-11-20T18:26:35"}',
        '{"EventTypeNumber": 1e999, "Cluster": 1, "Proc": 0, "EventTime": "2026-11-20T18:26:35"}',
        '{"EventTypeNumber": 0, "Cluster": 1e999, "Proc": 0, "EventTime": "2026-11-20T18:26:35"}',
        '{"EventTypeNumber": 0, "Cluster": true, "Proc": 0, "EventTime": "2026-11-20T18:26:35"}',
        '{"EventTypeNumber": 0, "Cluster": 1, "Proc": 0, "EventTime": "2026-13-20T18:26:35"}',
        '{"EventTypeNumber": 0, "Cluster": 1, "Proc": 0, "EventTime": 1e999}',
        '{"EventTypeNumber": 0, "Cluster": 1, "Proc": 0, "EventTime": "2026-11-20T18:26:35", "x": "\\/Expr(random(0))\\/"}',  # noqa: E501
        '{"EventTypeNumber": 0 "Cluster": 1}',
        '{"Proc": 0}',
        "[1]",
    ],
)
def test_an_ad_that_is_no_event_is_told_with_its_line(ad: str) -> None:
    """The events around it are there."""
    good = '{"EventTypeNumber": 5, "Cluster": 1, "Proc": 0, "EventTime": "2026-11-20T18:26:35", "SentBytes": 1e999}'
    told: list[Diagnostic] = []
    found = list(read_events(f"{good}\n{ad}\n{good}\n", name="job.log", report=told.append))
    assert [event.attributes for event in found] == [{"SentBytes": float("inf")}] * 2
    assert [fault.span and fault.span.line for fault in told] == [2]
    assert [event.attributes["SentBytes"] for event in read_events("".join(map(write_event, found)))] == [
        float("inf"),
        float("inf"),
    ]
    with pytest.raises(InvalidEvent, match=r"job\.log:2:"):
        list(read_events(f"{good}\n{ad}\n{good}\n", name="job.log"))


def test_numbers_of_any_length_in_a_log_are_no_events_end() -> None:
    """Python reads no integer of more than 4,300 digits."""
    digits = "9" * 5000
    for number, line in ((12, f"Code {digits} Subcode {digits}"), (6, f"{digits}  -  MemoryUsage of job (MB)")):
        text = (
            f"{number:03} (001.000.000) 2026-11-20 18:33:56 Image size of job updated: {digits}\n\tx\n\t{line}\n...\n"
        )
        assert len(list(read_events(text))) == 1


@given(st.text(alphabet='0123456789 ().:-/TZ\n.{}<>c"', max_size=200), st.sampled_from(["", "{", "<c>", '{"a":', "<"]))
def test_any_text_ends_in_events_or_findings(text: str, begin: str) -> None:
    """Where someone listens nothing is raised, and else InvalidEvent."""
    told: list[Diagnostic] = []
    events = list(read_events(begin + text, report=told.append))
    try:
        assert events == list(read_events(begin + text))
        assert not told
    except InvalidEvent as error:
        assert error.diagnostics[0] == told[0] or error.diagnostics[0].message == told[0].message  # noqa: PT017 - the same
