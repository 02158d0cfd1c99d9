"""The words of HTCondor: submit commands and knobs by release, attributes of ads, functions, macros.

The tables are texts next to this module, read when first needed.
"""

from typing import TYPE_CHECKING

from crondor._types import late

if TYPE_CHECKING:
    from crondor.knowledge.releases import NEWEST, OLDEST, Release, Releases
    from crondor.knowledge.words import (
        Attribute,
        AttributeTable,
        AttributeType,
        ClassAdFunction,
        CommandTable,
        CommandType,
        ConfigKnob,
        KnobKind,
        KnobTable,
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

_HOMES = {
    "crondor.knowledge.releases": "NEWEST OLDEST Release Releases",
    "crondor.knowledge.words": (
        "Attribute AttributeTable AttributeType ClassAdFunction CommandTable CommandType ConfigKnob KnobKind "
        "KnobTable Setting SubmitCommand SubmitMacro TransformCommand classad_functions config_knobs "
        "gpu_properties job_attributes machine_attributes submit_commands submit_macros transform_commands"
    ),
}
__getattr__, __dir__ = late(__name__, _HOMES)
