"""CronSpec: what each dialect makes of each text (docs/dialects.md), and the value that comes of it."""

import copy
import pickle
import time
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crondor.diagnostics import Diagnostic
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, HOUR, MINUTE, MONTH, CronSpec, Dialect, Field, InvalidSpec
from tests.examples import examples

SLOWEST = 60.0  # seconds of the processor; it takes a fraction of one

MANUAL, HTCONDOR, UNIX = Dialect.MANUAL, Dialect.HTCONDOR, Dialect.UNIX


def build(field: Field, text: str, dialect: Dialect = MANUAL) -> CronSpec:
    """Return a spec with one field."""
    return CronSpec.from_mapping({field.attribute: text}, dialect=dialect)


def answer(field: Field, text: str, dialect: Dialect) -> str:
    """Return the values of a field as text, ``*`` for a raised star flag before them; or the codes of its faults."""
    try:
        spec = build(field, text, dialect)
    except InvalidSpec as error:
        return " ".join(found.kind for found in error.diagnostics)
    numbers = list(spec.values(field))
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = ",".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs)
    return ("*" if spec.stars[field.index] else "") + shown


def attempt(field: Field, text: str, dialect: Dialect) -> InvalidSpec | None:
    """Return the error of a field's text, None where it is valid; any other exception is one of the test."""
    try:
        build(field, text, dialect)
    except InvalidSpec as error:
        return error
    return None


def refuse(text: str, field: Field = MINUTE, dialect: Dialect = MANUAL) -> tuple[Diagnostic, ...]:
    """Return the faults of a field's text."""
    with pytest.raises(InvalidSpec) as caught:
        build(field, text, dialect)
    assert str(caught.value)
    return caught.value.diagnostics


class Row(NamedTuple):
    """One text and what the three dialects make of it, as `answer` writes it."""

    field: Field
    text: str
    manual: str
    htcondor: str
    unix: str


