"""The transform language: commands, regular expressions, macros, conditions, rounds, findings, trace and undo."""

import pickle
from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import ClassAd, Context, Format, Order, read_ad
from crondor.diagnostics import Severity, Source
from crondor.transform import Chain, InvalidTransform, RuleSource, Transform, TransformFacts, apply_all, transform_ads
from crondor.transform.loading import JOB_ROUTE, JOB_TRANSFORM, Rules
from tests.transform.knobs import read_knobs

AD = 'A = 5\nB = "two words"\nC = A + 1\nOwner = "alice"\nTransferErr = "e"\nTransferOut = "o"\n'


def ad_of(text: str = AD) -> ClassAd:
    """Return the ad of a -long text."""
    return read_ad(text, Format.LONG)


def done(rules: str, ad: str = AD, facts: TransformFacts | None = None) -> dict[str, str]:
    """Return what differs in an ad after rules: the new text by name, nothing for a deleted one."""
    result = Transform.parse(rules).apply(ad_of(ad), facts or TransformFacts())
    return {change.name: change.after or "" for change in result.changes}


def said(rules: str, *, severity: Severity | None = None) -> list[tuple[str, int]]:
    """Return code and line of what is found in rules on loading."""
    transform = Transform.parse(rules, strict=False)
    found = (*transform.faults, *transform.warnings)
    return [(each.kind, each.span.line) for each in found if each.span and severity in {None, each.severity}]


@pytest.mark.parametrize(
    ("rules", "changes"),
    [
        ("SET X A+1", {"X": "A + 1"}),
        ("set a 7", {"A": "7"}),
        ("SET X = 5\nSET Y , 6", {"X": "5", "Y": "6"}),
        ("SET X, 5", {"X": "5"}),
        ("SET 'odd one' 5", {"odd one": "5"}),
        ("DEFAULT A 7\nDEFAULT N 7", {"N": "7"}),
        ("SET U undefined\nDEFAULT U 7", {"U": "undefined"}),
        ("EVALSET X C * 2", {"X": "12"}),
        ("EVALSET X 1 2", {"X": "1"}),
        ("EVALSET X Nope", {"X": "undefined"}),
        ("EVALSET X {1,A}", {"X": "{ 1,A }"}),
        ('EVALMACRO v strcat(Owner,"-x")\nSET X "$(v)"', {"X": '"alice-x"'}),
        ("COPY A Z\nCOPY Nope Y", {"Z": "5"}),
        ("RENAME A B", {"A": "", "B": "5"}),
        ("RENAME A a", {"a": "5"}),
        ("DELETE A\nDELETE Nope", {"A": ""}),
        ("DELETE A B", {"A": ""}),
        ("SET X 1\nSET Y X + 1\nEVALSET Z Y", {"X": "1", "Y": "X + 1", "Z": "2"}),
    ],
)
def test_a_command_changes_the_ad(rules: str, changes: Mapping[str, str]) -> None:
    """And each one sees what those before it did."""
    assert done(rules) == changes


@pytest.mark.parametrize(
    ("rules", "changes"),
    [
        (r"COPY /Transfer(.+)/ Old\1", {"OldErr": '"e"', "OldOut": '"o"'}),
        (r"RENAME /^transfer(err)$/ \0_\1", {"TransferErr": "", "TransferErr_Err": '"e"'}),
        ("DELETE /Trans.*/", {"TransferErr": "", "TransferOut": ""}),
        ("DELETE /ransf/g", {}),  # the option is PCRE2's for a match at the beginning
        (r"COPY /^(.+?)(.*)r$/ X\1", {"XO": '"alice"', "XT": '"e"'}),
        (r"COPY /^(.+?)(.*)r$/U X\1", {"XOwne": '"alice"', "XTransferEr": '"e"'}),
        (r"COPY /^(A)$/ \2", {}),
        ("V=A\nCOPY /^A$/ $(V)\\0", {"AA": "5"}),
    ],
)
def test_a_regular_expression_takes_many_attributes(rules: str, changes: Mapping[str, str]) -> None:
    r"""The new name is the pattern with \0 to \9 replaced, whatever the expression left out."""
    assert done(rules) == changes


