"""What the fuzzer feeds: lines of the recordings changed here and there, and texts made from a grammar."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

from crondor.classad import Format, ReadMode, print_ad, read_ads
from crondor.diagnostics import CrondorError
from tests.classad.grammar import Grammar

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "classad"
_TARGETS = (
    *("expression", "old", "evaluate", "evaluate", "ads", "ads", "ads", "detect", "submit", "submit", "submit"),
    *("transform", "transform", "schedule", "schedule"),
)
_SIGNS: list[str] = [
    *list("\"'\\()[]{}<>.,;:?=!&|+-*/%^~#$@ \t\n\r\v\f0189eExXa_"),
    *("\0", "\x85", "\ud800", "\udcff", "\udc80", "\xa0", "\u2028", "\ufeff", "é", "日", "😀"),
    *("/*", "*/", "//", "is", "isnt", "=?=", "=!=", "?:", "0x", "1e999", "9223372036854775808", ".5", "real(", "..."),
    *("MY.", "TARGET.", "parent.", "absTime(", 'relTime("', "eval(", "true", "undefined", "error", "\\0", "\\400"),
    *("\n\n", "\r\n", "\n***\n", "\n-- Schedd: ", "]\n[", "]]", "},\n{", "\\u65e5", "\\ud83d", '"\\/Expr(', ")\\/"),
    *("<c>", "</c>", '<a n="', "<s>", "<e>", "&#0;", "&lt;", "&x;", "<!DOCTYPE", "<![CDATA[", "]]>", "<?xml", "<un/>"),
]
_BRACKETS: tuple[tuple[str, str], ...] = (
    *(("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"), ('"', '"'), ("'", "'")),
    *(("[a=", "]"), ("f(", ")"), ("{[a=", "]}"), ('{"a":', "}"), ("<l>", "</l>")),
)
_SCHEDULES = (
    *("0 18 * * 5L", "0 6 LW,15W * 1#2 2026-2030", "H H(0-7) * * *", "*/5 ~ ? JAN-MAR mon", "@daily", "0 0 9 ? * MON"),
    *("every 2 days at 06:00 from 2026-12-01", "first and third Monday of the month at 9am", "weekends at noon"),
    *("every 90 minutes from 2026-12-01T00:00 until 2027-01-01", "every 3 months on the last working day"),
    *(
        "DTSTART:20261201T170000 RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=9",
        "FREQ=MINUTELY;INTERVAL=7",
    ),
    *("RDATE:20261224T120000Z EXDATE;VALUE=DATE:20261224", "2026-12-24T14:00, 2026-12-31T14:00", "x.ics"),
    *("2026-12-24..2027-01-06", "2026-12-24 at 09:00", "holidays:DE-BW", "every day only holidays:US zone Asia/Tokyo"),
)
_REPEATS = (2, 5, 50, 500, 5000)
_LONGEST = 1 << 18


_Writer: TypeAlias = "Callable[[list[dict[str, str]]], str]"
_Mutation: TypeAlias = "Callable[[str, Random, list[str]], str]"


class Input(NamedTuple):
    """One text and what is done with it; ``number`` makes it again."""

    number: int
    target: str
    text: str


class Texts:
    """Inputs by number: the same for the same seed and number, whatever came before."""

    def __init__(self, seed: int) -> None:
        """Read the recordings."""
        self.seed = seed
        self.expressions = list(_expressions())
        self.ads = list(_ads())
        self.submits = list(_submits())
        self.rules = list(_rules())
        self.schedules = list(_schedules())

    def input(self, number: int) -> Input:
        """Return one input."""
        dice = Random(f"{self.seed}/{number}")  # noqa: S311 - test data
        target = dice.choice(_TARGETS)
        pools = {"ads": self.ads, "detect": self.ads, "submit": self.submits, "transform": self.rules}
        pools["schedule"] = self.schedules
        pool = pools.get(target, self.expressions)
        if target not in {"transform", "schedule"} and dice.random() < 0.4:
            grammar = Grammar(f"{self.seed}/{number}/grammar")
            made = {"ads": made_ads, "detect": made_ads, "submit": made_submit}.get(target)
            text = made(grammar) if made else grammar.expression(dice.randrange(5))
        else:
            text = dice.choice(pool)
        for _ in range(dice.choice((0, 0, 1, 1, 2, 5))):
            mutation: _Mutation = dice.choice(_MUTATIONS)
            text = mutation(text, dice, pool)[:_LONGEST]
        return Input(number, target, text)


def _lines(name: str) -> Iterator[dict[str, object]]:
    for line in gzip.decompress((GOLDEN / f"{name}.jsonl.gz").read_bytes()).splitlines():
        yield json.loads(line)


def _schedules() -> Iterator[str]:
    """Yield schedules in every language, and each with a part that another one takes away."""
    events = (GOLDEN.parent / "calendar_events" / "systemd.jsonl").read_text("utf-8").splitlines()
    single = [*_SCHEDULES, *(str(json.loads(line)["text"]) for line in events[::5])]
    yield from single
    for number, text in enumerate(single):
        word = ("except", "only", "and", "or")[number % 4]
        yield f"({text}) {word} {single[number * 7 % len(single)]}"


def _expressions() -> Iterator[str]:
    for name in ("parse", "eval", "refs"):
        for line in _lines(name):
            yield str(line["expr"])
    for ad in json.loads(gzip.decompress((GOLDEN / "named_ads.json.gz").read_bytes())).values():
        yield from ad.values()


def _ads() -> Iterator[str]:
    """Yield the recorded texts of ads, and the same ads in the other forms."""
    for line in _lines("ads"):
        text = str(line["text"])
        yield text
        try:
            found = list(read_ads(text, mode=ReadMode.DAEMON))
        except CrondorError:
            continue
        for ad in found[:1]:
            yield from (print_ad(ad, form) for form in Format)


def made_ads(grammar: Grammar) -> str:
    """Return one ad to three in any form, written without crondor's help."""
    write: _Writer = grammar.dice.choice(_WRITERS)
    return write([grammar.attributes() for _ in range(grammar.dice.randrange(1, 4))])


