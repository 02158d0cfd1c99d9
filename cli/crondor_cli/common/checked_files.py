"""Submit descriptions as `crondor check` reads them."""

from __future__ import annotations

from datetime import tzinfo

from crondor.diagnostics import Source
from crondor.lint import CheckSettings
from crondor.submit import SubmitFile, read_submit
from crondor_cli.common.findings.result import STDIN
from crondor_cli.kit.jobs import files_of, host_of
from crondor_cli.kit.options import Surroundings


def read_checked(source: Source, settings: CheckSettings, surroundings: Surroundings) -> SubmitFile:
    """Read a description, with the files below its folder and what else it may see. Raises CrondorError."""
    path = "-" if source.name == STDIN else source.name
    zone = settings.zone if isinstance(settings.zone, tzinfo) else None
    allow_dirs, seed, environ = surroundings
    return read_submit(
        source,
        files=files_of(path, allow_dirs),
        environ=environ,
        now=settings.now,
        zone=zone,
        seed=seed,
        host=host_of(settings.access_point),
    )
