"""The front page of the library: each public name is the object of its module, imported when it is asked for."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import crondor


@pytest.mark.parametrize("name", crondor.__all__)
def test_a_public_name_is_the_object_of_its_module(name: str) -> None:
    """The module of the table, which whoever needs more of it imports."""
    assert getattr(crondor, name) is getattr(import_module(crondor._HOMES[name]), name)


def test_the_front_page_lists_its_names() -> None:
    """For those who ask an interpreter, or read the table."""
    assert set(crondor.__all__) == set(crondor._HOMES)
    assert set(crondor.__all__) <= set(dir(crondor))


def test_type_checkers_see_the_same_modules() -> None:
    """They read imports that are never run."""
    tree = ast.parse(Path(crondor.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert {alias.name: node.module for node in imports for alias in node.names} == crondor._HOMES


def test_other_names_are_errors() -> None:
    """With the words of Python."""
    with pytest.raises(AttributeError, match="module 'crondor' has no attribute 'nope'"):
        _ = crondor.nope
