"""Random ``-long`` texts, good and broken, give the ads that HTCondor's own library finds in them."""

import importlib.util
import os
import random
from pathlib import Path

import pytest

from crondor.classad import ClassAdSyntaxError
from crondor.classad.formats import Format, ReadMode, read_ads
from crondor.classad.tree import attribute_order
from tests.oracle.test_classad import answers
from tests.rows import rows

PEER = Path(__file__).with_name("classad_ads_peer.py")
SEEDS = int(os.environ.get("CRONDOR_FUZZ_SEEDS", "2"))
CASES = 1000
NAMES = [
    "A",
    "b",
    "Cmd",
    "cmd",
    "LongName",
    "_x1",
    "a b",
    "[A",
    "*** Offset",
    "'q'",
    "-x",
    "",
    "x\t",
    "/* c */ A",
    "1a",
]
VALUES = rows("oracle/values")
SIGNS = [" = ", " = ", " = ", " = ", "=", " =  ", "  =\t", " == ", " ", "\t=", " =?= "]
ENDS = [
    "\n",
    "\n",
    "\n",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "\n\n",
    " \n",
    "\n \n",
    "\n\n\n",
    "\n# c\n",
    "\n  # c = 1\n",
    "\n\t\n",
]


def _text(dice: random.Random) -> str:
    wild = dice.random() < 0.6
    parts = []
    for _ in range(dice.randrange(1, 7)):
        if wild:
            parts += [dice.choice(["", "", "", " ", "\t"]), dice.choice(NAMES), dice.choice(SIGNS), dice.choice(VALUES)]
            parts.append(dice.choice(ENDS))
        else:
            parts += [dice.choice(NAMES[:6]), " = ", dice.choice(VALUES), dice.choice(["\n", "\n", "\n", "\n\n"])]
    if dice.random() < 0.2:
        parts.pop()
    return "".join(parts)


def _ours(text: str) -> dict[str, object]:
    try:
        found = list(read_ads(text, Format.LONG, ReadMode.DAEMON))
    except ClassAdSyntaxError:
        return {"error": ""}
    ads = [{name: str(ad[name]) for name in sorted(ad, key=attribute_order)} for ad in found]
    return {"ads": ads, "old": [ad.print(Format.LONG) for ad in found]}


@pytest.mark.skipif(importlib.util.find_spec("htcondor2") is None, reason="HTCondor's bindings exist for Linux only")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_texts_give_the_same_ads(seed: int) -> None:
    """The same ads with the same attributes and the same ``-long`` text, or an error on both sides."""
    dice = random.Random(seed)  # noqa: S311 - test data
    texts = [_text(dice) for _ in range(CASES)]
    for text, recorded in zip(texts, answers(texts, PEER), strict=True):
        if "skip" not in recorded:
            assert _ours(text) == recorded, repr(text)