# The rows of the table in docs/dialects.md, from top to bottom, each with its texts.
TABLE = {
    "allowed characters": [
        Row(MINUTE, "1.5", "cron-character", "1", "cron-character"),
        Row(MINUTE, "**", "cron-syntax", "*0-59", "cron-syntax"),
        Row(HOUR, "*/2/3", "cron-syntax", "0,2,4,6,8,10,12,14,16,18,20,22", "cron-syntax"),
        Row(HOUR, "1-2-3", "cron-syntax", "1,2", "cron-syntax"),
        Row(HOUR, "/5", "cron-syntax", "0", "cron-syntax"),
        Row(HOUR, "1--3", "cron-syntax", "schedd-empty", "cron-syntax"),
        Row(HOUR, "*-5", "cron-syntax", "0-5", "cron-syntax"),
        Row(HOUR, "5-", "cron-syntax", "schedd-empty", "cron-syntax"),
        Row(HOUR, "-5", "cron-syntax", "0-5", "cron-syntax"),
        Row(HOUR, "-", "cron-syntax", "0", "cron-syntax"),
        Row(MONTH, ".", "cron-character", "1-12", "cron-character"),
        Row(HOUR, "+5", "cron-character", "schedd-character", "cron-character"),
        Row(HOUR, "5\t", "cron-character", "schedd-character", "cron-character"),
        Row(HOUR, "007", "7", "7", "7"),
    ],
    "blanks": [
        Row(MINUTE, " 15, 20 ,25 ", "15,20,25", "15,20,25", "15,20,25"),
        Row(MINUTE, "1 5", "cron-blank", "15", "cron-blank"),
        Row(MINUTE, "1-5 0", "cron-blank", "1-50", "cron-blank"),
        Row(MINUTE, "1 - 5", "1-5", "1-5", "1-5"),  # beside an operator a blank is harmless (recorded)
        Row(HOUR, "* / 12", "*0,12", "0,12", "*0,12"),
    ],
    "empty list item": [
        Row(HOUR, "1,,2", "cron-empty-item", "1,2", "cron-empty-item"),
        Row(HOUR, "1,2,", "cron-empty-item", "1,2", "cron-empty-item"),
        Row(HOUR, ",1", "cron-empty-item", "1", "cron-empty-item"),
        Row(HOUR, "1, ,2", "cron-empty-item", "1,2", "cron-empty-item"),
        Row(HOUR, ",", "cron-empty-item cron-empty-item", "schedd-empty", "cron-empty-item cron-empty-item"),
        Row(HOUR, "", "cron-empty", "schedd-empty", "cron-empty"),
        Row(HOUR, "  ", "cron-empty", "schedd-empty", "cron-empty"),
        Row(DAY_OF_WEEK, "", "cron-empty", "*0-6", "cron-empty"),
        Row(DAY_OF_WEEK, ",", "cron-empty-item cron-empty-item", "*0-6", "cron-empty-item cron-empty-item"),
    ],
    "step phase": [
        Row(HOUR, "1-10/3", "1,4,7,10", "3,6,9", "1,4,7,10"),
        Row(HOUR, "10-20/5", "10,15,20", "10,15,20", "10,15,20"),
        Row(HOUR, "0-23/7", "0,7,14,21", "0,7,14,21", "0,7,14,21"),
        Row(MONTH, "*/5", "1,6,11", "5,10", "*1,6,11"),
        Row(DAY_OF_MONTH, "*/12", "1,13,25", "12,24", "*1,13,25"),
        Row(DAY_OF_MONTH, "*/40", "1", "schedd-empty", "*1"),
        Row(HOUR, "*/24", "*0", "0", "*0"),
        Row(MINUTE, "*/90", "*0", "0", "*0"),
    ],
    "single value with a step": [
        Row(MINUTE, "5/15", "cron-single-step", "schedd-empty", "5,20,35,50"),
        Row(MINUTE, "30/15", "cron-single-step", "30", "30,45"),
        Row(DAY_OF_WEEK, "3/2", "cron-single-step", "*0-6", "0,3,5"),
    ],
    "single value out of range": [
        Row(MINUTE, "60", "cron-range", "0-59", "cron-range"),
        Row(HOUR, "24", "cron-range", "0-23", "cron-range"),
        Row(DAY_OF_MONTH, "0", "cron-range", "1-31", "cron-range"),
        Row(DAY_OF_MONTH, "32", "cron-range", "1-31", "cron-range"),
        Row(MONTH, "0", "cron-range", "1-12", "cron-range"),
        Row(MONTH, "13", "cron-range", "1-12", "cron-range"),
        Row(DAY_OF_WEEK, "8", "cron-range", "0-6", "cron-range"),
        Row(HOUR, "24/6", "cron-range", "0,6,12,18", "cron-range"),
    ],
    "range end out of range": [
        Row(MINUTE, "5-100", "cron-range", "5-59", "cron-range"),
        Row(DAY_OF_MONTH, "0-5", "cron-range", "1-5", "cron-range"),
        Row(MONTH, "11-13", "cron-range", "11,12", "cron-range"),
        Row(MINUTE, "60-70", "cron-range cron-range", "schedd-empty", "cron-range cron-range"),
        Row(MINUTE, "1-9999999999", "cron-range", "1-59", "cron-range"),  # 2^31 and more wrap: see below
    ],
    "reversed range": [
        Row(MINUTE, "10-5", "cron-reversed", "schedd-empty", "cron-reversed"),
        Row(MINUTE, "10-5,7", "cron-reversed", "7", "cron-reversed"),
        Row(DAY_OF_WEEK, "6-0", "cron-reversed", "*0-6", "cron-reversed"),
    ],
    "range of one": [
        Row(MINUTE, "5-5", "5", "5", "5"),
        Row(DAY_OF_WEEK, "0-0", "0", "0", "0"),
        Row(DAY_OF_WEEK, "7-7", "0", "0", "0"),
    ],
    "step 0": [
        Row(MINUTE, "*/0", "cron-step-zero", "schedd-step", "cron-step-zero"),
        Row(MINUTE, "0-30/0", "cron-step-zero", "schedd-step", "cron-step-zero"),
        Row(MINUTE, "*/", "cron-syntax", "schedd-step", "cron-syntax"),
        Row(MINUTE, "*/00", "cron-step-zero", "schedd-step", "cron-step-zero"),
    ],
    "Sunday": [
        Row(DAY_OF_WEEK, "0", "0", "0", "0"),
        Row(DAY_OF_WEEK, "7", "0", "0", "0"),
        Row(DAY_OF_WEEK, "0,7", "0", "0", "0"),
        Row(DAY_OF_WEEK, "5-7", "0,5,6", "0,5,6", "0,5,6"),
        Row(DAY_OF_WEEK, "1-7/2", "0,1,3,5", "0,2,4,6", "0,1,3,5"),
        Row(DAY_OF_WEEK, "1-7/7", "1", "0", "1"),
        Row(DAY_OF_WEEK, "0-7", "0-6", "0-6", "0-6"),
    ],
    "names and other schedulers' signs": [
        Row(DAY_OF_WEEK, "MON", "cron-name", "schedd-character", "1"),
        Row(DAY_OF_WEEK, "mon-Fri/2", "cron-name cron-name", "schedd-character schedd-character", "1,3,5"),
        Row(DAY_OF_WEEK, "SUN,sat", "cron-name cron-name", "schedd-character schedd-character", "0,6"),
        Row(MONTH, "JAN", "cron-name", "schedd-character", "1"),
        Row(MONTH, "Oct-DEC", "cron-name cron-name", "schedd-character schedd-character", "10-12"),
        Row(MONTH, "MAY/3", "cron-name", "schedd-character", "5,8,11"),
        Row(DAY_OF_WEEK, "MONDAY", "cron-name", "schedd-character", "cron-name"),
        Row(HOUR, "MON", "cron-name", "schedd-character", "cron-name"),
        Row(MONTH, "MON", "cron-name", "schedd-character", "cron-name"),
        Row(HOUR, "@daily", "cron-nickname", "schedd-character", "cron-nickname"),
        Row(DAY_OF_MONTH, "?", "cron-unsupported", "schedd-character", "cron-unsupported"),
        Row(DAY_OF_MONTH, "L", "cron-unsupported", "schedd-character", "cron-unsupported"),
        Row(DAY_OF_MONTH, "15W", "cron-unsupported", "schedd-character", "cron-unsupported"),
        Row(DAY_OF_WEEK, "1#2", "cron-unsupported", "schedd-character", "cron-unsupported"),
        Row(MINUTE, "H", "cron-unsupported", "schedd-character", "cron-unsupported"),
        Row(MINUTE, "~", "cron-unsupported", "schedd-character", "cron-unsupported"),
    ],
    "star in day of week": [
        Row(DAY_OF_WEEK, "*", "*0-6", "*0-6", "*0-6"),
        Row(DAY_OF_WEEK, "*/2", "0,2,4,6", "*0-6", "*0,2,4,6"),
        Row(DAY_OF_WEEK, "*,1", "*0-6", "1", "*0-6"),
        Row(DAY_OF_WEEK, "1,*", "*0-6", "1", "0-6"),
        Row(DAY_OF_WEEK, "*/2,1", "0-2,4,6", "1", "*0-2,4,6"),
    ],
    "when a field is starred": [
        Row(MINUTE, "*", "*0-59", "*0-59", "*0-59"),
        Row(MINUTE, "*/20", "*0,20,40", "0,20,40", "*0,20,40"),
        Row(MINUTE, "5,*/20", "*0,5,20,40", "0,5,20,40", "0,5,20,40"),
        Row(MINUTE, "0-59", "0-59", "0-59", "0-59"),
        Row(HOUR, "*/1", "*0-23", "*0-23", "*0-23"),
        Row(HOUR, "0-23", "0-23", "0-23", "0-23"),
        Row(DAY_OF_MONTH, "*", "*1-31", "*1-31", "*1-31"),
        Row(DAY_OF_MONTH, "*/1", "*1-31", "*1-31", "*1-31"),
        Row(DAY_OF_MONTH, "5,*", "*1-31", "*1-31", "1-31"),
        Row(DAY_OF_MONTH, "*/2", "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31",
            "2,4,6,8,10,12,14,16,18,20,22,24,26,28,30", "*1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31"),
        Row(MONTH, "*/6", "1,7", "6,12", "*1,7"),
        Row(MONTH, "1-12", "1-12", "1-12", "1-12"),
    ],
    "day of month written out": [
        Row(DAY_OF_MONTH, "1-31", "1-31", "1-31", "1-31"),
        Row(DAY_OF_WEEK, "0-6", "0-6", "0-6", "0-6"),
        Row(DAY_OF_WEEK, "1-7", "0-6", "0-6", "0-6"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("dialect", list(Dialect))
@pytest.mark.parametrize("row", [pytest.param(row, id=f"{q}-{row.text}") for q, rows in TABLE.items() for row in rows])
def test_the_table_of_dialects(row: Row, dialect: Dialect) -> None:
    """Every text of the table means, in each dialect, what the table says."""
    assert answer(row.field, row.text, dialect) == getattr(row, dialect.value)


@pytest.mark.parametrize("dialect", list(Dialect))
def test_no_field_at_all_is_no_schedule(dialect: Dialect) -> None:
    """At least one field must be defined."""
    with pytest.raises(InvalidSpec) as caught:
        CronSpec(dialect=dialect)
    assert [found.kind for found in caught.value.diagnostics] == ["cron-none"]
    with pytest.raises(InvalidSpec, match="define one of cron_minute, cron_hour"):
        CronSpec.from_mapping({"Cmd": "x", "CronMinute": None}, dialect=dialect)


@pytest.mark.parametrize("dialect", list(Dialect))
def test_one_field_is_enough(dialect: Dialect) -> None:
    """Fields that are not defined take every value and count as `*`."""
    spec = CronSpec(minute="5", dialect=dialect)
    assert spec == CronSpec.from_line("5 * * * *", dialect=dialect)
    assert str(spec) == "5 * * * *"
    assert spec.given == ("5", None, None, None, None)
    assert spec.stars == (False, True, True, True, True)
    assert [spec.values(field)[0] for field in FIELDS] == [5, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("4294967301", "5"),  # 2^32 + 5
        ("4294967296", "0"),
        ("2147483648", "0-59"),  # -2^31: out of range, so every value
        ("9223372036854775813", "0-59"),  # saturates to 2^63 - 1, and that is -1
        ("9" * 5000, "0-59"),
        ("0-4294967301", "0-5"),
        ("0-2147483648", "schedd-empty"),
        ("0-" + "9" * 5000, "schedd-empty"),
        ("1-9999999999", "1-59"),  # 1410065407
        ("*/4294967301", "0,5,10,15,20,25,30,35,40,45,50,55"),
        ("*/4294967296", "schedd-step"),
        ("*/" + "9" * 5000, "*0-59"),  # a step of -1 is one of 1
        ("0." * 2000, "0"),
        ("5-7-" + "9" * 100, "5-7"),
        ("-0", "0"),
    ],
)
def test_the_schedd_reads_numbers_as_atoi_does(text: str, bits: str) -> None:
    """Numbers saturate at 64 bits and are cut to 32; what follows the digits is not seen."""
    assert answer(MINUTE, text, HTCONDOR) == bits


class Refusal(NamedTuple):
    """A text that MANUAL refuses, with code, underlined piece, help and fix of each of its faults."""

    field: Field
    text: str
    faults: list[tuple[str, str, str, str | None]]


GRAMMAR = "write numbers from {}, ranges such as {}, `*`, steps such as `*/2`"
IN_MINUTE = GRAMMAR.format("0 to 59", "`0-4`")

REFUSALS = [
    Refusal(DAY_OF_WEEK, "MON", [("cron-name", "MON", "write 1 for MON", "1")]),
    Refusal(
        DAY_OF_WEEK,
        "Mon-FRI,0",
        [("cron-name", "Mon", "write 1 for Mon", "1"), ("cron-name", "FRI", "write 5 for FRI", "5")],
    ),
    Refusal(DAY_OF_WEEK, "Thursday", [("cron-name", "Thursday", "write 4 for Thursday", "4")]),
    Refusal(MONTH, "dec", [("cron-name", "dec", "write 12 for dec", "12")]),
    Refusal(HOUR, "MON", [("cron-name", "MON", "put it in day of week, as a number", None)]),
    Refusal(
        MINUTE,
        "@daily",
        [("cron-nickname", "@daily", "write cron_minute = 0, cron_hour = 0", None)],
    ),
    Refusal(
        MINUTE,
        "@Weekly",
        [("cron-nickname", "@Weekly", "write cron_minute = 0, cron_hour = 0, cron_day_of_week = 0", None)],
    ),
    Refusal(MINUTE, "@reboot", [("cron-nickname", "@reboot", IN_MINUTE, None)]),
    Refusal(MINUTE, "5/15", [("cron-single-step", "5/15", "write 5-59/15", "5-59/15")]),
    Refusal(MONTH, "1,3/4", [("cron-single-step", "3/4", "write 3-12/4", "3-12/4")]),
    Refusal(
        MINUTE, "10-5", [("cron-reversed", "10-5", "write 10-59,0-5 to go around, or swap the ends", "10-59,0-5")]
    ),
    Refusal(HOUR, "22-2", [("cron-reversed", "22-2", "write 22-23,0-2 to go around, or swap the ends", "22-23,0-2")]),
    Refusal(DAY_OF_WEEK, "5-1", [("cron-reversed", "5-1", "write 5-7,1 to go around, or swap the ends", "5-7,1")]),
    Refusal(DAY_OF_WEEK, "6-0", [("cron-reversed", "6-0", "write 6-7 to go around, or swap the ends", "6-7")]),
    Refusal(MINUTE, "1 5", [("cron-blank", "1 5", "write 1,5", "1,5")]),
    Refusal(MINUTE, "15, 20 25", [("cron-blank", "20 25", "write 20,25", "20,25")]),
    Refusal(MINUTE, "60", [("cron-range", "60", "write 0 to 59; a full hour is minute 0", None)]),
    Refusal(HOUR, "24", [("cron-range", "24", "write 0 to 23; midnight is hour 0", None)]),
    Refusal(
        DAY_OF_MONTH, "0", [("cron-range", "0", "write 1 to 31; the first day of a month is 1", None)]
    ),
    Refusal(MONTH, "0-5", [("cron-range", "0", "write 1 to 12; January is 1, December is 12", None)]),
    Refusal(DAY_OF_WEEK, "8", [("cron-range", "8", "write 0 to 7 (Sunday is 0 or 7); Saturday is 6", None)]),
    Refusal(
        MINUTE,
        "60-70",
        [
            ("cron-range", "60", "write 0 to 59; a full hour is minute 0", None),
            ("cron-range", "70", "write 0 to 59", None),
        ],
    ),
    Refusal(MINUTE, "1-9999999999", [("cron-range", "9999999999", "write 0 to 59", None)]),
    Refusal(MINUTE, "9" * 5000, [("cron-range", "9" * 5000, "write 0 to 59", None)]),
    Refusal(MINUTE, "5,*/0", [("cron-step-zero", "0", "write a step of 1 or more, or no step", None)]),
    Refusal(MINUTE, "*/", [("cron-syntax", "/", "write a number from 1 up after `/`", None)]),
    Refusal(MINUTE, "*/2/3", [("cron-syntax", "2/3", "write one number from 1 up after `/`", None)]),
    Refusal(MINUTE, "/5", [("cron-syntax", "/", "write `*/` and the step, or low-high/step", "*/")]),
    Refusal(MINUTE, "**", [("cron-syntax", "**", "write `*` alone, or `*/n` for every nth value", None)]),
    Refusal(MINUTE, "1-2-3", [("cron-syntax", "1-2-3", "write one range, such as `0-4`", None)]),
    Refusal(MINUTE, "5-", [("cron-syntax", "5-", "write both ends, such as `0-4`", None)]),
    Refusal(
        DAY_OF_MONTH,
        "L",
        [("cron-unsupported", "L", "crondor compile writes fields and a clause for this: crondor compile '0 6 L * *'",
          None)],
    ),
    Refusal(
        DAY_OF_WEEK,
        "1#2",
        [("cron-unsupported", "#", "crondor compile writes fields and a clause for this: crondor compile '0 6 * * 5#2'",
          None)],
    ),
    Refusal(DAY_OF_MONTH, "?", [("cron-unsupported", "?", "write `*`, or leave it out", "*")]),
    Refusal(
        MINUTE,
        "H",
        [("cron-unsupported", "H",
          "write a value yourself, or let crondor compile --name NAME choose one by the job's name", None)],
    ),
    Refusal(MINUTE, "\u0663", [("cron-digit", "\u0663", "write 3", "3")]),
    Refusal(MINUTE, "1,\uff15", [("cron-digit", "\uff15", "write 5", "5")]),
    Refusal(MINUTE, "1\u20135", [("cron-character", "\u2013", "write -", "-")]),
    Refusal(MINUTE, "1\u22125", [("cron-character", "\u2212", "write -", "-")]),
    Refusal(MINUTE, "1;5", [("cron-character", ";", "write ,", ",")]),
    Refusal(MINUTE, "1.5", [("cron-character", ".", "write a whole number", None)]),
    Refusal(MINUTE, "0x5", [("cron-character", "x", IN_MINUTE, None)]),
    Refusal(MINUTE, '"5"', [("cron-quoted", '"5"', "write 5 without quotes", "5")]),
    Refusal(MINUTE, "'*/5'", [("cron-quoted", "'*/5'", "write */5 without quotes", "*/5")]),
    Refusal(MINUTE, "$(m)", [("cron-macro", "$(m)", "write the value itself", None)]),
    Refusal(MINUTE, "", [("cron-empty", "", "remove cron_minute, or write `*` for every minute", "*")]),
    Refusal(MINUTE, "1,,2", [("cron-empty-item", ",", "remove the extra comma", None)]),
    Refusal(MINUTE, "1,", [("cron-empty-item", ",", "remove the extra comma", None)]),
    Refusal(MINUTE, "1,  ,2", [("cron-empty-item", "  ", "remove the extra comma", None)]),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.text[:20])
def test_a_fault_names_its_piece_and_what_to_write_instead(case: Refusal) -> None:
    """Code, underlined characters, help and (where there is one right answer) the replacement are exact."""
    faults = refuse(case.text, case.field)
    assert [(f.kind, f.span.text if f.span else None, f.help, f.fix) for f in faults] == case.faults


@pytest.mark.parametrize(
    ("text", "field"),
    [(case.text, case.field) for case in REFUSALS if all(fix for *_, fix in case.faults)]
    + [("5/2", DAY_OF_WEEK), ("6/2", DAY_OF_WEEK), ("7/2", DAY_OF_WEEK), ("3-0", DAY_OF_WEEK)]
    + [("7-1", DAY_OF_WEEK), ("59-0", MINUTE), ("12-1", MONTH), ("31-2", DAY_OF_MONTH), ("59/7", MINUTE)],
)
def test_a_replacement_repairs_the_field(text: str, field: Field) -> None:
    """Whoever applies every replacement has a valid field."""
    for fault in reversed(refuse(text, field)):
        assert fault.span is not None
        assert fault.fix is not None
        text = text[: fault.span.start] + fault.fix + text[fault.span.end :]
    build(field, text)


def test_the_hints_for_a_step_mean_what_unix_means() -> None:
    """`5/15` is 5-59/15 in Unix cron, and that is what MANUAL proposes."""
    for field in FIELDS:
        for start in range(field.low, field.high + 1):
            (fault,) = refuse(f"{start}/2", field)
            assert fault.fix is not None
            unix = build(field, f"{start}/2", UNIX)
            assert build(field, fault.fix, UNIX).values(field) == unix.values(field)


def test_all_faults_of_all_fields_come_at_once() -> None:
    """One error tells everything, in the order of the fields, each fault at its place in the line."""
    with pytest.raises(InvalidSpec) as caught:
        CronSpec.from_line("60,61 5/15 L JAN-13 MON", name="my crontab")
    found = [(f.span.location, f.span.text, f.kind) for f in caught.value.diagnostics if f.span]
    assert found == [
        ("my crontab:1:1", "60", "cron-range"),
        ("my crontab:1:4", "61", "cron-range"),
        ("my crontab:1:7", "5/15", "cron-single-step"),
        ("my crontab:1:12", "L", "cron-unsupported"),
        ("my crontab:1:14", "JAN", "cron-name"),
        ("my crontab:1:21", "MON", "cron-name"),
    ]


def test_a_fault_shows_the_field_it_stands_in() -> None:
    """Without a file the field's name is the place."""
    with pytest.raises(InvalidSpec) as caught:
        CronSpec(minute="61", day_of_week="8")
    assert str(caught.value).split("\n")[:3] == [
        "minute:1:1: error: minute 61 is out of range (the schedd would read it as every value) [CRN101]",
        "   1 | 61",
        "     | ^^",
    ]
    assert [f.span.location for f in caught.value.diagnostics if f.span] == ["minute:1:1", "day_of_week:1:1"]


def test_every_error_is_a_value_error() -> None:
    """InvalidSpec is caught by whoever catches ValueError."""
    with pytest.raises(ValueError, match="out of range"):
        CronSpec(minute="60")


@pytest.mark.parametrize(
    "text",
    [
        "60," * 1333,
        "," * 4000,
        "1" * 4000,
        "1-" * 2000,
        "*/" * 2000,
        " " * 4000,
        "1 " * 2000,
        "1" * 3999 + " ",
        "MON-" * 1000,
        "MON," * 1000,
        "a1" * 2000,
        "@" * 4000,
        "\u0663" * 4000,
        "L" * 4000,
        "0-59/1," * 571,
        "\x00" * 4000,
        "$(" * 2000,
        "1-9999999999",
        "0-59/" + "9" * 3900,
    ],
    ids=lambda text: text[:8],
)
@pytest.mark.parametrize("dialect", list(Dialect))
def test_a_hostile_field_costs_little_and_makes_a_short_list(text: str, dialect: Dialect) -> None:
    """4,000 characters take a moment and yield at most ten faults and a line that says that there are more."""
    for field in (MINUTE, DAY_OF_WEEK):
        start = time.process_time()
        error = attempt(field, text, dialect)
        assert time.process_time() - start < SLOWEST
        if error is not None:
            assert len(error.diagnostics) <= 11
            assert len(str(error)) < 10_000


def test_a_long_list_of_faults_ends_with_a_line_that_says_so() -> None:
    """The eleventh line of a field says that there is more."""
    assert [found.kind for found in refuse("60," * 20 + "61")] == ["cron-range"] * 10 + ["cron-more"]


class TestFromLine:
    """A crontab line is five words."""

    @pytest.mark.parametrize("line", ["0 6 * * 1", "  0\t6 *   * 1\n", "0 6 * * 1\r\n"])
    def test_blanks_separate_the_words(self, line: str) -> None:
        """Blanks and tabs of any number, at the ends too."""
        assert CronSpec.from_line(line) == CronSpec(minute="0", hour="6", day_of_week="1")

    @pytest.mark.parametrize(
        ("line", "underlined", "message", "help_text"),
        [
            ("", "", "this has no words", "write `*` for a field that takes every value"),
            ("5", "5", "this has 1 word", "write `*` for a field that takes every value"),
            ("5 * * *", "5 * * *", "this has 4 words", "write `*` for a field that takes every value"),
            ("0 5 * * * *", "*", "this has 6 words", "remove seconds, years and the command"),
            ("5 * * * * /bin/job -x y", "/bin/job -x y", "this has 8 words", "remove the command"),
        ],
    )
    @pytest.mark.parametrize("dialect", list(Dialect))
    def test_another_number_of_words_is_one_fault(
        self, line: str, underlined: str, message: str, help_text: str, dialect: Dialect
    ) -> None:
        """What is too much is underlined; for too little the whole line."""
        with pytest.raises(InvalidSpec) as caught:
            CronSpec.from_line(line, dialect=dialect)
        (fault,) = caught.value.diagnostics
        assert fault.span is not None
        assert (fault.kind, fault.span.text, fault.help) == ("cron-fields", underlined, help_text)
        assert fault.message.endswith(message)

    @pytest.mark.parametrize(
        ("nickname", "line"),
        [
            ("@yearly", "0 0 1 1 *"),
            ("@annually", "0 0 1 1 *"),
            ("@monthly", "0 0 1 * *"),
            ("@weekly", "0 0 * * 0"),
            ("@daily", "0 0 * * *"),
            (" @Midnight ", "0 0 * * *"),
            ("@HOURLY", "0 * * * *"),
        ],
    )
    def test_a_nickname_is_a_line_of_the_unix_dialect(self, nickname: str, line: str) -> None:
        """UNIX reads it; the others say what it stands for."""
        assert CronSpec.from_line(nickname, dialect=UNIX) == CronSpec.from_line(line, dialect=UNIX)
        for dialect in (MANUAL, HTCONDOR):
            with pytest.raises(InvalidSpec) as caught:
                CronSpec.from_line(nickname, dialect=dialect)
            (fault,) = caught.value.diagnostics
            assert (fault.kind, fault.help, fault.fix) == ("cron-nickname", f"write {line}", line)

    @pytest.mark.parametrize("dialect", list(Dialect))
    def test_an_unknown_nickname_names_the_known_ones(self, dialect: Dialect) -> None:
        """@reboot is no time."""
        with pytest.raises(InvalidSpec, match="@hourly"):
            CronSpec.from_line("@reboot", dialect=dialect)


class TestFromMapping:
    """A job ad is a mapping of attributes."""

    def test_names_are_found_in_any_case(self) -> None:
        """Attribute names have no case, and other attributes are skipped."""
        ad = {"CRONMINUTE": "0", "cronhour": "6", "CronDayOfWeek": "1", "Cmd": "/bin/job", "CronWindow": 5}
        assert CronSpec.from_mapping(ad) == CronSpec.from_line("0 6 * * 1")

    def test_all_five_attributes_count(self) -> None:
        """Each attribute is its field."""
        ad = {"CronMinute": "1", "CronHour": "2", "CronDayOfMonth": "3", "CronMonth": "4", "CronDayOfWeek": "5"}
        assert str(CronSpec.from_mapping(ad)) == "1 2 3 4 5"

    def test_none_is_absent(self) -> None:
        """An undefined attribute is one that is not there."""
        assert CronSpec.from_mapping({"CronMinute": "5", "CronHour": None}).given == ("5", None, None, None, None)

    def test_an_integer_is_that_value(self) -> None:
        """MANUAL and UNIX read 5 as "5"; HTCONDOR, like the schedd, as `*`."""
        ad = {"CronMinute": 5, "CronHour": "6"}
        assert str(CronSpec.from_mapping(ad)) == "5 6 * * *"
        assert str(CronSpec.from_mapping(ad, dialect=UNIX)) == "5 6 * * *"
        assert str(CronSpec.from_mapping(ad, dialect=HTCONDOR)) == "* 6 * * *"

    def test_an_integer_out_of_range_is_a_fault(self) -> None:
        """An integer is not let through unseen."""
        with pytest.raises(InvalidSpec, match="minute 60 is out of range"):
            CronSpec.from_mapping({"CronMinute": 60})

    @pytest.mark.parametrize("value", [5.0, True, ["5"], b"5"])
    def test_another_type_is_a_fault(self, value: object) -> None:
        """Neither string nor integer: MANUAL says so, HTCONDOR takes every value."""
        with pytest.raises(InvalidSpec) as caught:
            CronSpec.from_mapping({"CronMinute": value})
        assert [f.kind for f in caught.value.diagnostics] == ["cron-type"]
        assert CronSpec.from_mapping({"CronMinute": value}, dialect=HTCONDOR) == CronSpec(minute="*", dialect=HTCONDOR)

    def test_faults_of_type_and_of_text_come_at_once(self) -> None:
        """A value of the wrong type hides no fault of another field."""
        with pytest.raises(InvalidSpec) as caught:
            CronSpec.from_mapping({"CronMinute": 5.5, "CronHour": "24", "CronMonth": "13"})
        assert [f.kind for f in caught.value.diagnostics] == ["cron-type", "cron-range", "cron-range"]


class TestHold:
    """In the HTCONDOR dialect an invalid schedule is a held job, with the schedd's own words."""

    @pytest.mark.parametrize(
        ("fields", "stage", "error"),
        [
            ({"minute": "MON"}, "validate", "Invalid parameter value 'MON' for CronMinute"),
            ({"day_of_month": "L"}, "validate", "Invalid parameter value 'L' for CronDayOfMonth"),
            (
                {"hour": "x", "month": "J AN"},
                "validate",
                "Invalid parameter value 'x' for CronHourInvalid parameter value 'J AN' for CronMonth",
            ),
            ({"minute": "10-5", "hour": "x"}, "validate", "Invalid parameter value 'x' for CronHour"),
            ({"minute": "10-5"}, "init", "Invalid cron attribute: 10-5"),
            ({"minute": "10 - 5"}, "init", "Invalid cron attribute: 10-5"),
            ({"minute": ""}, "init", "Invalid cron attribute: "),
            ({"minute": "*/0"}, "init", ""),
        ],
    )
    def test_stage_error_and_hold_reason(self, fields: dict[str, str], stage: str, error: str) -> None:
        """An illegal character hides what a later stage would say; the texts are joined without a blank."""
        with pytest.raises(InvalidSpec) as caught:
            CronSpec(**fields, dialect=HTCONDOR)
        assert (caught.value.stage, caught.value.error) == (stage, error)
        assert caught.value.hold_reason == f"Invalid cron schedule parameters: {error}"

    def test_every_illegal_character_is_underlined(self) -> None:
        """Runs of characters that the engine refuses are the places, and the help is the manual's."""
        faults = refuse("1?5,MON", MINUTE, HTCONDOR)
        assert [(f.kind, f.span.text if f.span else "") for f in faults] == [
            ("schedd-character", "?"),
            ("schedd-character", "MON"),
        ]
        (fault,) = refuse("MON", DAY_OF_WEEK, HTCONDOR)
        assert fault.help == "write 1 for MON"

    def test_the_step_of_zero_is_underlined(self) -> None:
        """Among several steps the one that is zero is shown."""
        (fault,) = refuse("*/5,*/0,1", MINUTE, HTCONDOR)
        assert fault.span is not None
        assert (fault.kind, fault.span.start, fault.span.text) == ("schedd-step", 5, "/0")

    @pytest.mark.parametrize("dialect", [MANUAL, UNIX])
    def test_the_other_dialects_hold_nothing(self, dialect: Dialect) -> None:
        """Stage, error and hold reason belong to the schedd."""
        with pytest.raises(InvalidSpec) as caught:
            CronSpec(minute="x", dialect=dialect)
        assert (caught.value.stage, caught.value.error, caught.value.hold_reason) == (None, None, None)

    def test_the_words_survive_pickle(self) -> None:
        """A worker process hands the whole error back."""
        with pytest.raises(InvalidSpec) as caught:
            CronSpec(minute="x", dialect=HTCONDOR)
        twin = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own bytes
        assert isinstance(twin, InvalidSpec)
        assert (twin.stage, twin.error, twin.hold_reason) == ("validate", caught.value.error, caught.value.hold_reason)


class TestValue:
    """A spec is an immutable value: dialect, bit sets and star flags."""

    def test_nothing_can_be_changed(self) -> None:
        """Neither a field nor a new attribute can be set or deleted."""
        spec = CronSpec(minute="5")
        for name in ("bits", "dialect", "_bits", "other"):
            with pytest.raises(AttributeError):
                setattr(spec, name, 1)
        with pytest.raises(AttributeError):
            del spec._bits
        assert str(spec) == "5 * * * *"

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("*/20 * * * *", "*/20,40 * * * *"),
            ("5,6,7 * * * *", " 07,5-6,5  * * * *".replace("  ", " ")),
            ("0 0 * * 0", "0 0 * * 7"),
            ("0 0 * * 1-5", "0 0 * * 1,2,3-5,4"),
            ("* * */1 * *", "* * * * *"),
            ("0 */1 * * *", "0 * * * *"),
        ],
    )
    def test_other_writings_of_the_same_meaning_are_equal(self, one: str, other: str) -> None:
        """Equality and hash do not see the text."""
        a, b = CronSpec.from_line(one), CronSpec.from_line(other)
        assert a == b
        assert hash(a) == hash(b)
        assert a.given != b.given

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("0 * * * *", "0 0-23 * * *"),
            ("* * * * *", "0-59 * * * *"),
            ("0 0 * * *", "0 0 1-31 * *"),
            ("0 0 * * *", "0 0 * * 0-6"),
            ("*/20 * * * *", "0,20,40 * * * *"),
            ("0 0 1 * *", "0 0 2 * *"),
        ],
    )
    def test_the_star_flags_count(self, one: str, other: str) -> None:
        """The same values with and without `*` behave differently, so they are different."""
        assert CronSpec.from_line(one) != CronSpec.from_line(other)
        assert len({CronSpec.from_line(one), CronSpec.from_line(other)}) == 2

    def test_the_dialect_counts(self) -> None:
        """The same text in two dialects is two specs, even where the values agree."""
        assert len({CronSpec(minute="5", dialect=dialect) for dialect in Dialect}) == 3

    def test_nothing_else_is_equal(self) -> None:
        """A spec is no string."""
        assert CronSpec(minute="5") != "5 * * * *"

    @pytest.mark.parametrize("dialect", list(Dialect))
    def test_copies_are_equal_and_keep_the_texts(self, dialect: Dialect) -> None:
        """Copy, deep copy and pickle give the same value, written the same way."""
        spec = CronSpec(minute="1 , 2", hour="0-23/2", dialect=dialect)
        pickled = [pickle.loads(pickle.dumps(spec, protocol)) for protocol in range(2, 6)]  # noqa: S301 - our own bytes
        for twin in (copy.copy(spec), copy.deepcopy(spec), *pickled):
            assert twin == spec
            assert twin.given == spec.given

    @pytest.mark.parametrize("dialect", list(Dialect))
    def test_repr_is_code(self, dialect: Dialect) -> None:
        """What repr prints builds an equal spec."""
        spec = CronSpec(minute="*/20", hour="9-17", day_of_week="1-5", dialect=dialect)
        text = repr(spec)
        assert text == f"CronSpec.from_line('{spec}', dialect=Dialect.{dialect.name})"

    def test_values_are_in_order(self) -> None:
        """Sunday is 0, and comes first."""
        assert CronSpec(day_of_week="5-7").values(DAY_OF_WEEK) == (0, 5, 6)


