"""HTCondor's configuration language: what a line sets, what is refused, and where."""

from pathlib import Path

import pytest

from crondor.config import Configuration, read_config
from crondor.diagnostics import Severity, Source
from crondor.macro.files import Files


def read(*lines: str, **around: object) -> Configuration:
    """Read the lines of a file."""
    return read_config(Source("\n".join(lines) + "\n", "x.conf"), **around)  # type: ignore[arg-type]


def refused(*lines: str) -> list[str]:
    """Return what is an error in some lines, with its place."""
    found = read(*lines).diagnostics
    return [
        f"{each.span.line if each.span else 0}: {each.message}" for each in found if each.severity is Severity.ERROR
    ]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("X = 1",), "1"),
        (("x=1",), "1"),
        (("  X   =   a b  ",), "a b"),
        (("X = a # b",), "a # b"),
        (("# X = 1", "X = 2"), "2"),
        (("X = a\\", "  b"), "ab"),
        (("X = a \\", "# gone \\", "b"), "a b"),
        (("X = 1", "X = $(X)2"), "12"),
        (("X = 1", "X += 2"), "1 2"),
        (("X = 1", "X +,= 2"), "1,2"),
        (("X = 1", "X +&&= 2"), "1 && 2"),
        (("X += 2",), "2"),
        (("V = 1", "X = $(V)", "V = 2"), "2"),
        (("X = $(NOTHING:5)",), "5"),
        (("X = $(NOTHING)a",), "a"),
        (("X = $(DOLLAR)(A)",), "$(A)"),
        (("X @=end", "a", "", "# gone", "  b", "@end"), "a\nb"),
        (("X @=end", "if a", "@end"), "if a"),
        (("X @=a", "@b", "@a"), "@b"),
        (("X : 1",), "1"),
        (("X Y = 1",), "1"),
        (("[section]", "X = 1"), "1"),
        (("A_X = 1", "N = X", "X = $(A_$(N))"), "1"),
        (("X = $ENV(HOME)",), "/home/ann"),
        (("X = $ENV(NOBODY:b)",), "b"),
        (("X = $SUBSTR(ABC,1)", "ABC = hello"), "ello"),
        (("N = X", "$(N) = 1"), "1"),
    ],
)
def test_a_line_sets_a_knob(lines: tuple[str, ...], expected: str) -> None:
    """Values are expanded when they are asked for; a knob's own earlier text at once."""
    made = read(*lines, environ={"HOME": "/home/ann"})
    assert made.string("x") == expected


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("true", True),
        ("no", False),
        ("0", False),
        ("1", True),
        ("$(ONE)", True),
        ("! $(ONE)", False),
        ("$(NOTHING)", False),
        ("defined ONE", True),
        ("defined one", True),
        ("defined NOTHING", False),
        ("defined EMPTY", False),
        ("defined use ROLE:Execute", True),
        ("defined use ROLE:Nobody", False),
        ("defined use role", True),
        ("defined use ROLE:", True),
        ("defined use NOPE", False),
        ("version >= 8.1.6", True),
        ("version < 25.14.0", False),
    ],
)
def test_conditions(condition: str, holds: bool) -> None:
    """If takes numbers, truth values, defined and version."""
    made = read("ONE = 1", "EMPTY =", f"if {condition}", "X = yes", "else", "X = no", "endif")
    assert made.diagnostics == ()
    assert made.string("x") == ("yes" if holds else "no")


