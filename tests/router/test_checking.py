"""The rules about routes: what they find beside their pages' examples, and what they leave alone."""

from pathlib import Path

import pytest

from crondor.config import read_config
from crondor.diagnostics import Severity, Source
from crondor.lint.routes import ROUTE_RULES, check_routes

HEAD = "JOB_ROUTER_ROUTE_NAMES = A\n"


def found(text: str) -> list[str]:
    """Return code and line of what is found."""
    reports = check_routes(read_config(Source(text, "routes.conf"))).reports
    diagnostics = [finding.diagnostic for report in reports for finding in report.findings]
    return [f"{each.kind} {each.span.line if each.span else 0}" for each in diagnostics]


def of_route(*lines: str, before: str = "") -> list[str]:
    """Return what is found in a route; its first line is line 3."""
    return found(before + HEAD + "JOB_ROUTER_ROUTE_A @=end\n" + "\n".join(lines) + "\n@end\n")


def asking(requirements: str) -> list[str]:
    """Return what is found in a route with these REQUIREMENTS."""
    return of_route("UNIVERSE VANILLA", f"REQUIREMENTS {requirements}")


@pytest.mark.parametrize(
    "requirements",
    [
        "false",
        "JobStatus == 2",
        'JobStatus == 2 && Owner == "ann"',
        "0",
        "undefined",
        "error",
        '"yes"',
        "1 > 2 || JobStatus =!= 1",
    ],
)
def test_requirements_that_no_candidate_meets(requirements: str) -> None:
    """Whatever else is in the job."""
    assert asking(requirements) == ["CRN631 4"]


@pytest.mark.parametrize(
    "requirements",
    [
        "true",
        "1",
        "2.5",
        'Owner == "ann"',
        "JobStatus == 1",
        "WantJobRouter =!= undefined",
        "time() > 5",
        "random() > 2",
        "X",
    ],
)
def test_requirements_that_some_candidate_may_meet(requirements: str) -> None:
    """What depends on the job or on the time is not judged."""
    assert asking(requirements) == []


@pytest.mark.parametrize(
    ("requirements", "expected"),
    [
        ("TARGET.WantJobRouter", ["CRN623 4", "CRN631 4"]),
        ("TARGET.X =?= undefined", ["CRN623 4"]),
        ("X || TARGET.Y", ["CRN623 4"]),
    ],
)
def test_target_in_requirements(requirements: str, expected: list[str]) -> None:
    """There is no other ad."""
    assert sorted(asking(requirements)) == expected


@pytest.mark.parametrize("name", ["JobFailureTest", "JobShouldBeSandboxed", "UseSharedX509UserProxy"])
def test_target_in_the_tests_of_a_route(name: str) -> None:
    """They are evaluated in the source job alone."""
    assert of_route("UNIVERSE VANILLA", "REQUIREMENTS X", f"{name} = TARGET.Y > 1") == ["CRN623 5"]
    assert of_route("UNIVERSE VANILLA", "REQUIREMENTS X", f"{name} = MY.Y > 1") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('X["a"].B', ["CRN626 4"]),
        ('(X["a"]).B =?= undefined', ["CRN626 4"]),
        ('Y || X["a"][0].B > 1', ["CRN626 4"]),
        ('X["a"].B.C', ["CRN626 4"]),
        ('X["a"]["B"]', []),
        ('X.a["B"]', []),
        ("X[0].B", []),
    ],
)
def test_a_name_behind_a_subscript(text: str, expected: list[str]) -> None:
    """HTCondor has lost the ad by then; in a route's tests and in the source constraint as well."""
    assert asking(text) == expected
    found = of_route("UNIVERSE VANILLA", "REQUIREMENTS Y", f"JobFailureTest = {text}")
    assert found == [each.replace("4", "5") for each in expected]
    found = of_route("UNIVERSE VANILLA", "REQUIREMENTS Y", before=f"JOB_ROUTER_SOURCE_JOB_CONSTRAINT = {text}\n")
    assert found == [each.replace("4", "1") for each in expected]


