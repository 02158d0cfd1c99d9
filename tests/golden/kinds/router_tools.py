"""The kind of router tools: what condor_router_q and condor_router_history print of a queue and of a history."""

import gzip
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner

from crondor_cli.main import cli
from tests.golden.kinds.case import Case, Difference, NotApplicable, Replay, compare, integer, one_of, text, texts

_FIELDS = ("tool", "args", "now", "ads", "rc", "stdout")
_NOISE = re.compile(r"(?m)^Not defined: JOB_ROUTER_SCHEDD2_(?:NAME|POOL)\n")
_SCHEDD = re.compile(r"(?m)^-- (?:Schedd|Jobads): .* @ ")
_SHORT = "ali"
"""The recorded columns are those of a name of three letters, in whose place alice was written afterwards."""


def _replay(case: Case) -> list[Difference]:
    """Compare the exit status and all that is printed, the name and address of the schedd aside."""
    record = case.record(_FIELDS)
    tool, args = one_of(record, "tool", ("q", "history")), texts(record, "args")
    if "--help" in args:
        raise NotApplicable("help")
    path = case.folder / text(record, "ads")
    body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "ads")
        file.write_bytes(body.replace(b'Owner = "alice"', f'Owner = "{_SHORT}"'.encode()))
        where = ["--ads", str(file)] if tool == "q" else ["--history", str(file), "--as-htcondor"]
        command = ["route", tool, *args, *where, "--now", text(record, "now")]
        made = CliRunner().invoke(cli, command, env={"TZ": "UTC"})
    recorded = _NOISE.sub("", text(record, "stdout"))
    ours = re.sub(rf"\b{_SHORT}\b", "alice", made.stdout)
    differences = compare("rc", integer(record["rc"], "rc"), made.exit_code)
    return differences + compare("stdout", *(_SCHEDD.sub("-- @ ", each).rstrip("\n") for each in (recorded, ours)))


KINDS: Mapping[str, Replay] = {"router-tools": _replay}
