"""CRN54.. to CRN59.., and CRN118: what stands in values; faults that were planted, and what is no fault."""

import json
from pathlib import Path

import pytest

from crondor.diagnostics import Severity
from tests.check.asking import cured, found, places, report

PLANTED = [
    # macros
    ("CRN540", ("rate = 1", "arguments = $(rat)"), "$(rat)"),
    ("CRN540", ("input_file = a", "input = $(inputfile)"), "$(inputfile)"),
    ("CRN540", ("output = out.$(Proces)",), "$(Proces)"),
    ("CRN540", ("log = job.$(ClusterID_)",), "$(ClusterID_)"),
    ("CRN540", ("arguments = $(nothing_like_it)",), "$(nothing_like_it)"),
    ("CRN540", ("arguments = $Fn(nofile)",), "$Fn(nofile)"),
    ("CRN540", ("arguments = a \\", "  $(missing) b"), "$(missing)"),
    ("CRN540", ("queue $(howmany)",), "$(howmany)"),
    ("CRN541", ("request_cpus = 8", "request_cpus = 1"), "8"),
    ("CRN541", ("+Project = 1", "MY.Project = 2"), "1"),
    ("CRN541", ("arguments = a", "log = x", "arguments = b"), "a"),
    # operators
    ("CRN550", ("requirements = Memory = 1024",), "="),
    ("CRN550", ("requirements = Memory >= 1 and Disk > 2",), "and"),
    ("CRN550", ("requirements = Memory => 1024",), "=>"),
    ("CRN550", ('requirements = OpSys <> "LINUX"',), "<>"),
    ("CRN550", ("requirements = Memory === 5",), "==="),
    ("CRN550", ('requirements = (OpSys == "LINUX") or (OpSys = "WINDOWS")',), "or"),
    # words without quotes
    ("CRN551", ("+ProjectName = physics",), "physics"),
    ("CRN551", ("MY.ProjectName = my-project",), "my-project"),
    ("CRN551", ("+Site = foo.bar",), "foo.bar"),
    ("CRN551", ("+Site = 'physics'",), "'physics'"),
    ("CRN551", ("requirements = Owner == bob",), "bob"),
    ("CRN551", ("requirements = Machine != 'node1'",), "'node1'"),
    ("CRN551", ('requirements = OpSys == LINUX && Arch == "X86_64"',), "LINUX"),
    # attributes misspelt
    ("CRN552", ("requirements = TARGET.Memmory >= 1",), "Memmory"),
    ("CRN552", ('requirements = OpSyss == "LINUX"',), "OpSyss"),
    ("CRN552", ("requirements = Disk >= RequestMemry",), "RequestMemry"),
    ("CRN552", ("periodic_remove = JobStatsu == 5",), "JobStatsu"),
    ("CRN552", ("rank = TARGET.Memroy",), "Memroy"),
    ("CRN552", ("on_exit_hold = ExitBySignl",), "ExitBySignl"),
    # never and always
    ("CRN553", ('requirements = Arch == "x86-64"',), 'Arch == "x86-64"'),
    ("CRN553", ('requirements = TARGET.Arch == "amd64"',), 'TARGET.Arch == "amd64"'),
    ("CRN553", ('requirements = OpSys == "Ubuntu"',), 'OpSys == "Ubuntu"'),
    ("CRN553", ('requirements = OpSys =?= "Linux"',), 'OpSys =?= "Linux"'),
    ("CRN553", ('requirements = Memory >= "4096"',), 'Memory >= "4096"'),
    ("CRN553", ("requirements = Machine == 17",), "Machine == 17"),
    ("CRN553", ('requirements = HasFileTransfer == "true"',), 'HasFileTransfer == "true"'),
    ("CRN553", ('requirements = "Memory > 1024"',), '"Memory > 1024"'),
    ("CRN553", ('requirements = Arch == "INTEL" && Arch == "X86_64"',), 'Arch == "X86_64"'),
    ("CRN553", ("requirements = Memory > 4096 && Memory < 2048",), "Memory < 2048"),
    ("CRN554", ('requirements = Machine != "a" || Machine != "b"',), 'Machine != "b"'),
    ("CRN554", ('requirements = Cpus > 1 && (Name =!= "a" || Name =!= "b")',), 'Name =!= "b"'),
    ("CRN555", ("requirements = isUndefind(Foo)",), "isUndefind"),
    ("CRN555", ('requirements = stringListMembr("a", Names)',), "stringListMembr"),
    ("CRN555", ("periodic_remove = time - QDate > 3600",), "time"),
    ("CRN555", ("+X = nosuch(1)",), "nosuch"),
    # units and amounts
    ("CRN560", ("request_memory = 4GiB",), "4GiB"),
    ("CRN560", ("request_memory = 2GiBB",), "2GiBB"),
    ("CRN560", ("request_memory = 4P",), "4P"),
    ("CRN560", ("request_disk = 1.5 PB",), "1.5 PB"),
    ("CRN560", ("request_memory = 4X",), "4X"),
    ("CRN560", ("request_memory = 600 s",), "600 s"),
    ("CRN560", ("request_memory = 4,096",), "4,096"),
    ("CRN560", ("request_memory = 4,000,000 MB",), "4,000,000 MB"),
    ("CRN560", ("request_disk = 10 gigabytes",), "10 gigabytes"),
    ("CRN560", ("request_cpus = 4 cores",), "4 cores"),
    ("CRN560", ("request_gpus = 1 GPU",), "1 GPU"),
    ("CRN560", ("allowed_job_duration = 10m",), "10m"),
    ("CRN560", ("allowed_execute_duration = 2 hours",), "2 hours"),
    ("CRN560", ("requirements = Memory >= 4G",), "4G"),
    ("CRN312", ("periodic_remove = time() - QDate > 2d",), "2d"),
    ("CRN561", ("request_memory = 4000000",), "4000000"),
    ("CRN561", ("request_memory = 4000000 MB",), "4000000 MB"),
    ("CRN561", ("request_memory = 4",), "4"),
    ("CRN561", ("request_disk = 20",), "20"),
    ("CRN561", ("request_disk = 100000000000",), "100000000000"),
    ("CRN561", ("request_cpus = 0",), "0"),
    ("CRN561", ("request_cpus = 4096",), "4096"),
    ("CRN561", ("request_gpus = 80",), "80"),
    # lists of files
    ("CRN572", ("transfer_input_files = a.csv b.csv",), "a.csv b.csv"),
    ("CRN572", ("transfer_input_files = a b c",), "a b c"),
    ("CRN572", ('transfer_output_files = "x.root y.root"',), "x.root y.root"),
    ("CRN573", ("transfer_output_files = a.txt, *.root",), "*.root"),
    ("CRN573", ("transfer_input_files = data?.csv",), "data?.csv"),
    # comments, quotes, separators
    ("CRN580", ("output = out.txt # what it says",), "# what it says"),
    ("CRN506", ("universe = vanilla # local is slow",), "vanilla # local is slow"),
    ("CRN580", ("should_transfer_files = YES # always",), "# always"),
    ("CRN580", ("request_memory = 2GB # IMPORTANT",), "# IMPORTANT"),
    ("CRN580", ("n = 5 # jobs", "arguments = $(n)"), "# jobs"),
    ("CRN580", ("arguments = a # b",), "# b"),
    ("CRN581", ("arguments = --title 'first try'",), "'first try'"),
    ("CRN581", (r"arguments = -c \"echo hi\"",), r"\"echo hi\""),
    ("CRN581", ("arguments = --name='a b' c",), "'a b'"),
    ("CRN582", ("environment = A=1 B=2",), "B="),
    ("CRN582", ('environment = "A=1;B=2"',), ";B="),
    ("CRN582", ("environment = A=1,B=2",), ",B="),
    ("CRN583", ('transfer_output_remaps = "a = b, c = d"',), "a = b, c = d"),
    ("CRN583", ('transfer_output_remaps = "a = b; c"',), "c"),
    ("CRN584", ('output = "out.txt"',), '"out.txt"'),
    ("CRN584", ("log = 'job.log'",), "'job.log'"),
    ("CRN584", ('accounting_group = "physics"',), '"physics"'),
    ("CRN584", ('request_cpus = "4"',), '"4"'),
    ("CRN584", ('request_memory = "2GB"',), '"2GB"'),
    ("CRN584", ('transfer_input_files = "a", "b"',), '"a", "b"'),
    ("CRN584", ('initialdir = "/tmp"',), '"/tmp"'),
    # steps
    ("CRN118", ("cron_minute = */45",), "*/45"),
    ("CRN118", ("cron_minute = */90",), "*/90"),
    ("CRN118", ("cron_hour = */7",), "*/7"),
    ("CRN118", ("cron_month = */5",), "*/5"),
]
SOUND = (
    ("arguments = $(Process) $(Cluster) $(ClusterId) $(Step) $(Item)",),
    ("arguments = $(nothing:default) $$(Arch) $ENV(HOME) $RANDOM_INTEGER(1,2)",),
    ("a = 1", "arguments = $(a)"),
    ("arguments = $(JOB) $(RETRY)",),
    ("arguments = a", "arguments = $(arguments) b"),
    ("a = 1", "if $(a)", "a = 2", "endif", "arguments = $(a)"),
    ("request_cpus = 1", "if defined big", "request_cpus = 8", "endif"),
    ("notification = never", "Notification = NEVER"),
    ("transfer_input_files = a", "queue", "transfer_input_files = b"),
    ("requirements = Memory >= 1024 && (Cpus > 1)",),
    ('+ProjectName = "physics"', "+WantIt = true", "+Number = 5"),
    ("+Copy = RequestMemory", "+Sum = RequestCpus * 2", "+Own = Copy"),
    ("+Site = MY.Other", "+Other = 1"),
    ('requirements = OpSys == "linux" && Arch == "x86_64"',),
    ('requirements = OpSysAndVer == "CentOS7" || OpSysAndVer == "Ubuntu22"',),
    ('requirements = HasOurOwnThing =?= true && GLIDEIN_Site == "X"',),
    ('requirements = Machine != "a" && Machine != "b"',),
    ("periodic_remove = time() - QDate > 3600", "requirements = isUndefined(Foo) && regexp(Foo, Bar)"),
    ('requirements = (Arch == "INTEL") || (Arch == "X86_64")',),
    ("requirements = Memory > 2048 && Memory < 4096",),
    ("requirements = undefined =?= Memory || Machine =!= UNDEFINED",),
    ('+Memory = "x"', 'requirements = MY.Memory == "x"'),
    ("request_memory = 4GB", "request_disk = 10 M"),
    ("request_memory = 2048, 4096",),
    ("request_memory = 512,768",),
    ("request_memory = ifthenelse(MemoryUsage =!= undefined, MemoryUsage * 2, 1024)",),
    ("request_memory = 1.5GB",),
    ("request_memory = {memory}", "request_cpus = {ncpus}"),
    ("request_memory = 1000000", "request_disk = 4000000"),
    ("transfer_input_files = a.csv, b.csv", "transfer_output_files = x,y"),
    ("transfer_input_files = https://example.org/a*b", "transfer_output_remaps = "),
    ('transfer_output_remaps = "a = b; c = d"',),
    ('transfer_output_remaps = "a = https://example.org/x?y=z"',),
    ('batch_name = "run"', 'transfer_output_files = ""', 'transfer_input_files = "a, b"', 'docker_image = "debian"'),
    ("batch_name = run #5", "arguments = #1 a#b '#'"),
    ('+Colour = "a # b"', "arguments = \"'a # b'\""),
    ("arguments = \"--title 'first try'\"",),
    ("arguments = don't stop",),
    ("environment = A=1;B=2",),
    ("environment = \"A=1 B='x C=2' D=a,b\"",),
    ("environment = OPTS=-Da=1,b=2",),
    ("cron_minute = */15", "cron_hour = */6"),
    ("cron_minute = */60",),
    ("cron_hour = 8-17/4", "cron_minute = 0", "cron_day_of_month = */2"),
)
RECORDED = Path(__file__).with_name("planted.jsonl")  # condor_submit -dry-run of 25.14, and of 23.9.6
NEVER = [
    lines for code, lines, _ in PLANTED if code == "CRN553" or (code == "CRN584" and lines[0].startswith("request_"))
]
OURS = ("CRN118", "CRN54", "CRN55", "CRN56", "CRN57", "CRN58", "CRN59")