CANONICAL = [
    # text; canonical in MANUAL, HTCONDOR (None: not the shortest there, and so nothing to hold on to) and UNIX
    (MINUTE, "0-59", "0-59", "0-59", "0-59"),
    (HOUR, "0-23", "0-23", "0-23", "0-23"),
    (DAY_OF_MONTH, "1-31", "1-31", "1-31", "1-31"),
    (MONTH, "1-12", "1-12", "1-12", "1-12"),
    (DAY_OF_WEEK, "0-6", "0-6", "0-6", "0-6"),
    (DAY_OF_WEEK, "0-7", "0-6", "0-6", "0-6"),
    (MINUTE, "*", "*", "*", "*"),
    (MINUTE, "*/1", "*", "*", "*"),
    (MINUTE, "*/20,40", "*/20", None, "*/20"),
    (MINUTE, "*/10,*/6", "*/6,*/10", None, "*/6,*/10"),
    (MINUTE, "0,20,40", "0,20,40", None, "0,20,40"),
    (MINUTE, "00,05,10,15", "0-15/5", "0-15/5", "0-15/5"),
    (MINUTE, "5,6,7", "5-7", "5-7", "5-7"),
    (MINUTE, "5,6", "5,6", "5,6", "5,6"),
    (MINUTE, "1,1,1", "1", "1", "1"),
    (HOUR, "0-23/2", "0-22/2", None, "0-22/2"),
    (HOUR, "1-10/3", "1-10/3", "3,6,9", "1-10/3"),
    (HOUR, "15,9-12,0-3", "0-3,9-12,15", "0-3,9-12,15", "0-3,9-12,15"),
    (DAY_OF_MONTH, "*/2", "*/2", None, "*/2"),
    (DAY_OF_WEEK, "*/2", "*/2", "*", "*/2"),
    (DAY_OF_WEEK, "5-7", "5-7", "5-7", "5-7"),
    (DAY_OF_WEEK, "1,2,3,4,5", "1-5", "1-5", "1-5"),
]


