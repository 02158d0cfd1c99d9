"""The rest of the submit language: conditionals, included files, templates, files of rows, built-in variables."""

from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from crondor.diagnostics import Source
from crondor.macro.files import Files
from crondor.submit import InvalidSubmit, JobGroup, SubmitFile, SubmitHost, read_submit

TEMPLATES = {
    "SUBMIT_TEMPLATE_NAMES": "Nightly, Win Deep Loop",
    "SUBMIT_TEMPLATE_Nightly": "cron_minute = $(1:0)\ncron_hour = $(2:3)\nx = $(0)|$(0#)|$(1?)|$(3?)|$(2+)|$(9+:none)",
    "SUBMIT_TEMPLATE_Win": "cron_hour = $(1?60)$(site)$(m)",
    "SUBMIT_TEMPLATE_Deep": "if defined m\n  cron_minute = $(m)\nelse\n  cron_minute = 44\nendif",
    "SUBMIT_TEMPLATE_Loop": "use template : Loop",
    "SUBMIT_TEMPLATE_Unlisted": "cron_minute = 1",
    "Site": "here",
}


def read(text: str, folder: Path | None = None, config: Mapping[str, str] | None = None) -> SubmitFile:
    """Read a text that may see the files of a folder."""
    files = Files([str(folder)], base=str(folder)) if folder else None
    return read_submit(Source(text, "job.sub"), files=files, config=config)


def values(text: str, folder: Path | None = None, config: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the values of the one job of a text without a queue statement."""
    file = read(text + "\nqueue\n", folder, config)
    (group,) = file.groups(("cron_minute", "cron_hour", "x"))
    return dict(group.values)


def faults(text: str, folder: Path | None = None, config: Mapping[str, str] | None = None) -> list[str]:
    """Return place, code and words of each fault."""
    with pytest.raises(InvalidSubmit) as caught:
        read(text, folder, config)
    return [f"{d.span.location if d.span else ''} {d.kind}: {d.message}" for d in caught.value.diagnostics]


def rows(text: str, folder: Path) -> list[str]:
    """Return $(x) of each job, in order."""
    every = read("y = $(ProcId) $(x)\n" + text, folder).groups(("y",))
    found = sorted((group.values["y"].partition(" ") for group in every), key=lambda parts: int(parts[0]))
    return [x for _, _, x in found]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files to include and to take rows from."""
    for name, text in {
        "inc.sub": "cron_minute = 11\nm = 4\n",
        "if.sub": "if defined m\n cron_minute = $(m)\nelse\n cron_minute = 33\nendif\n",
        "open.sub": "if true\ncron_minute = 1\n",
        "again.sub": "include : again.sub\n",
        "twice.sub": "if defined stop\nelse\ninclude : twice.sub\ninclude : twice.sub\nendif\n",
        "queue.sub": "queue x from (\na\n)\n",
        "bad.sub": "foo bar\ncron_minute = $(\n",
        "bom.sub": "\ufeffx = 1\n",
        "items.txt": "1 30\n2, 40\n# c\n\n3   50 60\n",
        "table.csv": "x, m\n1, 30\n2, 40\n",
        "cache.sub": "cron_minute = 24\n",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "z.dat").write_text("")
    (tmp_path / "a.dat").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "minute"),
    [
        ("if true\ncron_minute = 1\nelse\ncron_minute = 2\nendif", "1"),
        ("if $(m)\ncron_minute = 1\nelif 1\ncron_minute = 2\nendif", "2"),
        ("m = yes\nIF ! $(m)\ncron_minute = 1\nELSE\ncron_minute = 2\nENDIF", "2"),
        ("if defined Process\ncron_minute = 1\nendif", "1"),
        ("if defined OPSYSVER\ncron_minute = 1\nendif", "1"),
        ("if defined use ROLE:Execute\ncron_minute = 1\nendif", "1"),
        ("if version >= 8.1.6\n if version < 25.0\n  junk\n endif\n cron_minute = 1\nendif", "1"),
        (":if true\n:cron_minute = 1\n:endif", "1"),
        ("cron_minute = 1\nif false\ncron_minute = 2\nqueue 9\ninclude : nofile\nerror : no\nendif", "1"),
        ("if $INT(abc)\nelse\ncron_minute = 2\nendif", "2"),
    ],
)
def test_conditionals(text: str, minute: str) -> None:
    """Only the lines of the branch that holds are read."""
    assert values(text)["cron_minute"] == minute