def _submits() -> Iterator[str]:
    for line in gzip.decompress((GOLDEN.parent / "submit" / "submit.jsonl.gz").read_bytes()).splitlines():
        yield str(json.loads(line)["submit"])


def _rules() -> Iterator[str]:
    for line in gzip.decompress((GOLDEN.parent / "transforms" / "runs.jsonl.gz").read_bytes()).splitlines():
        yield from (str(rules) for rules in json.loads(line)["rules"])


def made_submit(grammar: Grammar) -> str:
    """Return a submit description that means to be one: macros in macros, conditionals, heredocs, lists."""
    dice = grammar.dice
    names = ("a", "b", "c", "Item", "MY.X", "+Y", "requirements", "cron_minute", "deferral_time", "request_memory")

    def macro(depth: int) -> str:
        head = dice.choice(_MACROS)
        inner = macro(depth - 1) if depth and dice.random() < 0.6 else dice.choice((*names, "1", "a,b", "", " ", ")"))
        return head.replace("@", inner).replace("%", dice.choice(names))

    def line() -> str:
        value = dice.choice((macro(3), macro(1), grammar.expression(1), "x \\\n y", "*/5"))
        return dice.choice(_STATEMENTS).replace("@", dice.choice(names)).replace("%", value)

    lines = [line() for _ in range(dice.randrange(12))]
    return "executable = /bin/sh\n" + "\n".join(lines) + dice.choice(_ENDS)


_MACROS = (
    *(
        "$(@)",
        "$(@:%)",
        "$$(@)",
        "$(%$(@))",
        "$INT(@,%05d)",
        "$REAL(@,%a)",
        "$STRING(@)",
        "$EVAL(@)",
        "$F(@)",
        "$Fqdnx(@)",
    ),
    *(
        "$CHOICE(@,%,x)",
        "$SUBSTR(%,@)",
        "$RANDOM_CHOICE(@)",
        "$RANDOM_INTEGER(1,@)",
        "$ENV(A:@)",
        "$BASENAME(@,.x)",
        "$(",
    ),
    *("$(DOLLAR)@", "$(Process)@", "$(ItemIndex)", "$(SUBMIT_TIME)@", "x@", "$F$(@)", "@@"),
)
_STATEMENTS = (
    *(
        "@ = %",
        "@ = $(@) %",
        "@ += %",
        "@ +,= %",
        "if %\n@ = 1\nelse\n@ = %\nendif",
        "if defined @\nendif",
        "@ @=e\n%\n@e",
    ),
    *("include : @", "use template : @", "# %", "queue %", "queue 2 @ in (% b)", "elif %", "endif", "@", ":@ %", "%"),
)
_ENDS = (
    *("\nqueue\n", "\nqueue 3\n", "\nqueue a,b from (\n1 2\n\n3\n)\n", "\nqueue 1000000\n", "", "\nqueue in (a b) ["),
    *("\nqueue Item matching files *\n", "\nqueue a from table(header=0,sep=;) (\na;b\n1;2\n)\n", "\nqueue from x |\n"),
)


