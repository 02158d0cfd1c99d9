"""Reading and writing ads in every form: streams, positions, strictness, bounds, hostile texts."""

import io
from collections.abc import Callable, Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crondor.classad import ClassAdSyntaxError
from crondor.classad.ad import ClassAd, Place
from crondor.classad.formats import Format, Order, ReadMode, detect, pieces, print_ad, read_ad, read_ads, write_ads
from crondor.diagnostics import CrondorError, Diagnostic, Source
from tests.examples import examples
from tests.rows import rows

FORMS = [Format.LONG, Format.NEW, Format.PRETTY, Format.JSON, Format.JSON_LINES, Format.XML]


def _texts(ad: ClassAd) -> dict[str, str]:
    return {name: str(ad[name]) for name in ad}


def _read(text: str, form: Format | None = None, mode: ReadMode = ReadMode.STRICT) -> list[dict[str, str]]:
    return [_texts(ad) for ad in read_ads(text, form, mode)]


def _fault(text: str, form: Format | None = None, mode: ReadMode = ReadMode.STRICT) -> tuple[int, int, str]:
    with pytest.raises(ClassAdSyntaxError) as caught:
        list(read_ads(Source(text, "jobs"), form, mode))
    found = caught.value.diagnostics[0]
    assert found.span is not None
    assert found.span.location.startswith("jobs:")
    return found.span.line, found.span.column, found.message


def test_a_long_stream_has_blank_lines_and_banners_between_ads() -> None:
    """As in condor_q -long and in history files; comments and blank lines are skipped."""
    text = (
        "\n\n-- Schedd: submit.example : <192.0.2.1:9618>\nA = 1\nB = 2\n*** Offset = 0 ClusterId = 1\nA = 3\n"
        "# comment\n \t\nA = 4\n\n\n\nA = 5\r\n\r\nA = 6\n*** Offset = 20"
    )
    for mode in (ReadMode.STRICT, ReadMode.LAZY):
        found = list(read_ads(text, mode=mode))
        assert [_texts(ad) for ad in found] == [{"A": "1", "B": "2"}, *({"A": str(n)} for n in (3, 4, 5, 6))]
        assert [ad.place and ad.place.line for ad in found] == [4, 7, 10, 14, 16]


def test_every_bad_line_is_a_finding_with_its_place() -> None:
    """Without a listener the first bad ad raises, with all its faults; with one the good lines are kept."""
    text = "A = 1\n\nB = (\nC = 2\nno sign\n= 3\na b = 4\nD = 1 junk\nE = 5\n\nF = 6\n"
    with pytest.raises(ClassAdSyntaxError) as caught:
        list(read_ads(Source(text, "q.ads")))
    expected = [(3, 6), (5, 1), (6, 1), (7, 1), (8, 7)]
    places = [(found.span.line, found.span.column) for found in caught.value.diagnostics if found.span]
    assert places == expected
    assert "q.ads:3:6" in str(caught.value)
    assert "3 | B = (" in str(caught.value)
    reported: list[Diagnostic] = []
    found = [_texts(ad) for ad in read_ads(text, report=reported.append)]
    assert found == [{"A": "1"}, {"C": "2", "E": "5"}, {"F": "6"}]
    assert len(reported) == len(expected)


def test_lenient_reading_drops_what_the_daemon_drops() -> None:
    """A bad line ends its ad, text after an expression is ignored, and everything before = is the name."""
    text = "A = 1 junk\nB = (\nC = 2\n\na b = 3\n[D = 4\n"
    assert _read(text, Format.LONG, ReadMode.DAEMON) == [{"A": "1"}, {"a b": "3", "[D": "4"}]
    assert _read("bad\nA = 1\n", Format.LONG, ReadMode.DAEMON) == []
    assert _fault("bad\n\nC = 3\n", Format.LONG, ReadMode.DAEMON)[0] == 1


def test_lazy_reading_finds_bad_expressions_when_asked() -> None:
    """The form of lines is looked at, their right sides are not."""
    ad = read_ad("A = 1 +\nB = 2\n", Format.LONG, ReadMode.LAZY)
    assert ad.value("B") == 2
    with pytest.raises(ClassAdSyntaxError):
        ad.value("A")
    assert _fault("A = 1\nno sign\n", Format.LONG, ReadMode.LAZY)[:2] == (2, 1)


