"""The page of every rule about routes: its first configuration triggers the rule, the second one nothing of it."""

import re

import pytest

from crondor.config import read_config
from crondor.diagnostics import Source
from crondor.lint import RULES as OTHERS
from crondor.lint import page
from crondor.lint.routes import ROUTE_RULES, check_routes

CODES = sorted(ROUTE_RULES.keys() - OTHERS.keys())
BLOCK = re.compile(r"^```condor\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def codes(text: str) -> list[str]:
    """Return the codes of what is found in a configuration."""
    checked = check_routes(read_config(Source(text, "routes.conf")))
    return [finding.diagnostic.code for report in checked.reports for finding in report.findings]


@pytest.mark.parametrize("code", CODES)
def test_the_first_configuration_triggers_the_rule_and_the_second_nothing(code: str) -> None:
    """An example that shows nothing, or a remedy with a fault of its own, is wrong."""
    bad, good = BLOCK.findall(page(code))
    assert code in codes(bad)
    assert codes(good) == []


@pytest.mark.parametrize("code", CODES)
def test_a_page_begins_with_its_rule_and_names_a_source(code: str) -> None:
    """The heading is the rule's line in a list."""
    text, rule = page(code), ROUTE_RULES[code]
    assert text.startswith(f"# {code} {rule.name}: {rule.title}\n")
    assert re.search(r"^Source: \S", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 130


def test_the_rules_about_comments_have_the_page_they_have_elsewhere() -> None:
    """CRN9.. are the same rules for submit files and for configurations."""
    assert page("CRN901").startswith("# CRN901 unused-ignore")


def test_the_codes_of_routes_and_of_submit_files_do_not_meet() -> None:
    """A code means one thing."""
    assert {code for code in ROUTE_RULES if code in OTHERS} == {"CRN901", "CRN902"}