def two(first: tuple[str, ...], second: tuple[str, ...], before: str = "") -> list[str]:
    """Return what is found in two routes: the first begins on line 3, the second after it."""
    text = before + "JOB_ROUTER_ROUTE_NAMES = A, B\n"
    for name, lines in (("A", first), ("B", second)):
        text += f"JOB_ROUTER_ROUTE_{name} @=end\nUNIVERSE VANILLA\n" + "\n".join(lines) + "\n@end\n"
    return found(text)


def test_a_route_behind_one_that_takes_all() -> None:
    """A note where the first has limits of its own; nothing where it accepts none, or where routes take turns."""
    everything, some = ("REQUIREMENTS true",), ("REQUIREMENTS X",)
    assert two(everything, some) == ["CRN632 8"]
    assert two(some, some) == ["CRN632 8"]
    assert two(some, ("REQUIREMENTS  (X)",)) == ["CRN632 8"]
    assert two(some, everything) == []
    assert two((*everything, "MaxJobs = 0"), some) == ["CRN641 5"]
    assert two(everything, some, "JOB_ROUTER_ROUND_ROBIN_SELECTION = true\n") == []
    noted = "JOB_ROUTER_ROUTE_NAMES = A, B\n"
    noted += "JOB_ROUTER_ROUTE_A @=end\nUNIVERSE VANILLA\nREQUIREMENTS true\nMaxJobs = 5\n@end\n"
    noted += "JOB_ROUTER_ROUTE_B @=end\nUNIVERSE VANILLA\nREQUIREMENTS X\n@end\n"
    limits = "JOB_ROUTER_DEFAULT_MAX_IDLE_JOBS_PER_ROUTE = 10\n" + noted.replace("MaxJobs = 5\n", "")
    for text in (noted, limits):
        reports = check_routes(read_config(Source(text, "x.conf"))).reports
        assert [each.diagnostic.severity for each in reports[0].findings] == [Severity.NOTE]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("SET A $(X)",), ["CRN624 5"]),
        (("SET A $(X:1)",), []),
        (("X = 1", "SET A $(X)"), []),
        (("SET A $(MY.X)",), []),
        (("SET A $(HERE)",), []),
        (("EVALMACRO X 1", "SET A $(X)"), []),
        (("SET A $(FULL_HOSTNAME)$(DOLLAR)",), []),
        (("SET A $$(X)",), []),
        (("if defined X", "SET A 1", "endif"), []),
        (("SET A $(X)$(Y)",), ["CRN624 5", "CRN624 5"]),
    ],
)
def test_macros_that_nothing_defines(lines: tuple[str, ...], expected: list[str]) -> None:
    """A default, the route itself and the configuration define them."""
    text = (
        HEAD + "JOB_ROUTER_ROUTE_A @=end\nUNIVERSE VANILLA\nREQUIREMENTS X\n" + "\n".join(lines) + "\n@end\nHERE = 1\n"
    )
    assert found(text) == expected


