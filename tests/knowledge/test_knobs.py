"""The table of knobs: each with a type, a default of that type, and a sentence; what the engines read stands in it."""

import re

import pytest

from crondor.classad import Expression
from crondor.config import read_config
from crondor.diagnostics import Source
from crondor.knowledge import ConfigKnob, KnobKind, config_knobs
from crondor.router.table.loading import KNOBS
from crondor.submit.ad.draft import SubmitKnobs
from tests.cli.running import ROOT


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