@pytest.mark.parametrize("mode", list(ReadMode))
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('"C:\\dir\\new"', '"C:\\\\dir\\\\new"'),
        ('"say \\"hi\\""', '"say \\"hi\\""'),
        ('"trail\\"', '"trail\\\\"'),
        ('""', '""'),
        ('x == "" && y == "a\\b"', 'x == "" && y == "a\\\\b"'),
        ('strcat("a"," ","b")', 'strcat("a"," ","b")'),
        ("\"-c date;' 'sleep' '1\"", "\"-c date;' 'sleep' '1\""),
        ("'a b' + 'c'", "'a b' + c"),
        ('"http://x/\\y" /* c */', '"http://x/\\\\y"'),
        ('"é\\"', '"\\303\\251\\\\"'),
    ],
)
def test_strings_of_long_ads_have_their_own_rules(mode: ReadMode, value: str, expected: str) -> None:
    """A backslash is itself unless a quote follows that does not end the line."""
    for text in (f"A = {value}\n", f"  A={value}\nB = 1\n", f"A = {value}"):
        assert str(read_ad(text, Format.LONG, mode)["A"]) == expected


def test_quoted_names_are_read_as_they_are_printed() -> None:
    """Unlike HTCondor, which takes the quotes for a part of the name."""
    ad = ClassAd({"a b": 1, "true": 2})
    assert read_ad(ad.print(Format.LONG), Format.LONG) == ad


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("A = 1", Format.LONG),
        ("", Format.LONG),
        ("# c\nA = 1", Format.LONG),
        (" [a=1]", Format.NEW),
        ("// c\n[a=1]", Format.NEW),
        ("{\n[a=1]", Format.NEW),
        ('{"a":1}', Format.JSON),
        ("[\n{", Format.JSON),
        ("[]", Format.JSON),
        ("[ ", Format.NEW),
        ('<?xml version="1.0"?>', Format.XML),
        ("\ufeffA = 1", Format.LONG),
    ],
)
def test_the_form_is_told_by_the_beginning(text: str, form: Format) -> None:
    """A byte order mark does not hide it."""
    assert detect(text) is form


def test_new_and_json_streams() -> None:
    """One after the other, in a list, with comments; an ad with a fault is left out where someone listens."""
    assert _read("[a=1][b=2]\n// c\n[c=[d=3]] /* x */") == [{"a": "1"}, {"b": "2"}, {"c": "[ d = 3 ]"}]
    assert _read("{\n[a=1],\n[b={1}]\n}\n") == [{"a": "1"}, {"b": "{ 1 }"}]
    assert _read('[\n{"a":1},\n{"b":[1,null,{"c":"\\/Expr(x+1)\\/"}]}\n]\n') == [
        {"a": "1"},
        {"b": "{ 1,undefined,[ c = x + 1 ] }"},
    ]
    assert _read('{"a":1}\n{"b":"x"}\n') == [{"a": "1"}, {"b": '"x"'}]
    assert _read("[]") == _read("[\n]\n") == []
    assert _read('{"a":"\\ud83d\\ude00\\u00e9"}') == [{"a": '"\\360\\237\\230\\200\\303\\251"'}]
    reported: list[Diagnostic] = []
    found = list(read_ads('[{"a":1},{"b":},{"c":3}]', report=reported.append))
    assert ([list(ad) for ad in found], len(reported)) == ([["a"], ["c"]], 1)


