"""What is known of a text by its shape is what reading and printing the text itself tells."""

import copy
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crondor.classad import (
    ClassAd,
    ClassAdSyntaxError,
    Code,
    Context,
    EvaluationFailed,
    Expression,
    Format,
    Order,
    print_value,
    read_ads,
)
from crondor.classad.compile import code_of, read
from crondor.classad.evaluate import value_of
from crondor.classad.parser import UnparseForm, parse_expression, unparse
from crondor.classad.printing import Spelling, print_ad
from crondor.classad.shapes import is_expression, literal, pattern_like, printed
from crondor.classad.tree import AdNode, ListNode, Literal
from crondor.diagnostics import Source
from tests.classad import grammar
from tests.classad.test_properties import EXPRESSIONS

NUMBERS = [
    "0", "-0", "7", "-7", "007", "08", "123456789012345678", "999999999999999999", "-999999999999999999",
    "1234567890123456789", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1" * 40, "0x1F",
    "0x1.8", "0.0", "-0.0", "1.0", "-2.5", "0.25", "9.95", "0.1", "22.50", "1.", ".5", "..5", "1e3", "1.5e3", "1.5E-3",
    "123456789012.75", "1234567890123.75", "99999999999999999.5", "1.5.5", "1.5x", "1e", "100.125",
]  # fmt: skip
STRINGS = [
    '""', '"a"', '"a b"', '"1.5"', '"it\'s"', '"// no comment"', '"/* none */"', '"\\""', '"\\\\"', '"\\n"', '"\\101"',
    '"caf\u00e9"', '"\t"', '"' + "x" * 400 + '"', '"' + "x" * 401 + '"', '"open', '"2025-01-01T00:00:00"', '"1:00:00"',
]  # fmt: skip
FRAMES = [
    "{}", " {}", "{} ", "-{}", "- {}", "+{}", "!{}", "~{}", "a - {}", "a -{}", "a-{}", "a - -{}", "{}-{}", "{} {}",
    "{}{}", "a{}", "{}a", "_{}", "{}_", "a.{}", "{}.a", "a == {}", "a=={}", "a  ==  {}", "a is {}", "a isnt {}",
    "a =?= {}", "a = {}", "a /* {} */ + {}", "a // {}", "a + {} // b", "'{}' + {}", "'a b' == {}", "a['b'] + {}",
    "absTime({})", "relTime({})", "RELTIME ( {} )", "f({}, {})", "f({};{})", "f({}", "({})", "(({}))", "{{{},{}}}",
    "{{ {} , {} }}", "[a = {}; b = {}]", "[bb = {}; a = {}]", "[a = {}; A = {}]", "a[{}]", "{{{}}}[{}]", "a ? {} : {}",
    "a?{}:{}", "a ?: {}", "a ? : {}", "{} ? {} : {}", "a\t==\t{}", "a == {}\n", "\f{}", "a && {} || b < {}", "a $ {}",
    "\u00e9 == {}", "a == {} && \u00e9", "{}\x00", "true && {}", "TRUE && {}", "parent.a == {}", "MY.a == {}",
    "size({}) + {}", "{} + absTime(0) + reltime", '"" {}', '{} "x" {}', "987654321000 + {}", "1e3 + {}",
]  # fmt: skip
SHAPED = [
    '(TARGET.Arch == "X86_64") && (TARGET.Disk >= 7) && (TARGET.Memory >= RequestMemory)',
    "ifThenElse(MemoryUsage =!= undefined,MemoryUsage,(ImageSize + 1023) / 1024)",
    "(Memory * 2.5) + KFlops / 1000",
    'a == -5 && b != "x" || c < -1.5',
    'f(1,2.0,"3")',
]  # fmt: skip

LITERALS = st.one_of(
    st.sampled_from(NUMBERS + STRINGS),
    st.integers(-(1 << 70), 1 << 70).map(str),
    st.integers(0, 10**12).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(0, 10**6, places=2).map(str),
    st.text("ab1.- '/*\\\"", max_size=6).map(lambda text: f'"{text}"'),
)
FRAMED = st.tuples(st.sampled_from(FRAMES), st.lists(LITERALS, min_size=3, max_size=3)).map(
    lambda parts: parts[0].format(*parts[1])
)
BLANKS = st.lists(st.sampled_from(["", "", " ", "\t", "  ", "\n", "/**/", "/* 5 */"]), min_size=1, max_size=12)


