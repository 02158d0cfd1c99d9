"""The table of submit commands: what the ad maker reads it knows, and when each command came."""

import re
import subprocess
import sys

import pytest

import crondor.classad.functions  # noqa: F401 - declares them
from crondor.classad import Expression
from crondor.classad.functions.registry import FUNCTIONS
from crondor.config import read_config
from crondor.diagnostics import Source
from crondor.knowledge import (
    NEWEST,
    OLDEST,
    CommandType,
    ConfigKnob,
    KnobKind,
    Release,
    Releases,
    Setting,
    classad_functions,
    config_knobs,
    submit_commands,
    submit_macros,
)
from crondor.knowledge.words import rows
from crondor.macro import MacroError
from crondor.router.table.loading import KNOBS
from crondor.submit import InvalidSubmit, read_submit
from crondor.submit.ad import COMMANDS
from crondor.submit.ad.draft import SubmitKnobs
from crondor.submit.facts import SubmitFacts, SubmitHost
from tests.cli.running import ROOT

# What condor_submit looks up and the ads of jobs do not depend on.
_NOT_OF_ADS = ("interactive_", "memory_usage", "rendezvous", "request_", "send_credential", "submit", "tasks_per_job")


def test_each_row_is_a_command_and_one_sentence() -> None:
    """Names stand once, types and releases can be read, and a sentence ends with one stop."""
    found = list(rows("submit_commands.txt"))
    assert {len(row) for row in found} == {7}
    names = [row[0].lower() for row in found]
    assert sorted(set(names)) == sorted(names)
    assert len(submit_commands()) == len(found) > 300
    for command in submit_commands():
        assert command.sentence[0].isupper()
        assert command.sentence.endswith(".")
        assert command.others == tuple(dict.fromkeys(command.others))


def test_the_table_and_the_ad_maker_know_the_same_commands() -> None:
    """Whatever condor_submit reads of a file stands in the table, and what stands there in use is read."""
    read = {name for name in COMMANDS if not name.startswith("my.")} - {"submit_file"}
    assert {name for name in read if name not in submit_commands()} == set()
    known = {
        name.lower() for each in submit_commands() if each.is_in_use and "<" not in each.name for name in each.names
    }
    assert {name for name in known - read if not name.startswith(_NOT_OF_ADS)} == set()


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("executable", "executable"),
        ("CMD", "executable"),
        ("env", "environment"),
        ("get_env", "getenv"),
        ("stdin", "input"),
        ("JobPrio", "priority"),
        ("prio", "prio"),
        ("request_widgets", "request_<name>"),
        ("box_oauth_permissions", "<name>_oauth_permissions"),
        ("ec2_tag_owner", "ec2_tag_<name>"),
        ("ec2_tag_names", "ec2_tag_names"),
        ("EC2AccessKeyId", "aws_access_key_id_file"),
    ],
)
def test_a_command_is_found_by_any_of_its_names(name: str, canonical: str) -> None:
    """In any case, by its attribute, and as one of many."""
    command = submit_commands().get(name)
    assert command is not None
    assert command.name == canonical


def test_an_unknown_command() -> None:
    """Requirements are read by that name alone, and nobody knows the other."""
    assert submit_commands().get("no_such_command") is None
    assert "transfer_inputs" not in submit_commands()


@pytest.mark.parametrize(
    ("name", "there", "not_there"),
    [
        ("periodic_vacate", ("23.2", "23", "24.0"), ("23.0", "23.1")),
        ("copy_to_spool", ("23.0", "25.7"), ("25.8", "25")),
        ("shell", ("24.7", "25.0"), ("24.0", "24.6", "23")),
        ("common_input_files", ("25.2", "25.13"), ("25.14", "25.1", "25")),
        ("executable", ("23.0", "25.14"), ()),
        ("nordugrid_rsl", (), ("23.0", "25")),
    ],
)
def test_when_a_command_is_there(name: str, there: tuple[str, ...], not_there: tuple[str, ...]) -> None:
    """By release, both ends included."""
    command = submit_commands().get(name)
    assert command is not None
    assert all(Release.parse(each) in command.releases for each in there)
    assert not any(Release.parse(each) in command.releases for each in not_there)


def test_what_is_copied_and_what_is_made() -> None:
    """The attribute is the value, or made of it."""
    log, retries, prio = (submit_commands().get(name) for name in ("log", "max_retries", "prio"))
    assert log is not None
    assert retries is not None
    assert prio is not None
    assert (log.attribute, log.setting, log.type) == ("UserLog", Setting.AS_IT_IS, CommandType.FILE)
    assert (retries.attribute, retries.setting, retries.type) == ("JobMaxRetries", Setting.MADE, CommandType.COUNT)
    assert prio.setting is Setting.ALTERNATIVE


def test_near_names_are_of_commands_in_use() -> None:
    """Neither what is gone nor what is no command is worth a hint."""
    assert [command.name for command in submit_commands().near("reqest_memory")] == ["request_memory"]
    assert submit_commands().near("copy_to_spol") == []
    assert [command.name for command in submit_commands().near("request_gpux")] == ["request_gpus"]