def test_xml_documents_as_htcondor_writes_them() -> None:
    """With its header and DOCTYPE, which is never opened."""
    ads = [ClassAd({"A": 'x<y&"z\\\n', "b": [1, 2.5, None, {"c": True}]}), ClassAd({"e f": 1})]
    text = "".join(write_ads(ads, Format.XML))
    assert text.startswith('<?xml version="1.0"?>\n<!DOCTYPE classads SYSTEM "classads.dtd">\n<classads>\n<c>\n')
    found = list(read_ads(text))
    assert found == ads
    assert found[0].place == Place("<text>", 4)
    assert _read('<c><a n="x"><rt>1:00</rt></a><a n="y"><at>2020-01-01T00:00:00Z</at></a></c>') == [
        {"x": 'relTime("01:00")', "y": 'absTime("2020-01-01T00:00:00-00:00")'}
    ]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("A = 1\n\nB = 1 +\n", (3, 8), "an expression is expected"),
        ("A = 1\nB = 007\n", (2, 5), "an integer cannot begin with a zero"),
        ("[a = 1;\n b = (]", (2, 7), "is expected"),
        ("[a=1]\n  junk", (2, 3), "an ad is expected"),
        ("[a=1] [b=2", (1, 7), "is never closed"),
        ('[\n{"a": 1},\n{"b": 1,}]', (3, 8), "a comma"),
        ('{"a": 01}', (1, 7), "zero"),
        ('{"a": nul}', (1, 7), "words of JSON"),
        ('{"a": "\\x"}', (1, 7), "no such escape"),
        ('{"a": "\\ud800"}', (1, 7), "surrogate"),
        ('{"a": "\\u0000"}', (1, 7), "NUL"),
        ('{"a": "\\/Expr(1 +)\\/"}', (1, 7), "the expression cannot be read"),
        ('{"a" 1}', (1, 6), "a colon"),
        ('{"a": 1 "b": 2}', (1, 9), "a comma"),
        ("<c><a n='x'><i>1x</i></a></c>", (1, 18), "not an integer"),
        ("<c><a n='x'></a></c>", (1, 13), "one value"),
        ("<c>\n<q/></c>", (2, 1), "not allowed in"),
        ("<c>\n", (2, 1), "not XML"),
        ("<c><a n='x'><e>1 +</e></a></c>", (1, 19), "cannot be read"),
    ],
)
def test_faults_name_their_place(text: str, place: tuple[int, int], message: str) -> None:
    """In every form, also in the second ad of a stream."""
    line, column, said = _fault(text)
    assert message in said
    assert (line, column) == place


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE c [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><c><a n="x"><s>&b;</s></a></c>',
        '<!DOCTYPE c [<!ENTITY a SYSTEM "file:///etc/passwd">]><c><a n="x"><s>&a;</s></a></c>',
        '<!DOCTYPE c SYSTEM "x.dtd"><c><a n="x"><s>&a;</s></a></c>',
        "<c><a n='x'>" + "<l>" * 100_000,
        "<c>" * 10_000,
        '{"a":' + "[" * 100_000,
        '{"a":' + '{"a":' * 100_000,
        '{"a": ' + "[" * 190 + "]" * 190 + "}",
        "[a=" + "[a=" * 100_000,
        "A = " + "(" * 100_000,
        "A = 1\0\nB = 2",
        "A = \ud800",
        '{"a":"\ud800"}',
        "[a=1;b=\ud800]",
        "<c>\ud800</c>",
        '{"a":"x',
        "/*",
        "[a=/*",
    ],
)
def test_hostile_texts_are_refused(text: str) -> None:
    """No recursion, no entity, no byte that is not text: one sentence says why."""
    for mode in (ReadMode.STRICT, ReadMode.LAZY):
        assert _complaint(lambda mode=mode: _use(text, None, mode))  # type: ignore[misc]


def _use(text: str, form: Format | None, mode: ReadMode) -> None:
    """Read all ads of a text, value their attributes and print them."""
    for ad in read_ads(text, form, mode):
        for name in ad:
            ad.value(name)
        for printed in FORMS:
            ad.print(printed)


def _complaint(action: Callable[[], object]) -> str:
    """Return what an action says is wrong, or nothing."""
    try:
        action()
    except CrondorError as error:
        return str(error)
    return ""


def test_huge_numbers_are_what_htcondor_makes_of_them() -> None:
    """Integers beyond 64 bits are 0 and reals infinite, in every form."""
    digits = "9" * 5000
    for text in (f"A = {digits}", f"[A={digits}]", f'{{"A":{digits}}}', f"<c><a n='A'><i>{digits}</i></a></c>"):
        assert read_ad(text).value("A") == 0
    for text in ("A = 1e999", "[A=1e999]", '{"A":1e999}', "<c><a n='A'><r>1e999</r></a></c>"):
        assert read_ad(text).value("A") == float("inf")


