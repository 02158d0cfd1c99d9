"""The page of each rule: Markdown with an example that triggers it, why, the source of that, and what to write."""

from __future__ import annotations

from collections.abc import Callable


def pages_of(*packages: str) -> Callable[[str], str]:
    """Return what gives the page of a rule by its code (``CRN101``), from the first of some packages that has it.

    It raises KeyError for a code that no rule has.
    """

    def page(code: str) -> str:
        from importlib import resources  # noqa: PLC0415 - 9 ms, and rarely asked for

        for package in packages:
            file = resources.files(package) / f"{code}.md"
            if file.is_file():
                return file.read_text(encoding="utf-8")
        raise KeyError(code)

    return page


page = pages_of(__name__)
