"""Each rule has a page, and the page is true: its first example is found by the rule, its second is not."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from crondor.check import RULES, Settings, check, page
from crondor.macro.files import Files
from crondor.source import Source
from crondor.submit import read_submit

NOW = 1_795_348_800  # 2026-11-22 12:00 UTC
EXAMPLE = re.compile(r"^```submit\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_WITHOUT_EXAMPLE = {"CRN002"}  # bytes that are no text cannot stand in one


@pytest.mark.parametrize("code", sorted(RULES))
def test_the_examples_are_found_and_clean(code: str, tmp_path: Path) -> None:
    """The heading repeats code, name and title; the first example is found, the others are not."""
    text = page(code)
    rule = RULES[code]
    assert text.startswith(f"# {code} {rule.name}: {rule.title}\n")
    assert re.search(r"^Source: .*\.$", text, re.MULTILINE)
    read = partial(read_submit, files=Files([str(tmp_path)], base=str(tmp_path)), now=NOW)
    found = []
    for example in EXAMPLE.findall(text):
        report = check(Source(example, "example.sub"), Settings(NOW, "Europe/Berlin"), read)
        found.append(code in {finding.diagnostic.code for finding in report.findings})
    assert found == ([] if code in _WITHOUT_EXAMPLE else [True, False])
