"""The tables of attributes: found whatever the case, each with a sentence, and told apart by one slip of the hand."""

from pathlib import Path

import pytest

from crondor.knowledge import AttributeTable, AttributeType, job_attributes, machine_attributes
from crondor.knowledge.kinds import FileKind, recognised, submit_files_of_dag
from crondor.knowledge.words import one_slip, rows
from tests.cli.running import ROOT


@pytest.mark.parametrize(
    ("table", "name", "shown", "kind"),
    [
        (job_attributes, "requestcpus", "RequestCpus", AttributeType.INTEGER),
        (job_attributes, "DEFERRALTIME", "DeferralTime", AttributeType.TIME),
        (job_attributes, "RequestWidgets", "Request<X>", AttributeType.EXPRESSION),
        (job_attributes, "MachineAttrCpus0", "MachineAttr<X><N>", AttributeType.EXPRESSION),
        (machine_attributes, "opsysandver", "OpSysAndVer", AttributeType.STRING),
        (machine_attributes, "AssignedGPUs", "Assigned<X>", AttributeType.STRING),
    ],
)
def test_an_attribute_is_found_by_its_name(table: object, name: str, shown: str, kind: AttributeType) -> None:
    """Case does not matter, and a name may stand for many."""
    assert callable(table)
    found = table().get(name)
    assert (found.name, found.type) == (shown, kind)


def test_an_unknown_attribute_is_not_found() -> None:
    """A name that HTCondor has no attribute for is none."""
    assert "NoSuchThing" not in job_attributes()


@pytest.mark.parametrize("table", ["job_attributes.txt", "machine_attributes.txt"])
def test_each_row_is_a_name_a_type_and_one_sentence(table: str) -> None:
    """Rows stand once, in any order, and a sentence ends with one stop."""
    found = list(rows(table))
    assert {len(row) for row in found} == {3}
    names = [row[0].lower() for row in found]
    assert sorted(set(names)) == sorted(names)
    for _, kind, sentence in found:
        AttributeType(kind)
        assert sentence[0].isupper()
        assert sentence.endswith(".")
        assert ". " not in sentence.removesuffix(".")


@pytest.mark.parametrize("table", [job_attributes(), machine_attributes()])
def test_the_tables_know_the_attributes_that_everybody_uses(table: AttributeTable) -> None:
    """Each is a table of hundreds."""
    assert len(table) > 300
    assert all(attribute.name in table for attribute in table)


@pytest.mark.parametrize(
    ("word", "other", "is_one"),
    [
        ("memory", "memory", False),
        ("memry", "memory", True),
        ("memorry", "memory", True),
        ("memoty", "memory", True),
        ("mmeory", "memory", True),
        ("meomry", "memory", True),
        ("emmoyr", "memory", False),
        ("memor", "memory", True),
        ("memo", "memory", False),
        ("", "m", True),
        ("xmemory", "memory", True),
        ("cat", "dog", False),
    ],
)
def test_one_slip(word: str, other: str, is_one: bool) -> None:
    """A letter wrong, missing or too many, or two that changed places; the same either way."""
    assert one_slip(word, other) is is_one
    assert one_slip(other, word) is is_one


def test_near_names() -> None:
    """The attribute that was meant is found again."""
    assert [attribute.name for attribute in job_attributes().near("RequestMemry")] == ["RequestMemory"]
    assert [attribute.name for attribute in machine_attributes().near("opsis")] == ["OpSys"]


DAG = "# nightly\nJOB A a.sub\nJOB B sub/b.sub DIR x\nFINAL C a.sub\nPARENT A CHILD B\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("executable = x\nqueue\n", FileKind.SUBMIT),
        ("a = 1\n  Queue 3 x in (a b)\n", FileKind.SUBMIT),
        ("executable = x\nuse feature : GPUs\nqueue\n", FileKind.SUBMIT),
        ('ClusterId = 1\nProcId = 0\nCronMinute = "0"\n', FileKind.ADS),
        ('\ufeff\n[{"ClusterId": 1}]', FileKind.ADS),
        ('{"ClusterId": 1}', FileKind.ADS),
        ("[ ClusterId = 1; ]", FileKind.ADS),
        ('<?xml version="1.0"?>\n<classads><c></c></classads>', FileKind.ADS),
        ("JOB_ROUTER_ROUTE_NAMES = A\n", FileKind.CONFIG),
        ("# x\nuse ROLE : Submit\n", FileKind.CONFIG),
        ("JOB_ROUTER_ENTRIES @=end\n queue = 1\nqueue\n@end\n", FileKind.CONFIG),
        ('NAME x\nSET Queue "a"\n', FileKind.RULES),
        ("SET A 1\n", FileKind.RULES),
        ("MAILTO=a\n0 6 * * 1 /bin/x\n@daily /bin/y\n", FileKind.CRONTAB),
        ("30 2 1 jan mon-fri root /bin/x\n", FileKind.CRONTAB),
        ("BEGIN:VCALENDAR\nEND:VCALENDAR\n", FileKind.CALENDAR),
        (DAG, FileKind.DAG),
        ("SUBDAG EXTERNAL A a.dag\n", FileKind.DAG),
        ("107 1 CreationTimestamp 1700000000\n", FileKind.QUEUE_LOG),
        ("105 \n101 1.0 Job Machine\n", FileKind.QUEUE_LOG),
        ("000 (001.000.000) 2026-01-01 06:00:00 Job submitted\n...\n", FileKind.USER_LOG),
        ('{"EventTypeNumber": 0}', FileKind.USER_LOG),
        ('config = ["a.conf"]\n[[test]]\nname = "x"\n', FileKind.ROUTE_TESTS),
    ],
)
def test_a_kind_is_told_by_the_text(text: str, kind: FileKind) -> None:
    """By its beginning, or by lines that no other kind has."""
    assert recognised(text) is kind


@pytest.mark.parametrize(
    "text", ["", "\n", "a = 1\n", "wrong\n", "cron_minute = 0\n", "JOB = x\n", "Memory = 4\n", "0 6\n"]
)
def test_what_may_be_anything_is_not_told(text: str) -> None:
    """A description without a queue statement, a fragment, an ad of a few numbers."""
    assert recognised(text) is None


def test_the_examples_are_what_their_names_say() -> None:
    """As the files of this repository."""
    kinds = {".sub": FileKind.SUBMIT, ".conf": FileKind.CONFIG, ".ads": FileKind.ADS, ".ics": FileKind.CALENDAR}
    for path in sorted(Path(ROOT, "examples").rglob("*")):
        told = recognised(path.read_text(encoding="utf-8")) if path.suffix in kinds else None
        assert told in {kinds.get(path.suffix), None}, path


def test_a_dag_names_its_submit_files() -> None:
    """Each once, in their order."""
    assert submit_files_of_dag(DAG) == ("a.sub", "sub/b.sub")