@pytest.mark.parametrize(("field", "text", "manual", "htcondor", "unix"), CANONICAL)
def test_canonical_text(field: Field, text: str, manual: str, htcondor: str | None, unix: str) -> None:
    """The shortest text of the same meaning: no `*` that was not there, none left out that was."""
    for dialect, expected in ((MANUAL, manual), (HTCONDOR, htcondor), (UNIX, unix)):
        if expected is not None:
            assert build(field, text, dialect).canonical[field.index] == expected


def test_names_become_numbers() -> None:
    """Canonical text is numeric in UNIX as well."""
    assert str(CronSpec.from_line("0 6 * JAN,mar MON-FRI", dialect=UNIX)) == "0 6 * 1,3 1-5"


def _items(field: Field) -> st.SearchStrategy[str]:
    value = st.integers(field.low, field.high)
    step = st.integers(1, field.high + 3)
    ends = st.tuples(value, value).map(lambda pair: f"{min(pair)}-{max(pair)}")
    return st.one_of(
        value.map(str),
        ends,
        st.tuples(ends, step).map(lambda pair: f"{pair[0]}/{pair[1]}"),
        step.map(lambda n: f"*/{n}"),
        st.just("*"),
    )


def field_texts(field: Field) -> st.SearchStrategy[str]:
    """Return valid texts of a field, without blanks and leading zeros."""
    return st.lists(_items(field), min_size=1, max_size=4).map(",".join)


