"""What a build makes: the wheel's manual pages and completions, and the README as an index of packages shows it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


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


class Readme(MetadataHookInterface):
    """Makes the links of the README absolute: an index of packages has only this one file."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the README, with links into the Repository of ``project.urls``; without one, links and pictures go."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        repository = metadata.get("urls", {}).get("Repository", "").removesuffix("/")
        place = f"{repository}/{{}}/v{metadata['version']}/"
        link = r"\[([^]]*)\]\((?!\w+:|#)([^)]+)\)"
        text = re.sub(f"!{link}\n*", f"![\\1]({place.format('raw')}\\2)\n\n" if repository else "", text)
        text = re.sub(f"(?<!!){link}", f"[\\1]({place.format('blob')}\\2)" if repository else r"\1", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