@pytest.mark.parametrize(
    ("rules", "value"),
    [
        ("V=1\nW=$(V)\nV=2\nSET X $(W)", "2"),
        ("V=1\nV=$(V)2\nSET X $(V)", "12"),
        ('V=1\nV += 2\nSET X "$(V)"', '"1 2"'),
        ("V @=end\n1 +\n2\n@end\nSET X $(V)", "1 + 2"),
        ("+A = 9\nSET X $(MY.A)", "9"),
        ("SET X $(MY.C)", "A + 1"),
        ('SET X "$(MY.Owner)"', '"alice"'),
        ('SET X "$(MY.Nope:none)$(Nope)"', '"none"'),
        ("SET X $INT(MY.A)$REAL(MY.A)", "55"),
        ("SET X $EVAL(MY.C)", "6"),
        ("SET X $(Knob)", "77"),
        ("XFORM.V = 3\nV = 4\nSET X $(V)", "3"),
        ("EVALMACRO XFORM.V 3\nV = 4\nSET X $(V)", "3"),
        ('SET X "$(Iterating)$(IsLinux)$(Step:x)"', '"01x"'),
        ('SET X "$ENV(HERE)$ENV(NOT)"', '"hereUNDEFINED"'),
        ('SET X "$(DOLLAR)$$(V)"', '"$$$(V)"'),
    ],
)
def test_macros_are_replaced_when_a_command_is_run(rules: str, value: str) -> None:
    """From the run itself, then from the ad, then from the configuration."""
    assert done(rules, facts=TransformFacts({"KNOB": "77"}, environ={"HERE": "here"}))["X"] == value


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("1", True),
        ("0.0", False),
        ("! no", True),
        ("$(Nope)", False),
        ("defined MY.A", True),
        ("defined MY.Nope", False),
        ("defined V", True),
        ("version >= 25.14", True),
        ("A > 1", True),  # HTCondor takes an expression that is true, and no other
    ],
)
def test_conditions(condition: str, holds: bool) -> None:
    """An if without a true condition goes on at its else."""
    rules = f"V=1\nSET S 1\nif {condition}\nSET X true\nelse\nSET X false\nendif\n"
    result = Transform.parse(rules, strict=False).apply(ad_of())
    assert result.ad.text("X") == str(holds).lower()


def test_an_expression_that_is_not_true_fails_the_transform() -> None:
    """With HTCondor's words, and what to write instead."""
    result = Transform.parse("SET S 1\nif A > 9\nendif", strict=False).apply(ad_of())
    assert result.failed
    assert result.ads == ()
    (found,) = result.diagnostics
    assert "A > 9 is not a valid if condition because complex conditionals are not supported" in found.message
    assert found.help is not None
    assert "EVALMACRO" in found.help
    with pytest.raises(InvalidTransform):
        _ = result.ad


def test_requirements_choose_the_ads() -> None:
    """Undefined is no, and so is a string; TARGET is nobody."""
    for text, takes in (("A > 1", True), ("Nope", False), ('"x"', False), ("TARGET.A == 5", False), ("2.0", True)):
        transform = Transform.parse(f"REQUIREMENTS {text}\nSET X 1")
        assert transform.matches(ad_of()) is takes
        assert (len(transform.apply(ad_of()).changes) == 1) is takes


