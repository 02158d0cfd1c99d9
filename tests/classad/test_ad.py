"""Ads as mappings: names without case, texts until asked for, Python values, chaining, copies."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from crondor import classad
from crondor.classad import ERROR, UNDEFINED, AbsTime, ClassAdSyntaxError, Code, Context, Expression, RelTime, matches
from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, Order


def test_names_have_no_case_and_keep_their_spelling_and_order() -> None:
    """Setting again under another spelling changes the value alone."""
    ad = ClassAd({"Zz": 1, "Memory": 2})
    ad["MEMORY"] = 3
    assert (list(ad), ad["memory"], "mEmOrY" in ad, len(ad)) == (["Zz", "Memory"], Expression("3"), True, 2)
    del ad["memory"]
    assert list(ad) == ["Zz"]
    with pytest.raises(KeyError):
        del ad["memory"]
    with pytest.raises(KeyError):
        ad["memory"]


def test_python_values_become_values_of_the_language() -> None:
    """A str is a string, None is undefined; an expression is set as Expression or text."""
    ad = ClassAd(
        {
            "s": 'say "hi" \\ é\n',
            "i": -5,
            "r": 0.1,
            "b": True,
            "n": None,
            "e": ERROR,
            "l": [1, ["x"], {"B": 1, "a": 2}],
            "t": RelTime(5.0),
            "at": AbsTime(0, 3600),
            "x": Expression("i + 1"),
        }
    )
    ad.set_text("y", "x * 2")
    assert ad.text("s") == '"say \\"hi\\" \\\\ \\303\\251\\n"'
    assert [ad.value(name) for name in ("s", "i", "r", "b", "n", "e", "x", "y", "none")] == [
        'say "hi" \\ é\n',
        -5,
        0.1,
        True,
        UNDEFINED,
        ERROR,
        -4,
        -8,
        UNDEFINED,
    ]
    assert ad.text("l") == '{ 1,{ "x" },[ a = 2; B = 1 ] }'
    assert ad.python("l") == [1, ["x"], {"a": 2, "B": 1}]
    assert ad.value("at") == AbsTime(0, 3600)


def _endless() -> list[object]:
    found: list[object] = []
    found.append(found)
    return found


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x", 1 << 63),
        ("x", "a\0b"),
        ("x", "\ud800"),
        ("x", object()),
        ("x", {1: 2}),
        ("x", _endless()),
        ("", 1),
        ("a\0", 1),
        ("\ud800", 1),
        ("x", {"": 1}),
    ],
)
def test_what_no_ad_can_hold_is_refused(name: str, value: object) -> None:
    """The ad stays as it was."""
    ad = ClassAd({"x": 5})
    with pytest.raises(ClassAdSyntaxError):
        ad[name] = value
    assert ad == ClassAd({"x": 5})


def test_a_text_is_read_when_it_is_asked_for() -> None:
    """A bad one is found then, and only then."""
    ad = ClassAd.of_texts({"good": "1 + 1", "bad": "1 +"})
    kinds = [type(ad.codes["good"])]
    assert ad.value("good") == 2
    assert [*kinds, type(ad.codes["good"])] == [str, Code]
    assert ad.text("bad") == "1 +"
    with pytest.raises(ClassAdSyntaxError):
        ad["bad"]
    with pytest.raises(ClassAdSyntaxError):
        ad.value("bad")
    with pytest.raises(ClassAdSyntaxError):
        ad.print()


def test_a_chained_ad_finds_in_its_parent_what_it_lacks() -> None:
    """An explicit undefined masks, and deleting what the parent has masks too."""
    cluster = ClassAd({"Owner": "ann", "Prio": 1, "Sum": Expression("Prio + ProcId")})
    proc = ClassAd({"ProcId": 7, "prio": UNDEFINED}).chain(cluster)
    assert list(proc) == ["Owner", "Sum", "ProcId", "prio"]
    assert (len(proc), "owner" in proc, proc.value("OWNER"), proc.value("Prio")) == (4, True, "ann", UNDEFINED)
    assert proc.value("Sum") is UNDEFINED
    assert proc.evaluate("Owner == MY.Owner && ProcId == 7") is True
    del proc["owner"]
    assert proc.value("Owner") is UNDEFINED
    assert cluster.value("Owner") == "ann"
    assert proc.print(Format.LONG, Order.NAME) == (
        "Owner = undefined\nprio = undefined\nProcId = 7\nSum = Prio + ProcId\n"
    )
    flat = proc.flat()
    assert (flat.parent, flat) == (None, proc)
    with pytest.raises(ValueError, match="above itself"):
        cluster.chain(proc)


def test_copies_do_not_share() -> None:
    """copy, deepcopy and pickle give equal ads; a deep copy has a parent of its own."""
    parent = ClassAd({"a": 1})
    ad = ClassAd({"b": Expression("a + 1")}).chain(parent)
    for made in (ad.copy(), copy.copy(ad), copy.deepcopy(ad), pickle.loads(pickle.dumps(ad))):  # noqa: S301 - our own
        assert made == ad
        made["c"] = 3
        made["b"] = 4
        assert ("c" in ad, ad.value("b")) == (False, 2)
    ad["d"] = 1
    assert copy.copy(ad).parent is parent
    assert copy.deepcopy(ad).parent is not parent


def test_equality_is_that_of_names_and_expressions() -> None:
    """Order, spelling of names and blanks do not count; the case of names inside an expression does."""
    assert ClassAd.of_texts({"a": "x+1", "B": "2"}) == ClassAd.of_texts({"b": "2", "A": "x  + 1"})
    assert ClassAd.of_texts({"a": "x"}) != ClassAd.of_texts({"a": "X"})
    assert ClassAd.of_texts({"a": "1"}) != ClassAd.of_texts({"a": "1", "b": "1"})
    assert ClassAd.of_texts({"a": "("}) != ClassAd.of_texts({"a": "1"})
    assert ClassAd() != 5
    with pytest.raises(TypeError):
        hash(ClassAd())


def test_ads_take_part_in_matches() -> None:
    """They are what evaluation takes, chained ones too."""
    machine = ClassAd({"Memory": 2048, "Requirements": Expression("TARGET.RequestMemory <= Memory")})
    cluster = ClassAd({"RequestMemory": 1024, "Requirements": Expression("TARGET.Memory >= RequestMemory")})
    job = ClassAd({"ProcId": 0}).chain(cluster)
    assert matches(job, machine, Context())
    assert matches(machine, job, Context())
    job["RequestMemory"] = 4096
    assert not matches(job, machine, Context())
    assert job.value("Missing", machine) is UNDEFINED
    assert job.evaluate(Expression("Memory"), machine) == 2048


def test_every_form_is_printed() -> None:
    """As HTCondor prints them; the XML as its source writes it."""
    ad = ClassAd.of_texts({"Zz": '"a<b&\\"c\\\\"', "b": "{ 1.5,[ x = y < 2 ] }", "t": "true", "u": "undefined"})
    assert ad.print() == '[ b = { 1.500000000000000E+00,[ x = y < 2 ] }; t = true; u = undefined; Zz = "a<b&\\"c\\\\" ]'
    assert ad.print(Format.LONG) == 'b = { 1.5,[ x = y < 2 ] }\nt = true\nu = undefined\nZz = "a<b&\\"c\\"\n'
    assert ad.print(Format.LONG, Order.KEPT).startswith("Zz")
    assert ad.print(Format.JSON_LINES) == (
        '{"b": [1.5,{"x": "\\/Expr(y < 2)\\/"}],"t": true,"u": null,"Zz": "a<b&\\"c\\\\"}'
    )
    assert ad.print(Format.XML) == (
        '<c>\n    <a n="b"><l><r>1.500000000000000E+00</r><c>\n        <a n="x"><e>y &lt; 2</e></a>\n    </c></l></a>\n'
        '    <a n="t"><b v="t"/></a>\n    <a n="u"><un/></a>\n    <a n="Zz"><s>a&lt;b&amp;"c\\\\</s></a>\n</c>\n'
    )
    assert str(ClassAd()) == "[  ]"
    assert "Zz" in repr(ad)


ROOT = Path(__file__).resolve().parent.parent.parent


def test_every_public_name_is_there() -> None:
    """Those that are imported late as well."""
    assert set(classad.__all__) <= set(dir(classad))
    for name in classad.__all__:
        assert getattr(classad, name) is not None
    assert classad.ClassAd({"a": 1}).print(classad.Format.LONG) == "a = 1\n"


def test_other_names_are_errors() -> None:
    """With the words of Python."""
    with pytest.raises(AttributeError, match=r"module 'crondor\.classad' has no attribute 'nope'"):
        _ = classad.nope


@pytest.mark.parametrize(
    ("line", "loaded"),
    [
        ("from crondor.classad import Expression; Expression('a.b + f(1)').evaluate()", False),
        ("from crondor.classad import ClassAd, read_ads", True),
    ],
)
def test_whole_ads_are_imported_late(line: str, loaded: bool) -> None:
    """Who evaluates expressions pays for no reader."""
    script = f"import sys; {line}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    late = {"crondor.classad.ad", "crondor.classad.formats", "crondor.classad.printing"}
    assert late & set(done.stdout.split()) == (late if loaded else set())