@pytest.mark.parametrize("text", ["", "x", "24.", "24.3.1", "-1", "24.3b"])
def test_what_is_no_release(text: str) -> None:
    """A release has two numbers at most."""
    with pytest.raises(ValueError, match=r".*"):
        Release.parse(text)


def test_releases_compare_and_print() -> None:
    """A series stands for its last release."""
    assert OLDEST < Release.parse("23.10") < Release.parse("23") < Release.parse("24.0") < NEWEST < Release.parse("25")
    assert [str(Release.parse(text)) for text in ("24", "24.0", "25.14")] == ["24", "24.0", "25.14"]
    assert Releases.parse("-") == Releases()


def test_schedules_do_not_load_it() -> None:
    """Whoever asks for the next run pays nothing for the tables."""
    code = "import sys, crondor_cli.next, crondor.submit; sys.exit(any('knowledge' in name for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_functions_are_those_of_the_engine() -> None:
    """A row for each, with its arguments, what it gives and one sentence."""
    assert set(classad_functions()) == set(FUNCTIONS)
    for function in classad_functions().values():
        assert function.sentence.endswith(".")
        assert function.type


def test_the_macros_are_those_that_are_provided() -> None:
    """Those that the machine or the moment gives, and those of the job."""
    of_jobs = {"process", "procid", "step", "row", "itemindex", "item", "submit_file"}
    for name, macro in submit_macros().items():
        assert macro.sentence.endswith(".")
        assert bool(macro.arguments) is name.startswith("$")
        assert _is_function(macro.name) if macro.arguments else name in of_jobs or _is_provided(name)
    assert not _is_provided("nothing")
    assert not _is_function("$NOTHING")


def _is_function(name: str) -> bool:
    """Say whether condor_submit calls what a text begins with, and does not leave it as it is."""
    file = read_submit(Source(f"arguments = {name}(n)\nqueue\n", "job.sub"))
    try:
        return next(file.groups(["arguments"])).values["arguments"] != f"{name}(n)"
    except InvalidSubmit:
        return True


def _is_provided(name: str) -> bool:
    """Say whether a macro that does not depend on the job has a value, known or not."""
    try:
        return SubmitFacts(SubmitHost()).builtin(name) is not None
    except MacroError:
        return True


def test_each_knob_has_a_name_of_its_own_and_a_sentence() -> None:
    """And names are found whatever their case, with a daemon's name before them as well."""
    knobs = list(config_knobs())
    assert len({knob.name.lower() for knob in knobs}) == len(knobs) == len(config_knobs())
    for knob in knobs:
        assert re.fullmatch(r"[A-Z].*\.", knob.sentence), knob
        assert config_knobs().get(knob.name.replace("<N>", "3").replace("<", "").replace(">", "").lower()) is not None
    assert config_knobs().get("schedd.Schedd_Interval") == config_knobs().get("SCHEDD_INTERVAL")
    assert config_knobs().get("NOTHING_OF_THE_KIND") is None


@pytest.mark.parametrize("knob", [knob for knob in config_knobs() if knob.default], ids=lambda knob: knob.name)
def test_a_default_is_a_value_of_its_kind(knob: ConfigKnob) -> None:
    """As HTCondor's configuration would read it."""
    name = knob.name.replace("<", "").replace(">", "")
    configuration = read_config(Source(f"{name} = {knob.default}\n"))
    if "$(" in knob.default or knob.kind in {KnobKind.STRING, KnobKind.PATH, KnobKind.NAMES}:
        return
    if knob.kind is KnobKind.BOOLEAN:
        configuration.boolean(name, default=False)
    elif knob.kind is KnobKind.EXPRESSION:
        Expression(knob.default)
    else:
        assert float(knob.default) == configuration.real(name, 0.5)


def test_the_defaults_that_condor_submit_takes_are_those_of_the_table() -> None:
    """Whoever asks."""
    taken = SubmitKnobs({})
    for knob in config_knobs():
        if knob.whose == "condor_submit" and taken.get(knob.name) is not None:
            assert taken.get(knob.name) == knob.default


def test_what_the_engines_read_stands_in_the_table() -> None:
    """Every knob that the reading of an access point, of condor_submit and of a router asks for by its name."""
    asked = re.compile(r"""\.(?:get|flag|number|integer|boolean|string|names|find|real)\(\s*"([A-Z][A-Z_]+)\"""")
    found = {
        name
        for folder in ("crondor/access_point", "crondor/submit/ad", "crondor/router/table")
        for path in (ROOT / folder).rglob("*.py")
        for name in asked.findall(path.read_text(encoding="utf-8"))
    }
    found.discard("BEARER_TOKEN_FILE")  # a variable of the environment
    assert len(found) > 30
    assert sorted(name for name in found if config_knobs().get(name) is None) == []


def test_a_removed_knob_says_until_when_it_was_there() -> None:
    """Those of routes as ClassAds."""
    removed = {knob.name for knob in KNOBS if knob.is_removed}
    assert "JOB_ROUTER_ENTRIES" in removed
    assert all(knob.releases.until is not None for knob in KNOBS if knob.is_removed)
