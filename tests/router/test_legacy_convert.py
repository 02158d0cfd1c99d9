"""ClassAd routes as commands: what is mended, what is said of it, and that the result loads and means the same."""

import gzip
import json
from pathlib import Path

import pytest

from crondor.classad import ClassAd
from crondor.classad.expression import Expression
from crondor.config import read_config
from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.router import load_table
from crondor.router.legacy import (
    ConversionMode,
    LegacyEntry,
    Macros,
    NewTable,
    convert,
    convert_as_tool,
    convert_mended,
    convert_table,
    legacy_routes,
    read_legacy,
)
from crondor.transform import RuleSource, Transform

RECORDINGS = Path(__file__).resolve().parent.parent / "golden" / "legacy_routes" / "conversions.jsonl.gz"


def _entry(attributes: str, name: str = "r") -> LegacyEntry:
    return read_legacy({"JOB_ROUTER_ENTRIES": f'[ Name = "{name}"; {attributes} ]'}).entries[0]


def _commands(entry: LegacyEntry, *, faithful: bool = False) -> list[str]:
    lines = convert(entry, faithful=faithful).split("\n")
    return [
        line for line in lines if not line.startswith(("NAME ", "# autoconversion", "# copy_", "# set_", "# delete_"))
    ]


def _codes(found: tuple[Diagnostic, ...]) -> set[str]:
    return {each.kind for each in found}


MENDED = [
    # attributes of the route, what HTCondor makes of them, what crondor makes of them, what is said
    ("eval_set_N = TARGET.x + 1", "EVALSET N TARGET.x + 1", "EVALSET N MY.x + 1", "legacy-eval-target"),
    ("eval_set_N = other.x", "EVALSET N other.x", "EVALSET N MY.x", "legacy-other"),
    ("JobFailureTest = other.x < 3", "JobFailureTest = other.x < 3", "JobFailureTest = MY.x < 3", "legacy-other"),
    ("Requirements = other.x", "REQUIREMENTS other.x", "REQUIREMENTS x", "legacy-other"),
    ("set_A = CurrentTime - 1", "SET A CurrentTime - 1", "SET A time() - 1", "legacy-current-time"),
    ("eval_set_N = MY.CurrentTime", "EVALSET N MY.CurrentTime", "EVALSET N time()", "legacy-current-time"),
    ('queue = "atlas"', "queue = atlas", "# queue = atlas", "legacy-keyword"),
    ("else = 5", "else = 5", "# else = 5", "legacy-keyword"),
    ("if = 1; endif = 2", "if = 1", "# if = 1", "legacy-keyword"),
    ("if = 1; elif = 2", "elif = 2", "# elif = 2", "legacy-keyword"),
    ("MaxJobs = 5 + 5", "MaxJobs = 5 + 5", "MaxJobs = 10", "legacy-limit"),
    ("mem = 3; MaxIdleJobs = mem", "MaxIdleJobs = mem", "MaxIdleJobs = 3", "legacy-limit"),
    ('MaxJobs = "x"', "MaxJobs = x", None, "legacy-limit"),
    (
        'q = "a"; GridResource = strcat("b",q)',
        'GridResource = strcat("b",q)',
        'GridResource = "ba"',
        "legacy-grid-resource",
    ),
    ("GridResource = 5", "GridResource = 5", None, "legacy-grid-resource"),
    (
        r'GridResource = "batch \"q\""',
        r'GridResource = "batch \"q\""',
        'GridResource = batch "q"',
        "legacy-grid-resource",
    ),
    ("copy_A = B", None, None, "legacy-copy"),
    ('copy_A = "B C"', "COPY A B C", None, "legacy-copy"),
    ("delete_A = false", "DELETE A", "DELETE A", "legacy-delete"),
    ("set_InputRSL = 1", None, "SET InputRSL 1", "legacy-inputrsl"),
    ("TargetUniverse = 99", "UNIVERSE UNKNOWN", None, "legacy-universe"),
    ("TargetUniverse = true", "UNIVERSE STANDARD", None, "legacy-universe"),
    ('TargetUniverse = "vanilla"', "UNIVERSE UNKNOWN", None, "legacy-universe"),
    ("m = TARGET.x + 1; eval_set_N = m * 2", "EVALSET N 2 * 1 + MY.x", "EVALSET N 2 * (1 + MY.x)", "legacy-inlined"),
    ("m = 1; eval_set_N = time() + m", None, "EVALSET N 1 + time()", "legacy-inlined"),
    (r'set_A = "a\nb"', 'SET A "a', None, "legacy-line"),
    ("'my attr' = 5", "my attr = 5", None, "legacy-name"),
    (r'note = "ends \\"', "note = ends \\", r'note = "ends \"', "legacy-quoted"),
]


