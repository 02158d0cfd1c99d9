"""Every attribute that a module speaks of, with every odd value that a user can give it."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Final

from crondor.classad.ad import ClassAd
from tests.examples import TIMES

ROOT: Final = Path(__file__).parents[2]
NOW: Final = 1_795_608_000  # 2026-11-25 12:00 UTC

ODD: Final = (
    'real("INF")', '-real("INF")', 'real("NaN")', "1e300", "9223372036854775808", "-9223372036854775809", "4294967297",
    "-1", "0", "5.9", '""', '"x"', '"5"', "true", "undefined", "error", "{}", "[a = 1]",
    'absTime("2020-01-01T00:00:00Z")', "time() + 5", "SELF + 1", f"{'(' * 150}1{')' * 150}",
)  # fmt: skip
"""Expressions; SELF is the attribute itself."""

UNREADABLE: Final = ("05", "a b (", f"{'(' * 400}1{')' * 400}")
"""Texts that are no expressions, as a file of ads can have them; no queue has."""

JOB: Final[Mapping[str, str]] = {
    "MyType": '"Job"', "Owner": '"alice"', "User": '"alice@example.org"', "Cmd": '"/bin/true"', "Iwd": '"/tmp"',
    "ClusterId": "1", "ProcId": "0", "JobUniverse": "5", "JobStatus": "1", "QDate": str(NOW - 100),
    "EnteredCurrentStatus": str(NOW - 50), "WantJobRouter": "true", "OnExitRemove": "false", "CronMinute": '"0"',
    "DeferralTime": str(NOW), "DeferralWindow": "60", "DeferralPrepTime": "120", "ScheddInterval": "60",
    "Requirements": "((time() + ScheddInterval) >= (DeferralTime - DeferralPrepTime))"
    " && (time() < (DeferralTime + DeferralWindow))",
}  # fmt: skip
HELD: Final = {"JobStatus": "5", "HoldReason": '"r"', "HoldReasonCode": "20", "HoldReasonSubCode": "0"}
RUNNING: Final = {"JobStatus": "2", "ShadowBday": str(NOW - 500), "JobCurrentStartDate": str(NOW - 500)}

_NAME: Final = re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*").fullmatch


def names(*places: str) -> list[str]:
    """Return all that looks like an attribute in the texts of modules, files or folders of the repository."""
    found: set[str] = set()
    for place in places:
        path = ROOT / place
        for module in [path] if path.suffix else path.rglob("*.py"):
            found |= _names(module)
    return sorted(found)


@cache
def _names(module: Path) -> frozenset[str]:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    public = {
        id(text)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and any(isinstance(each, ast.Name) and each.id == "__all__" for each in node.targets)
        for text in ast.walk(node)
    }
    texts = (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in public
    )
    return frozenset(text for text in texts if _NAME(text))


def attributes(*places: str, values: Iterable[str] = ODD) -> Iterator[tuple[str, str]]:
    """Yield each name of some modules with some of the values, with CRONDOR_EXAMPLES=2 with each."""
    every = product(names(*places), values)
    for name, value in islice(every, 0, None, 5 if TIMES == 1 else 1):
        yield name, value.replace("SELF", name)


def job(name: str, value: str, cluster: int = 1, more: Mapping[str, str] = JOB) -> ClassAd:
    """Return a job's ad, by default a crontab job's, one of whose attributes has another text; it is not read yet."""
    texts = {**JOB, **more, "ClusterId": str(cluster)}
    spelled = {each.lower(): each for each in texts}
    texts[spelled.get(name.lower(), name)] = value
    ad = ClassAd()
    for each, text in texts.items():
        ad.put(each, text)
    return ad


def jobs(*places: str, values: Iterable[str] = ODD, more: Mapping[str, str] = JOB) -> list[ClassAd]:
    """Return such jobs, one after the other as clusters from 1 on."""
    found = enumerate(attributes(*places, values=values), 1)
    return [job(name, value, number, more) for number, (name, value) in found]


def long_form(ads: Iterable[ClassAd]) -> str:
    """Return ads as ``condor_q -long`` prints them, whatever stands in them."""
    return "\n".join("".join(f"{ad.names[key]} = {text}\n" for key, text in ad.codes.items()) for ad in ads)