@pytest.mark.parametrize("line", [": cron_minute = 1", ":  if true", ": queue"])
def test_a_blank_behind_the_colon_that_hides_a_line(line: str) -> None:
    """HTCondor finds no name there (25.14 and 23.9.6); in a branch that does not hold nothing is looked at."""
    with pytest.raises(InvalidSubmit, match="2:2: error: a blank comes after the colon"):
        read_submit(Source(f"if true\n{line}\nendif\nqueue\n", "job.sub"))
    assert read_submit(Source(f"if false\n{line}\nendif\nqueue\n")).job_count == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x @=end\n 1,\n\n# c\n  2\n@end", "1,\n2"),
        ("x = 0\nx @=end\n$(x)1\n@end", "01"),
        ("x @=end\n@end", ""),
        ("x @=end\nif true\n@end", "if true"),
        ("SUBMIT.x = 5\nx = 4", "5"),
    ],
)
def test_values_of_several_lines_and_with_a_prefix(text: str, value: str) -> None:
    """Between @= and its tag everything is text; SUBMIT.x is looked at before x."""
    assert values(text)["x"] == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("include : inc.sub", {"cron_minute": "11"}),
        ("include:inc.sub", {"cron_minute": "11"}),
        ("@INCLUDE : inc.sub", {"cron_minute": "11"}),
        ("f = inc\ninclude : $(f).sub\ncron_hour = $(m)", {"cron_minute": "11", "cron_hour": "4"}),
        ("include ifexist : nofile.sub", {}),
        ("include ifexists : inc.sub", {"cron_minute": "11"}),
        ("m = */3\ninclude : if.sub", {"cron_minute": "*/3"}),
        ("include = inc.sub", {}),
        ("include \\\n : \\\n inc.sub", {"cron_minute": "11"}),
    ],
)
def test_includes(folder: Path, text: str, expected: dict[str, str]) -> None:
    """An included file is read in the place of the line that names it."""
    assert values(text, folder) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("include : no.sub", ["job.sub:1:1 file-missing: can't open file no.sub: No such file or directory"]),
        ("include : open.sub", ["open.sub:3:1 conditional: endif(s) not found before end-of-file"]),
        ("include : again.sub", ["again.sub:1:1 include: includes nested too deep"]),
        ("include : twice.sub", ["twice.sub:3:1 include: includes nested too deep"]),
        ("include : sub", ["job.sub:1:1 file-special: can't read sub: it is not a plain file"]),
        (
            "include : queue.sub",
            ["queue.sub:1:1 queue-included: Queue statement not allowed in include file or command"],
        ),
    ],
)
def test_faults_of_includes(folder: Path, text: str, expected: list[str]) -> None:
    """A fault is shown in the file that it stands in."""
    assert faults(text + "\nqueue\n", folder) == expected


def test_faults_of_all_files_come_at_once(folder: Path) -> None:
    """Reading goes on after a file with faults, and names them all."""
    found = faults("include : bad.sub\ninclude : bom.sub\nbar foo\nqueue\n", folder)
    assert [line.split(": ")[0] for line in found] == [
        "bad.sub:1:1 no-statement",
        "bom.sub:1:1 byte-order-mark",
        "job.sub:3:1 no-statement",
    ]


