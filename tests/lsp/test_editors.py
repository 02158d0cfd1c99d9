"""What editors/ has for each editor; test_neovim and test_emacs run the real ones."""

import json
import sys

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from crondor.editing import TextKind
from tests.cli.running import NOW, ROOT, ZONE

EDITORS = ROOT / "editors"
PROGRAM = [sys.executable, "-c", "from crondor_cli.main import main; main()", "lsp", "--now", NOW, "--tz", ZONE]
TEXT = "executable = /bin/x\ncron_minutes = 0\ncron_hour = 6\nqueue\n"


def test_helix_knows_all_languages() -> None:
    """By the names that the server knows."""
    read = tomllib.loads((EDITORS / "helix/languages.toml").read_text(encoding="utf-8"))
    assert {each["language-id"] for each in read["language"]} == {kind.value for kind in TextKind}
    assert all(each["language-servers"] == ["crondor"] for each in read["language"])


def test_the_extension_knows_all_languages() -> None:
    """Each with a grammar that is there, and each command that it shows is one that it has."""
    folder = EDITORS / "vscode"
    package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    offers = package["contributes"]
    languages = {kind.value for kind in TextKind}
    assert {each["id"] for each in offers["languages"]} == languages
    assert {each["language"] for each in offers["grammars"]} == languages
    for each in offers["grammars"]:
        grammar = json.loads((folder / each["path"]).read_text(encoding="utf-8"))
        assert grammar["scopeName"] == each["scopeName"]
    source = (folder / "src/extension.ts").read_text(encoding="utf-8")
    assert all(f'registerCommand("{each["command"]}"' in source for each in offers["commands"])
    assert all(f'"{language}"' in source for language in languages)
