"""No text hurts the process: each bound is an error in good time, never a crash, a hang or a RecursionError."""

from contextlib import suppress

import pytest

from crondor.classad import ERROR, AdValue, ClassAdSyntaxError, EvaluationFailed, Expression, print_value
from crondor.classad import ad as ad_module
from crondor.classad.ad import ClassAd, to_python
from crondor.classad.compile import read
from crondor.classad.evaluate import run
from crondor.classad.scope import Code, EvaluationState, Value
from crondor.diagnostics import CrondorError
from tests.classad.helpers import NOW, ad, shown, value

MANY = 100_000


@pytest.fixture
def _few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow a twentieth of the usual work."""
    for module in ("ad", "evaluate", "scope"):
        monkeypatch.setattr(f"crondor.classad.{module}.MAX_STEPS", MANY)


@pytest.mark.parametrize(
    "text",
    [
        "(" * MANY,
        "{" * MANY,
        "f(" * MANY,
        "[a=" * MANY,
        "a[" * MANY,
        "!" * MANY + "1",
        "a?1:" * MANY + "1",
        "a?:" * MANY + "1",
        "+".join(["1"] * 150_000),
        " " * (5 << 20),
        '"' + "\\" * MANY,
        "/*" * MANY,
    ],
    ids=lambda text: text[:4],
)
def test_a_text_too_deep_or_too_long_is_refused(text: str) -> None:
    """The bounds on nesting are HTCondor's own."""
    with pytest.raises(ClassAdSyntaxError):
        Expression(text)


def test_nesting_up_to_htcondors_bound_is_read() -> None:
    """165 parentheses and 497 signs, and not one more."""
    assert value("(" * 165 + "1" + ")" * 165) == 1
    assert print_value(value("{" * 165 + "}" * 165)).count("{") == 165
    for text in ("(" * 166 + "1" + ")" * 166, "!" * 498 + "1"):
        with pytest.raises(ClassAdSyntaxError):
            Expression(text)


def test_long_chains_are_read_and_printed() -> None:
    """A chain needs no depth to read; to evaluate it does, and HTCondor has 400."""
    assert value("+".join(["1"] * 401)) == 401
    for text in ("+".join(["1"] * 402), "&&".join(["true"] * 10_000)):
        assert len(str(Expression(text))) > len(text)
        with pytest.raises(EvaluationFailed):
            value(text)
    assert value(".".join(["a"] * 10_000)) is ERROR


def test_a_chain_of_attributes_ends_at_the_depth() -> None:
    """390 are evaluated, 1000 are not."""
    links = {f"a{at}": f"a{at + 1}" for at in range(1000)}
    assert value("a610", ad(**links, a1000="1")) == 1
    with pytest.raises(EvaluationFailed):
        value("a0", ad(**links, a1000="1"))


@pytest.mark.parametrize(
    ("link", "most", "beyond"),
    [
        ("@", 399, None),
        (".@", 399, None),
        ("[b = @].b", 199, None),
        ("[b = parent.@].b", 199, "error"),
        ("{ @ }[0]", 133, "error"),
        ("strcat(@)", 199, None),
        ('join("", @, "")', 199, None),
    ],
)
def test_each_kind_of_link_takes_as_much_of_the_depth_as_in_htcondor(link: str, most: int, beyond: str | None) -> None:
    """A subscript of a list takes three for each attribute, strcat two; beyond the last there is no value."""

    def chained(links: int) -> str:
        names = {f"a{at}": link.replace("@", f"a{at + 1}") for at in range(links)}
        return shown("a0", ad(**names, **{f"a{links}": '"s"'}))

    assert chained(most) == '"s"'
    if beyond is not None:
        assert chained(most + 1) == beyond
    else:
        with pytest.raises(EvaluationFailed, match="goes deeper than the 400"):
            chained(most + 1)


@pytest.mark.usefixtures("_few_steps")
@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ({f"a{at}": f"a{at - 1} + a{at - 1}" for at in range(1, 31)} | {"a0": "1"}, "a30"),
        ({f"a{at}": f"strcat(a{at - 1}, a{at - 1})" for at in range(1, 41)} | {"a0": '"xxxx"'}, "a40"),
        ({f"a{at}": f'replaceAll("x", a{at - 1}, "xxxx")' for at in range(1, 20)} | {"a0": '"x"'}, "a19"),
        ({"l": "{self, self, self}"}, "l" + ".l" * 20),
        ({"a": "{sum(a)}"}, "sum(a)"),
        ({"a": '"eval(a)"'}, "eval(a)"),
    ],
    ids=["sums", "strings", "replacements", "projections", "list", "eval"],
)
def test_growth_is_stopped(attributes: dict[str, str], text: str) -> None:
    """Doubling ends with the work allowed; references, partial evaluation and explanation end too."""
    my, expression = ad(**attributes), Expression(text)
    with pytest.raises(EvaluationFailed):
        expression.evaluate(my)
    assert expression.explain(my).reason()
    for look in (expression.references, expression.flatten):
        with suppress(CrondorError):  # a result or our error: either is right, as long as it comes
            look(my)


