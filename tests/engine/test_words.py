"""A schedule in words: the reviewed sentences, and sentences that are short, exact and told by the meaning alone."""

import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crondor.spec import FIELDS, CronSpec, Dialect, Field, InvalidSpec
from crondor.words import describe

GOLDEN = Path(__file__).parents[1] / "golden" / "words.txt"
MONTH_DAYS = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def golden() -> list[tuple[str, str, str]]:
    """Return dialect, crontab line and sentence of each golden line."""
    rows = []
    for row in GOLDEN.read_text(encoding="ascii").splitlines():
        if row and not row.startswith("#"):
            dialect, line, sentence = row.split(" | ")
            rows.append((dialect, line, sentence))
    return rows


# Specs


def items(field: Field) -> st.SearchStrategy[str]:
    """Return one item of a field's list."""
    value = st.integers(field.low, field.high)
    pair = st.tuples(value, value).map(sorted)
    step = st.integers(1, field.high)
    return st.one_of(
        value.map(str),
        pair.map(lambda ends: f"{ends[0]}-{ends[1]}"),
        st.builds(lambda ends, n: f"{ends[0]}-{ends[1]}/{n}", pair, step),
        step.map(lambda n: f"*/{n}"),
    )


def texts(field: Field) -> st.SearchStrategy[str]:
    """Return a field's text: a star, a short list of items, or a set of any size written out."""
    members = st.sets(st.integers(field.low, field.high), min_size=1)
    return st.one_of(
        st.just("*"),
        st.lists(items(field), min_size=1, max_size=3).map(",".join),
        members.map(lambda values: ",".join(map(str, sorted(values)))),
    )


LINES = st.tuples(*(texts(field) for field in FIELDS)).map(" ".join)
DAYLESS = st.tuples(texts(FIELDS[0]), texts(FIELDS[1])).map(lambda pair: f"{pair[0]} {pair[1]} * * *")
DIALECTS = st.sampled_from(Dialect)


def spec_of(line: str, dialect: Dialect) -> CronSpec:
    """Return the spec; a line that the dialect refuses is no example."""
    try:
        return CronSpec.from_line(line, dialect=dialect)
    except InvalidSpec:
        assume(False)
        raise


# What a sentence must tell


def moments(spec: CronSpec) -> set[int]:
    """Return the minutes of the day on which the spec runs."""
    minute, hour = FIELDS[:2]
    return {h * 60 + m for h in spec.values(hour) for m in spec.values(minute)}


def dates(spec: CronSpec) -> set[tuple[int, int, int]]:
    """Return month, day and weekday of each date on which the spec runs, by docs/dialects.md."""
    days, months, weekdays = (set(spec.values(field)) for field in FIELDS[2:])
    if spec.dialect is Dialect.HTCONDOR:
        either = len(days) < 31 and len(weekdays) < 7
    else:
        either = not (spec.stars[2] or spec.stars[4])
    return {
        (month, day, weekday)
        for month in months
        for day in range(1, MONTH_DAYS[month] + 1)
        for weekday in range(7)
        if (day in days or weekday in weekdays if either else day in days and weekday in weekdays)
    }


def clock(text: str) -> int:
    """Return the minute of the day of "06:30"."""
    return int(text[:2]) * 60 + int(text[3:])


def numbers(text: str) -> set[int]:
    """Return the numbers of "8 to 17" or "0-3, 9 and 15"."""
    found: set[int] = set()
    for low, high in re.findall(r"(\d+)(?:(?:-| to )(\d+))?", text):
        found |= set(range(int(low), int(high or low) + 1))
    return found


def steps(text: str) -> list[int]:
    """Return the steps, in minutes, of "every 6 minutes and every 10 minutes"."""
    every = re.findall(r"every (?:(\d+) )?(minute|hour)", text)
    return [int(n or 1) * (60 if unit == "hour" else 1) for n, unit in every]


def hours_said(text: str) -> set[int]:
    """Return the hours of "every hour", "every second hour from 0 to 22" or "hours 8 to 17"."""
    if text == "every hour":
        return set(range(24))
    if match := re.fullmatch(r"every (second|third) hour from (\d+) to (\d+)", text):
        return set(range(int(match[2]), int(match[3]) + 1, {"second": 2, "third": 3}[match[1]]))
    assert re.match(r"hours? \d", text), text
    return numbers(text)


def minutes_said(text: str) -> set[int]:
    """Return the minutes of an hour that "every 10 minutes" or "at minutes 3, 7 and 11" names."""
    if match := re.fullmatch(r"every (?:(\d+) minutes|minute) from minute (\d+) to (\d+)", text):
        return set(range(int(match[2]), int(match[3]) + 1, int(match[1] or 1)))
    if text.startswith("every"):
        assert all(60 % step == 0 for step in steps(text)), "a step that does not divide the hour restarts"
        return {minute for minute in range(60) if any(minute % step == 0 for step in steps(text))}
    assert re.match(r"at minutes? \d", text), text
    return numbers(text)


