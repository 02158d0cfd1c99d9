"""The tools: commands with their arguments and results as JSON Schemas."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import click
from jsonschema import Draft202012Validator

from crondor.diagnostics import shortened, similar
from crondor_cli.kit.files import leads_out
from crondor_cli.kit.results import usual_schema
from crondor_cli.main import cli

MOST: Final = 1 << 20
"""Characters of a text that a tool takes."""

_LONGEST: Final = 2000  # characters of the value of an option


class Text(NamedTuple):
    """A text that a command reads from a file, given as argument ``name``, or as a file by ``name_file``.

    ``option`` is the command's option for it; empty if it is its argument.
    """

    name: str
    meaning: str
    option: str = ""


class Tool(NamedTuple):
    """A tool: the words of its command, its texts, its options besides the clock, and when to use it."""

    words: tuple[str, ...]
    texts: tuple[Text, ...]
    flags: str
    use: str
    argument: tuple[str, str] | None = None  # the name of the command's own argument, and its meaning
    needs: tuple[tuple[str, ...], ...] = ()  # of each group one must be given
    given: tuple[str, ...] = ()  # arguments that every call has

    @property
    def name(self) -> str:
        """The name of the tool."""
        return "_".join(self.words)

    @property
    def options(self) -> list[str]:
        """The options of the command that the tool takes, with underscores."""
        return [*self.flags.split(), "now", "tz"]

    @property
    def command(self) -> click.Command:
        """The command."""
        found: click.Command = cli
        for word in self.words:
            inner = found.get_command(click.Context(found), word) if isinstance(found, click.Group) else None
            found = inner or found
        return found

    @property
    def description(self) -> str:
        """What it does, and when to use it."""
        needs = "".join(f" It needs {' or '.join(group)}." for group in self.needs)
        return f"{(self.command.help or '').partition(chr(10) * 2)[0].strip()} {self.use}{needs}".replace("--", "")

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments; at its top without anyOf and allOf, which providers of models refuse."""
        found: dict[str, Any] = {}
        if self.argument is not None:
            found[self.argument[0]] = {"type": "string", "maxLength": _LONGEST, "description": self.argument[1]}
        for text in self.texts:
            found[text.name] = {"type": "string", "maxLength": MOST, "description": f"{text.meaning}, as text."}
            path = {"type": "string", "maxLength": _LONGEST}
            found[f"{text.name}_file"] = {**path, "description": f"Instead of {text.name}: a file in the folder."}
        params = {name: each for each in self.command.params for name in each.opts}
        found |= {each: _option(params[_flag(each)]) for each in self.options}
        required = [*self.argument[:1]] if self.argument else []
        return {"type": "object", "properties": found, "required": required, "additionalProperties": False}

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON Schema of its result."""
        return usual_schema("-".join(self.words))

    def faults(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        """Yield what is wrong with some arguments."""
        schema = self.input_schema
        for name in (each for each in arguments if each not in schema["properties"]):
            near = similar(name, schema["properties"])
            known = f"did you mean {near[0]}?" if near else f"there are {', '.join(schema['properties'])}"
            yield f"{self.name} has no argument {name[:80]!r}: {known}"
        for error in Draft202012Validator({"properties": schema["properties"]}).iter_errors(arguments):
            is_long, value = error.validator == "maxLength", repr(error.instance)
            message = error.message.replace(value, shortened(value, 40))
            what = f"longer than {error.validator_value:,} characters" if is_long else message
            yield f"{'.'.join(map(str, error.path))}: {what}"
        for group in (*self.needs, *([self.argument[:1]] if self.argument else ())):
            if not any(each in arguments for each in group):
                yield f"{self.name} needs {' or '.join(group)}"
        for text in self.texts:
            if text.name in arguments and f"{text.name}_file" in arguments:
                yield f"give {text.name} or {text.name}_file, not both"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option(param: click.Parameter) -> dict[str, Any]:
    """Return the schema of an option's value."""
    unit = f" ({param.metavar})" if param.metavar and not getattr(param, "is_flag", False) else ""
    meaning = {"description": f"{getattr(param, 'help', None) or ''}{unit}".replace("--", "")}
    kind = param.type
    found: dict[str, Any] = {"type": "string", "maxLength": _LONGEST}
    if param.metavar == "TIME":
        found["type"] = ["string", "integer"]  # epoch seconds
    if getattr(param, "is_flag", False):
        found = {"type": "boolean"}
    elif isinstance(kind, click.IntRange):
        limits = {"minimum": kind.min, "maximum": kind.max}
        found = {"type": "integer"} | {key: value for key, value in limits.items() if value is not None}
    elif isinstance(kind, click.Choice):
        found = {"enum": list(kind.choices)}
    return meaning | ({"type": "array", "items": found, "maxItems": 50} if param.multiple else found)


