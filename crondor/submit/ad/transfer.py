"""File transfer, and the credentials of a job (HTCondor 25.14: SetTransferFiles)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from crondor.classad import lower
from crondor.macro.evaluated import as_boolean
from crondor.macro.functions import leading_int
from crondor.schedule import Universe
from crondor.submit.ad.draft import KIB, Draft, amount, shown, transfer_method, without_quotes, words
from crondor.submit.ad.program import travelling_image

YES: Final = "YES"
NO: Final = "NO"
IF_NEEDED: Final = "IF_NEEDED"
_NONE: Final = "NONE"
_EVICT: Final = "ON_EXIT_OR_EVICT"
ON_SUCCESS: Final = "ON_SUCCESS"
_SHOULD: Final = {
    **dict.fromkeys(("yes", "true", "always"), YES),
    **dict.fromkeys(("no", "false", "never"), NO),
    **dict.fromkeys(("if_needed", "auto"), IF_NEEDED),
}
_WHEN: Final = {
    **dict.fromkeys(("on_exit_or_evict", "always"), _EVICT),
    **dict.fromkeys(("on_exit", "onexit"), "ON_EXIT"),
    **dict.fromkeys(("none", "null"), _NONE),
    **dict.fromkeys(("on_success", "onsuccess"), ON_SUCCESS),
}
BEYOND: Final = {
    **dict.fromkeys(("yes", "true"), _EVICT),
    **dict.fromkeys(("no", "false", "never"), "ON_EXIT"),
    **dict.fromkeys(("if_needed", "auto"), ON_SUCCESS),
}
"""Words of ShouldTransferFiles that are accepted as a time of transfer.

getNumFromName reads past the end of its table, into theirs (HTCondor 25.14 and 23.9.6; recorded).
"""

_SHOULD_NAMES: Final = ("shouldtransferfiles", "should_transfer_files")
_WHEN_NAMES: Final = ("whentotransferoutput", "when_to_transfer_output")
_INPUT: Final = ("transfer_input_files", "transferinputfiles")
_OUTPUT: Final = ("transfer_output_files", "transferoutputfiles")
_REMAPS: Final = ("transfer_output_remaps", "transferoutputremaps")
_COMMON: Final = ("transfer_common_input", "commoninputfiles")
_PUBLIC: Final = ("public_input_files", "publicinputfiles")
_USAGE: Final = ("disk_usage", "diskusage")

TRANSFER_NAMES: Final = (*_SHOULD_NAMES, *_WHEN_NAMES, *_INPUT, *_OUTPUT, *_REMAPS, *_COMMON, *_PUBLIC, *_USAGE)


def should(text: str | None) -> str | None:
    """Return YES, NO or IF_NEEDED for a known word, None for any other."""
    return _SHOULD.get(lower(text or ""))


def when(text: str | None) -> str | None:
    """Return the time of output transfer for a word that is read as one, None for any other."""
    word = lower(text or "")
    return _WHEN.get(word) or BEYOND.get(word)


def set_transfer(draft: Draft) -> None:
    """Set ShouldTransferFiles, WhenToTransferOutput, the lists of files, and DiskUsage if the file gives it."""
    inputs = _listed(draft.command(*_INPUT))
    common = draft.command(*_COMMON)
    if common is not None:
        draft.set("CommonInputFiles", ",".join(_listed(common)))
    image = travelling_image(draft)
    has_input = bool(inputs) or image is not None
    inputs += image or []
    output = draft.command(*_OUTPUT)
    decided = _decide(draft, has_input=has_input, has_output=output is not None)
    if decided is None:
        return
    transfer, moment = decided
    draft.set("ShouldTransferFiles", transfer)
    if transfer != YES and not draft.has("FileSystemDomain"):
        draft.set("FileSystemDomain", draft.knobs.get("FILESYSTEM_DOMAIN") or draft.host.filesystem_domain)
    if transfer != NO:
        draft.set("WhenToTransferOutput", moment)
        _add_program(draft, inputs)
        if has_input:  # without a file of its own, a job does not get those of its tool or of Java either (25.14)
            draft.set("TransferInput", ",".join(inputs))
        public = draft.command(*_PUBLIC)
        if public is not None and words(public, ","):
            draft.set("PublicInputFiles", ",".join(words(public, ",")))
        if output is not None:
            draft.set("TransferOutput", ",".join(_listed(output)))
    remaps = without_quotes(draft.command(*_REMAPS) or "")
    if remaps:
        draft.set("TransferOutputRemaps", remaps)
    _set_usage(draft)


def _listed(text: str | None) -> list[str]:
    return words(without_quotes(text or ""), ",")


def _add_program(draft: Draft, inputs: list[str]) -> None:
    """Add the files of a job's tool, and what Java runs; the program of a Java job is java."""
    for attribute in ("ToolDaemonCmd", "ToolDaemonInput") if draft.has("ToolDaemonCmd") else ():
        file = draft.text(attribute)
        if file is not None and file not in inputs:
            inputs.append(file)
    if draft.cluster.universe != Universe.JAVA:
        return
    program = draft.text("Cmd")
    if program not in {None, "java", *inputs}:
        inputs.append(program or "")
    inputs += words(draft.text("JarFiles") or "", ",")
    draft.set("Cmd", "java")
    draft.set("TransferExecutable", value=False)


