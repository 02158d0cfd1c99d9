"""Random regular expressions, options and replacements do what HTCondor's own library does with them."""

import importlib.util
import random

import pytest

from tests.oracle.test_classad import SEEDS, answers, ours

_WRITTEN = r"""
a b A é . \d \w \s \b ^ $ [a-c] [^a] [[:alpha:]] (a) (b|c) (?:ab) (a)? (?i)a \x41 \x{41} \x{100} \u0041 \1 \n
# \Q.\E \R \C \K (?=a) (?<!b) (?<n>a) \k<n> a* a+? a{2} a{,2} a{1,} a{1,2} a{1, x++ (*UTF8) (?R) \p{L} \X \h \N \A \z \Z
[ ( ) ] * ? { \ (?#c) (?P<m>b) (?(1)a|b) \xff [é] \é () | \o{101} \101 \0 \cA \e (?s). (?m)^a (?-i)a \E [\d-z] [z-a]
(?|(a)|(b)) (?>a*) a** \g1 \g{-1} (?1) (*FAIL) \L \U0041 \y \8 [{,2}] \\ \{,2}
"""
PIECES = _WRITTEN.split()
SUBJECTS = [
    "",
    "a",
    "aa",
    "abc",
    "b",
    "AB",
    "é",
    "a b",
    "a\nb",
    "\n",
    "a\r\nb",
    "x1 y2",
    "a,b",
    "-",
    "a{,2}",
    "日本",
    "\t",
]
BYTES = ['"\\377"', '"a\\303"', '"\\200b"', '"a\\000b"', 'substr("é", 0, 1)', 'substr("日本", 1, 2)']
OPTIONS = ["", "i", "m", "s", "x", "g", "f", "u", "I", "ix", "gf", "ifg", "e", "q", "imsxgf", "é", " "]
NEW = ["", "x", r"\0", r"\1", r"<\0>", r"\1\2", r"\9", r"\\0", r"\a", "\\", "$1", "é", r"\10"]


def _case(dice: random.Random) -> dict[str, object]:
    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    pattern = quoted("".join(dice.choices(PIECES, k=dice.choice([1, 1, 2, 3]))))
    subject = dice.choice([quoted(dice.choice(SUBJECTS) + dice.choice(SUBJECTS)), dice.choice(BYTES), "undefined", "5"])
    options, new = quoted(dice.choice(OPTIONS)), quoted(dice.choice(NEW))
    call = dice.choice(
        [
            f"regexp({pattern}, {subject}, {options})",
            f"regexps({pattern}, {subject}, {new}, {options})",
            f"replace({pattern}, {subject}, {new}, {options})",
            f"replaceAll({pattern}, {subject}, {new})",
            f'regexpMember({pattern}, {{{subject}, "ab"}}, {options})',
            f'stringList_regexpMember({pattern}, {subject}, ",", {options})',
        ]
    )
    return {"expr": call, "my": {}, "target": None, "question": "value"}


@pytest.mark.skipif(importlib.util.find_spec("htcondor2") is None, reason="HTCondor's bindings exist for Linux only")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_regular_expressions_agree(seed: int) -> None:
    """Also on bytes that are no UTF-8, and with options that nobody knows."""
    dice = random.Random(f"regexps {seed}")  # noqa: S311 - test data
    cases = [_case(dice) for _ in range(3000)]
    assert [(case["expr"], ours(case), recorded) for case, recorded in zip(cases, answers(cases), strict=True)
            if ours(case) != recorded] == []  # fmt: skip
