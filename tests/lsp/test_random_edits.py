"""Random edits over the examples and recorded descriptions: the server lives, and finds what a fresh one finds."""

import gzip
import json
import os
import random
from collections.abc import Iterator
from typing import Any

from tests.cli.running import ROOT
from tests.lsp.client import Client, place, serving

EDITS = int(os.environ.get("CRONDOR_EDITS", "100"))
OF_A_TEXT = 50
SEED = int(os.environ.get("CRONDOR_SEED", "1"))
INSERTED = (
    *(
        "",
        "\n",
        "\r\n",
        "\r",
        "\x0c",
        "\u2028",
        "é",
        "𝄞",
        "\0",
        "\\\n",
        "#",
        "$(",
        ")",
        "$(x)",
        '"',
        "'",
        "[",
        "]",
        "@=end\n",
    ),
    *(
        "queue\n",
        "queue x in (\n",
        "if true\n",
        "endif\n",
        "include : y\n",
        "x = 1\n",
        "+A = ",
        "cron_hour = ",
        "*/7",
        "1-5",
    ),
    *("use FEATURE : ", "SET A ", "REQUIREMENTS ", "99999999999", "||", "=?=", "MON"),
)


def texts() -> list[tuple[str, str]]:
    """Return names and texts in all languages."""
    found = [(path.name, path.read_text(encoding="utf-8")) for path in sorted((ROOT / "examples").glob("*.*"))]
    found = [each for each in found if each[0].endswith((".sub", ".conf", ".ads"))]
    lines = gzip.decompress((ROOT / "tests/golden/submit/submit.jsonl.gz").read_bytes()).splitlines()
    found += [(f"{number}.sub", json.loads(line)["submit"]) for number, line in enumerate(lines[::40])]
    return [
        *found,
        ("crontab", "SHELL=/bin/sh\n30 2 * * 1-5 /bin/x %a\n@daily y\n"),
        ("a.rules", "SET X 1\nCOPY A B\n"),
    ]


def edits(text: str, dice: random.Random) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield changes as a client sends them, each with the text after it; lines end as in the protocol."""
    while True:
        low = dice.randrange(len(text) + 1)
        high = min(len(text), low + dice.choice((0, 0, 0, 1, 2, 30)))
        for at in (low, high):
            if text[at - 1 : at + 1] == "\r\n":  # no place is between the two
                low, high = at - 1, at + 1
        new = dice.choice(INSERTED)
        starts = [position(text, at) for at in (low, high)]
        text = text[:low] + new + text[high:]
        yield {"range": place(*starts[0], *starts[1]), "text": new}, text


def position(text: str, at: int) -> tuple[int, int]:
    """Return line and UTF-16 column of an offset."""
    before = text[:at].replace("\r\n", "\n\n").replace("\r", "\n")
    line = text[:at].replace("\r\n", "\n").replace("\r", "\n").count("\n")
    return line, len(before[before.rfind("\n") + 1 :].encode("utf-16-le", "surrogatepass")) // 2


def test_random_edits_leave_the_findings_of_a_fresh_server(client: Client) -> None:
    """With questions in between, each of which is answered."""
    dice = random.Random(SEED)  # noqa: S311 - which edits, no secret
    choices = texts()
    ends: list[tuple[str, str, list[dict[str, Any]]]] = []
    for number in range(max(1, EDITS // OF_A_TEXT)):
        name, text = dice.choice(choices)
        path = f"/edited/{number}/{name}"
        uri = client.open(path, text)
        version = 1
        for change, text in edits(text, dice):  # noqa: B020 - the text goes on
            version += 1
            client.change(uri, version, change)
            if version % 10 == 0:
                where = position(text, dice.randrange(len(text) + 1))
                for method in ("hover", "completion", "definition"):
                    client.about(method, uri, *where)
                client.about("semanticTokens/full", uri)
                client.about("documentSymbol", uri)
                client.about("foldingRange", uri)
            if version > OF_A_TEXT:
                break
        ends.append((path, text, client.diagnostics(uri, version)))
        client.close(uri)
    with serving() as fresh:
        for path, text, found in ends:
            assert fresh.diagnostics(fresh.open(path, text)) == found, (path, text)
