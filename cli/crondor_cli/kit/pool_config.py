"""The access point given by --pool-config."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from crondor.access_point import AccessPoint, read_access_point
from crondor.classad.scope import Context
from crondor.config import read_config
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.knowledge.releases import NEWEST, Release
from crondor.preview.jobs import Job, ReadingTerms
from crondor.preview.stored import schedules_of
from crondor.submit import SubmitFile
from crondor.transform import TransformFacts
from crondor_cli.kit.configs import ConfigReader
from crondor_cli.kit.files import check_stdin
from crondor_cli.kit.options import Clock, ConfigFiles
from crondor_cli.kit.schedules import Through, host_of
from crondor_cli.kit.screen import show

_SCHEDD: Final = "SCHEDD"


def read_pool(
    config: ConfigFiles | None,
    allow_dirs: Sequence[str],
    clock: Clock,
    target: Release | None = None,
    *,
    beside: Sequence[str] = (),
) -> AccessPoint:
    """Return the access point with a configuration; None: HTCondor's defaults.

    ``target`` is its release, by default the newest; ``beside`` are the other files that the command reads. Lines that
    its schedd ignores are reported on stderr. Raises CrondorError for a configuration that stops a schedd or is not
    text, and UsageError for an unreadable file.
    """
    version = (target or NEWEST).version
    context = Context(now=clock.now, zone=clock.zone)
    if config is None:
        configuration = read_config({}, subsystem=_SCHEDD, context=context, version=version)
    else:
        check_stdin(*config.paths, *beside)
        configuration = ConfigReader(config, allow_dirs, context, subsystem=_SCHEDD, version=version).read()
    found = read_access_point(configuration, TransformFacts(environ=os.environ, context=context))
    faults = [each for each in found.diagnostics if each.severity is Severity.ERROR]
    show(each for each in found.diagnostics if each not in faults)
    if faults:
        raise CrondorError(faults)
    return found


def through(access_point: AccessPoint) -> Through:
    """Return how commands that read schedules process the jobs of files submitted to an access point."""

    def schedules(file: SubmitFile, terms: ReadingTerms) -> tuple[list[Job], list[Diagnostic]]:
        return schedules_of(file, access_point, terms)

    return Through(host_of(access_point), access_point.commands, schedules)
