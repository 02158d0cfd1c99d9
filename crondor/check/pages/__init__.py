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


def address(code: str) -> str:
    """Return the address of a rule's page, which stays the same: for links, and for programs that compare them.

    It is below the address that the project gives for "Rules" (``project.urls`` of its metadata), and as long as
    there is none a name that no host has to answer for: ``urn:crondor:rule:CRN101``.
    """
    from importlib import metadata  # noqa: PLC0415 - 15 ms, and for programs only

    try:
        urls = metadata.metadata("crondor").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:  # run from a checkout
        urls = []
    places = dict(url.split(", ", 1) for url in urls if ", " in url)
    return f"{places['Rules'].rstrip('/')}/{code}" if "Rules" in places else f"urn:crondor:rule:{code}"