@pytest.mark.parametrize(("code", "lines", "place"), PLANTED)
def test_a_planted_fault_is_found_where_it_stands(code: str, lines: tuple[str, ...], place: str) -> None:
    """Each by one finding of its rule, and no other error beside it on its line."""
    lines = ("executable = /bin/true", *lines)
    findings = found(code, *lines)
    assert [f.diagnostic.span.text for f in findings if f.diagnostic.span] == [place]
    assert " _" not in findings[0].diagnostic.message  # a name of the program's own
    line = findings[0].diagnostic.span.line if findings[0].diagnostic.span else 0
    errors = [
        f.diagnostic.code
        for f in report(*lines).findings
        if f.diagnostic.span and f.diagnostic.span.line == line and f.diagnostic.severity is Severity.ERROR
    ]
    assert set(errors) <= {code}


def test_errors_are_what_condor_submit_refuses() -> None:
    """And warnings what it takes; only of CRN553 and CRN584 some are errors that it takes: such a job never matches."""
    recorded = {
        tuple(line["lines"]): line["rc"] for line in map(json.loads, RECORDED.read_text(encoding="utf-8").splitlines())
    }
    for code, lines, _ in PLANTED:
        severities = {each.diagnostic.severity for each in found(code, "executable = /bin/true", *lines)}
        assert (recorded[lines] != 0) is (severities == {Severity.ERROR} and lines not in NEVER), lines


