"""Sphinx's settings for the site; `make site` gives it the folder of gathered pages."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Generic, Keyword, Name, Operator, String, Text
from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

project = "crondor"
version = release = metadata.version("crondor")
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = f"crondor {version}"
html_static_path = [str(HERE / "static")]
html_extra_path = [str(HERE / "extra")]  # 404.html, which servers show where there is no page
templates_path = [str(HERE / "theme")]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]  # no module, which a browser would not load from disk
html_favicon = str(HERE / "play" / "icon.svg")
html_show_copyright = False
html_search_scorer = str(HERE / "scorer.js")
html_copy_source = False
highlight_language = "none"  # what names no language is none; the default would be Python
smartquotes = False  # what is written is what is shown, also of options
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/playground.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
myst_heading_anchors = 6  # as GitHub makes them, so that a link is right in both places
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
suppress_warnings = ["misc.highlighting_failure"]  # pages show broken files, which no lexer takes


class Condor(RegexLexer):  # type: ignore[misc]
    """Submit files and HTCondor's configuration: comments, names, macros."""

    name = "HTCondor"
    aliases = ("condor", "submit", "config")
    tokens = {  # noqa: RUF012 - as Pygments wants it
        "root": [
            (r"^\s*#.*\n", Comment.Single),
            (r"^(\s*)(queue|if|elif|else|endif|include|use|[A-Z]+(?= ))\b", bygroups(Text, Keyword)),
            (r"^(\s*)([+\w.]+)(\s*)([:@]?=)", bygroups(Text, Name.Attribute, Text, Operator)),
            (r"\$+[A-Za-z]*\([^()\n]*\)", Name.Variable),
            (r"[^$\n]+|\$|\n", Text),
        ]
    }


class Session(RegexLexer):  # type: ignore[misc]
    """A terminal: what is typed after ``$``, and what is printed, which no rule of a shell's colours."""

    name = "Session"
    aliases = ("console",)
    tokens = {  # noqa: RUF012 - as Pygments wants it
        "root": [(r"^\$ ", Generic.Prompt, "typed"), (r".*\n", Generic.Output)],
        "typed": [
            (r"\\\n", Text),
            (r"\n", Text, "#pop"),
            (r"'[^'\n]*'|\"[^\"\n]*\"", String),
            (r"(?<= )--?[\w-]+", Name.Attribute),
            (r".", Text),
        ],
    }


_TREES: dict[tuple[object, ...], str] = {}  # the navigation as HTML


def share_navigation(app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Resolve the navigation once for all pages of a folder that are not in it: it took three quarters of the build."""
    if "orphan" not in app.env.metadata.get(pagename, {}):
        return
    resolve = context["toctree"]
    *folders, _ = pagename.split("/")

    def shared(**options: object) -> str:
        key = (folders[0], len(folders), *sorted(options.items()))
        if key not in _TREES:
            _TREES[key] = resolve(**options)
        return _TREES[key]

    context["toctree"] = shared


def tidy_docstring(_app: Sphinx, _what: str, _name: str, _thing: object, _options: object, lines: list[str]) -> None:
    """Leave out what Python itself says of a named tuple's fields; their names and types say more."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()


def name_markdown(_app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: object) -> None:
    """Name the Markdown beside a page, which website.texts writes, to programs that read it."""
    if doctree is not None and not page.startswith("interface/crondor"):
        href = f"{page.rpartition('/')[2]}.md"
        context["metatags"] = f'{context.get("metatags", "")}<link rel="alternate" type="text/markdown" href="{href}">'


def setup(app: Sphinx) -> None:
    """Make the languages of the examples known."""
    app.connect("autodoc-process-docstring", tidy_docstring)
    app.add_lexer("console", Session)
    app.connect("html-page-context", name_markdown)
    app.connect("html-page-context", share_navigation, priority=100)  # before the theme's, which has 500
    for alias in Condor.aliases:
        app.add_lexer(alias, Condor)
