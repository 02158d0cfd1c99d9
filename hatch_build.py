"""The build of the wheel makes its manual pages and completions; an editable install has none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SharedFiles(BuildHookInterface[Any]):
    """Puts what `reference.share` writes below share/ of the environment that a wheel is installed into."""

    _folder = ""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files before the wheel is built."""
        if version == "editable":
            return
        self._folder = tempfile.mkdtemp()
        path = os.pathsep.join(filter(None, [str(Path(self.root, "cli")), os.environ.get("PYTHONPATH")]))
        command = [sys.executable, "-B", "-m", "reference.share", self._folder]
        subprocess.run(command, cwd=self.root, env={**os.environ, "PYTHONPATH": path}, check=True)  # noqa: S603
        build_data["shared_data"][self._folder] = "share"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove them after it."""
        shutil.rmtree(self._folder, ignore_errors=True)