_SUBMIT: Final = Text("submit", "A submit file")
_POOL: Final = Text("pool_config", "The access point's configuration (transforms, requirements)", "--pool-config")
_ROUTES: Final = Text("config", "The configuration of the job router", "--config")
_JOBS: Final = Text("jobs", "A submit file, or job ads as condor_q -long prints them")
_ADS: Final = (
    Text("ad", "The ad that the expression is part of", "--my"),
    Text("target", "The ad that it is matched with", "--target"),
)
_OF_SUBMIT: Final = ("submit", "submit_file")
_OF_SCHEDULE: Final = (*_OF_SUBMIT, "crontab", "schedule")
_OF_ROUTES: Final = ("config", "config_file")
_ALL: Final = (
    Tool(
        ("check",),
        (_SUBMIT._replace(meaning="A submit file or a DAG file"), _POOL),
        "select ignore target no_files schedd_interval",
        "Use it for each submit file before it is shown or submitted; a finding says what to write instead.",
        needs=(_OF_SUBMIT,),
    ),
    Tool(
        ("next",),
        (_SUBMIT, _POOL),
        "crontab schedule zone count from until dialect policy schedd_interval",
        "Use it to answer when a job or a schedule runs; results have both readings, the manual's and the schedd's.",
        needs=(_OF_SCHEDULE,),
    ),
    Tool(
        ("explain",),
        (_SUBMIT,),
        "crontab schedule zone at until dialect policy",
        "Use it to say what cron fields mean, or with at why a job did or did not run at a time.",
        needs=(_OF_SCHEDULE,),
    ),
    Tool(
        ("compile",),
        (),
        "except zone from until window prep_time schedd_interval universe clause approximate count policy",
        "Use it to write the scheduling lines of a submit file, such as for 'last Friday of the month at 18:00'.",
        argument=("schedule", "A schedule: words, cron fields, RRULE, OnCalendar, such as 'weekdays at 09:00'."),
    ),
    Tool(
        ("preview",),
        (_SUBMIT, _POOL),
        "target job owner",
        "Use it to see the job ads that condor_submit and the access point make of a submit file.",
        needs=(_OF_SUBMIT,),
    ),
    Tool(
        ("simulate",),
        (_SUBMIT, _POOL),
        "crontab days slots machine run_time match_delay exit_code preempt schedd_interval target policy",
        "Use it to see which runs would be on time, late, missed or held; ask for few days, as the answer is long.",
        needs=((*_OF_SUBMIT, "crontab"),),
    ),
    Tool(
        ("route", "explain"),
        (_ROUTES, _JOBS),
        "legacy ignore_prior_routing job_owner load throttled",
        "Use it to say which route of a job router takes each job, and why others do not.",
        needs=(_OF_ROUTES, ("jobs", "jobs_file")),
        given=("--each",),
    ),
    Tool(
        ("route", "check"),
        (_ROUTES,),
        "select ignore",
        "Use it for the configuration of a job router before it is deployed.",
        needs=(_OF_ROUTES,),
    ),
    Tool(
        ("classad", "eval"),
        _ADS,
        "explain faithful",
        "Use it to compute an expression as HTCondor does, such as a job's Requirements against a machine's ad.",
        argument=("expression", "A ClassAd expression, or the name of an attribute of the ad."),
    ),
)
TOOLS: Final = {each.name: each for each in _ALL}


class Call(NamedTuple):
    """A command line, and the texts that its files must have: the first on standard input, the others by name."""

    arguments: tuple[str, ...]
    stdin: str
    files: Mapping[str, str]


class Refused(ValueError):
    """Arguments that no command can take, with all faults."""


def call_of(tool: Tool, arguments: Mapping[str, Any], folder: str, others: str) -> Call:
    """Return the command line of a call; files may be read from ``folder``, and other texts are put into ``others``.

    Raises Refused.
    """
    faults = list(tool.faults(arguments))
    options: list[str] = []
    last: list[str] = []
    stdin: str | None = None
    files: dict[str, str] = {}
    for text in tool.texts:
        path, said = _path(arguments.get(f"{text.name}_file"), folder), arguments.get(text.name)
        if path is None:
            faults.append(f"{text.name}_file: this is not a file in the folder of this server")
        elif isinstance(said, str):
            path = "-" if stdin is None else os.path.join(others, text.name)
            if stdin is None:
                stdin = said
            else:
                files[path] = said
        if path and text.option:
            options.append(f"{text.option}={path}")
        elif path:
            last.append(path)
    if faults:
        raise Refused("\n".join(faults))
    for name in tool.options:
        options += _words(_flag(name), arguments.get(name))
    if tool.argument is not None:
        last.append(arguments[tool.argument[0]])
    line = (*tool.words, "--format=json", *tool.given, *options, *(("--", *last) if last else ()))
    return Call(line, stdin or "", files)


def _words(flag: str, value: object) -> Iterator[str]:
    """Yield an option of the command line."""
    for each in value if isinstance(value, list) else [value]:
        if each is True:
            yield flag
        elif each is not None and each is not False:
            yield f"{flag}={int(each) if isinstance(each, float) else each}"  # 60.0 is an integer of JSON


def _path(path: object, folder: str) -> str | None:
    """Return the path of a file from its folder, empty if none is given, None if it is outside; links are followed."""
    if not isinstance(path, str):
        return ""
    if leads_out(folder, path) or not os.path.isfile(os.path.join(folder, path)):
        return None
    name = os.path.relpath(os.path.realpath(os.path.join(folder, path)), os.path.realpath(folder))
    return os.path.join(os.curdir, name) if name.startswith("-") else name