def test_the_envelope_is_taken_out_before_conditions() -> None:
    """It cannot be conditional, and that is said."""
    transform = Transform.parse("if false\nNAME one\nUNIVERSE grid\nREQUIREMENTS false\nendif\nSET X 1")
    assert (transform.name, transform.universe, transform.matches(ad_of())) == ("one", "grid", False)
    assert [found.kind for found in transform.warnings] == ["lifted", "lifted", "lifted"]


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ("2", ["0 0 1 0 none", "1 0 1 1 none"]),
        ("in (a, b)", ["0 0 1 0 a", "0 1 1 1 b"]),
        ("2 in (a b)", ["0 0 1 0 a", "1 0 1 1 a", "0 1 1 2 b", "1 1 1 3 b"]),
        ("in (\na\n# no\nb\n)", ["0 0 1 0 a", "0 1 1 1 b"]),
        ("Item,Rest from (\na, b c\n)", ["0 0 1 0 a"]),
        ("in ()", ["0 0 1 0 none"]),
    ],
)
def test_a_transform_iterates(arguments: str, values: list[str]) -> None:
    """Each round begins with the ad as it was."""
    rules = f'SET X "$(Step) $(Row) $(Iterating) $(XFormId) $(Item:none)"\nTRANSFORM {arguments}'
    result = Transform.parse(rules).apply(ad_of())
    assert [ad.text("X") for ad in result.ads] == [f'"{value}"' for value in values]
    assert all(len(outcome.changes) == 1 for outcome in result.outcomes)


def test_macros_begin_anew_with_each_row_and_not_with_each_step() -> None:
    """As HTCondor keeps them."""
    result = Transform.parse('V=$(V)x\nSET X "$(V)"\nTRANSFORM 2 in (a b)').apply(ad_of())
    assert [ad.text("X") for ad in result.ads] == ['"x"', '"xx"', '"x"', '"xx"']


def test_macros_go_on_from_one_transform_to_the_next() -> None:
    """In one ad, not from ad to ad."""
    two = [Transform.parse("V=$(V)x\nSET S 1"), Transform.parse('SET X "$(V)"')]
    assert apply_all(two, ad_of()).ad.text("X") == '"x"'
    assert [outcome.ad["X"].evaluate() for outcome in transform_ads(two, [ad_of(), ad_of()]) if outcome.ad] == [
        "x",
        "x",
    ]


def test_a_transform_that_iterates_is_the_last() -> None:
    """Another after it is refused in HTCondor's words."""
    with pytest.raises(InvalidTransform, match="Previous transform was an iterating transform"):
        Chain([Transform.parse("SET X 1\nTRANSFORM 2"), Transform.parse("SET Y 1", name="b")])


def test_a_condition_knows_the_templates() -> None:
    """A category of ``use`` alone, too."""
    for use, expected in (("ROLE", True), ("role:execute", True), ("FEATURE:GPUs", True), ("ROLE:No", False)):
        made = Transform.parse(f"if defined use {use}\nSET Is true\nendif").apply(ad_of("A = 1\n")).ad
        assert ("Is" in made) is expected, use


def test_what_follows_a_choice_is_passed_over() -> None:
    """HTCondor looks for the end of an expression only where it is no ``? :``."""
    rules = (
        "REQUIREMENTS A > 1 ? true : false # c\nSET X A > 1 ? 2 : 3 # c\nDEFAULT Y true ? 1 : 2 x\nSET Z (A ? 1 : 2) x"
    )
    transform = Transform.parse(rules)
    assert [each.kind for each in transform.warnings] == ["requirements-rest", "set-rest", "set-rest", "set-expression"]
    assert transform.matches(ad_of("A = 2\n"))
    assert not transform.matches(ad_of("A = 1\n"))
    made = transform.apply(ad_of("A = 2\n")).ad
    assert {name: made.text(name) for name in made} == {"A": "2", "X": "A > 1 ? 2 : 3", "Y": "true ? 1 : 2"}


