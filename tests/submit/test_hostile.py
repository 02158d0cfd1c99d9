"""Submit descriptions that want to run, open, hang or fill something. None of them gets anywhere."""

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.diagnostics import CrondorError, Source
from crondor.macro.files import Files
from crondor.macro.queue_statement import Items
from crondor.submit import InvalidSubmit, SubmitFile, read_submit

ROOT = Path(__file__).parents[2]

# Runs in a process of its own: an audit hook cannot be taken away again.
WATCHED = """
import json, sys
from crondor.diagnostics import Source
from crondor.submit import read_submit
from crondor.macro.files import Files
import crondor.macro.conditions, crondor.macro.evaluated, crondor.macro.functions
import crondor.macro.expand, crondor.rights.trust, crondor.submit.jobs, random, zoneinfo

seen = []
WATCH = ("open", "os.", "subprocess.", "socket.", "shutil.", "glob.", "exec", "pty.", "ctypes.", "urllib.")

def hook(event, args):
    if event.startswith(WATCH) and event != "os.listdir":
        seen.append([event, repr(args)[:200]])

texts, folder = json.load(sys.stdin)
sys.addaudithook(hook)
found = []
for text in texts:
    try:
        file = read_submit(Source(text, "job.sub"), files=Files([folder], base=folder), environ={}, now=0, seed=1)
        list(file.groups((*file.keys, "x"), limit=100))
        found.append([finding.kind for finding in file.unknown])
    except ValueError as error:
        found.append([fault.kind for fault in error.diagnostics])
events = list(seen)
print(json.dumps([found, events]))
"""

RUNS = [
    "include command : touch {canary}",
    "include output : touch {canary}",
    "include : touch {canary} |",
    "@include command : touch {canary}",
    "@InClUdE ifexist command : touch {canary}",
    "include ifexist command into {canary} : echo x",
    "include command into {canary} : cat /etc/passwd",
    "inc\\\nlude com\\\nmand : touch {canary}",
    "include \\\n command \\\n : \\\n touch {canary}",
    "c = touch {canary} |\ninclude : $(c)",
    "k = command\nif true\ninclude command : touch {canary}\nendif",
    "include : outer.sub",
    "include : ../$(up)/etc/passwd",
    "queue x from touch {canary} |",
    "queue x from \\\n touch {canary} \\\n |",
    "c = touch {canary} |\nqueue x from $(c)",
    "queue from table touch {canary} |",
    "queue x from leak/passwd",
    "queue x from /etc/passwd",
    "queue x matching leak/*",
    "queue x matching /*",
    'x = $EVAL(userHome("root"))$ENV(HOME)$STRING(`touch {canary}`)\nqueue',
    "x = $(touch {canary})`touch {canary}`$(shell touch {canary})\nqueue",
]


def test_nothing_is_run_or_opened_outside(tmp_path: Path) -> None:
    """An audit hook sees every file, process and socket: only files of the folder are opened, and the canary lives."""
    canary = tmp_path / "canary"
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "outer.sub").write_text(f"include command : touch {canary}\ninclude : inner.sub\n")
    (folder / "inner.sub").write_text(f"include : touch {canary} |\ninclude : leak/passwd\n")
    (folder / "leak").symlink_to("/etc")
    texts = [text.replace("{canary}", str(canary)) + "\n" for text in RUNS]
    ended = subprocess.run(
        [sys.executable, "-c", WATCHED],
        input=json.dumps([texts, str(folder)]),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    found, events = json.loads(ended.stdout)
    assert not canary.exists()
    assert sorted(path.name for path in folder.iterdir()) == ["inner.sub", "leak", "outer.sub"]
    assert all("runs-command" in codes or "file-outside" in codes for codes in found[:-2]), found
    assert found[RUNS.index("include : outer.sub")] == ["runs-command", "runs-command", "file-outside"]
    opened = [event for event in events if event[0] != "os.scandir"]
    assert {event[0] for event in opened} <= {"open"}, opened
    assert all(str(folder) in event[1] for event in events if not event[1].startswith(("(3,", "(4,", "(5,"))), events


def code(text: str, files: Files | None = None) -> str:
    """Return the code of the first fault, of the reading or of the values."""
    with pytest.raises(InvalidSubmit) as caught:
        list(read_submit(Source(text, "job.sub"), files=files, environ={}, now=0).groups(("x", "y", "cron_minute")))
    return caught.value.diagnostics[0].kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = $(y)\ny = $(x)\nqueue", "macro-cycle"),
        ("x = 1$SUBSTR(x,1,2)\nqueue", "macro-cycle"),
        ("x = $CHOICE(x,a,b)\nqueue", "macro-cycle"),
        ("queue $(x)\nx = $(y)", None),
        ("x = $(y)\ny = $(x)\nqueue $(x)", "macro-cycle"),
        ("x = $(y)\ny = $(x)\nif $(x)\nendif\nqueue", "macro-cycle"),
        ("x = $(y)\ny = $(x)\n$(x) = 1\nqueue", "macro-cycle"),
        ("x = $(y)\ny = $(x)\nerror : $(x)\nqueue", "macro-cycle"),
        ("x = $(y)\ny = $(x)\ninclude : $(x)\nqueue", "macro-cycle"),
        ("x = $(y)\ny = $(x)\nuse $(x) : A\nqueue", "macro-cycle"),
        (
            "y0 = "
            + "ab" * 1000
            + "\n"
            + "".join(f"y{i + 1} = $(y{i})$(y{i})\n" for i in range(40))
            + "x = $(y40)\nqueue",
            "macro-size",
        ),
        ("y0 =\n" + "".join(f"y{i + 1} = $(y{i})$(y{i})\n" for i in range(40)) + "x = $(y40)\nqueue", "macro-work"),
        ("x @=end\n" + "a" * 1_100_000 + "\n@end\nqueue", "macro-size"),
        ("if true\n" * 70 + "endif\n" * 70 + "queue", "conditional"),
        ("x = " + "$(y" * 300 + ")" * 300 + "\nqueue", "macro-depth"),
        ("queue " + "x," * 1001 + " in (1)", "queue-variables"),
        ("queue 99999999999999999999999999", "queue-count"),
        ("queue " + "9" * 5000, "queue-count"),
        ("queue m in [" + "9" * 5000 + "] (a)", "queue-slice"),
    ],
)
def test_what_never_ends_is_a_sentence(text: str, expected: str | None) -> None:
    """Circles, growth, depth and size end with the fault's own words, where they matter."""
    if expected is None:
        assert read_submit(Source(text)).job_count == 1
    else:
        assert code(text) == expected