def test_a_regular_expression_that_explodes_is_an_error() -> None:
    """PCRE2 counts its steps; HTCondor has error there too."""
    assert shown(f'regexp("(a+)+$", "{"a" * 50}b")') == "error"
    with pytest.raises(EvaluationFailed):
        value(f'stringList_regexpMember("(a+)+$", "{",".join(["a" * 50 + "b"] * 1000)}")')


@pytest.mark.usefixtures("_few_steps")
@pytest.mark.parametrize("text", ["MY", "{MY, MY}"])
def test_plain_values_of_ads_that_hold_themselves_have_a_bound(text: str) -> None:
    """Two attributes that are the ad itself would double with each level."""
    with pytest.raises(EvaluationFailed, match="members"):
        ClassAd.of_texts({"a": text, "b": text}).python("a")


def test_ads_that_hold_themselves_are_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often a plain value shows them."""
    ours, runs = {f"a{at}": "MY" for at in range(3)} | {"d": "{ MY, MY }", "m": "2"}, []

    def counting(code: Code, state: EvaluationState) -> Value:
        runs.append(code)
        return run(code, state)

    monkeypatch.setattr(ad_module, "run", counting)
    with pytest.raises(EvaluationFailed, match="members"):
        ClassAd.of_texts(ours).python("a0")
    assert len(runs) == len(ours)


@pytest.mark.usefixtures("_few_steps")
def test_all_members_of_a_plain_value_have_the_work_of_one_evaluation() -> None:
    """Otherwise each of a thousand attributes could take all of it."""
    doubling = {f"a{at}": f"a{at - 1} + a{at - 1}" for at in range(1, 31)} | {"a0": "1"}
    with pytest.raises(EvaluationFailed, match="steps"):
        ClassAd.of_texts(doubling | {"all": "MY"}).python("all")
    with pytest.raises(EvaluationFailed, match="steps"):
        ClassAd.of_texts(doubling | {"all": "{ a30, 1 }"}).python("all")
    assert ClassAd.of_texts({"a": "[ b = random(0); c = { random(0), 1 } ]"}).python("a") == {
        "b": ERROR,
        "c": [ERROR, 1],
    }


def test_the_parts_of_a_long_expression_are_shown_less_deep() -> None:
    """Each is printed and evaluated whole: what all of them take together is in proportion to the text."""

    def shown_of(chain: int) -> tuple[int, int]:
        text = "1" + " | true % 2" * chain
        return len(text), sum(map(len, Expression(text).explain().lines()))

    for size, printed in map(shown_of, (1000, 3000)):
        assert size < printed < 400_000 + 4 * size
    assert len(list(Expression("1" + " + a" * 50).explain().lines())) == 101


def test_plain_values_read_a_text_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one too long for the cache of texts."""
    long = "{" + ",".join(["1"] * 9000) + "}"
    holder, counted = ClassAd.of_texts({"a": f"[b = {long}]", "c": "{a, a, a}"}), []

    def counting(text: str) -> object:
        counted.append(len(text))
        return read(text)

    monkeypatch.setattr(ad_module, "read", counting)
    assert holder.python("c") == [{"b": [1] * 9000}] * 3
    assert counted == [9]  # that of c, by the ad
    counted.clear()
    value_read = AdValue({"b": long}, {"b": "b"})
    assert [to_python(value_read, NOW) for _ in range(3)] == [{"b": [1] * 9000}] * 3
    assert len(counted) == 1


def _flattened_below(frames: int, ours: AdValue) -> None:
    if frames:
        return _flattened_below(frames - 1, ours)
    with suppress(EvaluationFailed):
        Expression(".a").flatten(ours)
    return None


@pytest.mark.parametrize("frames", range(25))
def test_a_full_stack_is_no_fault_of_a_text(frames: int) -> None:
    """Flattening a circle ends where Python's stack does, which may be while a good text is being read."""
    _flattened_below(frames, ad(a="!((TARGET.a) ? (my) : (.a))", c=f"(unknown{frames}(.a))"))


def test_digits_without_end_are_an_integer_beyond_64_bits() -> None:
    """Also after a minus and zeros, where the digits are taken as they stand."""
    assert shown("-00" + "7" * 15000) == "0"
