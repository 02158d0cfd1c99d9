"""The kind of legacy routes: what condor_transform_ads -convertoldroutes makes of routes written as ClassAds."""

import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from crondor.diagnostics import Source
from crondor.macro.files import Files
from crondor.router.legacy.configuration import ConversionMode, ToolOutput, convert_as_tool
from tests.golden.kinds.case import Case, Difference, Malformed, Replay, compare, integer, mapping, one_of, text

_FIELDS = ("mode", "text", "rc", "out", "stderr")
_HEAD = re.compile(r"(?m)^##### (?:(JOB_ROUTER_ENTRIES(?:_FILE)?) \[[0-9]+\] #####|(Route [0-9]+))\n")
_KNOB = re.compile(r"JOB_ROUTER_ROUTE_(\w*) @=jre\n(.*)\n@jre\n", re.DOTALL)
_NAMES = re.compile(r"(?m)^JOB_ROUTER_ROUTE_NAMES = (.*)\n")
_NEED = re.compile(r"(?m)^need JOB_ROUTER_ENTRIES_FILE (.*)\n")
_CUT = "<more empty entries cut here>"


def _replay(case: Case) -> list[Difference]:
    """Compare each route's knob, name and text, the line of names and that of the file; empty entries aside."""
    record = case.record(_FIELDS, ["files"])
    mode = ConversionMode(one_of(record, "mode", [each.value for each in ConversionMode]))
    held = {name: text({name: each}, name) for name, each in mapping({"files": {}, **record}, "files").items()}
    with tempfile.TemporaryDirectory() as folder:
        for name, body in held.items():
            Path(folder, name).write_text(body, encoding="utf-8")
        files = Files([folder], base=folder)
        made = convert_as_tool(Source(text(record, "text"), "config"), mode=mode, files=files)
    differences = compare("rc", integer(record["rc"], "rc"), 0)
    is_missing = mode is ConversionMode.CONFIG and any(found.kind == "file-missing" for found in made.diagnostics)
    said = f"Failed to open '{made.file}' file specified for JOB_ROUTER_ENTRIES_FILE" if is_missing else ""
    differences += compare("stderr", text(record, "stderr"), said)
    return differences + compare("out", _recorded(text(record, "out"), mode), _ours(made))


def _recorded(out: str, mode: ConversionMode) -> dict[str, object]:
    """Return what was printed, part by part. Raises Malformed for anything that is no such part."""
    names, need = _NAMES.findall(out), _NEED.findall(out)
    body = _NEED.sub("", _NAMES.sub("", out)) if mode is ConversionMode.FILE else out
    pieces = _HEAD.split(body)
    if pieces[0].strip("\n"):
        raise Malformed("out", f"begins with {pieces[0][:60]!r}")
    routes = [*_routes(pieces[1:], mode)]
    return {"routes": routes, "names": names, "need": need}


def _routes(pieces: list[str], mode: ConversionMode) -> Iterator[list[str]]:
    for knob, number, body in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        if (knob is None) is not (mode is ConversionMode.FILE):
            raise Malformed("out", f"{knob or number} does not belong to the mode {mode.value}")
        if mode is ConversionMode.CONFIG:
            shown = body.strip("\n").removesuffix(_CUT).strip("\n")
            if shown:
                yield [knob, shown]
            continue
        found = _KNOB.fullmatch(body.strip("\n") + "\n")
        if found is None:
            raise Malformed("out", f"no route: {body[:60]!r}")
        lines = found[2].split("\n")
        if not all(line.startswith("   ") for line in lines):
            raise Malformed("out", f"not indented: {body[:60]!r}")
        yield [found[1], "\n".join(line[3:] for line in lines)]


def _ours(made: ToolOutput) -> dict[str, object]:
    is_file = made.mode is ConversionMode.FILE
    return {
        "routes": [[each.tag if is_file else each.knob, each.text] for each in made.routes],
        "names": [] if made.names is None else [" ".join(made.names)],
        "need": [made.file] if is_file and made.file else [],
    }


KINDS: Mapping[str, Replay] = {"legacy-routes": _replay}