def test_a_wide_format_makes_a_short_text() -> None:
    """$INT(y,%99999999d) is cut as HTCondor cuts it."""
    (group,) = read_submit(Source("y = 5\nx = $INT(y,%99999999d)\nqueue\n")).groups(("x",))
    assert group.values["x"] == " " * 55


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    """However the includes are arranged, their number and depth are bounded."""
    for number in range(30):
        (tmp_path / f"{number}.sub").write_text(f"include : {number + 1}.sub\n" * 3)
    (tmp_path / "wide.sub").write_text("x = 1\n")
    files = Files([str(tmp_path)], base=str(tmp_path))
    assert code("include : 0.sub\nqueue", files=files) == "include"
    assert code("include : wide.sub\n" * 1001 + "queue", files=files) == "include"


def grown(make: str, count: int) -> tuple[SubmitFile, int]:
    """Read a text of that many rows; return the file, and the bytes it holds beside its text."""
    source = Source(make + "row of an item list, with two columns\n" * count + ")\n")
    tracemalloc.start()
    try:
        file = read_submit(source)
        return file, tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_long_lists_cost_little_beside_their_text() -> None:
    """A row is two numbers: the memory of twenty thousand rows is flat, and counting them reads none."""
    file, held = grown("queue a,b from (\n", 20_000)
    assert file.job_count == 20_000
    assert held < 20_000 * 24
    items = file.queues[0].arguments.items
    assert isinstance(items, Items)
    assert items.lines == len(items) == 20_000


def test_many_rows_that_agree_are_one_group() -> None:
    """Jobs come lazily, equal ones together; those that differ are refused past the limit, at once."""
    text = "cron_minute = 5\nqueue a,b from (\n" + "1 2\n" * 200_000 + ")\n"
    file = read_submit(Source(text))
    (group,) = file.groups(("cron_minute",))
    assert group.count == file.job_count == 200_000
    text = "cron_minute = $(a)$(Process)\nqueue a,b from (\n" + "1 2\n" * 10_000 + ")\n"
    with pytest.raises(InvalidSubmit, match="at most 1000 jobs one by one"):
        list(read_submit(Source(text)).groups(("cron_minute",), limit=1000))


def test_five_million_jobs_cost_nothing() -> None:
    """A count is a number, whatever it is."""
    (group,) = read_submit(Source("cron_minute = 5\nqueue 5000000\n")).groups(("cron_minute",))
    assert group.count == 5_000_000


LINES = st.sampled_from(
    [
        "x = $(y)$(x)",
        "y @=e",
        "@e",
        "if $(x)",
        "if defined y",
        "elif version > 8.1",
        "else",
        "endif",
        ":if true",
        "include : a.sub",
        "include : b.sub",
        "include ifexist command into a.sub : ls",
        "use template : A(1,$(x)), B",
        "queue x from a.sub",
        "queue x matching *",
        "queue from table(header=1,skip=1) (",
        "queue $(x) y,z from [0:2] (",
        "1,2 3",
        ")",
        "x += $INT(y)$F(x)$RANDOM_INTEGER(1,3)",
        "+A = $EVAL(x)",
        "error : $(x)",
        "warning : $CHOICE(1,y)",
        "cron_minute = $SUBSTR(x,1)$ENV(A:$(y))",
        "iterate 2",
        "\\",
        "x = 1\\",
    ]
)
TEXTS = st.lists(LINES, max_size=15).map("\n".join)


@given(TEXTS, TEXTS, TEXTS, st.booleans())
def test_no_files_raise_anything_else(
    tmp_path_factory: pytest.TempPathFactory, text: str, first: str, second: str, ends: bool
) -> None:
    """Any set of files gives jobs that can be counted, or errors that can be shown."""
    folder = tmp_path_factory.getbasetemp() / "fuzz"
    folder.mkdir(exist_ok=True)
    (folder / "a.sub").write_text(first + "\n" * ends)
    (folder / "b.sub").write_text(second + "\n" * ends)
    files = Files([str(folder)], base=str(folder))
    config = {"SUBMIT_TEMPLATE_NAMES": "A B", "SUBMIT_TEMPLATE_A": second, "SUBMIT_TEMPLATE_B": "$(1:2)\n" + first}
    said = "nothing"
    try:
        file = read_submit(Source(text), files=files, environ={"A": "$(x)"}, now=0, seed=1, config=config)
        count = sum(group.count for group in file.groups(("x", "y", "my.a", "cron_minute"), limit=500))
    except CrondorError as error:
        said = str(error)
    else:
        assert count == file.job_count
    assert said
