"""Record what condor_dag_checker says of the DAGs in cases.txt: python -m tests.golden.dags.record CHECKER."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ANSWERS = HERE / "answers.json"
_OK = "executable = /bin/true\nqueue\n"
BESIDE = {"ok.sub": _OK, "sub/ok.sub": _OK, "ok.sh": "#!/bin/sh\n", "ok.config": ""}
"""Files next to every DAG."""


def cases() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name of each case, and its files; the DAG itself is x.dag."""
    for case in (HERE / "cases.txt").read_text(encoding="utf-8").split("=== ")[1:]:
        name, _, rest = case.partition("\n")
        main, *others = rest.split("--- ")
        files = {each.partition("\n")[0]: each.partition("\n")[2] for each in others}
        yield name, {**BESIDE, "x.dag": main, **files}


def laid_out(files: dict[str, str], folder: Path) -> None:
    """Write the files of a case into a folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def answer(checker: str, files: dict[str, str]) -> dict[str, Any]:
    """Return the errors (file, line, reason) and whether there is a cycle."""
    with tempfile.TemporaryDirectory() as made:
        laid_out(files, Path(made))
        command = [checker, "-json", "-CheckExternalFiles", "-Strict", "x.dag"]
        out = subprocess.run(command, cwd=made, capture_output=True, check=False, text=True).stdout
    (said,) = json.loads(out)
    errors = [[each["SourceFile"], each["SourceLine"], each["Reason"].strip()] for each in said.get("Errors", [])]
    return {"errors": errors, "cycle": said.get("IsCyclic", False)}


if __name__ == "__main__":
    answers = {name: answer(sys.argv[1], files) for name, files in cases()}
    ANSWERS.write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