def test_a_missing_second_argument_is_a_fault_where_an_ad_leads_to_it() -> None:
    """HTCondor's check on loading looks for the first argument alone."""
    for line in ("SET X", "SET X=5", "SET X =", "COPY A", "RENAME /a/", "EVALSET X", "EVALMACRO x", "DEFAULT X ,"):
        transform = Transform.parse(f"REQUIREMENTS A > 1\n{line}\n")
        assert transform.faults == ()
        keyword = line.split()[0]
        assert transform.warnings[0].message.startswith(f"{keyword} needs 2 arguments")
        assert not transform.matches(ad_of("A = 1\n"))
        result = transform.apply(ad_of("A = 2\n"))
        assert result.failed
        assert result.diagnostics[0].message.startswith(f"{keyword} needs 2 arguments")


def test_all_faults_are_found_at_once() -> None:
    """HTCondor stops at the first."""
    rules = "SETT X 1\nSET\nDELETE /a\nif maybe so\nendif\n= 5\nendif\nuse FEATURE : X\ninclude : f\nV @=end\n1\n"
    assert said(rules, severity=Severity.ERROR) == [
        ("keyword", 1),
        ("arguments", 2),
        ("regex", 3),
        ("conditional", 4),
        ("macro-name", 6),
        ("conditional", 7),
        ("use", 8),
        ("include", 9),
        ("heredoc", 10),
    ]
    with pytest.raises(InvalidTransform) as error:
        Transform.parse(Source(rules, "site.rules"))
    assert len(error.value.diagnostics) == 9
    assert "site.rules:1:1: error: SETT is not a valid transform keyword" in str(error.value)


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ("REQUIREMENTS = A > 1\nSET X 1", "keyword-assigned"),
        ("SET = 5", "keyword-assigned"),
        ("SET X $( V )", "macro-blanks"),
        ("REQUIREMENTS TARGET.A > 1\nSET X 1", "requirements-target"),
        ("EVALSET X TARGET.A", "evalset-target"),
        ("REQUIREMENTS true\nREQUIREMENTS false\nSET X 1", "requirements-twice"),
        ("SET X 1 # note", "set-expression"),
        ("SET X= 5", "name-sign"),
        ("DELETE X=", "name-sign"),
        ("DELETE X, Y", "name-sign"),
        ("DELETE A B", "delete-words"),
        ("V=A\nSET $(V) 1", "name-macro"),
        ("V=A\nDELETE $(V)", "name-macro"),
        ("SET MY.X 1", "name-scope"),
        ("DELETE TARGET.X", "name-scope"),
        ("SET 1x 1", "name-odd"),
        ("EVALSET a-b 1", "name-odd"),
        ("COPY A B C", "new-name"),
        ("EVALSET X 1..2", "evalset"),
        ("EVALSET X A + 1; B", "evalset-rest"),
        (r"COPY /A/ \1", "regex-group"),
        ("DELETE /(/", "regex"),
        ("DELETE /A/g", "regex-g"),
        ("SET X 1\nTRANSFORM 2\nSET Y 1", "after-transform"),
        ("SET X 1\nif defined MY.A\nSETT Y 1\nendif", "keyword"),
    ],
)
def test_traps_are_warnings(rules: str, code: str) -> None:
    """HTCondor takes them without a word, or says so for each ad."""
    assert code in [found for found, _ in said(rules, severity=Severity.WARNING)]


@pytest.mark.parametrize(
    "rules",
    [
        "SET X $(MY.A)",
        "COPY A $(V:B)",
        "SET MYX 1",
        "EVALMACRO my.x 1",
        "EVALSET X MY.A ?: 2",
        "DELETE /MY.A/",
        "RENAME A B",
        "SET X -5",
        "DELETE 'odd one'",
        "EVALSET X {1, 2} // two",
    ],
)
def test_what_is_no_trap_is_not_warned_of(rules: str) -> None:
    """Each of these does what it says."""
    assert said(rules) == []


def test_a_scope_before_a_name_can_be_taken_away() -> None:
    """Unless there are quotes around it."""
    for name, fix in (("MY.X", "X"), ("'MY.X'", None), ("my.1", None)):
        (found,) = Transform.parse(f"SET {name} 1").warnings
        assert found.fix == fix
        assert found.span is not None