@pytest.mark.parametrize("lines", SOUND)
def test_what_is_sound_is_left_alone(lines: tuple[str, ...]) -> None:
    """No rule about values has a word to say, not even a note."""
    codes = [f.diagnostic.code for f in report("executable = /bin/true", *lines).findings]
    assert [code for code in codes if code.startswith(OURS)] == []


@pytest.mark.parametrize(
    ("code", "queue", "place"),
    [
        ("CRN590", "queue x in names.txt", "names.txt"),
        ("CRN590", "queue 2 x, y in rows.csv", "rows.csv"),
        ("CRN591", "queue x,y in (a 1 b 2)", "queue x,y in (a 1 b 2)"),
        ("CRN592", "queue x from (a b c)", "from (a b c)"),
    ],
)
def test_queue_statements(code: str, queue: str, place: str) -> None:
    """Which make other jobs than they seem to."""
    assert places(code, "arguments = $(x) $(y)", queue=queue) == [place]


@pytest.mark.parametrize(
    "queue",
    [
        "queue x in (names.txt)",
        "queue x in a b c",
        "queue x in (a, b)",
        "queue x from (\na\nb\n)",
        "queue x,y from (a b)",
        "queue 5",
        "queue x matching *.txt",
    ],
)
def test_sound_queue_statements(queue: str) -> None:
    """The lists that say what they mean."""
    codes = [f.diagnostic.code for f in report("arguments = $(x)$(y:)", queue=queue).findings]
    assert [code for code in codes if code.startswith("CRN59")] == []


