"""`crondor mcp`: its tools by the client of the official SDK, with results that fit their schemas, within limits."""

import json
import signal
import subprocess
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

from crondor_cli.kit.results import RESULT
from crondor_cli.mcp import server
from crondor_cli.mcp.tools import TOOLS, Refused, call_of
from tests.cli.running import NOW, PROGRAM, ZONE, crondor, environment

SUBMIT = "executable = /bin/true\ncron_hour = 25\ncron_minute = 0\nqueue\n"
GOOD = SUBMIT.replace("25", "2")
ROUTES = (
    "JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A @=end\n REQUIREMENTS RequestCpus < 5\n UNIVERSE VANILLA\n@end\n"
)
SITE = 'JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = SET AcctGroup "physics"\n'
CALLS: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("check", {"submit": SUBMIT, "select": ["CRN1"]}, ("check", "--select", "CRN1", "-")),
    ("next", {"submit": GOOD, "count": 2.0}, ("next", "-n", "2", "-")),
    ("next", {"crontab": "0 6 * * 1", "count": 2}, ("next", "--crontab", "0 6 * * 1", "-n", "2")),
    ("next", {"schedule": "weekdays at 09:00"}, ("next", "--schedule", "weekdays at 09:00")),
    ("explain", {"crontab": "30 2 * * *", "at": NOW}, ("explain", "--crontab", "30 2 * * *", "--at", NOW)),
    ("explain", {"crontab": "0 2 * * *", "at": 999999999}, ("explain", "--crontab", "0 2 * * *", "--at", "999999999")),
    ("compile", {"schedule": "last Friday of the month at 18:00"}, ("compile", "last Friday of the month at 18:00")),
    ("preview", {"submit": GOOD}, ("preview", "-")),
    ("simulate", {"crontab": "0 * * * *", "days": 2}, ("simulate", "--crontab", "0 * * * *", "--days", "2")),
    ("route_check", {"config": ROUTES}, ("route", "check", "--config", "-")),
    ("classad_eval", {"expression": "X + 1", "ad": "X = 3"}, ("classad", "eval", "X + 1", "--my", "-")),
]  # fmt: skip


NOT_SUBMT = "check has no argument 'submt': did you mean submit?\ncheck needs submit or submit_file"
Talk = Callable[[ClientSession], Coroutine[Any, Any, None]]


def talk(folder: Path, talked: Talk, secret: str = "") -> None:
    """Start a server for a folder, and let a client talk to it."""

    async def run() -> None:
        program = StdioServerParameters(
            command=PROGRAM[0], args=[*PROGRAM[1:], "mcp", str(folder)], env=environment(SECRET=secret)
        )
        async with stdio_client(program) as streams, ClientSession(*streams) as session:
            await session.initialize()
            await talked(session)

    anyio.run(run)


def text_of(result: types.CallToolResult) -> str:
    """Return what a result says."""
    return "\n".join(each.text for each in result.content if isinstance(each, types.TextContent))


