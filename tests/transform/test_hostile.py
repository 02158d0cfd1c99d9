"""Rules that want to hurt: nothing takes long, grows without bound, is run, or ends in a traceback."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import ClassAd, Format
from crondor.diagnostics import CrondorError, Source
from crondor.macro.files import Files
from crondor.transform import Chain, InvalidTransform, RuleSource, Transform, TransformFacts, apply, compiled
from crondor.transform.loading import JOB_TRANSFORM, Rules
from tests.rows import rows

AD = ClassAd({"A": 5, "Words": "two words", "a" * 60: 1})


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ("V=$(W)\nW=$(V)\nSET X $(V)", "macro-cycle"),
        (
            "V0=" + "x" * 1000 + "".join(f"\nV{n}=$(V{n - 1})$(V{n - 1})" for n in range(1, 40)) + "\nSET X $(V39)",
            "macro-",
        ),
        ("V=x\n" + "V=$(V)$(V)\n" * 40, "macro-size"),
        ("SET X " + "$(" * 5000, ""),
        ("V = 1\n" + "V += $(V)$(V)\n" * 60, "macro-"),
    ],
)
def test_macros_end(rules: str, code: str) -> None:
    """A circle, a text that doubles itself, and heads without an end."""
    try:
        result = Transform.parse(rules, strict=False).apply(AD)
    except InvalidTransform as error:
        found = error.diagnostics
    else:
        found = result.diagnostics
    assert not code or any(each.kind.startswith(code) for each in found)


@pytest.mark.parametrize("pattern", ["(a+)+$b", "(a|a)*b", "((a*)*)*c", "(a{0,60}){0,60}{0,60}b"])
def test_regular_expressions_end(pattern: str) -> None:
    """PCRE2 counts, and the name counts as not found."""
    result = Transform.parse(f"DELETE /^{pattern}/\nSET Last 1", strict=False).apply(AD)
    assert [change.name for change in result.changes] == ["Last"]


def _thrice(rules: str, ad: ClassAd) -> list[tuple[bool, list[str]]]:
    """Return what became of an ad, and of it once more: then there may be a plan for its names."""
    transform = Transform.parse(rules, strict=False)
    made = [transform.apply(ad) for _ in range(3)]
    return [(result.failed, [each.kind for each in result.diagnostics]) for result in made]


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ("COPY /(.*)/ \\0\\0\\0\\0\n" * 15, "long-name"),
        ("RENAME /(.*)/ \\0\\0\\0\\0\n" * 15, "long-name"),
        ("COPY /./ " + "\\0" * 100_000, "long-name"),
        ("".join(f"COPY /^(A.*)/ \\1{letter}\n" for letter in "abcdefghijklmnopqrstuvwxyz"), "too-much-"),
        ("".join(f"COPY Long X{n}\n" for n in range(200)), "too-much-made"),
        ("".join(f"EVALSET X{n} strcat(Long, Long, Long, Long)\n" for n in range(200)), "too-much-made"),
        (f"V = {'x' * 60_000}\n" + "".join(f'SET X{n} "$(V)"\n' for n in range(2000)), "too-much-made"),
        (f"V = {'x' * 60_000}\n" + "".join(f'EVALMACRO X{n} "$(V)"\n' for n in range(2000)), "too-much-made"),
    ],
)
def test_what_commands_make_is_charged(rules: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names and values, whether an ad is the first of its kind or one for which there is a plan."""
    monkeypatch.setattr(apply, "MOST_MADE", 1 << 20)
    ad = ClassAd.of_texts({"A": "1", "Long": '"' + "x" * 10_000 + '"'})
    for failed, codes in _thrice(rules, ad):
        assert failed
        assert codes[-1].startswith(code)