def _long(ads: list[dict[str, str]]) -> str:
    return "\n".join("".join(f"{name} = {text}\n" for name, text in ad.items()) for ad in ads)


def _new(ads: list[dict[str, str]]) -> str:
    return "\n".join("[" + "; ".join(f"{name} = {text}" for name, text in ad.items()) + "]" for ad in ads)


def _json(ads: list[dict[str, str]]) -> str:
    made = [{name: f"/Expr({text})/" for name, text in ad.items()} for ad in ads]
    return json.dumps(made).replace('"/Expr', '"\\/Expr').replace(')/"', ')\\/"')


def _xml(ads: list[dict[str, str]]) -> str:
    def attribute(name: str, text: str) -> str:
        escaped = text.replace("&", "&amp;").replace("<", "&lt;")
        return f'<a n="{name}"><e>{escaped}</e></a>'

    inner = "".join("<c>" + "".join(attribute(*pair) for pair in ad.items()) + "</c>\n" for ad in ads)
    return f'<?xml version="1.0"?>\n<!DOCTYPE classads SYSTEM "classads.dtd">\n<classads>\n{inner}</classads>\n'


_WRITERS: tuple[_Writer, ...] = (_long, _new, _json, _xml)


# Mutations: a text, dice and the texts like it give another text.


def _piece(text: str, dice: Random) -> tuple[int, int]:
    start = dice.randint(0, len(text))
    return start, min(len(text), start + int(dice.expovariate(0.1)))


def _without(text: str, dice: Random, _: list[str]) -> str:
    start, end = _piece(text, dice)
    return text[:start] + text[end:]


def _with_sign(text: str, dice: Random, _: list[str]) -> str:
    at = dice.randint(0, len(text))
    return text[:at] + dice.choice(_SIGNS) + text[at:]


def _other_sign(text: str, dice: Random, _: list[str]) -> str:
    at = dice.randint(0, len(text))
    return text[:at] + dice.choice(_SIGNS) + text[at + 1 :]


def _other_number(text: str, dice: Random, _: list[str]) -> str:
    digits = [at for at, char in enumerate(text) if char.isdigit()]
    if not digits:
        return text
    at = dice.choice(digits)
    return text[:at] + str(dice.choice((0, 9, 1 << 31, 1 << 63, -(1 << 63), 10**400, 1e308))) + text[at + 1 :]


def _spliced(text: str, dice: Random, others: list[str]) -> str:
    other = dice.choice(others)
    start, _ = _piece(text, dice)
    at, _ = _piece(other, dice)
    return text[:start] + other[at:]


def _inserted(text: str, dice: Random, others: list[str]) -> str:
    at = dice.randint(0, len(text))
    return text[:at] + dice.choice(others) + text[at:]


def _repeated(text: str, dice: Random, _: list[str]) -> str:
    start, end = _piece(text, dice)
    return text[:start] + text[start:end] * dice.choice(_REPEATS) + text[end:]


def _wrapped(text: str, dice: Random, _: list[str]) -> str:
    (before, after), many = dice.choice(_BRACKETS), dice.choice(_REPEATS)
    return before * many + text + after * many


def _turned(text: str, dice: Random, _: list[str]) -> str:
    start, end = _piece(text, dice)
    return text[:start] + text[start:end][::-1] + text[end:]


def _cut(text: str, dice: Random, _: list[str]) -> str:
    return text[: dice.randint(0, len(text))]


_MUTATIONS: tuple[_Mutation, ...] = (
    _without,
    _with_sign,
    _with_sign,
    _other_sign,
    _other_sign,
    _other_number,
    _spliced,
    _inserted,
    _repeated,
    _wrapped,
    _turned,
    _cut,
)