LINES = st.tuples(*(field_texts(field) for field in FIELDS)).map(" ".join)


@examples(19)
@given(line=LINES, dialect=st.sampled_from(list(Dialect)))
@example(line="*/10,*/6 0-11 18 1 *", dialect=MANUAL)
@example(line="0-58/2,0-57/3 * * * *", dialect=HTCONDOR)
def test_canonical_text_reads_back_as_the_same_spec(line: str, dialect: Dialect) -> None:
    """Reading the canonical text gives an equal spec whose canonical text is the same."""
    try:
        spec = CronSpec.from_line(line, dialect=dialect)
    except InvalidSpec:
        assert dialect is HTCONDOR  # the phase of a step may leave nothing
        return
    again = CronSpec.from_line(str(spec), dialect=dialect)
    assert again == spec
    assert again.canonical == spec.canonical


@examples(25)
@given(data=st.data(), field=st.sampled_from(FIELDS), dialect=st.sampled_from([MANUAL, UNIX]))
def test_canonical_text_of_separate_items_is_never_longer(data: st.DataObject, field: Field, dialect: Dialect) -> None:
    """Of a list whose ranges do not interleave nobody writes a shorter text than the canonical one."""
    high = 6 if field is DAY_OF_WEEK else field.high  # 7 is written as 0
    cuts = sorted(data.draw(st.sets(st.integers(field.low, high), min_size=2, max_size=8)))
    items = []
    for first, last in list(pairwise(cuts))[::2]:
        step = data.draw(st.integers(1, last - first))
        items.append(data.draw(st.sampled_from([str(first), f"{first}-{last}", f"{first}-{last}/{step}"])))
    text = ",".join(items)
    assert len(build(field, text, dialect).canonical[field.index]) <= len(text)