def test_places_of_values_are_those_of_their_files(folder: Path) -> None:
    """A value from an included file is shown there."""
    file = read("include : inc.sub\nqueue\n", folder)
    (group,) = file.groups(("cron_minute",))
    assert group.spans["cron_minute"].location == "inc.sub:1:15"
    assert [source.name for source in file.sources] == ["job.sub", "inc.sub"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("include : /etc/passwd", ["file-outside"]),
        ("include : ../x.sub", ["file-outside"]),
        ("include command : echo cron_minute = 22", ["runs-command"]),
        ("include output : touch x", ["runs-command"]),
        ("include : echo cron_minute = 22 |", ["runs-command"]),
        ("@include ifexist command : rm x", ["runs-command"]),
        ("include command into no.sub : echo x", ["runs-command"]),
        ("i = include\nc = touch x |\ninclude : $(c)", ["runs-command"]),
        ("incl\\\nude command : touch x", ["runs-command"]),
        ("queue x from ls |", ["runs-command"]),
        ("queue x from /etc/passwd", ["file-outside"]),
        ("queue x matching /etc/*", ["file-outside"]),
        ("queue x from -", ["unknown-items"]),
    ],
)
def test_what_would_be_run_or_lies_outside_is_a_finding(folder: Path, text: str, codes: list[str]) -> None:
    """Reading goes on, and the result says what it does not know."""
    file = read(text + "\nqueue\n", folder)
    assert [finding.kind for finding in file.unknown] == codes
    assert set(file.unknown) <= set(file.warnings)
    assert file.job_count == 1
    assert sorted(path.name for path in folder.iterdir() if path.name in {"x", "no.sub"}) == []


@pytest.mark.parametrize("text", ["include : a", "queue x from a", "queue x matching *", "use template : A"])
def test_without_files_and_configuration_nothing_is_looked_at(text: str) -> None:
    """A caller who hands over nothing gets findings instead."""
    assert [finding.kind[:7] for finding in read(text + "\nqueue\n").unknown] == ["unknown"]


def test_the_kept_output_of_a_command_is_read_as_htcondor_does(folder: Path) -> None:
    """Where an earlier run left its file, HTCondor reads that; a finding says so all the same."""
    file = read("include command into cache.sub : echo x\nqueue\n", folder)
    (group,) = file.groups(("cron_minute",))
    assert group.values["cron_minute"] == "24"
    assert [finding.kind for finding in file.unknown] == ["runs-command"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("use template : Nightly", {"cron_minute": "0", "cron_hour": "3", "x": "|0|0|0||none"}),
        ("use template : Nightly()", {"cron_minute": "0", "cron_hour": "3", "x": "|0|0|0||none"}),
        ("use template:nightly(1,2,3)", {"cron_minute": "1", "cron_hour": "2", "x": "1,2,3|3|1|1|2,3|none"}),
        (
            "use TEMPLATE : Nightly(*/5, 1-3)",
            {"cron_minute": "*/5", "cron_hour": "1-3", "x": "*/5, 1-3|2|1|0|1-3|none"},
        ),
        ("use template : Nightly(,7)", {"cron_minute": "7", "cron_hour": "3", "x": ",7|1|1|0||none"}),
        ("m = 5\nuse template : Nightly, Deep", {"cron_minute": "5", "cron_hour": "3", "x": "|0|0|0||none"}),
        ("use template : Win(5) Deep", {"cron_hour": "1here", "cron_minute": "44"}),
    ],
)
def test_templates(text: str, expected: dict[str, str]) -> None:
    """A template's text is read with its arguments in place; what the configuration defines is replaced before."""
    assert values(text, None, TEMPLATES) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("use template : Nope", "does not recognise Nope"),
        ("use template : Unlisted", "does not recognise Unlisted"),
        ("use template : Loop", "Loop nesting too deep"),
        ("use feature : GPUs", "at use feature"),
    ],
)
def test_faults_of_templates(text: str, words: str) -> None:
    """Templates that are not there, or use themselves."""
    assert words in faults(text + "\nqueue\n", None, TEMPLATES)[0]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("queue x from items.txt", ["1 30", "2, 40", "# c", "# c", "3   50 60"]),
        ("queue x,w from items.txt", ["1", "2", "#", "#", "3"]),
        ("queue x from [:2] items.txt", ["1 30", "2, 40"]),
        ("queue from table table.csv", ["1", "2"]),
        ("queue x,m from table(csv) table.csv", ["x", "1", "2"]),
        ("f = items\nqueue x from [0] $(f).txt", ["1 30", "2, 40", "# c", "# c", "3   50 60"]),
        ("queue x matching *.dat", ["a.dat"]),
        ("queue x matching files *", None),
        ("queue x matching dirs *", ["sub/"]),
        ("queue x matching any (a.dat sub)", ["a.dat", "sub/"]),
        ("queue x matching files (*.dat, a.*)", ["a.dat"]),
        ("queue x matching (\nsub/*\na.dat\n)", ["sub/z.dat", "a.dat"]),
        ("submit_match_directories = only\nqueue x matching *", ["sub/"]),
        ("SubmitMatchDirectories = never\nqueue x matching (s* a.dat)", ["a.dat"]),
        ("submit_allow_duplicate_matches = true\nqueue x matching (a.dat a.*)", ["a.dat", "a.dat"]),
        ("queue x matching nope.*", []),
    ],
)
def test_items_from_files(folder: Path, statement: str, expected: list[str] | None) -> None:
    """Rows of a file are all its lines; names of files come in order, each once."""
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    assert rows(statement + "\n", folder) == (names if expected is None else expected)


