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

_TRANSFER: Final = ("transfer_executable", "transferexecutable")
_YES: Final = frozenset(("yes", "y", "on"))
_NO: Final = frozenset(("no", "n", "off", "never", "none", "nope"))
_PULL_POLICY: Final = ("docker_pull_policy", "dockerpullpolicy")
_NETWORK: Final = ("docker_network_type", "dockernetworktype")
_NETWORKS: Final = ("host", "none", "nat")  # of any docker; an administrator may offer others
_NOTIFY: Final = ("notify_user", "notifyuser")
_MOMENT: Final = ("when_to_transfer_output", "whentotransferoutput")
_DESTINATION: Final = ("output_destination", "outputdestination")
_IMAGE: Final = ("container_image", "containerimage")
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.", re.DOTALL)
_SCHEME: Final = re.compile(r"(?P<scheme>docker|oras|library|shub|https?):(?:/(?!/)|(?!/))(?=.)", re.IGNORECASE)


@rule("CRN513", "no-boolean", Severity.WARNING, "a word that is neither true nor false to the command", most=MANY)
def no_boolean(file: CheckedFile) -> Iterator[RuleHit]:
    """Most commands refuse such a word; of these one looks at the first letter, and one takes it for a variable."""
    for value in file.given.of(_TRANSFER):
        text = value.text.lower()
        if text.startswith(("f", "t", "1", "$")) or text in _YES:
            continue
        meant = "false" if text in _NO or text[:1] in {"n", "0"} else None
        message = f"{value.text} is no truth value: what does not begin with f is true, and the executable transferred"
        yield _instead(file, value, message, meant, "true or false")
    for value in file.given.of(("getenv",)):
        text = value.text.lower()
        meant = "true" if text in _YES else "false" if text in _NO - {"none"} else _slip(text, ("true", "false"))
        if meant is not None:
            message = f"{value.text} is no truth value but the name of a variable: nothing else is copied"
            yield _instead(file, value, message, meant, meant)


@rule("CRN514", "odd-word", Severity.WARNING, "a word that means nothing to the command, or something else", most=MANY)
def odd_word(file: CheckedFile) -> Iterator[RuleHit]:
    """The word goes into the job as a string, and only the machine, or nobody, finds out that it is another."""
    for value in file.given.of(_PULL_POLICY):
        text = value.text.lower()
        if text not in {"", "always"} and "$$" not in text:
            message = f"HTCondor knows no docker_pull_policy {value.text}, and passes over it"
            yield _instead(file, value, message, _slip(text, ("always",)), "always, or remove the line")
    for value in file.given.of(_NETWORK):
        meant = None if value.text in _NETWORKS else _slip(value.text.lower(), _NETWORKS)
        if meant is not None:
            message = f"the job asks for a network called {value.text}, and waits for a machine that has it"
            yield _instead(file, value, message, meant, meant)
    for value in file.given.of(_NOTIFY):
        events = submit_commands().get("notification")
        if events is not None and value.text.lower() in events.choices:
            message = f"notify_user is the address of e-mail, and {value.text} a user of that name"
            yield RuleHit(message, value.span, f"write notification = {value.text.lower()}")
    for value in file.given.of(_MOMENT):
        taken = _moment_of(value.text)
        if taken is not None:
            message = f"{value.text} is no moment; HTCondor, by a slip of its own, takes it for {taken}"
            yield RuleHit(message, value.span, "write ON_EXIT, or ON_EXIT_OR_EVICT for files after an eviction too")


@rule(
    "CRN515", "no-url", Severity.WARNING, "an address that is written as none: HTCondor takes it for a file", most=MANY
)
def no_url(file: CheckedFile) -> Iterator[RuleHit]:
    """An address has :// behind its scheme; without it the text is a path."""
    for value in file.given.of(_DESTINATION):
        if value.text and "$$" not in value.text and not _ADDRESS.match(value.text):
            message = f"output_destination is an address, and {value.text[:60]} is none: no plugin can send files there"
            yield RuleHit(message, value.span, "write output_directory for a folder of the access point (24.12)")
    for value in file.given.of(_IMAGE):
        found = _SCHEME.match(value.text)
        if found is not None:
            new = f"{found['scheme']}://{value.text[found.end() :]}"
            message = f"{value.text[:60]} is a file of that name to HTCondor, which it transfers: no address"
            yield _instead(file, value, message, new, new)


def _moment_of(word: str) -> str | None:
    """Return what a word is taken for that is none of the command's."""
    moments = submit_commands().get("when_to_transfer_output")
    if moments is not None and word.upper() in moments.choices:
        return None
    from crondor.submit.ad.transfer import BEYOND  # noqa: PLC0415 - 40 ms, and few files have another word

    return BEYOND.get(word.lower())


def _slip(text: str, words: tuple[str, ...]) -> str | None:
    """Return the word of some that a text is a slip of."""
    return next((word for word in words if text != word and one_slip(text, word)), None)


def _instead(file: CheckedFile, value: GivenValue, message: str, new: str | None, words: str) -> RuleHit:
    """Return a finding about a whole value, and the fix that writes another one where it is known."""
    is_here = value.is_literal and value.span.source is file.source
    fix = Fix(f"write {new}", (TextEdit(value.span, new),), safe=False) if new is not None and is_here else None
    return RuleHit(message, value.span, f"write {new or words}", fix)
