"""`crondor mcp`: serve read-only tools to language models by the Model Context Protocol."""

from __future__ import annotations

import os

import click

from crondor_cli.kit.command import Command, need_package

EXAMPLE = """\
printf '' | crondor mcp"""

EPILOG = """\b
Examples:
  crondor mcp
  crondor mcp /home/alice/jobs

A client such as Claude Desktop or VS Code starts the server and speaks the Model Context Protocol with it on standard
input and output. The tools are check, next, explain, compile, preview, simulate, route_explain, route_check and
classad_eval. They take texts, or files below FOLDER. They change nothing and run no program that a text names.
docs/assistants.md shows how to register the server.

Settings are read from crondor.toml: see `crondor config`. It needs the package mcp: in a clone of crondor pip install
'.[mcp]'.

Exit status: 0 the client disconnected, 2 wrong usage."""


@click.command("mcp", cls=Command, example=EXAMPLE, epilog=EPILOG)
@click.argument("folder", type=click.Path(exists=True, file_okay=False), default=os.curdir)
def command(folder: str) -> None:
    """Serve tools for language models: schedules, submit files, routes and ClassAds, checked and explained.

    FOLDER is the folder whose files the tools may read (default: this one).
    """
    need_package("mcp", "mcp")
    from crondor_cli.mcp.server import serve  # noqa: PLC0415 - needs mcp

    serve(folder)