def test_a_command_that_cannot_be_done_is_passed_over() -> None:
    """In HTCondor's words, and the rest is done."""
    rules = "SET X (\nEVALSET Y 1..2\nRENAME A 1b\nSET Z $INT(a b)\nDELETE /*/\nSET Last 1"
    result = Transform.parse(rules).apply(ad_of())
    assert [change.name for change in result.changes] == ["Last"]
    assert [found.message for found in result.diagnostics] == [
        "SET X invalid expression : (",
        "EVALSET Y could not evaluate : 1..2",
        "RENAME A new name 1b is not valid",
        "$INT() macro: a b does not evaluate to an integer!",
        "SET Z invalid expression : ",
        "Error compiling regex '*': this entry will be ignored",
    ]
    assert {found.severity for found in result.diagnostics} == {Severity.WARNING}


def test_a_failed_transform_gives_no_ad() -> None:
    """And the ad itself is what it was."""
    ad = ad_of()
    result = Transform.parse("SET X 1\nSET Y=2", strict=False).apply(ad)
    assert (result.failed, result.ads, ad) == (True, (), ad_of())
    assert result.diagnostics[0].fix == "SET Y 2"


def test_an_indented_last_line_without_a_line_end_is_not_stripped() -> None:
    """A condition there is none, as in HTCondor; a command is one."""
    assert done("V=1\n  SET X $(V)") == {"X": "1"}
    with pytest.raises(InvalidTransform, match="line end: add one"):
        Transform.parse("SET X 1\nif true\n  endif")


def test_a_colon_hides_the_lines_of_a_condition() -> None:
    """From releases that know no conditions, not from this one."""
    assert done(":if true\n:SET X 1\n:else\n:SET X 2\n:endif") == {"X": "1"}


def test_an_invalid_requirement_is_nothing_to_run() -> None:
    """Its macros are not replaced, and that is said."""
    with pytest.raises(InvalidTransform, match="macros are not replaced"):
        Transform.parse("V=1\nREQUIREMENTS $(V)\nSET X 1", strict=False)


def test_the_trace_has_each_step_with_its_line() -> None:
    """In the words of condor_transform_ads -verbose."""
    rules = "V=1\nSET X $(V)\nEVALSET Y X + 1\nRENAME /^(A)$/ Z\\1\nDELETE B"
    result = Transform.parse(Source(rules, "r")).apply(ad_of(), trace=True)
    assert [str(step) for step in result.trace] == [
        "r:2: SET X to 1",
        "r:3: EVALSET Y to X + 1",
        "r:3:     SET Y to 2",
        "r:4: RENAME A to ZA",
        "r:5: DELETE B",
    ]


def test_knobs_are_rules_too() -> None:
    """NAME does not win over the name of the knob; what is missing or empty is left out and said."""
    text = "JOB_TRANSFORM_One @=end\nNAME other\nSET X $(CFG)\n@end\nJOB_TRANSFORM_Two =\nCFG = 7\n"
    knobs = read_knobs(Source(text))
    assert read_knobs(Source(knobs["job_transform_one"] + "\nMaxJobs = 5"), form=RuleSource.KNOB) == {"maxjobs": "5"}
    rules = Rules(TransformFacts(knobs))
    rules.add_knobs(JOB_TRANSFORM, "One, Two  Three")
    rules.add_knobs(JOB_ROUTE, "None")
    rules.finish()
    assert [transform.name for transform in rules.transforms] == ["One"]
    assert [found.kind for found in rules.diagnostics] == ["knob", "knob", "knob"]
    assert apply_all(rules.transforms, ad_of(), rules.facts).ad.text("X") == "7"


