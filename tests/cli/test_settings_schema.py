"""`crondor config schema crondor.toml`: it allows what the reader of settings takes, and refuses what that refuses."""

import sys
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from crondor.lint.site import InvalidRules, read_rules
from crondor_cli.kit import settings
from crondor_cli.kit.settings import SETTINGS, BadSettings, SettingsFile
from tests.cli.running import ROOT, crondor

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SAMPLES = sorted((ROOT / "packaging/schemastore").glob("*/*.toml"))
VALUES = ("true", "0", "1", "60", "-1", "1000001", "1.5", '""', '"60"', '"skip"', '"CRN1"', '["CRN1"]', "[1]", "{}")
VALIDATOR = Draft7Validator(crondor("config", "schema", "crondor.toml").data)


def taken(text: str) -> bool:
    """Return whether the settings of a file are read."""
    file = SettingsFile("crondor.toml", text)
    check = tomllib.loads(text).get("check", {})
    try:
        settings._read(file)
        read_rules(file.source, check.get("rule", []) if isinstance(check, dict) else [])
    except (BadSettings, InvalidRules):
        return False
    return True


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_samples_for_schemastore_are_judged_alike(path: Path) -> None:
    """Positive ones are read, and negative ones refused, by the schema and by crondor."""
    text = path.read_text(encoding="utf-8")
    wanted = path.parent.name == "positive"
    assert VALIDATOR.is_valid(tomllib.loads(text)) is wanted
    assert taken(text) is wanted


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.name)
def test_every_value_is_judged_alike(setting: settings.Setting) -> None:
    """Only texts may be refused that the schema allows: it does not look into zones, sizes, releases and knobs."""
    head = f"[{setting.table}]\n" if setting.table else ""
    for value in VALUES:
        text = f"{head}{setting.key} = {value}\n"
        is_valid = VALIDATOR.is_valid(tomllib.loads(text))
        assert is_valid == taken(text) or (is_valid and ('"' in value or setting.key == "target")), text
