"""An attribute that refers to itself is told by every command that sees who writes it."""

from pathlib import Path

import pytest

from tests.cli.running import crondor

SUBMIT = "executable = /bin/true\nrequest_cpus = 1\nqueue\n"
RULES = 'SET X strcat(X, "a")\n'
TOLD = "X refers to itself: it never has a value"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "job.sub": SUBMIT,
        "own.sub": f"+X = X + 1\n{SUBMIT}",
        "half.sub": f"+P = Q\n{SUBMIT}",
        "x.rules": RULES,
        "half.rules": "SET Q P\n",
        "route.conf": f"JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A @=end\nREQUIREMENTS true\n{RULES}@end\n",
        "half.conf": "JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A @=end\nREQUIREMENTS true\nSET Q P\n@end\n"
        "JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = T\nJOB_ROUTER_TRANSFORM_T = SET R 1\n",
        "around.conf": "JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A @=end\nREQUIREMENTS true\nSET X Y\n@end\n"
        "JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = T\nJOB_ROUTER_TRANSFORM_T = SET Y X\n",
        "old.conf": "JOB_ROUTER_USE_DEPRECATED_ROUTER_ENTRIES = true\n"
        'JOB_ROUTER_ENTRIES = [ Name = "A"; Requirements = true; set_X = X + 1; copy_Z = "W"; ]\n',
        "schedd.conf": f"JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A @=end\n{RULES}@end\n",
        "half-schedd.conf": "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = SET Q P\n",
        "attrs.conf": "SUBMIT_ATTRS = X\nX = X + 1\n",
    }
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (("check", "own.sub"), 1, "CRN316"),
        (("check", "--pool-config", "attrs.conf", "job.sub"), 1, "CRN316"),
        (("check", "--pool-config", "schedd.conf", "job.sub"), 1, "CRN709"),
        (("preview", "own.sub"), 0, "CRN316"),
        (("preview", "--pool-config", "schedd.conf", "job.sub"), 0, "CRN630"),
        (("classad", "transform", "--rules", "x.rules", "job.ads"), 0, "CRN630"),
        (("route", "check", "--config", "route.conf"), 1, "CRN630"),
        (("route", "apply", "--config", "route.conf", "job.sub"), 0, "CRN630"),
        (("route", "apply", "--config", "old.conf", "--legacy", "job.sub"), 0, "CRN630"),
        (("route", "explain", "--summary", "--config", "route.conf", "job.sub"), 0, "CRN630"),
        (("route", "diff", "route.conf", "half.conf"), 1, "CRN630"),
        (("route", "plan", "--config", "route.conf", "--spec", "job.sub"), 1, "CRN630"),
    ],
)
def test_every_command_says_it(arguments: tuple[str, ...], status: int, code: str) -> None:
    """With its code; only the commands that check count it."""
    Path("job.ads").write_text("ClusterId = 1\nX = 1\n", encoding="utf-8")
    result = crondor(*arguments)
    assert TOLD in result.out + result.err
    assert f"[{code}]" in result.out + result.err
    assert result.status == status


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--pool-config", "half-schedd.conf", "half.sub"),
        ("preview", "--pool-config", "half-schedd.conf", "half.sub"),
        ("route", "apply", "--config", "half.conf", "half.sub"),
        ("classad", "transform", "--rules", "half.rules", "half.ads"),
    ],
)
def test_a_job_and_rules_close_a_circle_together(arguments: tuple[str, ...]) -> None:
    """Neither does alone."""
    Path("half.ads").write_text("ClusterId = 1\nP = Q\n", encoding="utf-8")
    result = crondor(*arguments)
    assert "refers to Q, Q to P" in result.out + result.err or "refers to P, P to Q" in result.out + result.err
    for alone in (("check", "half.sub"), ("route", "check", "--config", "half.conf")):
        assert "refers to" not in crondor(*alone).out


def test_transforms_around_a_route_count() -> None:
    """The finding stands at the line that closes the circle."""
    result = crondor("route", "check", "--config", "around.conf")
    assert "around.conf:7" in result.out
    assert "Y refers to X, X to Y" in result.out


def test_policies_may_refer_to_themselves() -> None:
    """A description of plain commands is looked at for that."""
    Path("p.sub").write_text("executable = /bin/true\nperiodic_hold = PeriodicHold || JobStatus == 1\nqueue\n", "utf-8")
    assert "PeriodicHold refers to itself" in crondor("check", "p.sub").out
