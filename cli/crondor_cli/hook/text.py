"""A call of a hook for people and for programs; `crondor config schema hook run` has the JSON keys."""

from __future__ import annotations

from crondor.classad.ad import ClassAd
from crondor.classad.printing import Format, Order
from crondor.diagnostics import printable
from crondor.hooks.consequence import Consequence
from crondor.hooks.hook_types import HookType
from crondor.hooks.runner import HookRun
from crondor.source import lines_of
from crondor_cli.common.data import diagnostic_data
from crondor_cli.common.output import say
from crondor_cli.common.streaming import echo_json

_WIDTH = 13
_YOURS = frozenset({"CONDOR_CONFIG", "HOME", "LOGNAME", "TZ", "USER"})  # as they are here: JSON has them
_MOST = 100  # lines of a text that are shown
_LONGEST = 2000  # characters of a line


def print_run(script: str, hook: HookType, run: HookRun, consequence: Consequence) -> None:
    """Print what the hook got, said and caused; ``script`` is its program as it was named."""
    call = run.call
    lines = [_fact(hook.value, script)]
    lines.append(_fact("arguments", " ".join(map(_word, call.arguments)) or "none"))
    environ = [f"{name}={value}" for name, value in sorted(call.environ.items()) if name not in _YOURS]
    lines += _facts("environment", environ)
    lines += _text("stdin", call.stdin)
    lines.append(_fact("ended", run.reason))
    lines += _text("stdout", run.stdout)
    lines += _text("stderr", run.stderr)
    if run.errors_dropped:
        lines.append(_fact("", f"... and {run.errors_dropped} bytes more"))
    lines += ["", _fact("consequence", consequence.action.value), _fact("", consequence.reason)]
    if consequence.hold_code:
        lines.append(_fact("", f"hold code {consequence.hold_code}, subcode {consequence.hold_subcode}"))
    if consequence.ad:
        lines += [_fact("", line) for line in ad_lines(consequence.ad)]
    if consequence.upstream:
        lines.append(_fact("HTCondor", consequence.upstream))
    say("\n".join(lines))


def run_data(_: str, hook: HookType, run: HookRun, consequence: Consequence) -> None:
    """Print the same as a JSON object."""
    call = run.call
    data = {
        "hook": hook.value,
        "path": call.path,
        "arguments": list(call.arguments),
        "environment": dict(sorted(call.environ.items())),
        "stdin": call.stdin,
        "ended": run.ended.value,
        "exit_code": run.status,
        "signal": run.signal_number,
        "seconds": round(run.seconds, 3),
        "stdout": run.stdout,
        "stderr": run.stderr,
        "left_running": run.left_running,
        "consequence": {
            "action": consequence.action.value,
            "reason": consequence.reason,
            "ad": {name: consequence.ad.text(name) for name in consequence.ad},
            "hold_reason_code": consequence.hold_code or None,
            "hold_reason_subcode": consequence.hold_subcode if consequence.hold_code else None,
            "htcondor": consequence.upstream or None,
        },
        "diagnostics": [diagnostic_data(each) for each in dict.fromkeys((*run.diagnostics, *consequence.diagnostics))],
    }
    echo_json(data)


def _fact(name: str, text: str) -> str:
    return f"{name:{_WIDTH}}{' ' if len(name) >= _WIDTH else ''}{printable(text)}".rstrip()


def _facts(name: str, texts: list[str]) -> list[str]:
    return [_fact(name if not number else "", text) for number, text in enumerate(texts)] or [_fact(name, "empty")]


def _text(name: str, text: str | None) -> list[str]:
    if not text:
        return [_fact(name, "nothing")]
    lines = text.removesuffix("\n").split("\n")
    shown = _facts(name, [f"| {_cut(line)}" for line in lines[:_MOST]])
    return [*shown, _fact("", f"... and {len(lines) - _MOST} lines more")] if len(lines) > _MOST else shown


def _cut(line: str) -> str:
    more = len(line) - _LONGEST
    return f"{line[:_LONGEST]} ... and {more} characters more" if more > 0 else line


def ad_lines(ad: ClassAd) -> list[str]:
    """Return the lines of an ad in the old form, by name, without their ends."""
    return [line.rstrip("\n") for line in lines_of(ad.print(Format.LONG, Order.NAME))]


def _word(text: str) -> str:
    return text if text and " " not in text else repr(text)
