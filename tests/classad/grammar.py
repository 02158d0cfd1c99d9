"""Random expressions and ads, for comparison with HTCondor's own library and for the fuzzer."""

import random

from tests.rows import rows

NAMES = [
    "a",
    "b",
    "c",
    "d",
    "x",
    "y",
    "MY",
    "TARGET",
    "my",
    "other",
    "self",
    "parent",
    "n",
    "l",
    "s",
    "t",
    "root",
    "ad",
    "LEFT",
    "A",
    "X",
]
STRINGS = [
    "a",
    "A",
    "b",
    "a,b",
    "1.5",
    " 2x",
    "",
    "1+2",
    "x",
    "true",
    "a b",
    "<",
    "a@b",
    "25.1.0",
    "^a.*",
    "é",
    "2020-01-01T00:00:00Z",
    "A=1 B=2",
    ", ",
    "a;b",
    "MY.x + y",
    "%H:%M",
    "slot1@node",
    "a='b c'",
]
CONSTANTS = [
    "1",
    "0",
    "-1",
    "2",
    "3",
    "7",
    "1.5",
    "-0.5",
    "0.0",
    "1e30",
    "true",
    "false",
    "undefined",
    "error",
    "100",
    "9223372036854775807",
    "-9223372036854775808",
    "relTime(5)",
    "absTime(0)",
    "absTime(3600,3600)",
    'relTime("1:00")',
    'absTime("2020-01-01T00:00:00+01:00")',
]
OPERATORS = [
    "+",
    "-",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&&",
    "||",
    "=?=",
    "=!=",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    ">>>",
    "?:",
]
FUNCTIONS = rows("classad/functions")


class Grammar:
    """Expressions over two ads, most of them of types that go together now and then."""

    def __init__(self, seed: int | str) -> None:
        """Begin the dice at a seed."""
        self.dice = random.Random(seed)  # noqa: S311 - test data

    def atom(self) -> str:
        """Return a name, a string or another constant."""
        kind = self.dice.random()
        if kind < 0.3:
            return self.dice.choice(NAMES)
        return f'"{self.dice.choice(STRINGS)}"' if kind < 0.6 else self.dice.choice(CONSTANTS)

    def expression(self, depth: int) -> str:
        """Return an expression of some depth."""
        if depth <= 0:
            return self.atom()
        part = [self.expression(depth - 1) for _ in range(3)]
        some = self.dice.randrange(4)
        return self.dice.choice(
            [
                f"({part[0]}) {self.dice.choice(OPERATORS)} ({part[1]})",
                f"({part[0]}) {self.dice.choice(OPERATORS)} ({part[1]})",
                f"{self.dice.choice('!-+~')} ({part[0]})",
                f"({part[0]}) ? ({part[1]}) : ({part[2]})",
                f"{self.dice.choice(FUNCTIONS)}({', '.join(part[:some])})",
                f"{self.dice.choice(FUNCTIONS)}({', '.join(part[:2])})",
                "{" + ", ".join(part[:some]) + "}",
                "[" + "; ".join(f"{self.dice.choice('abcdxyn')} = {text}" for text in part[:some]) + "]",
                f"({part[0]}).{self.dice.choice(NAMES)}",
                f"({part[0]})[{part[1]}]",
                f"{self.dice.choice(['MY', 'TARGET'])}.{self.dice.choice('abcdxyn')}",
            ]
        )

    def attributes(self) -> dict[str, str]:
        """Return the attributes of an ad."""
        names = self.dice.sample("abcdxynlst", self.dice.randrange(8))
        return {name: self.expression(self.dice.randrange(3)) for name in names}

    def case(self) -> dict[str, object]:
        """Return an expression, the ad it stands in, and the one it is matched with."""
        target = None if self.dice.random() < 0.3 else self.attributes()
        return {"expr": self.expression(self.dice.choice([1, 2, 2, 3])), "my": self.attributes(), "target": target}
