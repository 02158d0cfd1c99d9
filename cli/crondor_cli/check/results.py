"""What `crondor check` prints as JSON."""

from __future__ import annotations

from crondor_cli.kit.results import Findings, Result, Statistics

RESULTS = {"check": Result("Findings by file; with --statistics by rule", Findings | Statistics)}
