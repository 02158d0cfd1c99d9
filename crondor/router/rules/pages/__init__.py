"""The page of each rule about routes: an example that triggers it, why, the source of that, and what to write."""

from __future__ import annotations


def page(code: str) -> str:
    """Return the page of a rule by its code (``CRN601``). Raises KeyError for a code that no rule has."""
    from importlib import resources  # noqa: PLC0415 - slow to import, and rarely asked for

    file = resources.files(__name__) / f"{code}.md"
    if not file.is_file():
        from crondor.check import page as other  # noqa: PLC0415 - the rules about comments are the same

        return other(code)
    return file.read_text(encoding="utf-8")