def test_surprising_rows_are_warnings(folder: Path) -> None:
    """A comment and a blank line of a file are rows, a pattern may match nothing."""
    codes = [warning.kind for warning in read("queue x from items.txt\n", folder).warnings]
    assert codes == ["blank-row", "comment-row"]
    codes = [warning.kind for warning in read("queue x matching nope*\n", folder).warnings]
    assert codes == ["no-match", "queue-empty"]
    text = "submit_fail_empty_matches = 1\nqueue x matching nope*\n"
    assert "no matches for pattern(s): 'nope*'" in faults(text, folder)[0]


GIVEN = "$(SUBMIT_TIME) $(YEAR)-$(Month)-$(DAY) $(ARCH) $(OPSYS) $(IsLinux)$(IsWindows) $(SUBMIT_FILE)"


def test_built_in_variables_are_what_the_caller_says() -> None:
    """Moment, zone and machine are arguments."""
    source = Source(f"x = {GIVEN}\nqueue\n", "job.sub")
    host = SubmitHost()._replace(arch="aarch64", islinux=False)
    file = read_submit(source, now=1_780_000_000, zone=ZoneInfo("Pacific/Kiritimati"), host=host)
    (group,) = file.groups(("x",))
    assert group.values["x"] == "1780000000 2026-05-29 aarch64 LINUX 00 job.sub"
    file = read_submit(Source("x = $(OPSYSANDVER) $(Day)\nqueue\n"))
    with pytest.raises(InvalidSubmit, match="depends on the machine of submission"):
        list(file.groups(("x",)))


def drawn(seed: int, *names: str) -> list[tuple[str, ...]]:
    """Return the random values of five jobs."""
    text = "x = $RANDOM_INTEGER(0,9999)/$RANDOM_INTEGER(0,9999)\ncron_minute = $RANDOM_INTEGER(0,9999)\nqueue 5\n"
    every = read_submit(Source(text), seed=seed).groups(names)
    return [tuple(group.values[name] for name in names) for group in every]


def test_random_values_depend_on_seed_job_and_name_alone() -> None:
    """Whatever else is asked for, the same job has the same value."""
    both = drawn(1, "x", "cron_minute")
    assert len(set(both)) == 5
    assert [pair[::-1] for pair in drawn(1, "cron_minute", "x")] == both
    assert [value for (value,) in drawn(1, "x")] == [x for x, _ in both]
    assert drawn(2, "x", "cron_minute") != both