@pytest.mark.parametrize(
    ("code", "lines", "cure"),
    [
        ("CRN540", ("rate = 1", "arguments = $(rat)"), "arguments = $(rate)\n"),
        ("CRN551", ("+ProjectName = physics",), '+ProjectName = "physics"\n'),
        ("CRN551", ("requirements = Owner == 'bob'",), 'requirements = Owner == "bob"\n'),
        ("CRN552", ("requirements = TARGET.Memmory >= 1",), "requirements = TARGET.Memory >= 1\n"),
        ("CRN572", ("transfer_input_files = a.csv b.csv",), "transfer_input_files = a.csv, b.csv\n"),
        ("CRN580", ("output = out.txt # what it says",), "# what it says\noutput = out.txt\n"),
        ("CRN584", ('output = "out.txt"',), "output = out.txt\n"),
        ("CRN584", ('transfer_input_files = "a", "b"',), "transfer_input_files = a, b\n"),
        ("CRN581", ("arguments = --title 'first try'",), "arguments = \"--title 'first try'\"\n"),
        ("CRN582", ("environment = A=1 B=2",), 'environment = "A=1 B=2"\n'),
        ("CRN582", ('environment = "A=1;B=2"',), 'environment = "A=1 B=2"\n'),
    ],
)
def test_cures(code: str, lines: tuple[str, ...], cure: str) -> None:
    """Each writes what is meant, and nothing else changes."""
    assert cure in cured(code, *lines)


