"""The grammars in docstrings: each is closed, and the code reads what it says."""

import random
from collections.abc import Callable, Mapping
from datetime import timezone
from importlib import import_module
from types import ModuleType

import pytest

from crondor import _spec
from crondor.classad import parser, tokens
from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, json_form, long_form, pieces, read_ads, reading, xml_form
from crondor.compile import calendar_event, calendar_file, cron, english, expression, meaning, rfc
from crondor.compile.meaning import read_schedule
from crondor.compile.walls import Context, Remarks
from crondor.config import read_config
from crondor.config import reader as config_reader
from crondor.diagnostics import Source, Span
from crondor.macro import LogicalLine, conditions, functions, queue_statement
from crondor.macro import reader as macro_reader
from crondor.macro.expand import MacroKind
from crondor.submit import SubmitFile, read_submit
from crondor.submit import reader as submit_reader
from crondor.transform import commands, program, statements
from crondor.transform.commands import LineFault
from crondor.zones import zone_of
from crondor_cli.kit import typed_times
from tests import ebnf

expand = import_module("crondor.macro.expand")  # the package has a function of that name
EXPRESSION = (parser,)
MACRO = (macro_reader, conditions)
QUEUE = (queue_statement,)

# The rules nobody asks for, the modules, and those whose rules they use.
UTC = timezone.utc

CLOSED: dict[str, tuple[str, tuple[ModuleType, ...], tuple[ModuleType, ...]]] = {
    "tokens": ("tokens abstime reltime", (tokens,), ()),
    "expression": ("expression", (parser,), ()),
    "long": ("ads line_as_daemon", (long_form,), EXPRESSION),
    "new": ("ads", (reading, pieces), EXPRESSION),
    "json": ("ads", (json_form, pieces), ()),
    "xml": ("ads", (xml_form, pieces), EXPRESSION),
    "submit": ("statements parts", (*MACRO, submit_reader, *QUEUE), EXPRESSION),
    "configuration": ("statements parts", (*MACRO, config_reader), ()),
    "queue": ("arguments", QUEUE, (*EXPRESSION, macro_reader)),
    "macro": ("text", (expand,), ()),
    "format": ("format", (functions,), ()),
    "transform": ("program transform", (program, statements, commands), (*EXPRESSION, *MACRO, *QUEUE)),
    "field": ("field", (_spec,), ()),
    "time": ("time parts", (typed_times,), ()),
    "schedule": ("schedule", (*(expression, meaning, calendar_event, calendar_file, rfc), *(english, cron)), (_spec,)),
}


@pytest.mark.parametrize("name", CLOSED)
def test_every_rule_has_its_words_and_is_asked_for(name: str) -> None:
    """No rule uses what nobody defines, or is there for nobody; words and terminals are those of the code."""
    starts, modules, borrowed = CLOSED[name]
    others = [rule for module in borrowed for rule in ebnf.rules_of(module)]
    assert ebnf.faults(starts.split(), modules, others) == []


def _is_read(act: Callable[[str], object]) -> Callable[[str], bool]:
    return lambda text: act(text) is not None


def _condition(text: str) -> bool:
    asked = conditions.Conditions(lambda _: "1", lambda _: "", (25, 14, 0), truth=lambda _: None)
    return asked.test(text) in {True, False}


def _found(kind: MacroKind) -> Callable[[str], bool]:
    return lambda text: expand.Scanner(text).scan(0)[:3] == (kind, 0, len(text))


def _command(text: str) -> bool:
    return not isinstance(commands.command(LogicalLine(Source(text), text, (0,), (0,))), LineFault)


def _configuration(text: str) -> bool:
    return read_config(f"{text}\n").is_valid


def _submit(text: str) -> SubmitFile:
    return read_submit(Source(f"{text}\nqueue\n"))


def _program(text: str) -> bool:
    return not program.read_program(Source(f"{text}\n"), program.RuleSource.FILE, "").is_broken