@pytest.mark.parametrize(("attributes", "htcondor", "crondor", "code"), MENDED)
def test_a_defect_of_the_conversion_is_mended_and_named(
    attributes: str, htcondor: str | None, crondor: str | None, code: str | None
) -> None:
    """HTCondor's own form is there for who asks for it."""
    entry = _entry(attributes)
    assert htcondor is None or htcondor in _commands(entry, faithful=True)
    commands = _commands(entry)
    if crondor is None:
        assert htcondor not in commands
    else:
        assert crondor in commands
    made = convert_mended(entry)
    assert _codes(made.diagnostics) == ({code} if code else set())
    assert all(each.span is not None and each.span.source.name == "JOB_ROUTER_ENTRIES" for each in made.diagnostics)


@pytest.mark.parametrize(
    "attributes",
    [
        "Requirements = TARGET.WantJobRouter is true; MaxJobs = 7; mem = 2000; eval_set_M = mem * TARGET.RequestCpus",
        'GridResource = "arc"; set_X = "y"; delete_Z = 1; copy_A = "B"; TargetUniverse = 5',
        'JobFailureTest = TARGET.ExitCode =!= 0; SharedX509UserProxy = "/etc/proxy"; owners = "a,b"',
        'set_Rank = TARGET.Mips; Requirements = stringListMember(TARGET.Owner, owners); owners = "a,b"',
    ],
)
def test_what_needs_no_mending_is_converted_as_htcondor_does_it(attributes: str) -> None:
    """To the letter, without a word; TargetUniverse stays as a variable, too, which transforms around routes read."""
    entry = _entry(attributes)
    made = convert(entry)
    assert made.replace("TargetUniverse = 5\n", "") == convert(entry, faithful=True)
    assert ("TargetUniverse = 5\n" in made) is ("TargetUniverse" in attributes)
    assert not convert_mended(entry).diagnostics


def test_temporary_attributes_have_their_value_without_the_macro() -> None:
    """An ad of the route stays a name; where the macro cannot have its name, its value is written out."""
    entry = _entry("queue = [ a = 1 ]; eval_set_N = ifThenElse(isUndefined(queue), 0, TARGET.x)")
    commands = _commands(entry)
    head = commands.index("# temporarily SET attrs because eval_set_ rules refer to them")
    assert commands[head + 1] == "SET queue [ a = 1 ]"
    assert commands[-1] == "DELETE queue"
    routed = Transform.parse(convert(entry), form=RuleSource.KNOB).apply(ClassAd({"x": 2})).ad
    assert (routed.value("N"), "queue" in routed) == (2, False)


def test_text_that_looks_like_a_macro_stays_text() -> None:
    """A routing table in a file has none, a transform has."""
    entry = _entry('set_A = "$(DOLLAR)(X) $$(Y)"')
    made = Transform.parse(convert(entry), form=RuleSource.KNOB)
    assert made.apply(ClassAd()).ad.value("A") == "$(X) $$(Y)"
    text = r'set_A = "$INT(X) $(Y) $$(Z) 5$"'
    entry = read_legacy({"JOB_ROUTER_ENTRIES_CMD": "x"}, run=lambda _: f'[ Name = "r"; {text} ]').entries[0]
    made = Transform.parse(convert(entry), form=RuleSource.KNOB)
    assert made.apply(ClassAd()).ad.value("A") == "$INT(X) $(Y) $$(Z) 5$"


