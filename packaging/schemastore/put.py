"""Put the schema of crondor.toml and its samples into a clone of SchemaStore, for a pull request.

    python packaging/schemastore/put.py ../schemastore
    cd ../schemastore && npm clean-install && npm run prettier:fix && node cli.js check --schema-name=crondor.json

Files of the same names are written anew, and so is the entry of the catalog.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from crondor_cli.config.schema import settings_schema

SAMPLES = Path(__file__).resolve().parent


def put(store: Path) -> None:
    """Write into a clone of SchemaStore."""
    schema = settings_schema()
    text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    (store / "src/schemas/json/crondor.json").write_text(text, encoding="utf-8")
    for name, folder in (("positive", "test"), ("negative", "negative_test")):
        target = store / "src" / folder / "crondor"
        target.mkdir(exist_ok=True)
        for sample in (SAMPLES / name).glob("*.toml"):
            head = "#:schema ../../schemas/json/crondor.json\n"
            (target / sample.name).write_text(head + sample.read_text(encoding="utf-8"), encoding="utf-8")
    path = store / "src/api/json/catalog.json"
    catalog = json.loads(path.read_text(encoding="utf-8"))
    entry = {
        "name": "crondor",
        "description": "Settings of crondor, which checks the scheduling of HTCondor jobs",
        "fileMatch": ["crondor.toml"],
        "url": schema["$id"],
    }
    others = [each for each in catalog["schemas"] if each["name"] != entry["name"]]
    after = [index for index, each in enumerate(others) if each["name"].casefold() > entry["name"]]
    others.insert(after[0] if after else len(others), entry)
    path.write_text(json.dumps(catalog | {"schemas": others}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1], "src/api/json/catalog.json").is_file():
        sys.exit("packaging/schemastore/put.py: name the folder of a clone of SchemaStore")
    put(Path(sys.argv[1]))
