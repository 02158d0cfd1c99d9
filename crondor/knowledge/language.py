"""The functions of the ClassAd language, and what a submit description may write in ``$( )`` without defining it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from crondor.knowledge.rows import rows


class ClassAdFunction(NamedTuple):
    """A function: its name as the manual writes it, its arguments in words, the type of its value, a sentence."""

    name: str
    arguments: str
    type: str
    sentence: str


class SubmitMacro(NamedTuple):
    """A macro that HTCondor provides, or a function of the submit language (``$ENV``), which has arguments."""

    name: str
    arguments: str
    sentence: str


class TransformCommand(NamedTuple):
    """A command of the job transform language: its name, its arguments in words, a sentence."""

    name: str
    arguments: str
    sentence: str


@cache
def transform_commands() -> Mapping[str, TransformCommand]:
    """Return the commands of transforms in HTCondor 25.14 by their lower-case names."""
    return {name.lower(): TransformCommand(name, words, text) for name, words, text in rows("transform_commands.txt")}


@cache
def classad_functions() -> Mapping[str, ClassAdFunction]:
    """Return the functions of HTCondor 25.14's ClassAds by their lower-case names."""
    table = rows("classad_functions.txt")
    found = (ClassAdFunction(name, _arguments(words), kind, text) for name, words, kind, text in table)
    return {function.name.lower(): function for function in found}


@cache
def submit_macros() -> Mapping[str, SubmitMacro]:
    """Return the macros and functions that HTCondor 25.14 provides, by their lower-case names."""
    found = (SubmitMacro(name, _arguments(words), text) for name, words, text in rows("submit_macros.txt"))
    return {macro.name.lower(): macro for macro in found}


def _arguments(words: str) -> str:
    return "" if words == "-" else words