def _table(text: str, macros: Macros = Macros.KEPT) -> NewTable:
    return convert_table(read_legacy(Source(text, "old.conf"), macros=macros))


def test_the_new_configuration_is_read_by_the_router() -> None:
    """Names are those a knob can have, each once; macros stay, and what they stand for is brought along."""
    text = """
X = $(Y) 1
Y = two
UNUSED = 3
JOB_ROUTER_ENTRIES = [ Name = "a b"; Requirements = TARGET.Q == "$(Y)"; set_A = "$(X)" ] \\
  [ Name = "a.b"; Requirements = true ] [ Name = "names"; Requirements = true ] [ Name = "//"; Requirements = true ]
"""
    made = _table(text)
    assert made.names == ("ab", "ab_2", "names_2", "route")
    assert made.macros == (("X", "$(Y) 1"), ("Y", "two"))
    configuration = read_config(str(made))
    assert not configuration.diagnostics
    table = load_table(configuration)
    assert [route.name for route in table.routes] == list(made.names)
    first = table.routes[0].transform
    assert first.matches(ClassAd({"Q": "two"}))
    assert first.apply(ClassAd({"Q": "two"}), table.facts).ad.value("A") == "two 1"


def test_a_knob_written_as_a_classad_keeps_its_name() -> None:
    """Others make room."""
    knobs = 'JOB_ROUTER_ENTRIES = [ Name = "a b" ]\nJOB_ROUTER_ROUTE_ab = [ MaxJobs = 1 ]\nJOB_ROUTER_ROUTE_x.y = [ ]\n'
    assert _table(knobs).names == ("ab_2", "ab", "x.y")


def test_what_the_rest_of_the_configuration_means_now_is_said() -> None:
    """Transforms around routes reach these too, and Requirements are needed without a constraint."""
    made = _table('JOB_ROUTER_ENTRIES = [ Name = "a" ]\nJOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = T\n')
    assert _codes(made.diagnostics) == {"legacy-around", "legacy-requirements"}
    knob = "JOB_ROUTER_ROUTE_a = [ Requirements = true ]\nJOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = T\n"
    assert not _table(knob).diagnostics  # transforms reached such a knob before
    made = _table('JOB_ROUTER_ENTRIES = [ Name = "a" ]\nJOB_ROUTER_SOURCE_JOB_CONSTRAINT = $(YES)\nYES = true\n')
    assert not made.diagnostics
    assert [name for name, _ in made.macros] == ["JOB_ROUTER_SOURCE_JOB_CONSTRAINT", "YES"]
    assert [route.name for route in load_table(read_config(str(made))).routes] == ["a"]


def test_every_recorded_table_loads() -> None:
    """Of all commands that crondor writes, HTCondor's check refuses none."""
    count = 0
    for line in gzip.decompress(RECORDINGS.read_bytes()).decode().splitlines():
        text = json.loads(line)["text"]
        for macros in (Macros.KEPT, Macros.EXPANDED):
            made = _table(text, macros)
            configuration = read_config(str(made))
            assert configuration.is_valid
            table = load_table(configuration, keep_routes=True)
            reasons = {each.kind for rejected in table.rejected for each in rejected.diagnostics}
            assert reasons <= {"route-requirements", "route-missing"}, text
            count += len(table.routes)
    assert count > 200


def _attribute(line: str) -> str:
    words = line.removeprefix("# ").split(" ")
    return {"UNIVERSE": "TargetUniverse"}.get(words[0], words[1] if words[0] in COMMANDS else words[0]).lower()


COMMANDS = frozenset(("COPY", "DELETE", "SET", "EVALSET"))


