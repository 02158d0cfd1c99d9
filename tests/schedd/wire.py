"""A schedd at the other end of the wire for the real bindings, where no pool is: it takes what their submit sends.

CEDAR, as seen on the wire with HTCondor 25.14: a message is frames of ``end flag, length`` and bytes, an integer eight
bytes, a text ends with NUL. With SEC_CLIENT_NEGOTIATION = NEVER a write begins with its command and the methods of
authentication, as bits.
"""

import socket
import struct
import threading
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final

_QMGMT_WRITE: Final = 1112
_FS, _ANONYMOUS = 4, 128
_NEW_CLUSTER, _NEW_PROC, _SET_ATTRIBUTE, _CAPABILITIES = 10002, 10003, 10027, 10036
CLUSTER: Final = 7
_INTEGER: Final = 8

CONFIG: Final = """
SCHEDD_ADDRESS_FILE = {folder}/address
SCHEDD_SUPER_ADDRESS_FILE = {folder}/address
NETWORK_INTERFACE = 127.0.0.1
NO_DNS = true
DEFAULT_DOMAIN_NAME = example.org
UID_DOMAIN = example.org
SEC_CLIENT_NEGOTIATION = NEVER
SEC_CLIENT_AUTHENTICATION_METHODS = {methods}
{more}
"""
ADDRESS: Final = "<127.0.0.1:{port}>\n$CondorVersion: 25.14.0 2026-08-21 BuildID: 0 $\n$CondorPlatform: X86_64-Any $\n"


class WireSchedd(AbstractContextManager["WireSchedd"]):
    """Answers each connection in a thread of its own; ``sent`` are the attributes of the jobs, in old syntax.

    ``lies``: it asks for FS authentication in a folder whose name does not say its address, as a schedd before the
    binding to channels does.
    """

    def __init__(self, folder: Path, *, lies: bool = False, more: str = "") -> None:
        """Listen, and write a configuration that leads here; ``more`` are lines of it."""
        self.sent: dict[str, str] = {}
        self.writes = 0
        self._lies = lies
        self._server = socket.create_server(("127.0.0.1", 0))
        port = self._server.getsockname()[1]
        (folder / "address").write_text(ADDRESS.format(port=port))
        methods = "FS" if lies else "ANONYMOUS"
        (folder / "config").write_text(CONFIG.format(folder=folder, methods=methods, more=more))
        self.environment = {"CONDOR_CONFIG": str(folder / "config")}
        threading.Thread(target=self._listen, daemon=True).start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Listen no more."""
        self._server.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(EOFError, OSError):
            first = _message(connection)
            if _integers(first, 1) != (_QMGMT_WRITE,):
                return  # RESCHEDULE, which nobody answers
            self.writes += 1
            _, offered = _integers(first, 2)
            if self._lies:
                _send(connection, _FS)
                _send(connection, "/tmp/FS_elsewhere")  # noqa: S108 - it is never made
                _message(connection)
                _send(connection, -1)
                return
            _send(connection, offered & _ANONYMOUS)
            if not offered & _ANONYMOUS:
                return
            _send(connection, 1)
            while True:
                self._answer(connection, _message(connection))

    def _answer(self, connection: socket.socket, message: bytes) -> None:
        (call,) = _integers(message, 1)
        if call == _CAPABILITIES:
            _send(connection, 0, "Job", "Machine")
        elif call == _NEW_CLUSTER:
            _send(connection, CLUSTER)
        elif call == _SET_ATTRIBUTE:  # no answer is waited for
            value, name, _ = message[3 * _INTEGER :].split(b"\0", 2)
            self.sent[name.decode()] = value.decode()
        else:
            _send(connection, 0)


def _message(connection: socket.socket) -> bytes:
    data = b""
    while True:
        is_last, size = struct.unpack(">BI", _exactly(connection, 5))
        data += _exactly(connection, size)
        if is_last:
            return data


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def _integers(message: bytes, count: int) -> tuple[int, ...]:
    return struct.unpack(f">{count}q", message[: _INTEGER * count])


def _send(connection: socket.socket, *values: int | str) -> None:
    data = b"".join(struct.pack(">q", each) if isinstance(each, int) else each.encode() + b"\0" for each in values)
    connection.sendall(struct.pack(">BI", 1, len(data)) + data)
