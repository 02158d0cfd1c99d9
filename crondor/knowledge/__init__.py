"""The words of HTCondor: submit commands and knobs by release, attributes of ads, functions, macros.

The tables are texts next to this module, read when first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crondor._types import late

if TYPE_CHECKING:
    from crondor.knowledge.words import (
        NEWEST,
        OLDEST,
        Attribute,
        AttributeTable,
        AttributeType,
        ClassAdFunction,
        CommandTable,
        CommandType,
        ConfigKnob,
        KnobKind,
        KnobTable,
        Release,
        Releases,
        Setting,
        SubmitCommand,
        SubmitMacro,
        TransformCommand,
        classad_functions,
        config_knobs,
        gpu_properties,
        job_attributes,
        machine_attributes,
        submit_commands,
        submit_macros,
        transform_commands,
    )

__all__ = [
    "NEWEST",
    "OLDEST",
    "Attribute",
    "AttributeTable",
    "AttributeType",
    "ClassAdFunction",
    "CommandTable",
    "CommandType",
    "ConfigKnob",
    "KnobKind",
    "KnobTable",
    "Release",
    "Releases",
    "Setting",
    "SubmitCommand",
    "SubmitMacro",
    "TransformCommand",
    "classad_functions",
    "config_knobs",
    "gpu_properties",
    "job_attributes",
    "machine_attributes",
    "submit_commands",
    "submit_macros",
    "transform_commands",
]

_ATTRIBUTES: Final = "crondor.knowledge.words"
_COMMANDS: Final = "crondor.knowledge.words"
_KNOBS: Final = "crondor.knowledge.words"
_LANGUAGE: Final = "crondor.knowledge.words"
_RELEASES: Final = "crondor.knowledge.words"
_HOMES: Final = {
    **dict.fromkeys(("Attribute", "AttributeTable", "AttributeType"), _ATTRIBUTES),
    **dict.fromkeys(("gpu_properties", "job_attributes", "machine_attributes"), _ATTRIBUTES),
    **dict.fromkeys(("CommandTable", "CommandType", "Setting", "SubmitCommand", "submit_commands"), _COMMANDS),
    **dict.fromkeys(("ConfigKnob", "KnobKind", "KnobTable", "config_knobs"), _KNOBS),
    **dict.fromkeys(("ClassAdFunction", "SubmitMacro", "TransformCommand"), _LANGUAGE),
    **dict.fromkeys(("classad_functions", "submit_macros", "transform_commands"), _LANGUAGE),
    **dict.fromkeys(("NEWEST", "OLDEST", "Release", "Releases"), _RELEASES),
}

__getattr__, __dir__ = late(__name__, _HOMES)