def _set_usage(draft: Draft) -> None:
    """Set DiskUsage in KiB if the file gives it; otherwise the submit machine determines it."""
    text = draft.command(*_USAGE)
    if text is None:
        return
    found = amount(text, KIB)
    if found is None or found.value < 1:
        message = f"'{shown(text)}' is not valid for disk_usage. It must be >= 1"
        draft.fault("submit-value", draft.written(*_USAGE), message, "write a number of KiB, or 2G")
    else:
        draft.set("DiskUsage", found.value)


class _Whether(NamedTuple):
    """Whether files are transferred: YES, NO or IF_NEEDED, from a text and its command, or by default."""

    transfer: str
    text: str
    name: str
    is_default: bool


def _decide(draft: Draft, *, has_input: bool, has_output: bool) -> tuple[str, str] | None:
    """Return whether and when files are transferred; None for a contradiction."""
    said = _whether(draft)
    if said is None:
        return None
    lists = ("transfer_input_files",) * has_input + ("transfer_output_files",) * has_output
    if said.transfer == NO and lists:
        message = (
            f"you specified files you want Condor to transfer via {' and '.join(lists)}, "
            "but you disabled should_transfer_files."
        )
        draft.fault("submit-transfer", lists[0], message, "write should_transfer_files = YES")
        return None
    word = draft.command(*_WHEN_NAMES) or draft.text("WhenToTransferOutput")
    moment = when(word or "ON_EXIT")
    if moment is None:
        message = f"invalid value ({shown(word or '')}) for WhenToTransferOutput."
        draft.fault("submit-transfer", draft.written(*_WHEN_NAMES), message, "write ON_EXIT or ON_EXIT_OR_EVICT")
        return None
    if said.transfer == NO and word is None and not said.is_default:
        moment = _NONE
    if not _agree(draft, said, word or "ON_EXIT", moment):
        return None
    names = ("transfer_executable", "transferexecutable")
    is_foreign = draft.cluster.universe in {Universe.GRID, Universe.JAVA, Universe.VM}
    if said.transfer == NO and not is_foreign and draft.flag(*names):
        message = "You explicitly requested that the executable be transfered, but should_transfer_files is off"
        draft.fault("submit-transfer", draft.written(*names), message, "write should_transfer_files = YES")
    return YES if moment == _EVICT else said.transfer, moment


def _whether(draft: Draft) -> _Whether | None:
    """Return whether files are transferred; None for an unknown word."""
    asked = draft.command(*_SHOULD_NAMES) or draft.text("ShouldTransferFiles")
    default = draft.knobs.get("SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES")
    text = asked or (default if should(default) else None) or IF_NEEDED
    transfer = should(text)
    name = draft.written(*_SHOULD_NAMES)
    if transfer is None:
        message = f"invalid value ({shown(text)}) for ShouldTransferFiles."
        draft.fault("submit-transfer", name, message, "write YES, NO or IF_NEEDED")
        return None
    return _Whether(transfer, text, name, is_default=asked is None)


def _agree(draft: Draft, said: _Whether, word: str, moment: str) -> bool:
    """Return whether the time and the choice of transferring files agree, and add a fault if not."""
    if (said.transfer == NO) != (moment == _NONE):
        message = (
            f"WhenToTransferOutput specified as {shown(word)} yet ShouldTransferFiles defined as "
            f"{shown(said.text)}. Please remove this contradiction from your submit file and try again."
        )
        blamed = said.name or draft.written(*_WHEN_NAMES)
    elif moment == _EVICT and said.transfer == IF_NEEDED and not said.is_default:
        message = (
            '"when_to_transfer_output = ON_EXIT_OR_EVICT" and "should_transfer_files = IF_NEEDED" are incompatible.'
        )
        blamed = said.name
    else:
        return True
    draft.fault("submit-transfer", blamed, message, "write should_transfer_files = YES")
    return False


