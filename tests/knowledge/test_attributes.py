"""The tables of attributes: found whatever the case, each with a sentence, and told apart by one slip of the hand."""

import pytest

from crondor.knowledge import AttributeTable, AttributeType, job_attributes, machine_attributes
from crondor.knowledge.words import one_slip, rows


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