def test_conditionals_may_stand_inside_one_another() -> None:
    """An elif is asked only where nothing before it held; a colon hides a line from old releases only."""
    made = read(
        "if false", "X = 1", "elif true", ":if false", "X = 2", "else", ":X = 3", "endif", "else", "X = 4", "endif"
    )
    assert made.string("x") == "3"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("X",), "1: this line is not an assignment: HTCondor stops reading here"),
        (("SET X 1",), "1: this line is not an assignment: HTCondor stops reading here"),
        (("a-b = 1",), "1: Illegal Identifier: <a-b>"),
        (("= 1",), "1: Illegal Identifier: <>"),
        (("X @=end", "a"), "1: Found end-of-file while scanning for '@end'"),
        (("if true", "X = 1"), "3: endif(s) not found before end-of-file"),
        (("endif",), "1: endif without matching if"),
        (
            ("if $(A) > 3", "endif"),
            "1: $(A) > 3 is not a valid if condition because complex conditionals are not supported",
        ),
        (("use ROLE : Nobody",), "1: use ROLE: does not recognise Nobody"),
        (("use ROLL : Execute",), "1: at use ROLL:Execute: unknown category"),
        (("include maybe : x",), "1: unexpected keyword(s) 'maybe' after include"),
        (("error : wrong $(A:b)",), "1: the file has an error statement: wrong b"),
    ],
)
def test_what_htcondor_refuses(lines: tuple[str, ...], expected: str) -> None:
    """In its own words where it has any."""
    assert refused(*lines) == [expected]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("use ROLE Submit", "write use ROLE : Submit"),
        ("use feature", "write use feature : NAME"),
        ("include more.conf", "write include : more.conf"),
        ("error no", "write error : no"),
        ("NAME value", "a transform's commands belong in a knob: JOB_ROUTER_ROUTE_name @=end, the commands, @end"),
        ("X y z", "write X = y z"),
    ],
)
def test_a_line_without_its_sign_is_told_which_is_missing(line: str, said: str) -> None:
    """Keywords have a colon, knobs a =."""
    assert [each.help for each in read(line).diagnostics] == [said]


def test_a_value_without_its_end_is_told_where_it_goes_wrong() -> None:
    """At the next one that begins with the same tag, or at a tag in other letters; another tag is another value."""
    made = read("A @=end", "x", "B @=end", "y", "@end")
    assert [(each.kind, each.span and each.span.line, each.help) for each in made.diagnostics] == [
        ("config-nested", 3, "write a line @end before this one")
    ]
    assert made.raw("A") == "x\nB @=end\ny"
    made = read("A @=end", "x", "@END")
    assert [each.help for each in made.diagnostics] == [
        "end the value with a line @end; @END in line 3 is another word"
    ]
    assert read("A @=end", "B @=more", "y", "@more", "@end").diagnostics == ()


def test_all_faults_are_found_at_once_and_what_is_right_is_kept() -> None:
    """HTCondor stops at the first."""
    made = read(
        "A = 1", "nothing", "B = 2", "x-y = 1", "C @=end", "c", "@end", "if what is this", "D = 4", "endif", "E = 5"
    )
    assert [each.span.line for each in made.diagnostics if each.span] == [2, 4, 8]
    assert [made.string(name) for name in "ABCDE"] == ["1", "2", "c", None, "5"]
    assert not made.is_valid


def test_the_place_of_a_value_is_known() -> None:
    """Line by line for a value of several lines, through continuations."""
    made = read("A = 1", "R @=end", "  one", "# no", "  two \\", "  three", "@end")
    knob = made.find("r")
    assert knob is not None
    assert (knob.name, knob.text) == ("R", "one\ntwo three")
    assert [(line.span().line, line.span().column) for line in knob.lines()] == [(3, 3), (5, 3)]
    one = made.find("A")
    assert one is not None
    assert (one.place().location, one.place().text) == ("x.conf:1:5", "1")


def test_a_value_that_was_put_together_stands_nowhere() -> None:
    """Its text is not that of any lines."""
    knob = read("A = 1", "A += 2").find("A")
    assert knob is not None
    assert knob.lines() == ()
    assert knob.place().location == "x.conf:2:6"


def test_a_daemon_has_knobs_of_its_own() -> None:
    """Its local name wins over its subsystem, and that over the name alone."""
    lines = ("X = 1", "JOB_ROUTER.X = 2", "east.X = 3", "Y = 1", "JOB_ROUTER.Y = $(Y)2", "SCHEDD.X = 4")
    assert read(*lines, subsystem="JOB_ROUTER").string("X") == "2"
    assert read(*lines, subsystem="SCHEDD").string("X") == "4"
    made = read(*lines, local_name="east")
    assert (made.string("X"), made.string("Y"), made.texts()["x"]) == ("3", "12", "3")


