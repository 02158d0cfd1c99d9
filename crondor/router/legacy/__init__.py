"""Routes written as ClassAds, which HTCondor read up to version 24, and their conversion to transforms.

``read_legacy(configuration)`` gives the table of JOB_ROUTER_DEFAULTS, JOB_ROUTER_ENTRIES and their kin;
``convert(entry)`` one route of it as the text of a transform, ``convert_table(table)`` all of them as a configuration,
``legacy_routes(table)`` as routes that jobs can be matched with, ``legacy_table(table)`` as a whole routing table.
``convert_as_tool(configuration)`` is what condor_transform_ads -convertoldroutes prints.
"""

from typing import TYPE_CHECKING

from crondor._types import late

if TYPE_CHECKING:
    from crondor.router.legacy.configuration import ConversionMode, NewRoute, NewTable, convert_as_tool, convert_table
    from crondor.router.legacy.corrected import convert_mended
    from crondor.router.legacy.routes import convert, legacy_routes, legacy_table
    from crondor.router.legacy.table import LegacyTable, read_legacy
    from crondor.transform.classad_form import LegacyEntry, Macros

__all__ = [
    "ConversionMode",
    "LegacyEntry",
    "LegacyTable",
    "Macros",
    "NewRoute",
    "NewTable",
    "convert",
    "convert_as_tool",
    "convert_mended",
    "convert_table",
    "legacy_routes",
    "legacy_table",
    "read_legacy",
]

# Commands without --legacy do not need it.

_HOMES = {
    "crondor.router.legacy.configuration": "ConversionMode NewRoute NewTable convert_as_tool convert_table",
    "crondor.router.legacy.corrected": "convert_mended",
    "crondor.router.legacy.routes": "convert legacy_routes legacy_table",
    "crondor.router.legacy.table": "LegacyTable read_legacy",
    "crondor.transform.classad_form": "LegacyEntry Macros",
}
__getattr__, __dir__ = late(__name__, _HOMES)