def test_cures_of_queue_statements() -> None:
    """The other keyword."""
    assert cured("CRN590", "arguments = $(x)", queue="queue x in names.txt").endswith("queue x from names.txt\n")
    assert cured("CRN592", "arguments = $(x)", queue="queue x from (a b)").endswith("queue x in (a b)\n")


@pytest.mark.parametrize(
    ("lines", "severity"),
    [
        (("cron_minute = */45",), Severity.WARNING),
        (("cron_minute = */7",), Severity.NOTE),
        (("arguments = $(nothing_like_it)",), Severity.NOTE),
        (("rate = 1", "arguments = $(rat)"), Severity.WARNING),
        (("foo = 1", "foo = 2", "arguments = $(foo)"), Severity.NOTE),
        (("request_cpus = 1", "request_cpus = 2"), Severity.WARNING),
        (('requirements = Cpus > 1 && Arch == "amd64"',), Severity.ERROR),
        (('requirements = Cpus > 1 || Arch == "amd64"',), Severity.WARNING),
        (("request_disk = 1",), Severity.NOTE),
        (("transfer_input_files = my file.txt",), Severity.NOTE),
    ],
)
def test_severities(lines: tuple[str, ...], severity: Severity) -> None:
    """What may be meant is a note, what never works an error."""
    (only,) = [f for f in report("executable = /bin/true", *lines).findings if f.diagnostic.code.startswith(OURS)]
    assert only.diagnostic.severity is severity


def test_a_macro_defined_behind_the_queue_statement() -> None:
    """The jobs of the statement do not see it."""
    (only,) = found("CRN540", "arguments = $(rate)", "queue", queue="rate = 5")
    assert only.diagnostic.message.startswith("$(rate) is only defined after the queue statement")


def test_a_length_with_a_unit_is_told_in_seconds() -> None:
    """CRN301 says what to write, and CRN017 does not repeat it."""
    findings = report("executable = /bin/true", "cron_minute = 0", "cron_window = 10 min").findings
    assert [(f.diagnostic.code, f.diagnostic.help) for f in findings if f.diagnostic.severity is Severity.ERROR] == [
        ("CRN301", "write 600 (seconds)")
    ]


def test_the_jobs_of_a_list_are_looked_at() -> None:
    """A value that only one item of a list gives is found there."""
    assert places("CRN561", "request_memory = $(m)", queue="queue m from (\n2GB\n4000000\n)") == ["$(m)"]
    assert places("CRN561", queue="queue request_memory from (\n2GB\n4000000\n)") == ["4000000"]
