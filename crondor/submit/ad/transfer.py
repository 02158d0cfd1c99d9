"""File transfer: whether and when, which files, and the faults HTCondor 25.14 finds in that (SetTransferFiles)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from crondor.classad import lower
from crondor.schedule import Universe
from crondor.submit.ad import values
from crondor.submit.ad.draft import Draft, shown

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
_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://.", re.DOTALL)
_IMAGES_FETCHED_BY_NAME: Final = ("docker://", "oras://")
_SHOULD_NAMES: Final = ("shouldtransferfiles", "should_transfer_files")
_WHEN_NAMES: Final = ("whentotransferoutput", "when_to_transfer_output")
_INPUT: Final = ("transfer_input_files", "transferinputfiles")
_OUTPUT: Final = ("transfer_output_files", "transferoutputfiles")
_REMAPS: Final = ("transfer_output_remaps", "transferoutputremaps")

NAMES: Final = (*_SHOULD_NAMES, *_WHEN_NAMES, *_INPUT, *_OUTPUT, *_REMAPS)


def should(text: str | None) -> str | None:
    """Return YES, NO or IF_NEEDED for a word that means it, None for any other."""
    return _SHOULD.get(lower(text or ""))


def when(text: str | None) -> str | None:
    """Return the moment of the transfer of output for a word that means it, None for any other."""
    return _WHEN.get(lower(text or ""))


def set_transfer(draft: Draft) -> None:
    """Set ShouldTransferFiles, WhenToTransferOutput and the lists of files."""
    given = draft.command(*_INPUT)
    inputs = values.words(values.unquoted(given or ""), ",")
    inputs += _container_input(draft)
    output = draft.command(*_OUTPUT)
    decided = _decide(draft, has_input=bool(inputs), has_output=output is not None)
    if decided is None:
        return
    transfer, moment = decided
    draft.set("ShouldTransferFiles", transfer)
    if transfer != NO:
        draft.set("WhenToTransferOutput", moment)
    if transfer != YES and not draft.has("FileSystemDomain"):
        draft.set("FileSystemDomain", draft.host.filesystem_domain)
    if transfer != NO:
        if draft.cluster.universe == Universe.JAVA:
            inputs += _java_input(draft)
        if inputs:
            draft.set("TransferInput", ",".join(inputs))
        if output is not None:
            draft.set("TransferOutput", ",".join(values.words(values.unquoted(output), ",")))
    remaps = draft.command(*_REMAPS)
    if remaps is not None:
        draft.set("TransferOutputRemaps", values.unquoted(remaps))


def _decide(draft: Draft, *, has_input: bool, has_output: bool) -> tuple[str, str] | None:
    """Return whether and when files are transferred; None where that is contradictory."""
    text = draft.command(*_SHOULD_NAMES) or draft.text("ShouldTransferFiles")
    default = draft.knobs.get("SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES")
    is_default = text is None
    text = text or (default if should(default) else None) or IF_NEEDED
    transfer = should(text)
    name = draft.written(*_SHOULD_NAMES) or ""
    if transfer is None:
        message = f"invalid value ({shown(text)}) for ShouldTransferFiles."
        draft.fault("submit-transfer", name, message, "write YES, NO or IF_NEEDED")
        return None
    if transfer == NO and (has_input or has_output):
        lists = ("transfer_input_files",) * has_input + ("transfer_output_files",) * has_output
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
        draft.fault("submit-transfer", draft.written(*_WHEN_NAMES) or "", message, "write ON_EXIT or ON_EXIT_OR_EVICT")
        return None
    if transfer == NO and word is None and not is_default:
        moment = _NONE
    if (transfer == NO) != (moment == _NONE):
        message = (
            f"WhenToTransferOutput specified as {shown(word or 'ON_EXIT')} yet ShouldTransferFiles defined as "
            f"{shown(text)}. Please remove this contradiction from your submit file and try again."
        )
        blamed = name or draft.written(*_WHEN_NAMES) or ""
        draft.fault("submit-transfer", blamed, message, "write should_transfer_files = YES")
        return None
    if moment == _EVICT and transfer == IF_NEEDED:
        if not is_default:
            message = (
                '"when_to_transfer_output = ON_EXIT_OR_EVICT" and "should_transfer_files = IF_NEEDED" are incompatible.'
            )
            draft.fault("submit-transfer", name, message, "write should_transfer_files = YES")
            return None
        transfer = YES
    if transfer == NO:
        _refuse_executable(draft)
    return transfer, moment


def _refuse_executable(draft: Draft) -> None:
    """Refuse an executable that is to be transferred where nothing is."""
    names = ("transfer_executable", "transferexecutable")
    if draft.cluster.universe not in {Universe.GRID, Universe.JAVA, Universe.VM} and draft.flag(*names):
        message = "You explicitly requested that the executable be transfered, but should_transfer_files is off"
        draft.fault("submit-transfer", draft.written(*names) or "", message, "write should_transfer_files = YES")


def _java_input(draft: Draft) -> Iterator[str]:
    """Yield what a Java job brings along, and make it run java."""
    program = draft.text("Cmd")
    if program is not None and program != "java":
        yield program
    yield from values.words(draft.text("JarFiles") or "", ",")
    draft.set("Cmd", "java")
    draft.set("TransferExecutable", value=False)


def _container_input(draft: Draft) -> list[str]:
    """Return the image of a container job, where it travels as a file; it is then known by its last name."""
    image = draft.command("container_image", "containerimage")
    wanted = values.truth(draft.value("TransferContainer"))
    if not draft.cluster.is_container or image is None or wanted is False:
        return []
    shared = values.words(draft.knobs.get("CONTAINER_SHARED_FS") or "", ",")
    if image.startswith((*shared, *_IMAGES_FETCHED_BY_NAME)):
        return []
    draft.set("ContainerImage", image.removesuffix("/").rpartition("/")[2])
    common = draft.knobs.flag("CONTAINER_IMAGES_COMMON_BY_DEFAULT", default=False)
    is_common = values.truth(draft.value("ContainerIsCommon"))
    return [] if (common if is_common is None else is_common) else [image]


def methods(draft: Draft) -> list[str]:
    """Return the transfer plugins a job needs and does not bring: the schemes of its addresses, sorted."""
    brought = {
        lower(method)
        for plugin in values.words(draft.text("TransferPlugins") or "", ";")
        if "=" in plugin
        for method in values.words(plugin.partition("=")[0])
    }
    addresses = values.words(draft.text("TransferInput") or "", ",")
    addresses.append(draft.text("OutputDestination") or "")
    for remap in values.words(draft.text("TransferOutputRemaps") or "", ";"):
        addresses.append(remap.partition("=")[2].strip())
    found: dict[str, str] = {}
    for address in addresses:
        url = _URL.match(address)
        if url is not None:
            scheme = re.split(r"[+.-]", url[1])[-1]
            found.setdefault(lower(scheme), scheme)
    return [found[key] for key in sorted(found) if key not in brought]