def test_a_file_whose_commands_depend_on_the_ad_is_left_out_beside_others() -> None:
    """As condor_transform_ads does it; alone it is applied."""
    alone = "if defined MY.A\nSET X 1\nendif\n"
    for others, changes in (([], 1), (["SET Y 1"], 1)):
        rules = Rules(TransformFacts())
        for text in (alone, *others):
            rules.add_file(Source(text, "r"))
        rules.finish()
        assert len(apply_all(rules.transforms, ad_of()).changes) == changes
        assert bool(others) is ("left-out" in [found.kind for found in rules.diagnostics])


def test_a_knob_is_not_a_file() -> None:
    """The name given wins, and keywords inside a value of several lines count."""
    rules = "NAME b\nV @=x\nREQUIREMENTS false\n@x\nSET X 1"
    assert Transform.parse(rules, name="a", form=RuleSource.KNOB).name == "a"
    assert not Transform.parse(rules, form=RuleSource.KNOB).matches(ad_of())
    assert Transform.parse(rules).matches(ad_of())


def test_the_clock_is_an_argument() -> None:
    """time() is the context's."""
    assert done("EVALSET X time()", facts=TransformFacts(context=Context(now=12)))["X"] == "12"


def test_a_chained_ad_keeps_its_parent() -> None:
    """Deleting what the parent has hides it, and undo shows it again."""
    child = ClassAd({"P": 1}).chain(ClassAd({"Owner": "bob", "Q": 2}))
    result = Transform.parse('DELETE Owner\nSET Q 3\nCOPY Q R\nDELETE /Own/\nSET N "$(MY.Q)"').apply(child)
    assert {name: result.ad.text(name) for name in result.ad} == {
        "Owner": "undefined", "Q": "3", "R": "3", "N": '"3"', "P": "1",
    }  # fmt: skip
    assert result.ad.parent is child.parent
    assert dict(result.changes.undo(result.ad).own()) == {"P": child["P"]}


def test_changes_can_be_pickled_away_from_their_ads() -> None:
    """They are plain data."""
    assert pickle.loads(pickle.dumps(list(Transform.parse("SET X 1").apply(ad_of()).changes)))[0].after == "1"  # noqa: S301 - our own bytes


NAMES = st.sampled_from(["A", "B", "Owner", "TransferErr", "x", "New", "new2"])
VALUES = st.sampled_from(["1", '"s"', "A + 1", "undefined", "$(MY.B)", "{ 1,A }", "(", "$(V)$(V)", "toUpper(Owner)"])
LINES = st.one_of(
    st.builds("SET {} {}".format, NAMES, VALUES),
    st.builds("DEFAULT {} {}".format, NAMES, VALUES),
    st.builds("EVALSET {} {}".format, NAMES, VALUES),
    st.builds("EVALMACRO V {}".format, VALUES),
    st.builds("COPY {} {}".format, NAMES, NAMES),
    st.builds("RENAME {} {}".format, NAMES, NAMES),
    st.builds("DELETE {}".format, NAMES),
    st.builds("RENAME /^({})/ {}_\\1".format, NAMES, NAMES),
    st.builds("DELETE /{}$/".format, NAMES),
    st.sampled_from(["if defined MY.A", "else", "endif", "V=1", "V=$(V)2"]),
)


def _kept(ad: ClassAd) -> str:
    return ad.print(Format.LONG, Order.KEPT)


@given(st.lists(LINES, max_size=12), st.booleans())
def test_undo_takes_everything_back(lines: Iterable[str], has_parent: bool) -> None:
    """The names, their spelling and their order included."""
    before = ad_of()
    if has_parent:
        before.chain(ClassAd({"x": 1, "Owner": "bob"}))
    printed = _kept(before.own())
    result = Transform.parse("SET S 1\n" + "\n".join(lines), strict=False).apply(before)
    assert _kept(before.own()) == printed
    for outcome in result.outcomes:
        if outcome.ad is not None:
            again = outcome.changes.undo(outcome.ad.copy())
            assert _kept(again.own()) == printed
            assert again.parent is before.parent