def methods(draft: Draft) -> list[str]:
    """Return the transfer plugins a job needs but does not bring: the schemes of its addresses, sorted."""
    brought = {
        lower(method)
        for plugin in words(draft.text("TransferPlugins") or "", ";")
        if "=" in plugin
        for method in words(plugin.partition("=")[0])
    }
    addresses = words(draft.text("TransferInput") or "", ",")
    addresses.append(draft.text("OutputDestination") or "")
    for remap in words(draft.text("TransferOutputRemaps") or "", ";"):
        addresses.append(remap.partition("=")[2].strip())
    found: dict[str, str] = {}
    for address in addresses:
        method = transfer_method(address)
        if method is not None:
            found.setdefault(lower(method), method)
    return [found[key] for key in sorted(found) if key not in brought]


_LIFETIME: Final = ("delegate_job_gsi_credentials_lifetime", "delegatejobgsicredentialslifetime")
_USE_TOKEN: Final = ("use_scitokens", "use_scitoken")
_TOKEN: Final = ("scitokens_file", "scitokensfile")
_SERVICES: Final = ("use_oauth_services", "useoauthservices")
OF_SERVICE: Final = re.compile(r"_oauth_(?:permissions|resource|options)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[ \t\n\v\f\r]*[+-]?[0-9]+\Z")

CREDENTIAL_NAMES: Final = ("x509userproxy", "use_x509userproxy", *_LIFETIME, *_USE_TOKEN, *_TOKEN, *_SERVICES)


# Credentials are not opened: condor_submit checks whether a proxy exists and is still valid.
def set_credentials(draft: Draft) -> None:
    """Set the paths of a proxy and of a token, and how long a delegated proxy lives."""
    environ = draft.cluster.environ or {}
    proxy = draft.command("x509userproxy")
    wants_proxy = draft.flag("use_x509userproxy")
    if proxy is None and wants_proxy:
        proxy = environ.get("X509_USER_PROXY")
    if proxy is not None:
        draft.set("x509userproxy", draft.path(proxy))
    lifetime = draft.command(*_LIFETIME)
    if lifetime is not None and _NUMBER.match(lifetime) is None:
        message = f"invalid integer setting {_LIFETIME[0]} = {shown(lifetime)}"
        draft.fault("submit-value", draft.written(*_LIFETIME), message, "write a number of seconds")
    elif lifetime is not None:
        draft.set("DelegateJobGSICredentialsLifetime", leading_int(lifetime))
    _set_token(draft)


def _set_token(draft: Draft) -> None:
    """Set ScitokensFile if a token is named, or requested and named by the environment."""
    given, token = draft.command(*_USE_TOKEN), draft.command(*_TOKEN)
    environ = draft.cluster.environ
    of_environment = (environ or {}).get("BEARER_TOKEN_FILE")
    wanted: bool | None = token is not None
    if given is not None:
        is_auto = lower(given) == "auto"
        wanted = bool(token or of_environment) if is_auto else as_boolean(given, draft.context)
    name = draft.written(*_USE_TOKEN)
    if wanted is None:
        message = "use_scitokens error. Value should be true, false, or auto."
        draft.fault("submit-value", name, message, "write one of these")
    elif wanted and (token or of_environment):
        draft.set("ScitokensFile", draft.path(token or of_environment or ""))
    elif wanted and environ is not None:
        message = (
            "No Scitokens filename specified. Expected either scitokens_file command or the BEARER_TOKEN_FILE "
            "environment variable to be set."
        )
        draft.fault("submit-value", name, message, "write scitokens_file = its path")


def set_services(draft: Draft) -> None:
    """Set OAuthServicesNeeded: the services of use_oauth_services, with the handles from other commands."""
    text = draft.command(*_SERVICES)
    if text is None:
        return
    enabled = {lower(name): name for name in words(text)}
    needed: dict[str, str] = {}
    with_handles: set[str] = set()
    for service, rest in _described(draft):
        if lower(service) in enabled:
            if rest:
                with_handles.add(lower(service))
            whole = f"{service}*{rest[1:]}" if rest else service
            needed.setdefault(lower(whole), whole)
    for key, name in enabled.items():
        if key not in with_handles:
            needed.setdefault(key, name)
    draft.set("OAuthServicesNeeded", ",".join(needed[key] for key in sorted(needed)))


def _described(draft: Draft) -> Iterator[tuple[str, str]]:
    """Yield the service of each command that describes a token, and the handle, sorted by command."""
    for name in draft.named(""):
        found = OF_SERVICE.search(name)
        if found is not None and not name.startswith("my."):
            draft.command(name)
            written = draft.spelled(name)
            yield written[: found.start()], written[found.end() :]
