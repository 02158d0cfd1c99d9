"""The page of every rule: its first description triggers the rule, the second one does not, and a fix cures it."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from crondor.access_point import read_access_point
from crondor.config import read_config
from crondor.diagnostics import Source
from crondor.knowledge import Release
from crondor.lint import RULES, CheckSettings, Finding, check_submit, page
from crondor.lint.rules import dags
from crondor.macro.files import Files
from crondor.submit import SubmitFile, read_submit
from crondor.submit.edits import apply

SETTINGS = CheckSettings(1795305600, "Europe/Berlin")  # 2026-11-22 00:00 UTC
CODES = sorted(
    RULES.keys() - {"CRN002"} - {rule.code for rule in dags.RULES}
)  # bytes cannot stand on a page; test_dags
FOLDER = str(Path(__file__).parent / "programs")  # clean.sh is there, which nobody may execute
BLOCK = re.compile(r"^```submit\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONFIG = re.compile(r"^```config\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read(source: Source) -> SubmitFile:
    """Read a description as the command does it."""
    return read_submit(source, files=Files([FOLDER], base=FOLDER), now=SETTINGS.now)


def settings_of(code: str) -> CheckSettings:
    """Return what a page's examples are checked with: ``With `--target 23`:`` is said before them."""
    target = re.search(r"^With `--target (\S+)`:$", page(code), re.MULTILINE)
    config = "".join(CONFIG.findall(page(code)))
    if config:
        return replace(SETTINGS, access_point=read_access_point(read_config(Source(config, "site.conf"))))
    return replace(SETTINGS, target=Release.parse(target[1])) if target else SETTINGS


@cache
def findings(text: str) -> tuple[Finding, ...]:
    """Return what is found in a description."""
    return check_submit(Source(text, "job.sub"), SETTINGS, read).findings


def codes(text: str, settings: CheckSettings = SETTINGS) -> set[str]:
    """Return the codes of what is found in a description."""
    found = findings(text) if settings is SETTINGS else check_submit(Source(text, "job.sub"), settings, read).findings
    return {finding.diagnostic.code for finding in found}


@pytest.mark.parametrize("code", CODES)
def test_the_first_description_triggers_the_rule_and_the_second_does_not(code: str) -> None:
    """An example that shows nothing, or a remedy that helps nothing, is wrong."""
    bad, good = BLOCK.findall(page(code))
    assert code in codes(bad, settings_of(code))
    assert code not in codes(good, settings_of(code))


@pytest.mark.parametrize("code", CODES)
def test_a_fix_cures_its_own_rule(code: str) -> None:
    """Whatever an example's fix does, the rule has nothing to say of it afterwards."""
    for finding in findings(BLOCK.findall(page(code))[0]):
        if finding.diagnostic.code == code and finding.fix is not None:
            assert code not in codes(apply(finding.fix.edits[0].span.source, finding.fix.edits))


@pytest.mark.parametrize("code", sorted(RULES))
def test_a_page_begins_with_its_rule_and_names_a_source(code: str) -> None:
    """The heading is the rule's line in a list."""
    text = page(code)
    rule = RULES[code]
    assert text.startswith(f"# {code} {rule.name}: {rule.title}\n")
    assert re.search(r"^Source: \S", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 200


def test_the_examples_with_a_fix_are_many() -> None:
    """The test of fixes tests some."""
    fixed = {
        finding.diagnostic.code
        for code in CODES
        for finding in findings(BLOCK.findall(page(code))[0])
        if finding.fix is not None and finding.diagnostic.code == code
    }
    assert fixed >= {"CRN102", "CRN103", "CRN104", "CRN107", "CRN108", "CRN109", "CRN110", "CRN112", "CRN113"}
    assert fixed >= {"CRN114", "CRN116", "CRN204", "CRN208", "CRN001", "CRN006", "CRN010"}