def test_failing_functions_are_findings_of_their_jobs() -> None:
    """What condor_submit prints and passes over leaves the command without a value."""
    file = read("m = abc\ncron_minute = $(n)\nn = $INT(m)\ncron_hour = 5\nqueue 2\n")
    (group,) = file.groups(("cron_minute", "cron_hour"))
    assert dict(group.values) == {"cron_minute": "", "cron_hour": "5"}
    (finding,) = group.findings
    assert finding.message == "cron_minute: $INT() macro: abc does not evaluate to an integer!"
    assert finding.span is not None
    assert finding.span.location == "job.sub:3:5"
    assert finding.help is not None
    assert finding.help.endswith("the fault comes from $(n), defined at line 3")
    assert [warning.kind for warning in read("queue $INT(abc)\n").warnings] == ["macro-function"]


def origins(group: JobGroup, name: str) -> list[str]:
    """Return the words for the macros of a value."""
    return [str(origin) for origin in group.origins.get(name, ())]


def test_the_way_of_a_value_can_be_asked_for(folder: Path) -> None:
    """Each value knows the macros it was made of, and where each was defined."""
    text = "h = $(g)\ncron_hour = $(h)-$(m)/$(Process)\ncron_minute = 5\ninclude : inc.sub\ng = 1\nqueue\n"
    (group,) = read(text, folder).groups(("cron_hour", "cron_minute"))
    assert origins(group, "cron_hour") == [
        "from $(h), defined at line 1",
        "from $(g), defined at line 5",
        "from $(m), defined at line 2 of inc.sub",
        "from $(process), which HTCondor provides",
    ]
    assert group.origins["cron_hour"][2].span.source.name == "inc.sub"  # type: ignore[union-attr] # it has a place
    assert origins(group, "cron_minute") == []


def test_lines_and_a_queue_of_the_command_line() -> None:
    """-append lines stand before the jobs, -queue serves a file without a queue statement."""
    source = Source("x = $(m)\nm = 1\n")
    file = read_submit(source, append=["m = 2", "+A = 5"], queue="n in (7,8)")
    assert [(g.count, g.values["x"], g.values["my.a"]) for g in file.groups(("x", "my.a"))] == [(2, "2", "5")]
    with pytest.raises(InvalidSubmit, match="-queue argument conflicts with queue statement in submit file"):
        read_submit(Source("x = 1\nqueue\n"), queue="2")
    for wrong in ("cron_minute", "queue"):
        with pytest.raises(InvalidSubmit, match="-append:1:1"):
            read_submit(source, append=[wrong])


def test_a_variable_that_comes_twice_has_its_last_column() -> None:
    """As where one value is assigned after the other."""
    file = read("executable = x\narguments = $(a)\nqueue a a a from (\n1 2 3\n4 5\n)\n")
    assert [group.values["arguments"] for group in file.groups(["arguments"])] == ["3", ""]


def test_a_queue_statement_ends_the_conditionals_around_it() -> None:
    """What follows is read as a text of its own, so that an endif is a fault there (condor_submit 23.9 and 25.14)."""
    file = read("if true\nqueue\n")
    assert [finding.kind for finding in file.warnings] == ["conditional"]
    with pytest.raises(InvalidSubmit) as caught:
        read("if true\nqueue\nelse\nqueue 9\nendif\n")
    assert [d.message for d in caught.value.diagnostics] == ["else without matching if", "endif without matching if"]
    assert str(caught.value.diagnostics[0].help).startswith("a queue statement ends each if")


def test_each_of_equal_jobs_is_told_what_its_function_could_not_do() -> None:
    """Both give an empty text, and so they are one group: condor_submit prints both failures."""
    file = read("cron_minute = $INT(m)\nqueue m in (a b a)\n")
    (group,) = file.groups(["cron_minute"])
    assert group.count == 3
    assert [finding.message.partition("macro: ")[2] for finding in group.findings] == [
        "a does not evaluate to an integer!",
        "b does not evaluate to an integer!",
    ]
