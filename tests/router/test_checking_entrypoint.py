"""What an entrypoint's own files look like: no rule warns of what their authors mean."""

from pathlib import Path

import pytest

from crondor.config import read_config
from crondor.diagnostics import Severity, Source
from crondor.lint.routes import check_routes

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