def _line(text: str) -> bool:
    return not isinstance(statements.compile_line(LogicalLine(Source(text), text, (0,), (0,))), LineFault)


def _token(kind: str) -> Callable[[str], bool]:
    return lambda text: tokens.Tokens(Source(text)).kinds == [kind, "end"]


def _ads(form: Format) -> Callable[[str], list[ClassAd]]:
    return lambda text: list(read_ads(text, form))


def _piece(read: Callable[[Span, Context], object]) -> Callable[[str], bool]:
    """Return a reader of a piece of a schedule, which finds no fault."""

    def reads(text: str) -> bool:
        context = Context(zone_of("UTC"), Remarks(), start=1_700_000_000, name="x")
        read(Source(text).span(), context)
        return not context.remarks.errors

    return reads


def _dates(span: Span, context: Context) -> None:
    kinds = {".." in part or "to" in part for part in span.text.split(",")}
    if len(kinds) == 1:  # a list is of one kind
        expression.read_dates(span, context)


def _schedule(text: str) -> bool:
    read_schedule(text, zone="UTC", start=1_700_000_000)
    return True


SPOKEN = {"UNITS": "weeks", "step": "other", "ordinal": "2nd", "WEEKDAY_NAMES": "friday"}
SPOKEN |= {"OFTEN": "weekly", "date_of_year": "24 december", "MONTH_NAMES": "may", "DAY_SETS": "weekdays"}
PARTS = {"piece": "3", "NAMES": "Mon", "ZONE": "UTC", "SHORTHANDS": "daily"}
WRITTEN = {"extended": "5", "year": "2027", "NICKNAMES": "@daily"}
SAID = {"atom": "every day", "CLOCK": "09:30", "CLOCK_WORDS": "noon", "moment": "2026-12-01"}
VALUES = {"NAME": " a ", "NUMBER": "1 ", "OCTAL": "010 ", "LITERAL": '"x"', "BINARY": "=?="}
XML_AD = '<c><a n="x"><i>1</i></a></c>'
JSON = {"STRING": '"x"', "NUMBER": "-1.5", "WORD": "null"}
UNITS = {"NUMBER": "5", "unit": "days", "epoch_number": "1700000000", "date": "20 Nov 2026", "DAY_STEPS": "tomorrow"}
CLOCKS = {"WEEKDAY_OF": "mon", "CLOCK": "18:30", "CLOCK_WORDS": "noon", "OFFSET": "+01:00", "ZONE_WORDS": "utc"}
MACROS = {"NAME": "a.b", "DEFAULT": "x $y", "FUNCTIONS": "INT", "FILE_FUNCTION": "Fpn"}
CONDITION = {"NUMBER": "1.5", "NAME": "Name_1", "BLANKS": " ", "NUMBERS": "8.1.6"}
QUEUED = {"expression": "5", "text": "x y", "rows": "", "slice": "[1:-1:2]"}
LINE = {"word": "w", "text": "x y", "tag": "end", "body": "\nx\n@end", "condition": "true", "command": "SET A 1"}
NAMED = {"number": "5", "MONTH_NAMES": "MAY", "DAY_NAMES": "May"}

