"""CRN513 to CRN515: words that a command does not know, and takes without a complaint."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from crondor.check.given import GivenValue
from crondor.check.rule import MANY, Fix, RuleHit, TextEdit, rule
from crondor.check.subject import CheckedFile
from crondor.diagnostics import Severity
from crondor.knowledge import submit_commands
from crondor.knowledge.slips import one_slip

_TRANSFER: Final = frozenset(("transfer_executable", "transferexecutable"))
_YES: Final = frozenset(("yes", "y", "on"))
_NO: Final = frozenset(("no", "n", "off", "never", "none", "nope"))
_PULL_POLICY: Final = frozenset(("docker_pull_policy", "dockerpullpolicy"))
_NETWORK: Final = frozenset(("docker_network_type", "dockernetworktype"))
_NETWORKS: Final = ("host", "none", "nat")  # of any docker; an administrator may offer others
_NOTIFY: Final = frozenset(("notify_user", "notifyuser"))
_DESTINATION: Final = frozenset(("output_destination", "outputdestination"))
_IMAGE: Final = frozenset(("container_image", "containerimage"))
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.", re.DOTALL)
_SCHEME: Final = re.compile(r"(?P<scheme>docker|oras|library|shub|https?):(?:/(?!/)|(?!/))(?=.)", re.IGNORECASE)


@rule("CRN513", "no-boolean", Severity.WARNING, "a word that is neither true nor false to the command", most=MANY)
def no_boolean(file: CheckedFile) -> Iterator[RuleHit]:
    """Most commands refuse such a word; of these one looks at the first letter, and one takes it for a variable."""
    for value in file.given.all:
        text = value.text.lower()
        if value.key in _TRANSFER and not text.startswith(("f", "t", "1", "$")):
            meant = "false" if text in _NO or text[:1] in {"n", "0"} else "true" if text in _YES else None
            then = "what does not begin with f is true here: the executable is transferred"
        elif value.key == "getenv":
            meant = "true" if text in _YES else "false" if text in _NO - {"none"} else _slip(text, ("true", "false"))
            then = "it is taken for the name of a variable, and nothing else is copied"
            if meant is None:
                continue
        else:
            continue
        if meant != "true" or value.key == "getenv":
            yield _instead(file, value, f"{value.text} is no truth value: {then}", meant, "true or false")


@rule("CRN514", "odd-word", Severity.WARNING, "a word that means nothing to the command, or something else", most=MANY)
def odd_word(file: CheckedFile) -> Iterator[RuleHit]:
    """The word goes into the job as a string, and only the machine, or nobody, finds out that it is another."""
    events = submit_commands().get("notification")
    for value in file.given.all:
        text = value.text.lower()
        if value.key in _PULL_POLICY and text not in {"", "always"} and "$$" not in text:
            message = f"HTCondor knows no docker_pull_policy {value.text}, and passes over it"
            yield _instead(file, value, message, _slip(text, ("always",)), "always, or remove the line")
        elif value.key in _NETWORK and text not in _NETWORKS:
            meant = _slip(text, _NETWORKS)
            if meant is not None:
                message = f"the job asks for a network called {value.text}, and waits for a machine that has it"
                yield _instead(file, value, message, meant, meant)
        elif value.key in _NOTIFY and events is not None and text in events.choices:
            message = f"notify_user is the address of e-mail, and {value.text} a user of that name"
            yield RuleHit(message, value.span, f"write notification = {text}")


@rule(
    "CRN515", "no-url", Severity.WARNING, "an address that is written as none: HTCondor takes it for a file", most=MANY
)
def no_url(file: CheckedFile) -> Iterator[RuleHit]:
    """An address has :// behind its scheme; without it the text is a path."""
    for value in file.given.all:
        if value.key in _DESTINATION and value.text and "$$" not in value.text and not _ADDRESS.match(value.text):
            message = f"output_destination is an address, and {value.text[:60]} is none: no plugin can send files there"
            yield RuleHit(message, value.span, "write output_directory for a folder of the access point (24.12)")
        found = _SCHEME.match(value.text) if value.key in _IMAGE else None
        if found is not None:
            new = f"{found['scheme']}://{value.text[found.end() :]}"
            message = f"{value.text[:60]} is a file of that name to HTCondor, which it transfers: no address"
            yield _instead(file, value, message, new, new)


def _slip(text: str, words: tuple[str, ...]) -> str | None:
    """Return the word of some that a text is a slip of."""
    return next((word for word in words if text != word and one_slip(text, word)), None)


def _instead(file: CheckedFile, value: GivenValue, message: str, new: str | None, words: str) -> RuleHit:
    """Return a finding about a whole value, and the fix that writes another one where it is known."""
    is_here = value.is_literal and value.span.source is file.source
    fix = Fix(f"write {new}", (TextEdit(value.span, new),), safe=False) if new is not None and is_here else None
    return RuleHit(message, value.span, f"write {new or words}", fix)