def test_expressions_are_charged_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its bound; a thousand of them have one, too."""
    monkeypatch.setattr(apply, "MOST_STEPS", 50_000)
    ad = ClassAd.of_texts({"L": "{" + ",".join("1" * 1000) + "}"})
    rules = "".join(f'EVALSET X{n} anyCompare("<", L, {-n})\n' for n in range(1000))
    assert {(failed, codes[-1]) for failed, codes in _thrice(rules, ad)} == {(True, "too-many-steps")}


def test_ordinary_rules_cost_little() -> None:
    """Sixty patterns, over the names of an ordinary job."""
    ad = ClassAd.of_texts({f"AnAttributeOfOrdinaryLength{n}": "1" for n in range(150)})
    rules = "".join(f"COPY /^(.*)Length{n}$/ \\1Size{n}\nDELETE /Of.*Other{n}/\n" for n in range(30))
    transform = Transform.parse(rules)
    assert [len(transform.apply(ad).ad) for _ in range(3)] == [180, 180, 180]


def test_rounds_begin_at_once() -> None:
    """Rounds are made as they are asked for, however many there are to be."""
    rounds = Chain([Transform.parse("SET X $(Step)\nTRANSFORM 99999999")]).rounds(ClassAd())
    assert [next(rounds).ad for _ in range(3)] == [ClassAd({"X": n}) for n in range(3)]


def test_a_result_holds_only_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not so many long ads as short ones."""
    monkeypatch.setattr(compiled, "MOST_KEPT", 1 << 20)
    rules = f'SET X "{"x" * 10_000}"\nTRANSFORM 1000'
    with pytest.raises(InvalidTransform, match="more than 1048576 characters"):
        Transform.parse(rules).apply(ClassAd())


def test_rounds_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result holds so many ads; round by round there is no bound."""
    monkeypatch.setattr("crondor.transform.compiled.MOST_ADS", 1000)
    with pytest.raises(InvalidTransform, match="more than 1000 ads"):
        Transform.parse("SET X 1\nTRANSFORM 2000000000").apply(ClassAd())


def test_conditions_nest_only_so_deep() -> None:
    """HTCondor has 63 levels."""
    with pytest.raises(InvalidTransform, match="if nesting too deep!"):
        Transform.parse("if true\n" * 64 + "endif\n" * 64 + "SET X 1")


def test_no_command_is_run_and_no_file_outside_is_read(tmp_path: Path) -> None:
    """TRANSFORM ... FROM can ask for both."""
    inner = tmp_path / "in"
    inner.mkdir()
    (tmp_path / "secret").write_text("one\ntwo\n")
    (inner / "items").write_text("one\ntwo\n")
    facts = TransformFacts(files=Files([str(inner)], base=str(inner)))
    for arguments, code in (
        (f"from touch {inner}/made |", "runs-command"),
        ("from ../secret", "file-outside"),
        ("from -", "transform"),
        ("matching ../*", "file-outside"),
    ):
        result = Transform.parse(f"SET X 1\nTRANSFORM {arguments}").apply(AD, facts)
        assert [found.kind for found in result.diagnostics] == [code]
    assert not (inner / "made").exists()
    assert len(Transform.parse("SET X 1\nTRANSFORM from items").apply(AD, facts).ads) == 2
    assert Transform.parse("SET X 1\nTRANSFORM from items").apply(AD).diagnostics[0].kind == "unknown-items"


def test_thousands_of_faults_cost_little() -> None:
    """A hundred are told; the others are not even made."""
    with pytest.raises(InvalidTransform) as error:
        Transform.parse("SETT X 1\n" * 10_000)
    assert len(error.value.diagnostics) == 100


def test_a_last_line_of_many_blanks_is_nothing_to_trip_over() -> None:
    """It is not stripped, since it has no line end."""
    assert [change.name for change in Transform.parse("SET X 1\n        SET Y 2").apply(AD).changes] == ["X", "Y"]


def test_a_nul_is_no_text() -> None:
    """HTCondor's lines would end there."""
    with pytest.raises(InvalidTransform, match="NUL"):
        Transform.parse("SET X 1\0")
    with pytest.raises(InvalidTransform, match="half a character"):
        Transform.parse("SET X\ud800 1")


PIECES = st.sampled_from(rows("transform/pieces"))


@given(st.lists(PIECES, max_size=40).map("".join), st.sampled_from(RuleSource))
def test_whatever_the_rules_say_there_is_an_answer(rules: str, form: RuleSource) -> None:
    """Our errors and results, no others; an ad that comes out can be printed."""
    with suppress(CrondorError):
        result = Transform.parse(Source(rules, "r"), form=form, strict=False).apply(AD, trace=True)
        for ad in result.ads:
            ad.print(Format.LONG)
        for outcome in result.outcomes:
            assert outcome.changes.undo(outcome.ad.copy()) == AD if outcome.ad is not None else True
        str([str(step) for step in result.trace])


@given(st.text(max_size=60))
def test_any_text_can_be_a_knob_and_a_file(text: str) -> None:
    """And be left out, or refused."""
    rules = Rules(TransformFacts({"JOB_TRANSFORM_x": text}))
    with suppress(CrondorError):
        rules.add_file(Source(text, "r"))
        rules.add_knobs(JOB_TRANSFORM, "x")
        rules.finish()
