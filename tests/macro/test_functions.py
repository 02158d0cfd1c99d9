"""The macro functions. The values and the words of the failures are recorded of HTCondor 25.14.0."""

from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.macro import Around, Budget, MacroError, expand, expand_self
from crondor.macro.functions import as_integer, as_real
from tests.rows import rows

MACROS = {
    "v": "abcdefgh",
    "n": "7",
    "sum": "3*4",
    "lazy": "$(sum)+1",
    "l": "10,20,30",
    "i": "1",
    "f": "/a/b/c.txt",
    "bare": "c.txt",
    "up": "../up/f.py",
    "win": "C:\\d\\e.f",
    "quoted": '"/q/r s.x"',
    "folder": "/a//b/",
    "empty": "",
    "words": "x, y z",
}


def expanded(text: str, around: Around | None = None, **macros: str) -> str:
    """Expand with the macros above, and those given."""
    return expand(text, {**MACROS, **macros}.get, Budget(), around or Around())


def dice(seed: int) -> Random:
    """Return random numbers of a seed."""
    return Random(seed)  # noqa: S311 - no secrets


def failed(text: str) -> tuple[str, str]:
    """Return what a text expands to, and what is printed and skipped."""
    soft: list[MacroError] = []
    value = expanded(text, Around(soft=soft.append))
    assert [error.diagnostics[0].kind for error in soft] == ["macro-function"]
    return value, soft[0].diagnostics[0].message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$INT(n)", "7"),
        ("$INT(sum)", "12"),
        ("$INT(lazy)", "13"),
        ("$INT(2.9)", "2"),
        ("$INT(-2.9)", "-2"),
        ("$INT(true)", "1"),
        ("$INT( 5 )", "5"),
        ("$INT(9223372036854775808)", "9223372036854775807"),
        ("$INT(n,%05d)", "00007"),
        ("$INT(255,%x)", "ff"),
        ("$INT(255,%X)", "FF"),
        ("$INT(5,%d items)", "5 items"),
        ("$INT(5,100%%: %-4d|)", "100%: 5   |"),
        ("$INT(65,%c)", "A"),
        ("$INT(4294967297,%d)", "1"),
        ("$INT(4294967297,%ld)", "4294967297"),
        ("$INT(-1,%u)", "4294967295"),
        ("$INT(n,%99999999d)", " " * 55),
        ("$REAL(2.50)", "2.5"),
        ("$REAL(1e10)", "10000000000"),
        ("$REAL(n)", "7"),
        ("$REAL(1/3.0)", "0.3333333333333333"),
        ("$REAL(3.14159,%.2f)", "3.14"),
        ("$REAL(3,%g)", "3.0"),
        ("$STRING(n)", "7"),
        ('$STRING("q")', "q"),
        ("$STRING(Nope)", "Nope"),
        ("$STRING(v,%10s)", "  abcdefgh"),
        ("$STRING(v,%-10.3s|)", "abc       |"),
        ("$EVAL(sum)", "12"),
        ("$EVAL(Nope)", "undefined"),
        ('$EVAL("lit")', "lit"),
        ("$EVAL({1,2})", "{ 1,2 }"),
        ("$EVAL((1 +)", ""),
        ("$EVAL(words)", ""),
        ("$SUBSTR(v,2,3)", "cde"),
        ("$SUBSTR(v,-3,2)", "fg"),
        ("$SUBSTR(v,0,-2)", "abcdef"),
        ("$SUBSTR(v,3)", "defgh"),
        ("$SUBSTR(v,20)", ""),
        ("$SUBSTR(v,2,0)", ""),
        ("$SUBSTR(v,i,n)", "bcdefgh"),
        ("$SUBSTR(literal,1,3)", ""),
        ("$CHOICE(2,l)", "30"),
        ("$CHOICE(i,l)", "20"),
        ("$CHOICE(1,4,5,6)", "5"),
        ("$CHOICE(0, a , b)", "a"),
        ("$RANDOM_CHOICE(7)", "7"),
        ("$RANDOM_INTEGER(5,5)", "5"),
        ("$RANDOM_INTEGER(5,9,10)", "5"),
        ("$NOFUNC(1) $int(5) $Choice(0,a,b)", "$NOFUNC(1) $int(5) $Choice(0,a,b)"),
        ("a$INT(1)b$INT(2)", "a1b2"),
        ("$(none:$INT(n))", "7"),
        ("$(which$INT(1))", "yes"),
        ("$INT(", "$INT("),
    ],
)
def test_values(text: str, value: str) -> None:
    """Arguments are names of macros, or else the values themselves; expressions are evaluated on their own."""
    assert expanded(text, which1="yes") == value


@pytest.mark.parametrize(("text", "value"), rows("macro/file_names"))
def test_file_names(text: str, value: str) -> None:
    """The letters of $F pick parts of a path; quotes around it go, unless q asks for some."""
    assert expanded(text, Around(folder="/home")) == value