@pytest.mark.parametrize("dialect", list(Dialect))
@pytest.mark.parametrize("field", [MONTH, DAY_OF_WEEK], ids=lambda field: field.name)
def test_canonical_text_is_stable_for_every_set(field: Field, dialect: Dialect) -> None:
    """Every set of months and of weekdays has a canonical text that means it, and equal sets have equal texts."""
    numbers = range(field.low, field.high + 1) if field is MONTH else range(7)
    for bits in range(1, 1 << len(numbers)):
        chosen = [n for i, n in enumerate(numbers) if bits >> i & 1]
        spec = build(field, ",".join(map(str, chosen)), dialect)
        canonical = spec.canonical[field.index]
        assert build(field, canonical, dialect) == spec, (chosen, canonical)


@examples(19)
@given(
    texts=st.lists(
        st.none()
        | st.text(max_size=12)
        | st.text("0123456789*,-/ .", max_size=10)
        | st.text("019*,-/MONJAFELW#?@$()\"' \t\u0663\u2013\ud800", max_size=12),
        min_size=5,
        max_size=5,
    ),
    dialect=st.sampled_from(list(Dialect)),
)
def test_no_text_raises_anything_but_invalid_spec(texts: list[str | None], dialect: Dialect) -> None:
    """Whatever stands in the fields, there is a spec or an error with a place, a message and a printable form."""
    ad = {field.attribute: text for field, text in zip(FIELDS, texts, strict=True)}
    try:
        spec = CronSpec.from_mapping(ad, dialect=dialect)
    except InvalidSpec as error:
        caught = error
    else:
        assert CronSpec.from_line(str(spec), dialect=dialect) == spec
        return
    assert caught.diagnostics
    assert all(line.isprintable() for line in str(caught).split("\n"))
    for fault in caught.diagnostics:
        assert fault.help or fault.kind == "cron-more"
        assert fault.span or fault.kind == "cron-none"


@examples(19)
@given(
    line=st.text(max_size=30) | st.text("0159*,-/ @#LMON\t\u3000", max_size=30), dialect=st.sampled_from(list(Dialect))
)
@example(line="\x1c\x1d* * * * *", dialect=MANUAL)
@example(line="1\x852\u20283 4 5", dialect=UNIX)
def test_no_line_raises_anything_but_invalid_spec(line: str, dialect: Dialect) -> None:
    """The same for whole lines, whose blanks may be any."""
    try:
        CronSpec.from_line(line, dialect=dialect)
    except InvalidSpec as error:
        caught = error
    else:
        return
    assert all(fault.span for fault in caught.diagnostics)
