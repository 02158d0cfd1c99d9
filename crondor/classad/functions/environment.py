"""Functions of arguments and environments as job ads write them.

HTCondor: EnvironmentV1ToV2, MergeEnvironment, ListToArgs, ArgsToList.
"""

from __future__ import annotations

import re

from crondor.classad.code import made_list
from crondor.classad.functions.registry import CallArguments, builtin, special
from crondor.classad.scope import EvaluationState, ListValue, Run, Value
from crondor.classad.text import to_bytes
from crondor.classad.values import (
    ERROR,
    UNDEFINED,
    wrap32,
)

_WHITE = " \t\n\r"
_BLANK = re.compile(f"[{_WHITE}]")


def split_arguments(text: str) -> list[str] | None:
    """Return the arguments of a V2 string: single quotes group, a doubled one in them is one. None: no end quote."""
    found: list[str] = []
    piece: list[str] | None = None
    at = 0
    while at < len(text):
        character = text[at]
        at += 1
        if character in _WHITE:
            if piece is not None:
                found.append("".join(piece))
                piece = None
            continue
        piece = [] if piece is None else piece
        if character != "'":
            piece.append(character)
            continue
        while True:
            end = text.find("'", at)
            if end < 0:
                return None
            piece.append(text[at:end])
            at = end + 1
            if text[at : at + 1] != "'":
                break
            piece.append("'")
            at += 1
    if piece is not None:
        found.append("".join(piece))
    return found


def join_arguments(arguments: list[str]) -> str:
    """Return arguments as a V2 string; sections that need quotes are quoted one character at a time and merged."""
    return " ".join(_quoted(argument) for argument in arguments)


def _quoted(argument: str) -> str:
    if not argument:
        return "''"
    text = ""
    for character in argument:
        if character not in " \t\n\r'":
            text += character
            continue
        text = text[:-1] if text.endswith("'") else text + "'"
        text += character * (2 if character == "'" else 1) + "'"
    return text


def _version(value: Value) -> int | None:
    """Return the version of the syntax, 1 or 2, of an integer that HTCondor cuts to 32 bits."""
    version = wrap32(value) if type(value) is int else 0
    return version if version in (1, 2) else None


@builtin("argsToList", 1, 2)
def _args_to_list(_state: EvaluationState, text: Value, version: Value = 2) -> Value:
    number = _version(version)
    if number is None or not isinstance(text, str):
        return ERROR
    found = split_arguments(text) if number == 2 else [piece for piece in _BLANK.split(text) if piece]
    return ERROR if found is None else made_list(list(found))


@builtin("listToArgs", 1, 2)
def _list_to_args(state: EvaluationState, whole: Value, version: Value = 2) -> Value:
    number = _version(version)
    if number is None or not isinstance(whole, ListValue):
        return ERROR
    state.spend(len(whole.members))
    found: list[str] = []
    for code in whole.members:
        value = code.evaluate(state)
        if not isinstance(value, str):
            return ERROR
        found.append(value)
    if number == 2:
        return join_arguments(found)
    if any(blank in argument for argument in found for blank in _WHITE):
        return ERROR
    return " ".join(found)


def _merge(variables: dict[str, str | None], entry: str) -> bool:
    name, equals, value = entry.partition("=")
    if not equals and "$$" in entry:  # a macro the schedd has not expanded yet; kept as it is
        variables[entry] = None
        return True
    if not name or not equals:
        return False
    variables[name] = value
    return True


def _printed(variables: dict[str, str | None]) -> str:
    ordered = sorted(variables.items(), key=lambda item: to_bytes(item[0]))
    return join_arguments([name if value is None else f"{name}={value}" for name, value in ordered])


@builtin("envV1ToV2", 1)
def _env_v1_to_v2(_state: EvaluationState, text: Value) -> Value:
    if text is UNDEFINED:
        return UNDEFINED
    if not isinstance(text, str):
        return ERROR
    variables: dict[str, str | None] = {}
    separator = ";"
    if text[:1] in _DELIMITERS:
        separator, text = text[:1] or separator, text[1:]
    for entry in text.replace("\n", separator).split(separator):
        body = entry.lstrip(_WHITE)
        if body and not _merge(variables, body):
            return ERROR
    return _printed(variables)


_DELIMITERS = frozenset("!#$%&*+,-/:;<>?@^`|~\x1f")


@special("mergeEnvironment")
def _merge_environment(call: CallArguments) -> Run:
    runs = call.runs

    def merge_environment(state: EvaluationState) -> Value:
        variables: dict[str, str | None] = {}
        for run in runs:  # the first that cannot be used ends it: those after it are not evaluated
            text = run(state)
            if text is UNDEFINED:
                continue
            entries = split_arguments(text) if isinstance(text, str) else None
            if entries is None or not all(_merge(variables, entry) for entry in entries):
                return ERROR
        return _printed(variables)

    return merge_environment