# A rule, its grammar, what stands for rules and terminals, what stands between, and who reads it.
READ: tuple[tuple[str, tuple[ModuleType, ...], Mapping[str, str], str, Callable[[str], object]], ...] = (
    ("number", (tokens,), {}, "", lambda text: tokens.number(text)[0] == "number"),
    ("octal", (tokens,), {}, "", lambda text: tokens.number(text)[0] == "octal"),
    ("string", (tokens,), {}, "", _token("literal")),
    ("quoted_name", (tokens,), {}, "", _token("name")),
    ("abstime", (tokens,), {}, "", _is_read(tokens.read_abstime)),
    ("reltime", (tokens,), {}, "", _is_read(tokens.read_reltime)),
    ("expression", (parser,), VALUES, "", lambda text: parser.parse_expression(Source(text))),
    ("ad", (parser,), VALUES | {"expression": "1"}, "", lambda text: parser.parse_ad(Source(text))),
    ("ads", (reading,), {"ad": "[ a = 1 ]"}, " ", lambda text: len(_ads(Format.NEW)(text)) == text.count("a")),
    ("ad", (json_form,), JSON, " ", lambda text: len(_ads(Format.JSON)(text)) == 1),
    ("ads", (json_form,), {"ad": '{ "a": 1 }'}, " ", lambda text: len(_ads(Format.JSON)(text)) == text.count("a")),
    ("ads", (xml_form,), {"ad": XML_AD}, " ", lambda text: len(_ads(Format.XML)(text)) == text.count("a n")),
    ("line", (long_form,), {"BLANK": " ", "NAME": "a", "QUOTED_NAME": "'b c'", "value": "1"}, "", _ads(Format.LONG)),
    ("condition", (conditions,), CONDITION, "", _condition),
    ("arguments", (queue_statement,), QUEUED, " ", lambda text: queue_statement.parse(text, None, 0)),
    ("slice", (queue_statement,), {}, "", lambda text: queue_statement.parse(f"in {text} (x)", None, 0)),
    ("macro", (expand,), MACROS, "", _found(MacroKind.MACRO)),
    ("function", (expand,), MACROS, "", _found(MacroKind.FUNCTION)),
    ("format", (functions,), {"LETTERS": "d"}, "", _is_read(lambda text: functions.parse(text, "int", 9))),
    ("include_words", (conditions,), {"word": "x"}, " ", _is_read(conditions.parse_include)),
    ("command", (commands,), {"ENVELOPE": "NAME", "text": "x"}, " ", _command),
    ("assignment", (*MACRO, config_reader), LINE, " ", _configuration),
    ("assignment", (*MACRO, submit_reader), LINE, " ", _submit),
    ("plain", (statements, macro_reader), LINE, " ", _line),
    ("envelope", (program,), {"text": "x", "expression": "true", "arguments": "2"}, " ", _program),
    ("item", (_spec,), NAMED, "", _is_read(lambda text: _spec.read_field(text, _spec.MONTH, _spec.Dialect.UNIX))),
    ("words", (english,), SPOKEN, " ", _piece(lambda span, context: english.read_words(span, context, None))),
    *((rule, (calendar_event,), PARTS, "", _piece(calendar_event.read_event)) for rule in ("weekdays", "date", "time")),
    ("dates", (expression,), {"moment": "2026-12-24T10:00"}, "", _piece(_dates)),
    ("times", (expression,), SAID, " ", lambda text: _schedule(f"every day at {text}")),
    ("union", (expression,), SAID | {"clause": "", "schedule": "weekends"}, " ", _schedule),
    ("cron", (cron,), WRITTEN, " ", _piece(cron.read_cron)),
    (
        "time",
        (typed_times,),
        UNITS | CLOCKS,
        " ",
        _is_read(lambda text: typed_times.parse_time(text, 1_700_000_000, UTC)),
    ),
)


@pytest.mark.parametrize("case", READ, ids=lambda case: f"{case[1][0].__name__.rpartition('.')[2]}-{case[0]}")
def test_what_a_rule_says_is_read(
    case: tuple[str, tuple[ModuleType, ...], Mapping[str, str], str, Callable[[str], object]],
) -> None:
    """Texts made by a rule are read by the function that states it."""
    start, modules, samples, joint, reads = case
    dice = random.Random(start)  # noqa: S311 - test data
    # Where two modules have a rule of one name, the first module's counts.
    rules = {name: rule for module in reversed(modules) for name, rule in ebnf.rules_of(module).items()}
    for _ in range(100):
        text = ebnf.sentence(start, rules, samples, joint, dice)
        assert reads(text), text
