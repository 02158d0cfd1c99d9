"""CRN54.. to CRN59.., and CRN118: what stands in values; faults that were planted, and what is no fault."""

import pytest

from crondor.diagnostics import Severity
from tests.check.asking import cured, found, places, report
from tests.rows import rows

PLANTED = rows("check/planted_values")
SOUND = rows("check/sound_values")
RECORDED = rows("check/planted")  # condor_submit -dry-run of 25.14, and of 23.9.6
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
    recorded = {tuple(line["lines"]): line["rc"] for line in RECORDED}
    for code, lines, _ in PLANTED:
        severities = {each.diagnostic.severity for each in found(code, "executable = /bin/true", *lines)}
        assert (recorded[tuple(lines)] != 0) is (severities == {Severity.ERROR} and lines not in NEVER), lines


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