@pytest.mark.parametrize(
    ("text", "value", "message"),
    [
        ("[$INT(Nope)]", "[]", "$INT() macro: Nope does not evaluate to an integer!"),
        ("$INT()", "", "$INT() macro:  does not evaluate to an integer!"),
        ("$INT(0x10)", "", "$INT() macro: 0x10 does not evaluate to an integer!"),
        ("$INT(words)", "", "$INT() macro: x, y z does not evaluate to an integer!"),
        ("$INT(5,%s)", "%s", "$INT() macro: '%s' is not a valid format specifier!"),
        ("$INT(5,%*d)", "%*d", "$INT() macro: '%*d' is not a valid format specifier!"),
        ("$INT(5,%n)", "%n", "$INT() macro: '%n' is not a valid format specifier!"),
        ("$INT(5,%d %d)", "%d %d", "$INT() macro: '%d %d' is not a valid format specifier!"),
        ("$REAL(abc)", "", "$REAL() macro: abc does not evaluate to an real!"),
        ("$REAL(5,%d)", "%d", "$REAL() macro: '%d' is not a valid format specifier!"),
        ('$STRING(strcat("a","b"))', '"b")', "$STRING macro: '\"b\"' is not a valid format specifier!"),
        ("$STRING(v,%999999999s)", "%999999999s", "$STRING macro: '%999999999s' is not a valid format specifier!"),
        ("$CHOICE(9,1,2,3)", "", "$CHOICE() config macro: index 9 is out of range!"),
        ("$CHOICE(x,1,2)", "1", "$CHOICE() error: 'x' is invalid index"),
        ("$CHOICE(1)", "", "$CHOICE() error: no list"),
        ("$CHOICE(1,nolist)", "", '$CHOICE() macro: no list named "nolist"!'),
        ("$SUBSTR(v)", "", "$SUBSTR() macro: no length specified!"),
        ("$SUBSTR(v,q)", "", "$SUBSTR() macro: q is invalid start index!"),
        ("$SUBSTR(v,0,q)", "", "$SUBSTR() macro: q is invalid length !"),
        ("$RANDOM_CHOICE()", "", "$RANDOM_CHOICE() macro is empty!"),
        ("$RANDOM_INTEGER(9,1)", "1", "$RANDOM_INTEGER() config macro: min > max!"),
        ("$RANDOM_INTEGER(5)", "5", "$RANDOM_INTEGER() config macro: invalid max!"),
        ("$RANDOM_INTEGER(5,5,0)", "5", "$RANDOM_INTEGER() config macro: invalid step!"),
    ],
)
def test_failures_are_passed_over_in_htcondors_words(text: str, value: str, message: str) -> None:
    """A function that has no value says so and gives some text; with nobody to take the report it is an error."""
    assert failed(text) == (value, message)
    with pytest.raises(MacroError, match="CRN005"):
        expanded(text)


def test_environment_is_what_the_caller_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """$ENV() sees no variable of the process; where nothing is passed it is an error, not a guess."""
    monkeypatch.setenv("CRONDOR_CANARY", "seen")
    around = Around(environ={"HOME": "/home/x", "LAZY": "$(n)"})
    text = "$ENV(HOME) $ENV(CRONDOR_CANARY) $ENV(CRONDOR_CANARY:$(n)) $ENV(LAZY) $ENV(NOPE:dd)"
    assert expanded(text, around) == "/home/x UNDEFINED 7 7 dd"
    with pytest.raises(MacroError, match="environment, which is not known"):
        expanded("$ENV(CRONDOR_CANARY:dd)")


def test_randomness_comes_from_the_dice_alone() -> None:
    """The same seed gives the same numbers; without one there are none."""
    text = "$RANDOM_INTEGER(0,1000,10)/$RANDOM_CHOICE(a,b,c,d,e,f,g,h)/$RANDOM_CHOICE(l)"
    values = {expanded(text, Around(dice=dice(seed))) for seed in (1, 1, 2, 3)}
    assert len(values) == 3
    for value in values:
        number, letter, item = value.split("/")
        assert int(number) % 10 == 0
        assert letter in "abcdefgh"
        assert item in MACROS["l"].split(",")
    for each in (*text.split("/"), "$INT(dice)"):
        with pytest.raises(MacroError, match="drawn again at each submission"):
            expanded(each, dice="random(10)")


def test_the_clock_is_an_argument() -> None:
    """Expressions see the time they are given; without it, it is an error."""
    assert expanded("$INT(t)", Around(now=1_000), t="time() + 1") == "1001"
    with pytest.raises(MacroError, match="depends on the time"):
        expanded("$EVAL(t)", t="time()")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x", "1$SUBSTR(x,1,2)"),
        ("x", "$CHOICE(x,a,b)"),
        ("x", "$CHOICE(0,x)"),
        ("x", "$INT(x)"),
        ("x", "$STRING(y)$(y)"),
        ("y", "$Fn(x)"),
    ],
)
def test_a_function_of_itself_is_a_cycle(name: str, text: str) -> None:
    """What makes HTCondor crash or hang is an error that shows the circle."""
    macros = {"x": "$(y)", "y": "$(x)", name: text}
    with pytest.raises(MacroError, match="defined by itself") as caught:
        expand("$(x)", macros.get, Budget())
    assert caught.value.chain[0] == "x"


