"""Rare lines of the transform language, with what condor_transform_ads 25.14 makes of them."""

from pathlib import Path

import pytest

from crondor.classad import ClassAd, Format, read_ad
from crondor.diagnostics import Severity, Source
from crondor.macro.files import Files
from crondor.transform import Chain, InvalidTransform, Transform, TransformFacts, apply_all
from crondor.transform.loading import JOB_TRANSFORM, Rules, find_circles

AD = 'A = 5\nRe = -2.5\nL = {1.5,"x"}\nN = [p = 1; r = A]\n'


def ad_of(text: str = AD) -> ClassAd:
    """Return the ad of a -long text."""
    return read_ad(text, Format.LONG)


def done(rules: str) -> tuple[dict[str, str], list[str]]:
    """Return what differs in an ad after rules, and what was said."""
    result = Transform.parse(rules, strict=False).apply(ad_of())
    return {each.name: each.after or "" for each in result.changes}, [each.message for each in result.diagnostics]


def fault(rules: str) -> str:
    """Return the first fault that is found on loading."""
    return Transform.parse(rules, strict=False).faults[0].message


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        ('SET X "$EVAL(MY.Re)"', '"-2.500000000000000E+00"'),
        ("SET X $EVAL(L)", '{ 1.500000000000000E+00,"x" }'),
        ('SET X "$EVAL(1000.0)"', '"1.000000000000000E+03"'),
        ("SET X \"$EVAL('A')\"", '"5"'),
        ('SET X "$EVAL("a\\nb")"', '"a\\\\nb"'),
        ('EVALMACRO v Re\nSET X "$(v)"', '"-2.5"'),
    ],
)
def test_eval_prints_in_new_syntax(rules: str, text: str) -> None:
    """$EVAL() prints reals with an exponent, EVALMACRO does not; a backslash is one character in the former."""
    assert done(rules) == ({"X": text}, [])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("N", "p = 1\nr = A\n"),
        ("{[p = 1; r = A],[q = 1.5],2}", "{ p = 1\nr = A\n,q = 1.5\n,2 }"),
        ("{N}", "{ N }"),
        ("{[]}", "{ \n }"),
    ],
)
def test_an_ad_becomes_lines_in_a_macro(value: str, said: str) -> None:
    """EVALMACRO gives an ad as -long does; the members of a list are not evaluated."""
    messages = done(f"EVALMACRO v {value}\nSET X ?$(v)")[1]
    assert messages == [f"SET X invalid expression : ?{said}"]


@pytest.mark.parametrize("text", ['"""', '"a" "b', "'A' '", '"a"+"""'])
def test_a_quote_that_closes_nothing_spoils_the_string_before_it(text: str) -> None:
    """Strings side by side are one, so the whole has no end."""
    assert done(f"EVALSET X {text}") == ({}, [f"EVALSET X could not evaluate : {text}"])


@pytest.mark.parametrize(("text", "value"), [('"a" "b"', '"ab"'), ('1 "a', "1"), ('""x', '""'), ('"a"\'', '"a"')])
def test_what_follows_a_whole_expression_is_not_looked_at(text: str, value: str) -> None:
    """EVALSET takes the beginning."""
    assert done(f"EVALSET X {text}")[0] == {"X": value}


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("elif 1 == 2", "1 == 2 is not a valid elif condition because complex conditionals are not supported"),
        ("elif true", "elif without matching if"),
        ("if 0\nelse\nelif x y", "x y is not a valid elif condition because complex conditionals are not supported"),
        ("if 0\nelse\nelif 1", "elif is not allowed after else"),
        ("if 1\nelse\nelif x y", "elif is not allowed after else"),
    ],
)
def test_a_condition_is_tested_before_its_place(rules: str, message: str) -> None:
    """HTCondor asks for the truth of an elif first, and then whether it may stand there."""
    assert fault(f"SET F 1\n{rules}") == message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (": if true", "if is not a valid transform keyword"),
        (": X = 5", "X is not a valid transform keyword"),
        ("::if true", ":if is not a valid transform keyword"),
        ("::X = 1", ":X is not a valid transform keyword"),
        (":: SET X 1", ": is not a valid transform keyword"),
    ],
)
def test_one_colon_alone_is_stepped_over(line: str, message: str) -> None:
    """No blank after it is: a conditional or an assignment is none there, a command is one."""
    assert fault(f"if true\n{line}\nendif") == message


def test_a_command_may_stand_apart_from_its_colon() -> None:
    """In an if that holds it is run, and what is no line at all is skipped in one that does not."""
    assert done("if true\n: SET X 1\nendif\nif false\n: if\nendif")[0] == {"X": "1"}


@pytest.mark.parametrize(
    ("use", "holds"), [("ROLE:Execute", True), ("role", True), ("ROLE:", True), ("ROLE:Nope", False), ("X:y", False)]
)
def test_templates_are_known_to_conditions(use: str, holds: bool) -> None:
    """The names that the configuration's use knows."""
    assert done(f"if defined use {use}\nSET X 1\nelse\nSET X 2\nendif")[0] == {"X": "1" if holds else "2"}