def test_a_second_file_goes_on_where_the_first_ended() -> None:
    """Later lines win, earlier ones are seen."""
    first = read("A = 1", "B = 1")
    second = read_config(Source("B = $(B)2\nif defined A\nC = 3\nendif\n", "y.conf"), base=first)
    assert [second.string(name) for name in "ABC"] == ["1", "12", "3"]
    knob = second.find("B")
    assert knob is not None
    assert knob.place().source.name == "y.conf"
    assert first.string("B") == "1"


def test_a_mapping_is_a_configuration_too() -> None:
    """Its values are what would come after the sign."""
    made = read_config({"A": " 1 ", "b": "$(A)2", "no-name": "x"})
    assert (made.string("a"), made.string("B")) == ("1", "12")
    assert [each.message for each in made.diagnostics] == ["Illegal Identifier: <no-name>"]


@pytest.mark.parametrize(
    ("text", "integer", "real", "boolean"),
    [
        ("5", 5, 5.0, True),
        ("-1", -1, -1.0, True),
        ("60 * 10", 600, 600.0, True),
        ("0", 0, 0.0, False),
        ("true", 1, 1.0, True),
        ("FALSE", 0, 0.0, False),
        ("2.5", 2, 2.5, True),
        ("1 + 1 == 3", 0, 0.0, False),
        ('"3"', None, None, None),
        ("many", None, None, None),
        ("5 apples", None, None, None),
        ("$(A)", 7, 7.0, True),
        ("1e3", 1000, 1000.0, True),
    ],
)
def test_values_have_types(text: str, integer: int | None, real: float | None, boolean: bool | None) -> None:
    """A literal, else an expression without an ad."""
    made = read("A = 7", f"X = {text}")
    for read_as, expected in ((made.integer, integer), (made.real, real), (made.boolean, boolean)):
        if expected is None:
            with pytest.raises(ValueError, match="X in the condor configuration"):
                read_as("X")
        else:
            assert read_as("X") == expected


def test_what_is_not_set_has_its_default() -> None:
    """An empty knob is one that is not set."""
    made = read("X =")
    assert (made.integer("X", 3), made.real("Y", 2.5), made.boolean("Z", default=True)) == (3, 2.5, True)
    assert (made.string("X"), made.raw("X"), made.expression("X"), made.names("X")) == (None, None, None, ())
    assert made.string("JOB_ROUTER_NAME") == "jobrouter"
    assert not made.is_set("JOB_ROUTER_NAME")


def test_names_and_expressions() -> None:
    """A list has commas and blanks between its names."""
    made = read("X = a, b c,,d", 'E = Owner == "ann"', "F = 1 +")
    assert made.names("X") == ("a", "b", "c", "d")
    assert str(made.expression("E")) == 'Owner == "ann"'
    with pytest.raises(ValueError, match=r"x\.conf:3"):
        made.expression("F")


def test_a_template_that_the_caller_knows_is_read() -> None:
    """Arguments stand in the place of $(1) and its like."""
    templates = {"FEATURE.Routes": "JOB_ROUTER_ROUTE_NAMES = $(1) $(2:other)"}
    made = read("use feature : routes(a)", templates=templates)
    assert made.string("JOB_ROUTER_ROUTE_NAMES") == "a other"
    noted = read("use ROLE : Execute")
    assert [each.severity for each in noted.diagnostics] == [Severity.NOTE]


def test_the_version_is_that_of_the_caller() -> None:
    """A file may be meant for several releases."""
    lines = ("if version >= 24.0", "X = new", "else", "X = old", "endif")
    assert read(*lines, version=(23, 10, 0)).string("X") == "old"
    assert read(*lines).string("X") == "new"


def test_an_include_of_nothing_may_miss(tmp_path: Path) -> None:
    """Only with ifexist."""
    files = Files([str(tmp_path)], base=str(tmp_path))
    assert read_config("include ifexist :\nA = 1\n", files=files).is_valid
    assert not read_config("include :\nA = 1\n", files=files).is_valid
