"""The front page of the library: each public name is the object of its module, imported when it is asked for."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import crondor

FRONTS = ("", ".classad", ".job_queue", ".knowledge", ".monitor", ".router", ".router.legacy", ".schedd_adapter")


@pytest.mark.parametrize("front", FRONTS)
def test_a_late_name_is_the_object_of_its_module(front: str) -> None:
    """It is public, listed, and that of the import which type checkers read and nobody runs."""
    package = import_module(f"crondor{front}")
    homes = {name: module for module, names in vars(package)["_HOMES"].items() for name in names.split()}
    assert homes.keys() <= set(package.__all__) <= set(dir(package))
    assert all(getattr(package, name) is getattr(import_module(module), name) for name, module in homes.items())
    tree = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert {alias.name: node.module for node in imports for alias in node.names} == homes


def test_every_name_of_the_front_page_is_late() -> None:
    """It imports nothing by itself."""
    assert set(crondor.__all__) == set(" ".join(crondor._HOMES.values()).split())


def test_other_names_are_errors() -> None:
    """With the words of Python."""
    with pytest.raises(AttributeError, match="module 'crondor' has no attribute 'nope'"):
        _ = crondor.nope