def test_one_ad_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text without an end is not swallowed whole."""
    bound = 1 << 18
    monkeypatch.setattr(pieces, "MAX_AD", bound)

    def endless(piece: str) -> Iterator[str]:
        while True:
            yield piece

    for begin, piece in (("", "A = 1\n" * 10_000), ("[", " a = 1;" * 10_000), ('{"', "a" * 100_000), ("<c>", " " * 99)):
        for mode in ReadMode:
            chunks = (part for some in ([begin], endless(piece)) for part in some)
            with pytest.raises(ClassAdSyntaxError, match=f"more than {bound}"):
                next(read_ads(chunks, mode=mode))


def test_files_and_lines_are_read_as_they_come() -> None:
    """The first ad is there before the rest is read, and the name of the file stands in its place."""
    consumed = []

    def lines() -> Iterator[str]:
        for number in range(100_000):
            consumed.append(number)
            yield f"A = {number}\n\n"

    ads = read_ads(lines(), name="pipe")
    assert next(ads).place == Place("pipe", 1)
    assert next(ads).place == Place("pipe", 3)
    assert len(consumed) < 20_000
    assert sum(1 for _ in ads) == 99_998
    assert [ad.value("A") for ad in read_ads(io.StringIO("A = 1\n\nA = 2\n"))] == [1, 2]


def test_exactly_one_ad_is_expected_of_a_single_one() -> None:
    """None and a second one are faults."""
    for text in ("", "\n\n", "[]", "<classads></classads>"):
        with pytest.raises(ClassAdSyntaxError, match="no ad"):
            read_ad(text)
    with pytest.raises(ClassAdSyntaxError, match="<text>:3:1: error: another ad"):
        read_ad("A = 1\n\nA = 2\n")


def test_attributes_are_printed_in_three_orders() -> None:
    """HTCondor's, its tools' and the ad's own."""
    ad = read_ad("bb = 1\nB = 2\nAA = 3\na = 4\n")
    orders = {order: print_ad(ad, Format.LONG, order).replace("\n", " ") for order in Order}
    assert orders == {
        Order.LIBRARY: "a = 4 B = 2 AA = 3 bb = 1 ",
        Order.NAME: "a = 4 AA = 3 B = 2 bb = 1 ",
        Order.KEPT: "bb = 1 B = 2 AA = 3 a = 4 ",
    }


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 63) - 1) | st.floats(-1e300, 1e300) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.from_regex(r"[a-z]{1,3}", fullmatch=True), inner),
    max_leaves=6,
)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True) | TEXTS.filter(bool)
ADS = st.dictionaries(NAMES, VALUES, min_size=1, max_size=6).map(ClassAd)


@given(ADS, st.sampled_from(FORMS))
@examples(37)
def test_what_is_printed_reads_back(ad: ClassAd, form: Format) -> None:
    """It prints the same again; -long cannot say line ends, and reals lose what the form loses."""
    text = ad.print(form)
    if form is Format.LONG and (text.count("\n") > len(ad) or "\r" in text):
        return
    if form is not Format.LONG or "\\" not in text:
        assert read_ad(text, form).print(form) == text


PIECES = st.lists(st.sampled_from(rows("classad/pieces")) | st.text(max_size=3), max_size=25).map("".join)


@given(PIECES, st.sampled_from([None, *FORMS]), st.sampled_from(ReadMode))
@examples(187)
@example("A = 1\n***", None, ReadMode.STRICT)
@example("\r\n\r\n\r\nA = 1\r\n \r\nB = 2", None, ReadMode.DAEMON)
def test_no_text_raises_anything_else(text: str, form: Format | None, mode: ReadMode) -> None:
    """Whatever is read, valued and printed: ads or CrondorError."""
    _complaint(lambda: _use(text, form, mode))
    reported: list[Diagnostic] = []
    _complaint(lambda: list(read_ads(text, form, mode, report=reported.append)))


@given(PIECES, st.sampled_from([None, *FORMS]), st.sampled_from(ReadMode), st.lists(st.integers(0, 60), max_size=6))
@examples(62)
def test_chunks_make_no_difference(text: str, form: Format | None, mode: ReadMode, cuts: list[int]) -> None:
    """Wherever a text is cut, the same ads stand in the same places."""

    def outcome(given_text: object) -> object:
        found = []
        try:
            for ad in read_ads(given_text, form, mode):  # type: ignore[arg-type]
                found.append((ad.place, {name: ad.text(name) for name in ad}))  # noqa: PERF401 - kept up to the fault
        except CrondorError as error:
            return found, [d.message for d in error.diagnostics]
        return found, None

    at = sorted({min(cut, len(text)) for cut in cuts})
    chunks = [text[a:b] for a, b in zip([0, *at], [*at, len(text)], strict=True)]
    if any("\ud800" <= c <= "\udfff" for c in text):
        return
    assert outcome(iter(chunks)) == outcome(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": "\\u00e9"}', '"\\003\\001"'),
        ('{"a": "\\ud83d\\ude00"}', '"\\rq=\\ry\\021"'),
        ('{"a": "\\u0100x"}', '"\\004"'),
        ('{"a": "x" "y"}', '"xy"'),
        ('{"a": /* } */ 1 // }\n}', "1"),
        ('{,"a": .5,}', "5.000000000000000E-01"),
        ('{"a": -01}', "-1"),
        ('{"a": {"b": 1,}}', "[ b = 1 ]"),
    ],
)
def test_lenient_json_is_what_the_daemons_read(text: str, expected: str) -> None:
    """With their wrong bytes for escapes beyond ASCII; none of it is JSON."""
    assert _read(text, Format.JSON, ReadMode.DAEMON) == [{"a": expected}]