def _spaced(text: str, blanks: list[str]) -> str:
    """Return a text with other blanks."""
    parts = text.split(" ")
    return "".join(part + blanks[at % len(blanks)] for at, part in enumerate(parts))


def _parsed(text: str, *, old: bool) -> str | None:
    """Return the old form of a text, None if it is not an expression; without any cache."""
    try:
        return unparse(parse_expression(Source(text), old=old), UnparseForm.OLD)
    except ClassAdSyntaxError:
        return None


def _check(text: str) -> None:
    """Compare all that shapes tell of a text with what reading it tells."""
    if is_expression(text):
        assert _parsed(text, old=True) == _parsed(text, old=False) == printed(text, UnparseForm.OLD)
    else:
        assert printed(text, UnparseForm.OLD) is None
    compact = printed(text)
    if compact is not None:
        tree = parse_expression(Source(text))
        assert compact == unparse(tree)
        assert not isinstance(tree, (Literal, ListNode, AdNode))
    plain = literal(text)
    if plain is not None:
        tree = parse_expression(Source(text))
        assert tree == plain
        assert isinstance(tree, Literal)
        assert repr(tree.value) == repr(plain.value)
    pattern = pattern_like(text)
    if pattern is not None:
        assert re.fullmatch(pattern, text)
        assert _parsed(text, old=True) == _parsed(text, old=False) == text


@pytest.mark.parametrize("frame", FRAMES)
def test_every_literal_in_every_place(frame: str) -> None:
    """Numbers of all kinds, and strings that could be mistaken for something else."""
    for value in (*NUMBERS, *STRINGS):
        for other in ("5", '"b"', "2.5", "0", value):
            _check(frame.format(value, other, value))


@given(st.one_of(FRAMED, EXPRESSIONS, st.builds(_spaced, st.one_of(FRAMED, EXPRESSIONS), BLANKS), st.text()))
@example("a == 5 /* 6 */")
@example('"a" "b"')
@example("-0")
@example("9.95")
def test_any_text(text: str) -> None:
    """With comments and odd blanks in it, too."""
    _check(text)


@given(st.one_of(st.sampled_from(SHAPED), FRAMED), st.lists(LITERALS, min_size=6, max_size=6))
def test_texts_that_a_pattern_matches(text: str, literals: list[str]) -> None:
    """Other literals in the same places: what the pattern of one text matches is printed as it is written."""
    pattern = pattern_like(text)
    if pattern is None:
        return
    others = iter(literals)
    found = re.split(r'("[^"]*"|[0-9][0-9.]*)', text)[:13]
    found[1::2] = [next(others) for _ in found[1::2]]
    changed = "".join(found)
    if re.fullmatch(pattern, changed):
        assert _parsed(changed, old=True) == _parsed(changed, old=False) == changed
    _check(changed)


def test_common_expressions_have_shapes() -> None:
    """Otherwise nothing would be gained; and no part of one is a slot that is none."""
    for text in SHAPED:
        pattern = pattern_like(text)
        assert pattern is not None
        assert re.fullmatch(pattern, text.replace("1", "41").replace('"x', '"other x'))
        assert not re.fullmatch(pattern, text + "1 ")
        assert not re.fullmatch(pattern, "x" + text)


def _recorded() -> Iterator[str]:
    """Yield the expressions of the recordings, those that HTCondor refuses included."""
    folder = Path(__file__).parents[1] / "golden" / "classad"
    for name in ("eval", "parse", "match", "refs"):
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8", errors="surrogateescape") as lines:
            for line in lines:
                yield from _texts(json.loads(line))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def test_all_recorded_expressions() -> None:
    """Of the corpora that HTCondor has read, printed and evaluated."""
    texts = set(_recorded())
    assert sum(map(is_expression, texts)) > 1000
    for text in texts:
        _check(text)