def test_an_undefined_macro_is_named_as_it_is_written() -> None:
    """Where an attribute of nearly that name stands before it, too."""
    text = HEAD + 'JOB_ROUTER_ROUTE_A @=end\nUNIVERSE VANILLA\nREQUIREMENTS X\nSET my_queue "$(QUEUE)"\n@end\n'
    finding = check_routes(read_config(Source(text, "x.conf"))).reports[0].findings[0].diagnostic
    assert finding.message == "nothing defines the macro QUEUE: it expands to nothing"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("SET PeriodicRemove X > 3",), ["CRN633 5"]),
        (("SET PeriodicRemove false",), []),
        (("DELETE PeriodicRemove",), []),
        (("SET PeriodicHold X > 3",), []),
        (("EditJobInPlace = true", "SET PeriodicRemove X > 3", "SET X 5"), []),
        (("EditJobInPlace = true", "SET Y 5"), ["CRN634 5"]),
        (("EditJobInPlace = true", "SET X false"), []),
        (("EditJobInPlace = false", "SET Y 5"), []),
        (("EditJobInPlace = true", "DELETE /^X/"), []),
        (('SET RoutedBy "me"',), ["CRN625 5"]),
        (("EditJobInPlace = X", "SET X false", 'SET RouteName "me"'), []),
        (("SET = 5",), ["CRN621 5"]),
        (("SET X (",), ["CRN622 5"]),
        (("MaxIdleJobs = 0",), ["CRN641 5"]),
        (("MaxIdleJobs = -1",), []),
        (("MaxJobs = -1",), ["CRN641 5"]),
        (("FailureRateThreshold = abc",), ["CRN642 5"]),
        (("JobFailureTest = (",), ["CRN643 5"]),
        (("JobFailureTest = $(JobFailureTest2)", "JobFailureTest2 = $(JobFailureTest)"), ["CRN643 5"]),
    ],
)
def test_lines_of_a_route(lines: tuple[str, ...], expected: list[str]) -> None:
    """One cause is one finding."""
    assert of_route("UNIVERSE VANILLA", "REQUIREMENTS X", *lines) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("SET X (", "FROB x", "SET Y $(Gone)"), ["CRN622 5", "CRN612 6", "CRN624 7"]),
        (("if X > 5", "SET Y TARGET.Z", "endif", "EVALSET Y TARGET.Z"), ["CRN612 5", "CRN623 8"]),
        (("MaxJobs = 5", "FROB x", "SET = 4"), ["CRN612 6", "CRN621 7"]),
        (("FROB x",), ["CRN612 5"]),
    ],
)
def test_the_traps_of_a_rejected_route_show_at_once(lines: tuple[str, ...], expected: list[str]) -> None:
    """And what rejects it only once."""
    assert of_route("UNIVERSE VANILLA", "REQUIREMENTS X", *lines) == expected


def test_one_cause_of_a_bad_list_is_one_finding() -> None:
    """What keeps the configuration from being read is no bad knob beside."""
    assert found("X = $(Y)\nY = $(X)\nJOB_ROUTER_ROUTE_NAMES = $(X)\n") == ["CRN606 3"]
    assert found(HEAD + "JOB_ROUTER_ROUTE_A = REQUIREMENTS X\nX = " + "y" * (1 << 21) + "\n") == [
        "CRN644 2",
        "CRN601 3",
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("JOB_ROUTER_ROUTE_NAME = A", "did you mean JOB_ROUTER_ROUTE_NAMES?"),
        ("JOB_ROUTER_TRANSFORM_NAMS = A", "did you mean JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES?"),
        ("JOB_ROUTER_ROUTE_B = REQUIREMENTS X", "add it to JOB_ROUTER_ROUTE_NAMES"),
    ],
)
def test_a_misspelt_list_is_taken_for_one(line: str, said: str) -> None:
    """It looks like a route that no list names."""
    text = HEAD + "JOB_ROUTER_ROUTE_A @=end\nUNIVERSE VANILLA\nREQUIREMENTS X\n@end\n" + line + "\n"
    findings = check_routes(read_config(Source(text, "x.conf"))).reports[0].findings
    assert [(each.diagnostic.code, each.diagnostic.help) for each in findings] == [("CRN609", said)]


def test_a_comment_silences_a_rule_inside_a_route() -> None:
    """Where HTCondor passes over comments too; what silences nothing is said."""
    body = ("UNIVERSE VANILLA", "REQUIREMENTS X", "# crondor: ignore[CRN641]", "MaxJobs = 0")
    assert of_route(*body) == []
    assert of_route(*body[:2], "# crondor: ignore[CRN641]", "MaxJobs = 1") == ["CRN901 5"]
    assert of_route(*body[:2], "# crondor: ignore[CRN699]", "MaxJobs = 1") == ["CRN902 5"]
    assert found("# crondor: ignore-file[CRN6]\nnothing\n") == []


def test_a_route_that_is_switched_off_is_checked_all_the_same() -> None:
    """All faults at once."""
    before = "JOB_ROUTER_MAX_JOBS = many\n"
    assert of_route("UNIVERSE VANILLA", "REQUIREMENTS false", before=before) == ["CRN606 1", "CRN631 5"]