@pytest.mark.parametrize("text", ['{"a": [1,]}', '{"a": [,1]}', '{"a": 01}', '{"a": 1.}', '{"a": "\\u0000"}'])
def test_even_the_daemons_refuse(text: str) -> None:
    """A list with a comma too many, for instance, where an object may have it."""
    with pytest.raises(ClassAdSyntaxError):
        _read(text, Format.JSON, ReadMode.DAEMON)


@pytest.mark.parametrize("size", [1, 7, 100, 1 << 20])
def test_xml_documents_may_follow_one_another(size: int) -> None:
    """``condor_q -xml`` of several schedds, or files put together; each ad knows its line."""
    text = "\n" + "".join(write_ads([ClassAd.of_texts({"a": "1"}), ClassAd.of_texts({"a": '"x<y"'})], Format.XML)) * 2
    found = list(read_ads((text[at : at + size] for at in range(0, len(text), size)), Format.XML))
    assert [(str(ad["a"]), ad.place and ad.place.line) for ad in found] == [
        ("1", 5),
        ('"x<y"', 8),
        ("1", 15),
        ('"x<y"', 18),
    ]


def test_faults_of_xml_are_shown_in_their_line() -> None:
    """Also in a document after another one."""
    text = '<?xml version="1.0"?>\n<classads>\n</classads>\n<?xml version="1.0"?>\n<c><a n="x"><i>q</i></a></c>'
    with pytest.raises(ClassAdSyntaxError) as caught:
        list(read_ads(text, Format.XML))
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert span.source.text[span.start : span.end] == "</i>"
    assert span.source.position(span.start) == (5, 17)


@pytest.mark.parametrize("blanks", [" ", "   ", "\t"])
def test_a_backslash_and_a_quote_end_a_string_only_at_the_end_of_the_line(blanks: str) -> None:
    """As HTCondor reads: with blanks after it the string goes on, so that there is no ad for the daemons."""
    assert _read('A = "x\\"\n', Format.LONG, ReadMode.STRICT) == [{"A": '"x\\\\"'}]
    text = f'A = "x\\"{blanks}\n'
    with pytest.raises(ClassAdSyntaxError, match="closing quote") as caught:
        _read(text, Format.LONG, ReadMode.STRICT)
    assert "only as the last of a line" in str(caught.value.diagnostics[0].help)
    assert _read(text, Format.LONG, ReadMode.DAEMON) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('b = 1\na = "' + "x" * (5 << 20) + '"\n', (2, 5)),
        ('<c>\n<a n="x">' + "<l>" * 201 + "</l>" * 201 + "</a></c>", (2, 1417)),
        ('{"b": 1,\n "a":' + "[" * 170 + "]" * 170 + "}", (2, 345)),
    ],
    ids=["long", "xml", "json"],
)
def test_an_error_is_at_a_place_of_the_file(text: str, place: tuple[int, int]) -> None:
    """Also where the value is made of many pieces, or is too long to be looked at."""
    with pytest.raises(ClassAdSyntaxError) as caught:
        read_ad(text)
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert span.source.position(span.start) == place


@pytest.mark.parametrize("blank", [1, 2, 3, 4, 7, 30_000, 30_001])
def test_blank_lines_are_counted_however_many(blank: int) -> None:
    """They are taken together, in work that is in proportion to them; the ads after them have their lines."""
    text = "a = 1\n" + "\n" * blank + "b = 2\n" + "\n" * blank
    for mode in ReadMode:
        assert [(dict(ad.names), ad.place and ad.place.line) for ad in read_ads(text, Format.LONG, mode)] == [
            ({"a": "a"}, 1),
            ({"b": "b"}, blank + 2),
        ]
