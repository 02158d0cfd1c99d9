"""What the words of HTCondor mean: submit commands by release, attributes of ads, functions, macros, a sentence each.

The tables are texts beside this module, read when they are first asked for: whoever does not ask pays nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crondor._late import late

if TYPE_CHECKING:
    from crondor.knowledge.attributes import (
        Attribute,
        AttributeTable,
        AttributeType,
        gpu_properties,
        job_attributes,
        machine_attributes,
    )
    from crondor.knowledge.commands import CommandTable, CommandType, Setting, SubmitCommand, submit_commands
    from crondor.knowledge.language import (
        ClassAdFunction,
        SubmitMacro,
        TransformCommand,
        classad_functions,
        submit_macros,
        transform_commands,
    )
    from crondor.knowledge.releases import NEWEST, OLDEST, Release, Releases

__all__ = [
    "NEWEST",
    "OLDEST",
    "Attribute",
    "AttributeTable",
    "AttributeType",
    "ClassAdFunction",
    "CommandTable",
    "CommandType",
    "Release",
    "Releases",
    "Setting",
    "SubmitCommand",
    "SubmitMacro",
    "TransformCommand",
    "classad_functions",
    "gpu_properties",
    "job_attributes",
    "machine_attributes",
    "submit_commands",
    "submit_macros",
    "transform_commands",
]

_ATTRIBUTES: Final = "crondor.knowledge.attributes"
_COMMANDS: Final = "crondor.knowledge.commands"
_LANGUAGE: Final = "crondor.knowledge.language"
_RELEASES: Final = "crondor.knowledge.releases"
_HOMES: Final = {
    **dict.fromkeys(("Attribute", "AttributeTable", "AttributeType"), _ATTRIBUTES),
    **dict.fromkeys(("gpu_properties", "job_attributes", "machine_attributes"), _ATTRIBUTES),
    **dict.fromkeys(("CommandTable", "CommandType", "Setting", "SubmitCommand", "submit_commands"), _COMMANDS),
    **dict.fromkeys(("ClassAdFunction", "SubmitMacro", "TransformCommand"), _LANGUAGE),
    **dict.fromkeys(("classad_functions", "submit_macros", "transform_commands"), _LANGUAGE),
    **dict.fromkeys(("NEWEST", "OLDEST", "Release", "Releases"), _RELEASES),
}

__getattr__, __dir__ = late(__name__, _HOMES)