def test_no_line_parts_from_htcondor_s_without_a_word() -> None:
    """Of the recorded routes, each attribute whose command differs has a finding."""
    silent = differing = 0
    for line in gzip.decompress(RECORDINGS.read_bytes()).decode().splitlines():
        for entry in read_legacy(Source(json.loads(line)["text"], "c"), macros=Macros.EXPANDED).entries:
            if entry.value("Name") != entry.name or entry.is_knob:
                continue
            said = " ".join(found.message for found in convert_mended(entry).diagnostics).lower()
            ours, theirs = convert(entry).split("\n"), convert(entry, faithful=True).split("\n")
            changed = [each for each in {*ours} ^ {*theirs} if not each.endswith("_* rules")]
            changed = [each for each in changed if not each.startswith("TargetUniverse = ")]
            assert [each for each in changed if _attribute(each) not in said] == []
            differing += len(changed)
            silent += not said
    assert silent > 5
    assert differing > 100


def test_both_conversions_do_the_same_to_a_job_where_no_defect_is_met() -> None:
    """Inlined expressions with parentheses are what the route's own ad gives."""
    entry = _entry("a = TARGET.x + 1; b = a * 3; eval_set_N = b - a; Requirements = b > 3")
    made = Transform.parse(convert(entry), form=RuleSource.KNOB)
    for x in range(5):
        job = ClassAd({"x": x})
        old = entry.ad.copy()
        assert made.matches(job) is ((x + 1) * 3 > 3)
        if made.matches(job):
            assert made.apply(job).ad.value("N") == old.evaluate(Expression("b - a"), target=job) == 2 * (x + 1)


def test_the_tool_s_output_is_written_as_the_tool_writes_it() -> None:
    """Each mode has its own heads, and one of them the names."""
    text = 'JOB_ROUTER_ENTRIES = [ Name = "a b" ]\nJOB_ROUTER_ENTRIES_FILE = more\n'
    body = "# autoconversion of route 'a b' from old route syntax"
    config = convert_as_tool(text, mode=ConversionMode.CONFIG)
    assert str(config) == f"\n##### JOB_ROUTER_ENTRIES [1] #####\nNAME a b\n{body}\n"
    file = convert_as_tool(text, mode=ConversionMode.FILE)
    assert str(file) == (
        f"\n##### Route 1\nJOB_ROUTER_ROUTE_ab @=jre\n   NAME a b\n   {body}\n@jre\n"
        "need JOB_ROUTER_ENTRIES_FILE more\n\nJOB_ROUTER_ROUTE_NAMES = ab\n"
    )


def test_a_route_whose_requirements_cannot_be_written_takes_no_job() -> None:
    """Rather than every one."""
    entry = _entry(r'Requirements = TARGET.x == "a\nb"')
    assert "REQUIREMENTS false" in _commands(entry)
    assert [found.severity for found in convert_mended(entry).diagnostics] == [Severity.ERROR]


def test_a_string_with_a_line_end_makes_commands_in_htcondor_s_conversion() -> None:
    """It is written down and read again: a value can bring a REQUIREMENTS of its own, or end the route."""
    entry = _entry(r'Requirements = false; set_A = "\nREQUIREMENTS true\n"')
    assert "REQUIREMENTS true" in convert(entry, faithful=True)
    assert "REQUIREMENTS false" in convert(entry)
    assert convert(_entry(r'set_A = "\nREQUIREMENTS (\n"'), faithful=True) == ""


def test_routes_of_knobs_take_the_transforms_around_them() -> None:
    """Those of JOB_ROUTER_ENTRIES leave them out."""
    knobs = {
        "JOB_ROUTER_ENTRIES": '[ Name = "a"; Requirements = true ]',
        "JOB_ROUTER_ROUTE_b": "[ Requirements = true; EditJobInPlace = TARGET.Edit ]",
    }
    routes = {route.name: route for route in legacy_routes(read_legacy(knobs))}
    assert {name: route.takes_transforms for name, route in routes.items()} == {"a": False, "b": True}
    assert str(routes["b"].edit_job_in_place) == "MY.Edit"