@pytest.mark.parametrize("value", ["$ENV(A)", "$(m)"])
def test_what_a_function_gives_is_expanded_and_may_be_a_cycle(value: str) -> None:
    """The text of a variable has macros of its own, and no way to loop."""
    with pytest.raises(MacroError, match="defined by itself"):
        expand("$(m)", {"m": "$ENV(A)"}.get, Budget(), Around(environ={"A": value}))


def test_functions_inside_functions_are_bounded() -> None:
    """Neither depth nor doubling gets far."""
    macros = {f"x{i + 1}": f"$STRING(x{i})" for i in range(100)}
    assert expand("$(x20)", {**macros, "x0": "end"}.get, Budget()) == "end"
    with pytest.raises(MacroError, match="are nested more"):
        expand("$(x90)", macros.get, Budget())
    macros = {f"x{i + 1}": f"$STRING(x{i})$STRING(x{i})" for i in range(25)}
    with pytest.raises(MacroError, match="CRN005"):
        expand("$(x25)", {**macros, "x0": "ab"}.get, Budget(work=1 << 20))


def test_evaluations_are_paid_for() -> None:
    """An expression that multiplies itself costs what its evaluation costs."""
    parts = "; ".join(f"a{i + 1} = a{i} + a{i}" for i in range(12))
    text = f"$EVAL([ a0 = 1; {parts} ].a12)" * 20
    with pytest.raises(MacroError, match="takes too long"):
        expand(text, MACROS.get, Budget(work=1 << 20))
    assert expand("$EVAL([ a = 1 ].a)" * 20, MACROS.get, Budget(work=1 << 20)) == "1" * 20


def test_file_functions_of_the_name_itself_are_replaced_at_once() -> None:
    """At an assignment $Fn(x) takes the earlier text of x, like $(x); other functions stay."""
    text = expand_self("$Fn(x) $INT(x) $Fn(y)", "x", "/a/b.c", Budget(), {"x": "/a/b.c"}.get)
    assert text == "b $INT(x) $Fn(y)"


@given(st.integers())
def test_integers_are_read_with_c_bounds(number: int) -> None:
    """Any integer is read, one beyond 64 bits as the nearest that fits."""
    assert as_integer(f" {number} ") == max(-(1 << 63), min(number, (1 << 63) - 1))


@pytest.mark.parametrize(
    ("text", "value"),
    [("5.", 5.0), (".5e1", 5.0), ("0x1p4", 16.0), ("0x1p99999", float("inf")), ("1 + 1", 2.0), ("a", None), ("", None)],
)
def test_reals(text: str, value: float | None) -> None:
    """Literals are those of C, all else is an expression."""
    assert as_real(text) == value


NAMES = st.sampled_from(["INT", "REAL", "STRING", "EVAL", "CHOICE", "RANDOM_CHOICE", "SUBSTR", "F", "Fqpn", "BASENAME"])
BODIES = st.text(alphabet="$(),%dsxl9-.:\"'/\\ nvF", max_size=20)


@given(st.lists(st.tuples(NAMES, BODIES), max_size=5), st.dictionaries(st.sampled_from(["n", "v", "x"]), BODIES))
def test_no_body_raises_anything_else(calls: list[tuple[str, str]], macros: dict[str, str]) -> None:
    """Whatever stands in the parentheses, there is a text or a MacroError."""
    text = "".join(f"${name}({body})" for name, body in calls)
    around = Around(environ={}, dice=dice(1), now=0, soft=lambda _: None)
    with suppress(MacroError):
        assert len(expand(text, macros.get, Budget(work=1 << 20, size=5000), around)) <= 5000


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$Fwp(d/e/f.g)", ""),  # the separator of Linux only, once w has replaced it
        ("$Fwn(d/e/f.g)", "d\\e\\f"),
        ("$Fqp(x.y)", '"'),  # nothing in quotes is one quote
        ("$Fqx(a/)", '"'),
        ("$Fqd(a/b.c)", '"a/"'),
        ("$F$(call)", ".r"),  # the parenthesis of a function may come from a macro
        ("$REAL(3,%a)", "0x1.8p+1"),
        ("$REAL(-0.1,%+.3A)", "-0X1.99AP-4"),
        ("$REAL(1,%012.0a)", "0x0000001p+0.0"),
    ],
)
def test_what_the_library_of_htcondor_gives(text: str, value: str) -> None:
    """Compared with htcondor2 25.14.1, Submit.expand()."""
    assert expanded(text, call="x(q.r)") == value