def rounds(arguments: str, facts: TransformFacts | None = None) -> list[str]:
    """Return $(x) of each round of a TRANSFORM."""
    rules = Transform.parse(f'SET X "$(Item)"\nTRANSFORM {arguments}\n')
    return [ad.text("X") or "" for ad in apply_all([rules], ad_of(), facts or TransformFacts()).ads]


@pytest.mark.parametrize(
    ("arguments", "items"),
    [
        ("in [0]a,b", ['"[0]a"', '"b"']),
        ("in [0] a,b", ['"a"', '"b"']),
        ("in [1:](a b)", ['"a"', '"b"']),
        ("$INT(Nope) in (a b)", ['"a"', '"b"']),
        ("$ENV(TIMES) in (a)", ['"a"', '"a"']),
        ("$EVAL(1+1) in (a)", ['"a"', '"a"']),
        ("$CHOICE(1,1,2,3) in (a)", ['"a"', '"a"']),
    ],
)
def test_items_of_a_transform(arguments: str, items: list[str]) -> None:
    """A slice counts where a blank or a parenthesis comes later; the functions of macros may give the count."""
    assert rounds(arguments, TransformFacts(environ={"TIMES": "2"})) == items


def test_a_function_that_fails_in_a_transform_is_said() -> None:
    """And gives nothing, so that there is one round for each item."""
    rules = Transform.parse('SET X "$(Item)"\nTRANSFORM $INT(Nope) in (a)\n')
    (outcome,) = Chain([rules]).rounds(ad_of())
    assert [each.message for each in outcome.diagnostics] == ["$INT() macro: Nope does not evaluate to an integer!"]


def test_a_name_without_a_star_need_be_no_folder(tmp_path: Path) -> None:
    """``matching dirs`` looks only at names that a pattern gave, as glob(3) does."""
    (tmp_path / "one.txt").touch()
    (tmp_path / "sub").mkdir()
    facts = TransformFacts(files=Files([str(tmp_path)], base=str(tmp_path)))
    assert rounds("matching dirs one.txt", facts) == ['"one.txt"']
    assert rounds("matching dirs *", facts) == ['"sub/"']
    assert rounds("matching files *", facts) == ['"one.txt"']


def test_lines_are_counted_by_their_ends() -> None:
    """In the words of a list without its end."""
    with pytest.raises(InvalidTransform, match="TRANSFORM command on line 1"):
        _ = apply_all([Transform.parse("SET X 1\nTRANSFORM in (a")], ad_of()).ad
    with pytest.raises(InvalidTransform, match="TRANSFORM command on line 2"):
        _ = apply_all([Transform.parse("SET X 1\nTRANSFORM in (a\n")], ad_of()).ad


def test_what_is_only_read_is_no_change() -> None:
    """An attribute that an expression looked at is as it was, however its text is kept meanwhile."""
    ad = ad_of("Re = -2.5\nSum = A+1&&true\nA = 1\n")
    result = Transform.parse("EVALMACRO v Re * 2\nEVALSET X Sum\nSET Re -2.50\nSET Sum A + 1 && true\n").apply(ad)
    assert [change.lines for change in result.changes] == [(None, "X = true")]
    assert result.changes.undo(result.ad).print() == ad.print()


def test_a_change_is_shown_as_in_a_long_ad() -> None:
    """Its texts are in new syntax, where reals have an exponent."""
    (change,) = Transform.parse("EVALSET Re Re * 2").apply(ad_of("Re = 2.5")).changes
    assert (change.before, change.after) == ("2.5", "5.000000000000000E+00")
    assert change.lines == ("Re = 2.5", "Re = 5.0")


def loaded(knobs: dict[str, str], names: str, *files: str) -> Rules:
    """Return rules of files, and of knobs after them."""
    rules = Rules(TransformFacts({JOB_TRANSFORM + name: text for name, text in knobs.items()}))
    for number, text in enumerate(files):
        rules.add_file(Source(text, f"file{number}"))
    rules.add_knobs(JOB_TRANSFORM, names)
    rules.finish()
    return rules


def test_the_last_of_several_knobs_alone_iterates() -> None:
    """As condor_transform_ads has it; the others are done once, and that is said."""
    knobs = {"A": "SET X 1\nTRANSFORM 2", "B": "SET Y 1", "C": "SET Z 1\nTRANSFORM 3"}
    rules = loaded(knobs, "A B")
    assert [len(apply_all(rules.transforms, ad_of(), rules.facts).ads), *[d.kind for d in rules.diagnostics]] == [
        1,
        "transform-ignored",
    ]
    assert len(apply_all(loaded(knobs, "A C").transforms, ad_of()).ads) == 3
    assert len(apply_all(loaded(knobs, "A").transforms, ad_of()).ads) == 2


