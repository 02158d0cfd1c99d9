"""`python -m website build/site`: make the site, then prove that no link of it is dead."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from website import playground
from website.links import faults
from website.staging import ROOT, DeadLink, stage
from website.texts import write_texts


def main() -> None:
    """Build into the folder that is named, and exit with 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m website", description="Build the site of crondor.")
    parser.add_argument("folder", type=Path, help="where to write it; made anew")
    parser.add_argument("--no-playground", action="store_true", help="leave out what needs npm")
    arguments = parser.parse_args()
    site: Path = arguments.folder
    gathered = site.with_name(f"{site.name}-pages")
    try:
        stage(gathered)
    except DeadLink as fault:
        sys.exit(f"website: a link leads nowhere: {fault}")
    shutil.rmtree(site, ignore_errors=True)
    sphinx = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "--jobs", "auto"]
    call = [*sphinx, "-c", str(ROOT / "website"), "-d", f"{gathered}-trees", str(gathered), str(site)]
    if subprocess.run(call, check=False).returncode:  # noqa: S603 - our own call
        sys.exit("website: Sphinx found faults, see above")
    for name in (".buildinfo", "objects.inv"):
        (site / name).unlink(missing_ok=True)
    try:
        write_texts(gathered, site)
    except DeadLink as fault:
        sys.exit(f"website: a link leads nowhere: {fault}")
    versions = [{"name": metadata.version("crondor"), "path": f"{site.name}/"}]
    (site / "versions.json").write_text(json.dumps(versions) + "\n", encoding="utf-8")
    playground.build(site / "playground", with_engine=not arguments.no_playground)
    wrong = faults(site)
    if wrong:
        sys.exit("\n".join([f"website: {len(wrong)} dead links or foreign resources", *wrong]))
    pages = len(list(site.rglob("*.html")))
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    sys.stdout.write(f"{site}: {pages} pages, {size / 1e6:.1f} MB, no dead link, nothing from another host\n")


if __name__ == "__main__":
    main()