def moments_said(sentence: str) -> set[int]:
    """Read the minutes of the day back out of a sentence that names no dates."""
    text = sentence.removesuffix(" every day")
    if re.fullmatch(r"at [0-9:, and]+", text):
        return {clock(time) for time in re.findall(r"\d\d:\d\d", text)}
    if ":" in text:
        every, _, spans = text.partition(" from ")
        found: set[int] = set()
        for first, last in re.findall(r"(\d\d:\d\d) to (\d\d:\d\d)", spans):
            start, end = clock(first), clock(last)
            for step in steps(every):
                found |= set(range(start, end + 1, step))
        return found
    if match := re.fullmatch(r"every hour at minute (\d+)", text):
        return {hour * 60 + int(match[1]) for hour in range(24)}
    match = re.fullmatch(r"(.+?) (?:of|during) (.+)", text)
    minutes, hours = (match[1], match[2]) if match else (text, "every hour")
    return {hour * 60 + minute for hour in hours_said(hours) for minute in minutes_said(minutes)}


def toggled(spec: CronSpec, index: int, value: int) -> CronSpec:
    """Return the spec with one value added to or taken out of one field, which is then written out."""
    field = FIELDS[index]
    fields = list(spec.canonical)
    members = set(spec.values(field)) ^ {value % 7 if index == 4 else value}
    assume(members)
    fields[index] = ",".join(map(str, sorted(members)))
    return spec_of(" ".join(fields), spec.dialect)


# Tests


@pytest.mark.parametrize(("dialect", "line", "sentence"), golden())
def test_golden_sentence(dialect: str, line: str, sentence: str) -> None:
    """Each reviewed sentence is what its schedule is called."""
    assert describe(CronSpec.from_line(line, dialect=Dialect(dialect))) == sentence


@given(LINES, DIALECTS)
def test_sentence_is_short_plain_text(line: str, dialect: Dialect) -> None:
    """A sentence is one line of ASCII of at most 200 characters, without a period or stray blanks."""
    sentence = describe(spec_of(line, dialect))
    assert 0 < len(sentence) <= 200
    assert sentence.isascii()
    assert sentence.isprintable()
    assert sentence == " ".join(sentence.split())
    assert not sentence.endswith((".", ","))


@given(LINES, DIALECTS)
def test_equal_specs_have_equal_sentences(line: str, dialect: Dialect) -> None:
    """The words come from the meaning: the canonical text has the same sentence."""
    spec = spec_of(line, dialect)
    assert describe(CronSpec.from_line(str(spec), dialect=dialect)) == describe(spec)


@given(DAYLESS, DIALECTS)
def test_times_can_be_read_back(line: str, dialect: Dialect) -> None:
    """A sentence that hides nothing names exactly the times on which the schedule runs."""
    spec = spec_of(line, dialect)
    sentence = describe(spec)
    assume(" more" not in sentence)
    assert moments_said(sentence) == moments(spec)


@given(LINES, DIALECTS)
def test_never_is_said_of_schedules_without_a_date(line: str, dialect: Dialect) -> None:
    """A sentence says "never" when, and only when, no date of any year serves."""
    spec = spec_of(line, dialect)
    assert describe(spec).startswith("never") == (not dates(spec))


@given(LINES, DIALECTS, st.data())
def test_different_schedules_have_different_sentences(line: str, dialect: Dialect, data: st.DataObject) -> None:
    """One value more or less in one field changes the sentence, if it changes when the schedule runs."""
    spec = spec_of(line, dialect)
    field = data.draw(st.sampled_from(FIELDS))
    other = toggled(spec, FIELDS.index(field), data.draw(st.integers(field.low, field.high)))
    assume(dates(spec) and dates(other))
    sentence = describe(spec)
    assume(" more" not in sentence)
    if (moments(spec), dates(spec)) != (moments(other), dates(other)):
        assert describe(other) != sentence


@pytest.mark.parametrize(
    "line",
    [
        "1-40/3,2-41/3,43,44,46,47,49,50,52,53 10,11,13,14,16,17,19,20 21,22,24,25,27,28,30,31 1,3-10,12 */3,1,2",
        "*/10,*/12 10-23/2 11-15,21-23,25-28,30 1-8,10-11 */3,1,2",
        "*/10,*/12 10,13 22,23,24,29,30,31 1-3,5-8,10 */3,4",
        "*/10,*/12 10-12,14-16,18-20 22,23,24,29,30,31 2,3,5,6,7,8,10 1-4,6",
        "*/20 10-12,14-16 22,23,24,29,30,31 2,3,5,6,7,8,10 */2,3",
    ],
)
def test_longest_sentences(line: str) -> None:
    """Whatever is long about a schedule, its sentence is cut to 200 characters."""
    assert len(describe(CronSpec.from_line(line, dialect=Dialect.UNIX))) <= 200