def test_each_tool_answers_as_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same JSON, which fits the schema of the tool; inputs fit theirs."""
    monkeypatch.chdir(tmp_path)

    async def talked(session: ClientSession) -> None:
        tools = {each.name: each for each in (await session.list_tools()).tools}
        assert list(tools) == list(TOOLS)
        for tool in tools.values():
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            Draft202012Validator.check_schema(tool.input_schema)
            assert not {"allOf", "anyOf", "oneOf"} & tool.input_schema.keys()  # providers of models refuse these
            assert "--" not in f"{tool.description}{tool.input_schema}"
        for name, arguments, command in CALLS:
            given = {**arguments, "now": NOW, "tz": ZONE}
            Draft202012Validator(tools[name].input_schema).validate(given)
            result = await session.call_tool(name, given)
            stdin = str(next((text for key, text in arguments.items() if key in {"submit", "config", "ad"}), ""))
            said = crondor(*command, "--format", "json", "--now", NOW, "--tz", ZONE, stdin=stdin)
            assert not result.is_error, text_of(result)
            Draft202012Validator(tools[name].output_schema or {}).validate(result.structured_content)
            answer = result.structured_content[RESULT] if name == "preview" else result.structured_content
            assert json.dumps(answer).replace("<stdin>", "-") == json.dumps(said.data).replace("<stdin>", "-"), name

    talk(tmp_path, talked)


def test_two_texts_and_files_of_the_folder(tmp_path: Path) -> None:
    """The second text is in a file that leaves no trace, is named as it is, of any bytes; null is none."""
    (tmp_path / "job.sub").write_bytes(GOOD.encode() + b"# caf\xe9\n")
    (tmp_path / "-x.sub").write_text(SUBMIT)

    async def talked(session: ClientSession) -> None:
        routed = await session.call_tool("route_explain", {"config": ROUTES, "jobs_file": "job.sub", "jobs": None})
        assert routed.structured_content["jobs"][0]["route"] == "A"
        seen = await session.call_tool("preview", {"submit_file": "job.sub", "pool_config": SITE})
        assert "physics" in text_of(seen)
        assert "crondor-mcp" not in text_of(seen)
        odd = await session.call_tool("check", {"submit_file": "-x.sub", "select": ["CRN1"]})
        assert odd.structured_content["summary"]["error"] == 1

    talk(tmp_path, talked)


def test_no_other_file_and_no_secret_is_read(tmp_path: Path) -> None:
    """Not by a path, a link, an include or a schedule; programs are not run, and variables are hidden."""
    outside, folder = tmp_path / "secret.ics", tmp_path / "jobs"
    outside.write_text("hush = 1\n")
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    (folder / "include.sub").write_text(f"include : {outside}\ninclude : link\n{GOOD}")
    (folder / "json.py").write_text(f"open({str(folder / 'ran')!r}, 'w')\n")
    (folder / "command.sub").write_text(f"include command : touch {folder}/ran\n{GOOD}")

    async def talked(session: ClientSession) -> None:
        for path in ("link", "../secret.ics", str(outside), "", ".", "\0", "gone.sub"):
            found = await session.call_tool("check", {"submit_file": path})
            assert (found.is_error, text_of(found)) == (
                True,
                "submit_file: this is not a file in the folder of this server",
            )
        calls: list[tuple[str, dict[str, Any]]] = [
            ("preview", {"submit_file": "include.sub"}),
            ("preview", {"submit_file": "command.sub"}),
            ("next", {"schedule": f"weekdays at 09:00 except {outside}"}),
            ("preview", {"submit": f"arguments = $ENV(SECRET)\n{GOOD}"}),
            ("compile", {"schedule": f"--write={folder}/new.sub"}),
        ]
        for name, arguments in calls:
            assert "hush" not in text_of(await session.call_tool(name, arguments))

    talk(folder, talked, "hush")
    assert sorted(each.name for each in folder.iterdir()) == ["command.sub", "include.sub", "json.py", "link"]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("check", {}, "check needs submit or submit_file"),
        ("check", {"submt": GOOD}, NOT_SUBMT),
        ("check", {"submit": GOOD, "submit_file": "a"}, "give submit or submit_file, not both"),
        ("check", {"submit": "x" * (1 << 21)}, "submit: longer than 1,048,576 characters"),
        ("next", {"crontab": 5, "count": "x"}, "crontab: 5 is not of type 'string'\ncount: 'x' is not"),
        ("simulate", {"crontab": "0 1 * * *", "days": 9999}, "days: 9999 is greater than the maximum of 3660"),
        ("compile", {}, "compile needs schedule"),
        ("check", {"b": 1, "submit": GOOD, "a": 1, "select": ["CRN1"] * 60}, "check has no argument 'b'"),
        ("simulate", {"crontab": "0 1 * * *", "days": "x" * 300}, f"days: '{'x' * 39}... is not of type 'integer'"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(tmp_path: Path, name: str, arguments: Mapping[str, Any], message: str) -> None:
    """All faults at once, before a command is started."""
    (tmp_path / "a").write_text(GOOD)
    with pytest.raises(Refused) as error:
        call_of(TOOLS[name], arguments, str(tmp_path), str(tmp_path))
    assert str(error.value).startswith(message)


def test_no_module_of_the_folder_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even if PYTHONPATH has an empty or relative entry."""
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit(3)")
    monkeypatch.setenv("PYTHONPATH", ":.")
    assert not called("check", {"submit": GOOD}, tmp_path).is_error


def test_a_process_ends_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system can limit its time: a killed server ends no process."""
    limits: list[int] = []
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "prlimit", lambda _pid, what, _limits: limits.append(what))
    assert not called("check", {"submit": GOOD}, tmp_path).is_error
    assert limits == [resource.RLIMIT_AS, resource.RLIMIT_CPU]


def called(name: str, arguments: Mapping[str, Any], folder: Path) -> types.CallToolResult:
    """Call a tool in this process."""
    result: types.CallToolResult = anyio.run(server._called, name, arguments, str(folder))
    return result


def test_a_call_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the size of its answer, of time and of memory; then the process is gone, and the reason is said."""
    long = called("next", {"crontab": "* * * * *", "count": 100_000}, tmp_path)
    assert (long.is_error, text_of(long)[:35]) == (True, "the answer is longer than 200,000 b")
    monkeypatch.setattr(server, "_MEMORY", 8 << 20)
    assert called("next", {"crontab": "* * * * *"}, tmp_path).is_error
    monkeypatch.undo()
    monkeypatch.setattr(server, "SECONDS", 0.01)
    slow = called("next", {"crontab": "* * * * *"}, tmp_path)
    assert text_of(slow).startswith("next was ended after 0.01 s")
    assert "there is no tool 'nxt'" in text_of(called("nxt", {}, tmp_path))
    assert "such as NUL" in text_of(called("next", {"crontab": "\0"}, tmp_path))
    assert "such as NUL" in text_of(called("next", {"crontab": "\ud800"}, tmp_path))
    assert "cannot start in the folder" in text_of(called("next", {"crontab": "* * * * *"}, tmp_path / "gone"))


def test_what_the_command_says_is_the_error(tmp_path: Path) -> None:
    """With the place and what to write, without the lines about usage."""
    found = called("compile", {"schedule": "every fortnight perhaps"}, tmp_path)
    assert (found.is_error, text_of(found).splitlines()[0]) == (
        True,
        "TEXT:1:7: error: cannot read `fortnight` here [schedule-words]",
    )
    assert text_of(called("check", {"submit": GOOD, "select": ["XYZ"]}, tmp_path)).startswith(
        "Error: no rule has a code"
    )


def test_the_server_ends_with_its_client(tmp_path: Path) -> None:
    """Quietly, at the end of the input, a closed output and Ctrl-C; nothing else is on stdout."""
    line = [*PROGRAM, "mcp", str(tmp_path)]
    done = subprocess.run(line, input=b"", capture_output=True, env=environment(), timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(json.dumps(hello).encode() + b"\n")
        process.stdin.close()
        assert process.wait(60) == 0
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(hello).encode() + b"\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)  # Ctrl-C, while it waits for input
        assert process.wait(60) == -signal.SIGINT
    assert crondor("mcp", str(tmp_path / "gone")).status == 2
