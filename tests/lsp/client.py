"""A client of the language server: the program itself, over its standard input and output."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

from tests.cli.running import NOW, PROGRAM, SLOWEST, ZONE, environment

UTF16 = "utf-16"


class Client:
    """One conversation; what the server says unasked is kept until it is waited for."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        """Listen to a server."""
        self.process = process
        self.said: Queue[dict[str, Any] | None] = Queue()
        self.capabilities: dict[str, Any] = {}
        self._kept: list[dict[str, Any]] = []
        self._open: list[str] = []
        self._id = 0
        Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        out = self.process.stdout
        assert out is not None
        while header := out.readline():
            size = int(header.split(b":")[1]) if header.lower().startswith(b"content-length") else 0
            while out.readline().strip():
                continue
            self.said.put(json.loads(out.read(size)))
        self.said.put(None)

    def _send(self, **message: object) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def _until(self, *, ident: int | None = None, method: str = "") -> dict[str, Any]:
        for at, message in enumerate(self._kept):
            if (ident is not None and message.get("id") == ident) or (method and message.get("method") == method):
                return self._kept.pop(at)
        while True:
            said = self.said.get(timeout=SLOWEST)
            assert said is not None, "the server is gone"
            message = said
            if (ident is not None and message.get("id") == ident) or (method and message.get("method") == method):
                return message
            self._kept.append(message)

    def notify(self, method: str, **params: object) -> None:
        """Tell the server something."""
        self._send(method=method, params=params)

    def answer(self, method: str, params: object) -> dict[str, Any]:
        """Return what the server answers: a result or an error."""
        return self.later(self.request(method, params))

    def request(self, method: str, params: object) -> int:
        """Send a request, and return its number: the server may ask something back before it answers."""
        self._id += 1
        self._send(id=self._id, method=method, params=params)
        return self._id

    def later(self, number: int) -> dict[str, Any]:
        """Return the answer to a request."""
        return self._until(ident=number)

    def reply(self, method: str, result: object) -> dict[str, Any]:
        """Wait for a request of the server's, answer it, and return its parameters."""
        message = self._until(method=method)
        self._send(id=message["id"], result=result)
        params: dict[str, Any] = message["params"]
        return params

    def ask(self, method: str, **params: object) -> Any:  # noqa: ANN401 - whatever a method answers
        """Return the result of a request."""
        answer = self.answer(method, params or None)
        assert "error" not in answer, answer
        return answer["result"]

    def about(self, method: str, uri: str, line: int = -1, column: int = 0, **params: object) -> Any:  # noqa: ANN401
        """Return the result of a request about a text, or a place of it (both from 0)."""
        place = {} if line < 0 else {"position": {"line": line, "character": column}}
        return self.ask(f"textDocument/{method}", textDocument={"uri": uri}, **place, **params)

    def begin(self, capabilities: Mapping[str, object] | None = None) -> None:
        """Introduce the client."""
        params = {"capabilities": capabilities or {}, "processId": None, "rootUri": None}
        self.capabilities = self.ask("initialize", **params)["capabilities"]
        self.notify("initialized")

    def open(self, path: Path | str, text: str, language: str = "") -> str:
        """Open a text; return its URI."""
        uri = Path(path).as_uri() if str(path).startswith("/") else str(path)
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", textDocument=item)
        self._open.append(uri)
        return uri

    def close(self, uri: str) -> None:
        """Close a text."""
        self._open.remove(uri)
        self.notify("textDocument/didClose", textDocument={"uri": uri})

    def close_all(self) -> None:
        """Close all texts, and forget what the server said."""
        for uri in [*self._open]:
            self.close(uri)
            self.diagnostics(uri, None)
        self._kept.clear()

    def change(self, uri: str, version: int, *changes: Mapping[str, object]) -> None:
        """Change a text."""
        self.notify(
            "textDocument/didChange", textDocument={"uri": uri, "version": version}, contentChanges=list(changes)
        )

    def diagnostics(self, uri: str, version: int | None = 1) -> list[dict[str, Any]]:
        """Wait for the findings of a version of a text, and return them."""
        while True:
            params = self._until(method="textDocument/publishDiagnostics")["params"]
            if params["uri"] == uri and params.get("version") == version:
                found: list[dict[str, Any]] = params["diagnostics"]
                return found

    def message(self, method: str) -> dict[str, Any]:
        """Wait for a notification or a request of the server, and return its parameters."""
        params: dict[str, Any] = self._until(method=method)["params"]
        return params

    def end(self) -> int:
        """Say goodbye; return the exit status."""
        self.ask("shutdown")
        self._send(method="exit")
        return self.process.wait(SLOWEST)


@contextmanager
def serving(
    *arguments: str,
    capabilities: Mapping[str, object] | None = None,
    folder: Path | None = None,
    zone: str | None = ZONE,
    **env: str,
) -> Iterator[Client]:
    """Start a server at NOW in Berlin (zone None: where its settings say), introduce a client, and see it end well."""
    where = ["--tz", zone] if zone is not None else []
    command = [*PROGRAM, "lsp", "--now", NOW, *where, *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(**env), cwd=folder
    ) as process:
        try:
            client = Client(process)
            client.begin(capabilities)
            yield client
            assert client.end() == 0
        finally:
            process.kill()


def place(line: int, column: int, end_line: int, end_column: int) -> dict[str, dict[str, int]]:
    """Return a range."""
    return {"start": {"line": line, "character": column}, "end": {"line": end_line, "character": end_column}}


__all__ = ["UTF16", "Client", "place", "serving"]
