"""The forms of findings that are for programs."""

from __future__ import annotations

from collections.abc import Callable

from crondor_cli.common.findings.data import print_json
from crondor_cli.common.findings.github import print_github
from crondor_cli.common.findings.result import Checked
from crondor_cli.common.findings.sarif import print_sarif

FORMS: dict[str, Callable[[Checked], None]] = {"json": print_json, "sarif": print_sarif, "github": print_github}
