"""The command that compiles a schedule of a text into lines of it; the client is asked to put them in."""

from __future__ import annotations

from lsprotocol import types

from crondor.check import TextEdit
from crondor.diagnostics import CrondorError, Severity, render
from crondor.editing import compiling
from crondor_cli.lsp.actions import COMPILE, edit_of
from crondor_cli.lsp.positions import TextOnScreen
from crondor_cli.lsp.server import CrondorServer

_LABEL = "Compile the schedule"


def add_compiling(server: CrondorServer) -> None:
    """Let a server compile schedules."""

    @server.command(COMPILE)
    async def compile_schedule(uri: str, line: int) -> bool:
        """Put the lines of the schedule in a line (from 0) into a text; say whether they were put in."""
        screen = server.texts.get(uri)
        if screen is None:
            return False
        try:
            edit = await server.work_aside(_compiled, server, screen, line)
        except CrondorError as error:
            _tell(server, types.MessageType.Error, _first_lines(error))
            return False
        if edit is None:
            _tell(server, types.MessageType.Info, "the compiled lines fit the schedule: nothing was changed")
            return False
        if server.texts.get(uri) is not screen:
            _tell(server, types.MessageType.Warning, "the text has changed meanwhile: compile again")
            return False
        change = edit_of(screen, [types.TextEdit(screen.places.range_of(edit.span), edit.text)])
        answer = await server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(change, _LABEL))
        return answer.applied


def _compiled(server: CrondorServer, screen: TextOnScreen, line: int) -> TextEdit | None:
    text = server.fresh(screen)
    return None if text is None else compiling.compiled(text, screen.places.line_start(line))


def _first_lines(error: CrondorError) -> str:
    fault = next((each for each in error.diagnostics if each.severity is Severity.ERROR), error.diagnostics[0])
    said = render(fault).partition("\n")[0]
    return f"{said}\nhelp: {fault.help}" if fault.help else said


def _tell(server: CrondorServer, kind: types.MessageType, message: str) -> None:
    server.window_show_message(types.ShowMessageParams(kind, f"crondor: {message}"))
