"""The rules about slips, old syntax, quotes and contradictions: what they find beside their pages, and leave alone."""

import re

import pytest

from crondor.config import read_config
from crondor.diagnostics import Source
from crondor.lint import RULES as OTHERS
from crondor.lint import page
from crondor.lint.routes import ROUTE_RULES, check_routes
from tests.router.test_checking import asking, found, of_route, two


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("MaxIdelJobs = 10", "CRN627"),
        ("MaxJob = 10", "CRN627"),
        ("FailureRateTreshold = 0.1", "CRN627"),
        ("Memory_Limit = 10", None),
        ("set_Foo = 5", "CRN616"),
        ("eval_set_Foo = RequestCpus", "CRN616"),
        ("delete_Foo = true", "CRN616"),
        ("copy_Foo = Bar", "CRN616"),
        ("settings_x = 5", None),
        ("SET request_gpus 1", "CRN629"),
        ("SET request_memory 2048", "CRN629"),
        ("SET RequestGPUs 1", None),
        ("SET RequestGPU 1", "CRN628"),
        ("SET RequestFpgas 1", None),
        ('SET queue "short"', None),
        ('SET Environment "A=1"', None),
        ("SET RequestMemry 2000", "CRN628"),
        ("EVALSET Foo RequestMemry * 2", "CRN628"),
        ("SET batch_queue gpu", "CRN635"),
        ("SET remote_queue batch_queue", None),
        ("SET AcctGroup short", "CRN635"),
        ('SET AcctGroup "short"', None),
        ("SET JobStatusWanted undefined", None),
    ],
)
def test_a_line_of_a_route(line: str, code: str | None) -> None:
    """What is nearly something is found, with the rule that it is; what a CE or the site means is not."""
    assert of_route("UNIVERSE VANILLA", "REQUIREMENTS WantX", line) == ([] if code is None else [f"{code} 5"])


def test_what_the_configuration_itself_uses_is_no_slip() -> None:
    """A macro that is read, an attribute that is set, copied or asked for by another line."""
    assert of_route("UNIVERSE VANILLA", "REQUIREMENTS X", "set_Foo = 5", "SET A $(set_Foo)") == []
    assert of_route("UNIVERSE VANILLA", "REQUIREMENTS X", "MaxJob = 5", "SET A $(MaxJob)") == []
    assert of_route("UNIVERSE VANILLA", "REQUIREMENTS X", "SET RequestMemry 5", "EVALSET A RequestMemry + 1") == []
    assert of_route("UNIVERSE VANILLA", "REQUIREMENTS X", "SET request_gpus 5", "EVALSET A MY.request_gpus") == []
    assert of_route("UNIVERSE VANILLA", "REQUIREMENTS X", "SET short 5", "SET AcctGroup short") == []


@pytest.mark.parametrize(
    ("requirements", "code"),
    [
        ("RequestMemry < 8000", "CRN628"),
        ("RequestMemory < 8000", None),
        ("xcount > 1 && maxMemory < 4000", None),
        ("WholeNodez", "CRN628"),
        ("BatchQueue =?= gpu", "CRN635"),
        ("queue == gpu", "CRN635"),
        ('queue == "gpu"', None),
        ("RequestMemory == ImageSize", None),
        ("TARGET_x == MY.Y", None),
        ("RequestMemory > 8000 && RequestMemory < 4000", "CRN636"),
        ("RequestMemory > 8000 && RequestMemory < 8000.5", None),
        ("WantX || (RequestMemory >= 8000 && RequestMemory < 8000)", "CRN636"),
        ('Owner == "ann" && Owner == "bob"', "CRN636"),
        ('Owner == "ann" && Owner == "ANN"', None),
        ('Owner =?= "ann" && Owner =?= "ANN"', "CRN636"),
        ('Owner != "ann" || Owner != "bob"', "CRN636"),
        ('Owner != "ann" && Owner != "bob"', None),
        ("RequestMemory > 1 || RequestMemory < 5", "CRN636"),
        ("RequestMemory < 1 || RequestMemory > 5", None),
    ],
)
def test_requirements_with_words_that_mean_something_else(requirements: str, code: str | None) -> None:
    """Slips, missing quotes, comparisons that exclude each other or leave nothing."""
    wanted = [] if code is None else [f"{code} 4"]
    assert [each for each in asking(requirements) if not each.startswith("CRN623")] == wanted


@pytest.mark.parametrize(
    ("first", "second", "is_behind"),
    [
        ("RequestMemory > 2000", "RequestMemory > 4000", True),
        ("RequestMemory > 4000", "RequestMemory > 2000", False),
        ("WantX", "WantX && WantY", True),
        ("WantX || WantY", "WantY", True),
        ("WantX && WantY", "WantX", False),
        ('Owner != "ann"', 'Owner == "bob"', True),
        ('Owner == "ann"', 'Owner == "ANN"', True),
        ('Owner =?= "ann"', 'Owner == "ann"', False),
        ("RequestMemory != 5", "RequestMemory > 5 || RequestMemory < 3", True),
        ("!WantX", "!WantX && WantY", True),
    ],
)
def test_a_route_behind_one_that_asks_for_no_more(first: str, second: str, is_behind: bool) -> None:
    """As far as conjunctions, disjunctions and comparisons with constants tell."""
    assert two((f"REQUIREMENTS {first}",), (f"REQUIREMENTS {second}",)) == (["CRN632 8"] if is_behind else [])


@pytest.mark.parametrize(
    ("resource", "code"),
    [
        ("batch slurm", None),
        ('"batch pbs"', None),
        ("bach slurm", "CRN645"),
        ("batch slrum", "CRN645"),
        ("batch oursown", "CRN645"),
        ("condor schedd.example.org cm.example.org", None),
        ("arc https://ce.example.org", None),
        ("cream ce.example.org", "CRN645"),
    ],
)
def test_a_grid_resource(resource: str, code: str | None) -> None:
    """A type of grid, and after batch a batch system."""
    assert of_route("REQUIREMENTS WantX", f"GridResource = {resource}") == ([] if code is None else [f"{code} 4"])


def test_text_behind_an_end() -> None:
    """It does not end the value; a word that only begins alike is nothing."""
    head = "JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A @=end\nUNIVERSE VANILLA\nREQUIREMENTS X\n"
    assert "CRN617 5" in found(head + "@end # of A\n@end\n")
    assert found(head + "@end\t\n") == []
    assert "CRN617 5" not in found(head + "@ending\n@end\n")


def test_a_knob_with_a_mistyped_beginning() -> None:
    """The list and the routes, with what is meant; knobs of other daemons are left alone."""
    text = "JOB_ROTUER_ROUTE_NAMES = A\nJOB_ROUTR_ROUTE_A = x\nOB_ROUTER_ROUTE_A = x\nJOB_ROUTERS_ROUTE_B = x\n"
    text += "MY_ROUTER_X = 1\n"
    assert [each for each in found(text) if each.startswith("CRN604")] == [f"CRN604 {line}" for line in (1, 2, 3, 4)]


def test_a_limit_of_idle_jobs_above_that_of_all() -> None:
    """Where the route itself sets it; a default is nobody's mistake."""
    assert of_route("UNIVERSE VANILLA", "REQUIREMENTS X", "MaxJobs = 20", "MaxIdleJobs = 50") == ["CRN646 6"]
    assert of_route("UNIVERSE VANILLA", "REQUIREMENTS X", "MaxJobs = 20") == []
    assert of_route("UNIVERSE VANILLA", "REQUIREMENTS X", "MaxIdleJobs = -1") == []


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
