"""The server: each call of a tool is a command in a process of its own, with limits."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from subprocess import PIPE
from tempfile import TemporaryDirectory
from typing import Any, Final

import anyio
from anyio.abc import ByteReceiveStream
from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server

from crondor_cli.kit.command import installed_version
from crondor_cli.kit.results import RESULT
from crondor_cli.mcp.tools import TOOLS, Call, Refused, call_of

if sys.platform == "linux":
    import resource

SECONDS: Final = 30
"""The longest call."""

MOST: Final = 200_000
"""Bytes of an answer: what language models can take."""

_MEMORY: Final = 2 << 30  # bytes
_AT_ONCE: Final = 4  # calls
_VARIABLES: Final = ("HOME", "LANG", "LC_ALL", "PATH", "SYSTEMROOT", "TZ", "VIRTUAL_ENV", "XDG_CONFIG_HOME")
"""What commands see of the environment: $ENV() in a text must not read the others."""

_USAGE: Final = re.compile(r"\AUsage: .*\nTry .*\n\n")
_PROGRAM: Final = """\
import sys
sys.path = [each for each in sys.path if each]  # not the current folder, whose files are data
from crondor_cli.main import script
script()
"""
_INSTRUCTIONS: Final = (
    "crondor knows HTCondor: when crontab and deferred jobs run, what is wrong with submit files, DAGs and job router "
    "configurations, and how ClassAds are evaluated. Texts are read as HTCondor 25.14 reads them; nothing is submitted "
    "and no program is run. Give the text itself, or a file in the folder of the server. Times are 'now', 'tomorrow "
    "6:30', '2026-12-01 06:30' or epoch seconds; tz is the IANA name of the submit host's zone."
)


def serve(folder: str) -> None:
    """Serve on standard input and output until the client disconnects."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the thread that reads standard input cannot be cancelled
    try:
        anyio.run(_serve, folder)
    except Exception as error:
        if not _is_closed_pipe(error):
            raise


def _is_closed_pipe(error: BaseException) -> bool:
    """Return whether the client has left; the SDK raises it in groups."""
    inner = getattr(error, "exceptions", ())
    return isinstance(error, BrokenPipeError) or (bool(inner) and all(map(_is_closed_pipe, inner)))


async def _serve(folder: str) -> None:
    limiter = anyio.CapacityLimiter(_AT_ONCE)

    async def list_tools(_context: object, _params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(name) for name in TOOLS])

    async def call_tool(_context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        given = {key: value for key, value in (params.arguments or {}).items() if value is not None}  # null: not given
        async with limiter:
            return await _called(params.name, given, folder)

    version = installed_version() or ""
    server = Server(
        "crondor", version=version, instructions=_INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _tool(name: str) -> types.Tool:
    tool = TOOLS[name]
    return types.Tool(
        name=name,
        title=tool.command.short_help or name,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


async def _called(name: str, arguments: Mapping[str, Any], folder: str) -> types.CallToolResult:
    """Call a tool; whatever goes wrong is an answer."""
    tool = TOOLS.get(name)
    if tool is None:
        return _failed(f"there is no tool {name[:80]!r}: there are {', '.join(TOOLS)}")
    with TemporaryDirectory(prefix="crondor-mcp-") as others:
        try:
            call = call_of(tool, arguments, folder, others)
            for path, text in call.files.items():
                await anyio.Path(path).write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
            out, err = await _run(call, folder)
        except (OSError, ValueError) as error:
            return _failed(_reason(name, error))
        out, err = (each.replace(f"{others}{os.sep}".encode(), b"") for each in (out, err))
    said = _USAGE.sub("", err.decode(errors="replace")).strip()
    if len(out) > MOST:
        return _failed(f"the answer is longer than {MOST:,} bytes: ask for less, such as a smaller count, or select")
    try:
        text = json.dumps(json.loads(out), ensure_ascii=False).encode(errors="replace").decode()
        answer = json.loads(text)  # without the halves of characters, which cannot be sent
    except ValueError:
        return _failed(said or f"{name} ended without an answer: it may need more than {_MEMORY >> 30} GB of memory")
    content = [types.TextContent(type="text", text=each) for each in (text, said) if each]
    structured = answer if isinstance(answer, dict) else {RESULT: answer}
    return types.CallToolResult(content=list(content), structured_content=structured)


def _reason(name: str, error: Exception) -> str:
    """Return why a command did not run to its end."""
    if isinstance(error, Refused):
        return str(error)
    if isinstance(error, TimeoutError):
        return f"{name} was ended after {SECONDS} s: ask for less, such as fewer days, runs or jobs"
    if isinstance(error, OSError):
        return f"{name} cannot start in the folder of this server: {error.strerror}"
    return "an argument has a character that a command line cannot have, such as NUL"


def _failed(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=message[:MOST])], is_error=True)


async def _run(call: Call, folder: str) -> tuple[bytes, bytes]:
    """Run a command; return what it prints and its errors. A cancelled call ends it. Raises TimeoutError."""
    variables = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    variables["PYTHONPATH"] = os.pathsep.join(filter(os.path.isabs, paths))  # others would begin in the folder
    kept = {name: text for name, text in os.environ.items() if name.startswith("CRONDOR_")}
    env = {**variables, **kept, "CRONDOR_JOBS": "1", "CRONDOR_COLOR": "never", "COLUMNS": "120", "PYTHONUTF8": "1"}
    line = [sys.executable, "-c", _PROGRAM, *call.arguments]
    process = await anyio.open_process(line, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=folder, env=env)
    parts: dict[str, bytes] = {}

    async def feed() -> None:
        if process.stdin is not None:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await process.stdin.send(call.stdin.encode(errors="surrogatepass"))
            await process.stdin.aclose()

    async def drain(name: str, stream: ByteReceiveStream | None) -> None:
        read = b""
        if stream is not None:
            async for chunk in stream:
                read += chunk[: MOST + 1 - len(read)]
                if len(read) > MOST:
                    process.kill()
                    break
        parts[name] = read

    async with process:
        _limit(process.pid)
        try:
            with anyio.fail_after(SECONDS):
                async with anyio.create_task_group() as group:
                    group.start_soon(feed)
                    group.start_soon(drain, "out", process.stdout)
                    group.start_soon(drain, "err", process.stderr)
                await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
    return parts["out"], parts["err"]


def _limit(pid: int) -> None:
    """Limit the memory of a process, and its time in case the server is killed, where the system can."""
    if sys.platform == "linux":
        with suppress(OSError):
            resource.prlimit(pid, resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            resource.prlimit(pid, resource.RLIMIT_CPU, (int(SECONDS) + 1, int(SECONDS) + 2))
