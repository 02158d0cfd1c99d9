"""`make pythons`: the suite on every Python that crondor is for; `nox -s debian`: with what Debian trixie has.

Each Python is one that PATH has, or one that uv downloads; without both the session fails.

    nox -s tests-3.13 -- tests/engine
"""

from __future__ import annotations

import nox

PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
DEBIAN = ("click==8.1.8", "python-dateutil==2.9.0", "tzlocal==5.3.1", "wcwidth==0.2.13")  # what trixie has

nox.options.default_venv_backend = "uv"
nox.options.sessions = ["tests"]
nox.options.error_on_missing_interpreters = True
nox.options.reuse_existing_virtualenvs = True


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the suite, or the tests that are named, with the newest of all dependencies."""
    session.install("--editable", ".[test]")
    _run(session)


@nox.session(python="3.13")
def debian(session: nox.Session) -> None:
    """Run the suite with the dependencies of Debian trixie, on its Python; click 8.1 words usage errors otherwise."""
    session.install("--editable", ".[test]", *DEBIAN)
    _run(session)


def _run(session: nox.Session) -> None:
    session.run("python", "-m", "pytest", *(session.posargs or ["--numprocesses=auto", "--maxprocesses=8"]))
