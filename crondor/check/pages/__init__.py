"""The page of each rule: Markdown with an example that triggers it, why, the source of that, and what to write."""

from __future__ import annotations

from importlib import resources


def page(code: str) -> str:
    """Return the page of a rule by its code (``CRN101``). Raises KeyError for a code that no rule has."""
    file = resources.files(__name__) / f"{code}.md"
    if not file.is_file():
        raise KeyError(code)
    return file.read_text(encoding="utf-8")
