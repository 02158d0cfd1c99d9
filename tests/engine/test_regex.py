"""Regular expressions that are compiled late: all of them can be, and they do what those of ``re`` do."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import crondor
import crondor_cli
from crondor._regex import regex


def test_it_does_what_a_compiled_one_does() -> None:
    """Before and after its first use."""
    late, soon = regex(r"(a)(b*)", re.IGNORECASE), re.compile(r"(a)(b*)", re.IGNORECASE)
    for _ in range(2):
        assert late.findall("ABB a") == soon.findall("ABB a")
        assert [found[0] for found in late.finditer("ABB a")] == ["ABB", "a"]
        assert late.sub("x", "ABB a") == "x x"
        assert (late.fullmatch("abc"), late.search("c"), late.match("b")) == (None, None, None)
        assert (late.pattern, late.flags, late.groups, late.split("1a2")) == (
            soon.pattern,
            soon.flags,
            2,
            ["1", "a", "", "2"],
        )


def test_what_is_wrong_is_said_when_it_is_used() -> None:
    """As ``re`` says it; a missing attribute is one."""
    with pytest.raises(re.error):
        regex("(").search("")
    with pytest.raises(AttributeError):
        regex("a").nothing  # type: ignore[attr-defined]  # noqa: B018


def test_every_one_of_them_compiles() -> None:
    """For a fault in one would be found by the first text that needs it."""
    count = 0
    for package in (crondor, crondor_cli):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            spec = module.module_finder.find_spec(module.name, None)
            if "from crondor._regex import" not in (
                Path(spec.origin).read_text("utf-8") if spec and spec.origin else ""
            ):
                continue
            for value in vars(import_module(module.name)).values():
                if type(value).__name__ == "regex":
                    assert value.search is not None, module.name
                    count += 1
    assert count > 50
