"""`make conda`: render the recipes beside this with rattler-build, and build them from what `make conda` gathered."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import rattler_build as rattler

HERE = Path(__file__).resolve().parent
RECIPES = ("python-pcre2", "crondor")  # the second needs the first
CHANNEL = HERE.parent.parent / "build/conda/channel"


def rendered(name: str, python: str) -> list[rattler.RenderedVariant]:
    """Return what a recipe comes to, without looking into any channel: one for each Python that starts so (3.13)."""
    variants = rattler.VariantConfig.from_file(HERE / "variants.yaml")
    found = rattler.Stage0Recipe.from_file(HERE / name / "recipe.yaml").render(variants)
    return [each for each in found if str(each.variant.get("python", python)).startswith(python)]


def main() -> None:
    """Say what each package needs; unless that is all, build it and run its tests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--render-only", action="store_true", help="build nothing, and ask no channel")
    parser.add_argument("--channel", action="append", help="where the rest comes from (conda-forge)")
    parser.add_argument("--python", default="3.", help="build python-pcre2 for this Python alone, such as 3.13 (all)")
    given = parser.parse_args()
    for name in RECIPES:
        for each in rendered(name, given.python):
            made = each.recipe.to_dict()
            print(f"{made['package']['name']} {made['package']['version']} {made['build']['string']}")
            print(*(f"  {needed}" for needed in made["requirements"]["run"]), sep="\n")
            if not given.render_only:
                _build(each, given.channel or ["conda-forge"])


def _build(variant: rattler.RenderedVariant, channels: list[str]) -> None:
    settings = rattler.ToolConfiguration(test_strategy="native")
    where = [CHANNEL.as_uri(), *channels] if CHANNEL.is_dir() else channels
    try:
        built = variant.run_build(settings, output_dir=CHANNEL, channels=where)
    except rattler.RattlerBuildError as error:
        sys.exit(f"packaging/conda/build.py: {error}")
    print(*built.packages, sep="\n")


if __name__ == "__main__":
    main()
