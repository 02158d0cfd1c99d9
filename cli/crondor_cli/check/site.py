"""`crondor check --test-rules` and `--suggest-rules`: the rules of a site, tested and proposed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from crondor.access_point import AccessPoint
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.lint import CheckSettings
from crondor.lint.site import SiteRule, try_rule
from crondor.lint.suggesting import suggested
from crondor_cli.kit.files import may_have_rules, read_source
from crondor_cli.kit.options import UsageProblem
from crondor_cli.kit.screen import say, show, usage
from crondor_cli.kit.site_rules import rules_here, rules_of_file
from crondor_cli.kit.tables import diagnostic_data, echo_json, plural

if TYPE_CHECKING:
    from crondor_cli.check import results


def test_rules(paths: Sequence[str], settings: CheckSettings, format_: str) -> int:
    """Test the rules of some files, or those of the settings, and print the results; return the exit status."""
    if format_ not in {"text", "json"}:
        raise usage(f"--test-rules does not support --format {format_}: use text or json")
    try:
        rules: dict[str, SiteRule] = {}
        for path in paths:
            rules |= {each.code: each for each in rules_of_file(read_source(path))}
        if not paths and may_have_rules():
            rules |= {each.code: each for each in rules_here()}
    except CrondorError as error:
        raise UsageProblem(error) from None
    if not rules:
        raise usage("there are no rules: write [[check.rule]] in a file of settings (crondor config names them)")
    faults: list[Diagnostic] = []
    rows: list[results.TestedRule] = []
    for rule in rules.values():
        found = try_rule(rule, settings)
        faults += found.faults
        rows.append({"code": rule.code, "name": rule.name, "passed": found.passed, "failed": len(found.faults)})
    if format_ == "json":
        tests: results.TestedRules = {"rules": rows, "diagnostics": list(map(diagnostic_data, faults))}
        echo_json(tests)
    else:
        for row in rows:
            say(f"{row['code']} {row['name']}: {_counted(row['passed'], row['failed'])}")
        show(faults)
        passed, failed = sum(row["passed"] for row in rows), len(faults)
        say(f"{plural(len(rows), 'rule')}: {_counted(passed, failed)}")
    return int(bool(faults))


def _counted(passed: int, failed: int) -> str:
    if not passed + failed:
        return "no tests (match, no-match)"
    return f"{plural(passed, 'test')} passed" + (f", {failed:,} failed" if failed else "")


def suggest_rules(access_point: AccessPoint | None) -> int:
    """Print rules for what an access point refuses or changes; return the exit status."""
    if access_point is None:
        raise usage("--suggest-rules needs --pool-config FILE, the access point's configuration")
    for line in suggested(access_point):
        say(line, fits=False)
    return 0