@given(st.integers(0, 10_000), FRAMED)
def test_values_are_those_of_texts_read_without_a_cache(seed: int, text: str) -> None:
    """The expression and the attributes of its ad: literals are read without the parser."""
    made = grammar.Grammar(seed).attributes()
    attributes = {**made, "a": text} if is_expression(text) else made
    for asked in ("a", text, "a == b", "{a, b, c}"):
        context = Context(now=1_700_000_000)
        try:
            code, uncached = read(asked), code_of(parse_expression(Source(asked)))
        except ClassAdSyntaxError:
            continue
        try:
            plain = ClassAd({name: Expression(each) for name, each in attributes.items()})
        except ClassAdSyntaxError:
            return
        for key in [*plain.codes]:
            plain.put(key, code_of(parse_expression(Source(attributes[plain.names[key]]))))
        assert _value(code, ClassAd.of_texts(attributes), context) == _value(uncached, plain, context)


def _value(code: Code, ad: ClassAd, context: Context) -> str:
    try:
        return print_value(Expression.of(code).evaluate(ad, None, context))
    except EvaluationFailed as failure:
        return str(failure)


def test_long_streams_of_shaped_ads_are_printed_as_they_are_one_by_one() -> None:
    """Whatever shapes and literals come in which order."""
    values = [*NUMBERS, *(text for text in STRINGS if "\n" not in text)]
    blocks = []
    for number in range(600):
        some = [values[(number * (at + 3)) % len(values)] for at in range(4)]
        frames = [FRAMES[(number // 40 + at) % len(FRAMES)] for at in range(4)]
        lines = [
            f"N{at} = {frame.format(value, value, value)}"
            for at, (frame, value) in enumerate(zip(frames, some, strict=True))
        ]
        same = [f"Same{at} = {at}" for at in range(6)]
        block = "\n".join([*same, *(line for line in lines if "\n" not in line and "\0" not in line)])
        blocks.append(f"{block}\nOwn = {number}.5 * Cpus + {number}\n")
    faults: list[object] = []
    together = [ad.print(Format.LONG) for ad in read_ads("\n".join(blocks), Format.LONG, report=faults.append)]
    alone = [ad.print(Format.LONG) for block in blocks for ad in read_ads(block, Format.LONG, report=faults.append)]
    assert together == alone
    assert len(together) == len(blocks)


def test_value_of_is_the_same_for_a_literal() -> None:
    """An integer, a real and a string."""
    for text, value in (("5", 5), ("-2.5", -2.5), ('"a b"', "a b")):
        assert value_of(read(text), ClassAd(), None, Context()) == value


_NAMES = [f"Name{number}" for number in range(12)]
_TEXTS = st.sampled_from(["1", '"a"', '"a\\\\b"', "x + 1", '"two\nlines"', "undefined", '"' + "long" * 9000 + '"'])
_CODES = _TEXTS | st.sampled_from(["y * 2", '"b"']).map(lambda text: Expression(text).code)
_CHANGES = st.lists(st.dictionaries(st.sampled_from(_NAMES), _CODES, max_size=9), max_size=30)


@given(_CHANGES, st.sampled_from(Order), st.booleans())
def test_what_ads_have_in_common_changes_nothing(changes: list[dict[str, str]], order: Order, faithful: bool) -> None:
    """The text of each ad is that of an ad with names of its own."""
    shared = Spelling({name.lower(): name for name in _NAMES})
    codes = dict.fromkeys(shared, "0")
    for change in changes:
        codes = {**codes, **{name.lower(): text for name, text in change.items()}}
        ad, alone = ClassAd.of(dict(codes), shared), ClassAd.of(dict(codes), dict(shared))
        assert print_ad(ad, Format.LONG, order, faithful=faithful) == print_ad(
            alone, Format.LONG, order, faithful=faithful
        )


def test_an_ad_that_is_changed_has_names_of_its_own() -> None:
    """Another attribute, or one less, does not reach the ads that shared the names."""
    shared = Spelling({name.lower(): name for name in _NAMES})
    ads = [ClassAd.of(dict.fromkeys(shared, str(number)), shared) for number in range(20)]
    for ad in ads:
        ad.print(Format.LONG)
    ads[0]["More"] = 1
    del ads[1]["Name3"]
    assert "More = 1" in ads[0].print(Format.LONG)
    assert "Name3" not in ads[1].print(Format.LONG)
    assert list(ads[2]) == _NAMES
    assert copy.copy(shared) == shared