def test_the_last_knob_is_left_out_where_its_check_comes_to_no_command() -> None:
    """One before it is not, and fails where an ad comes to it."""
    knobs = {"Bad": "W := 2\nSET X 1", "Good": "SET Y 1"}
    assert [each.name for each in loaded(knobs, "Good Bad").transforms] == ["Good"]
    assert [each.name for each in loaded(knobs, "Bad Good").transforms] == ["Bad", "Good"]


def test_a_check_on_loading_sees_what_files_before_define() -> None:
    """So that a file whose commands depend on it is taken for rules."""
    rules = loaded({"Z": "SET Z 1"}, "Z", "V = 1\n", "if defined V\nSET X 1\nendif\n")
    assert [each.name for each in rules.transforms] == ["file1", "Z"]


def found(*texts: str, knobs: dict[str, str] | None = None) -> list[tuple[str, str, str]]:
    """Return severity, message up to the colon, and place of each finding of transforms in a row."""
    facts = TransformFacts(knobs)
    said = find_circles([Transform.parse(text) for text in texts], facts)
    return [(each.severity.value, each.message.partition(":")[0], each.span.text if each.span else "") for each in said]


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ('SET X strcat(X, "a")', "X refers to itself", 'SET X strcat(X, "a")'),
        ("SET Requirements (Requirements) && TARGET.a", "Requirements refers to itself", None),
        ("DEFAULT X X + 1", "X refers to itself", "DEFAULT X X + 1"),
        ("SET X MY.X + 1", "X refers to itself", "SET X MY.X + 1"),
        ("SET A B\nCOPY A B", "B refers to itself", "COPY A B"),
        ("SET A B\nRENAME A B", "B refers to itself", "RENAME A B"),
        ("SET A B\nSET B A", "B refers to A, A to B", "SET B A"),
        ("SET A B\nSET B C\nSET C A", "C refers to A, A to B, B to C", "SET C A"),
        ("r = (X)\nSET X $(r) + 1", "X refers to itself", "SET X $(r) + 1"),
        ("SET X $(from_configuration)", "X refers to itself", "SET X $(from_configuration)"),
        ("if defined MY.X\nSET X X + 1\nendif", "X refers to itself", "SET X X + 1"),
        ("if $(unknown)\nSET Y 1\nelse\nSET X X + 1\nendif", "X refers to itself", "SET X X + 1"),
    ],
)
def test_a_circle_is_found_at_the_line_that_closes_it(text: str, message: str, place: str | None) -> None:
    """Whatever writes it: SET, DEFAULT, COPY, RENAME, a macro, a line below a condition."""
    known = {"from_configuration": "X + 1"}
    assert found(text, knobs=known) == [("error", message, text if place is None else place)]


@pytest.mark.parametrize(
    "text",
    [
        'EVALSET X strcat(X, "a")',
        "SET Requirements ($(MY.Requirements)) && TARGET.a",
        'SET X "$(MY.X)a"',
        "COPY X Old\nSET X Old + 1",
        "RENAME X Old\nSET X Old + 1",
        "SET X TARGET.X",
        "SET A B\nDELETE B",
        "SET A B\nSET B A\nSET A 1",
        "SET X ifThenElse(false, X, 1)",
        "if 0\nSET X X + 1\nendif",
        "NAME X\nREQUIREMENTS X\nSET Y X",
    ],
)
def test_what_is_no_circle_is_none(text: str) -> None:
    """A value, the expression that was there, another name, another ad, what is gone again."""
    assert found(text) == []


def test_a_reference_that_is_not_always_needed_is_no_error() -> None:
    """It may have a value; a way round through others may be meant."""
    assert found("SET X Y ? X : 1") == [("warning", "X refers to itself", "SET X Y ? X : 1")]
    branches = "if $(a)\nSET A B\nendif\nif $(b)\nSET B A\nendif"
    assert [each[0] for each in found(branches)] == ["note"]


def test_transforms_in_a_row_close_a_circle_together() -> None:
    """Each alone does not."""
    assert found("SET A B") == found("SET B A") == []
    assert found("SET A B", "SET C 1", "SET B A") == [("error", "B refers to A, A to B", "SET B A")]


def test_what_to_write_fits_the_line() -> None:
    """A value where that is one, the expression for what is evaluated beside a machine."""

    def help_of(text: str) -> str | None:
        (only,) = find_circles([Transform.parse(text)], TransformFacts())
        assert only.severity is Severity.ERROR
        return only.help

    assert help_of("SET X X + 1") == "write EVALSET X for its value, or $(MY.X) for the expression that the job has"
    assert help_of("SET Rank Rank + 1") == "write $(MY.Rank) for the expression that the job has"
    assert help_of("SET A B\nCOPY A B") == "write EVALSET B A to take the value, not the expression"
    assert help_of("SET A B\nSET B A") == "COPY one of them to another name first, and refer to that"


def test_many_lines_and_conditions_take_no_time() -> None:
    """Ways through conditions are bounded, and so are lines."""
    many = "\n".join(f"if $(c{n})\nSET A{n} A{n + 1}\nendif" for n in range(200)) + "\nSET A200 A0"
    assert len(found(many)) == 1
    assert found("SET X X\n" + "SET Y 1\n" * 20_000) == []