def test_files_have_their_own_reports() -> None:
    """What is found in an included file stands with the file named last."""
    one, two_ = Source("JOB_ROUTER_MAX_JOB = 1\n", "one.conf"), Source("x\n", "two.conf")
    configuration = read_config(two_, base=read_config(one))
    reports = check_routes(configuration, (one, two_)).reports
    codes = [(each.source.name, [finding.diagnostic.code for finding in each.findings]) for each in reports]
    assert codes == [("one.conf", ["CRN607", "CRN604"]), ("two.conf", ["CRN601"])]


def test_every_finding_has_a_code_of_a_rule_and_says_what_to_write() -> None:
    """Help stands with whatever a person can mend."""
    text = (
        HEAD
        + "JOB_ROUTER_ROUTE_A @=end\nREQUIREMENTS = 5\nSET = 5\nMaxJobs = x\nSET A $(Q)\nFROB\n@end\nJOB_ROUTER_X = 1\n"
    )
    for report in check_routes(read_config(Source(text, "x.conf"))).reports:
        for finding in report.findings:
            assert finding.diagnostic.code in ROUTE_RULES
            assert finding.diagnostic.help


_FOLDER = Path(__file__).with_name("entrypoint")
_AROUND = (_FOLDER / "around.conf").read_text(encoding="utf-8")
_POOL = """\
JOB_ROUTER_ROUTE_NAMES = Pool
JOB_ROUTER_ROUTE_Pool @=jrt
  TargetUniverse = 5
@jrt
JOB_ROUTER_SCHEDD2_SPOOL=/var/lib/condor/spool
JOB_ROUTER_SCHEDD2_NAME=$(FULL_HOSTNAME)
JOB_ROUTER_SCHEDD2_POOL=$(FULL_HOSTNAME):9618
"""
_OPTIONAL = (_FOLDER / "optional.conf").read_text(encoding="utf-8")


def _batch(system: str) -> str:
    return (
        f"JOB_ROUTER_ROUTE_NAMES = {system}\nJOB_ROUTER_ROUTE_{system} @=jrt\n"
        f'  TargetUniverse = 9\n  GridResource = "batch {system.lower()}"\n@jrt\n'
    )


def warned(text: str) -> list[str]:
    """Return the codes of the warnings and errors."""
    findings = check_routes(read_config(Source(text, "ce.conf"))).reports[0].findings
    return [each.diagnostic.code for each in findings if each.diagnostic.severity in {Severity.WARNING, Severity.ERROR}]


@pytest.mark.parametrize("route", [_POOL, _POOL + _OPTIONAL, *map(_batch, ("Slurm", "PBS", "LSF", "SGE"))])
def test_what_an_entrypoint_ships_is_meant(route: str) -> None:
    """The transforms around routes with variables of theirs, a route for each batch system, and groups to choose."""
    assert warned(_AROUND + route) == []


def test_an_entrypoint_without_routes_lacks_those_alone() -> None:
    """What its transforms read of them, they will define."""
    assert warned(_AROUND) == ["CRN607"]


@pytest.mark.parametrize(
    ("was", "now", "code"),
    [
        ("NAMES = Pool", "NAMES = Pol", "CRN609"),
        ("TRANSFORM_UidAcctGroup", "TRANSFORM_UidAcctGrup", "CRN609"),
        ("JOB_ROUTER_CLASSAD_USER_MAP_NAMES", "JOB_ROUTER_CLASSAD_USERMAP_NAMES", "CRN604"),
        ("RequestMemory maxMemory", "RequestMemry maxMemory", "CRN628"),
        ("JOB_ROUTER_SCHEDD2_SPOOL", "JOB_ROUTER_SHEDD2_SPOOL", "CRN604"),
    ],
)
def test_a_slip_in_such_a_file_is_found(was: str, now: str, code: str) -> None:
    """What is skipped is the shape, and no rule."""
    text = _AROUND + _POOL + _OPTIONAL
    assert was in text
    assert code in warned(text.replace(was, now, 1))
