"""Where a job runs, and what (SubmitHash::SetIWD, SetExecutable); whether files are there is not looked at."""

from __future__ import annotations

from typing import Final

from crondor.classad import lower
from crondor.schedule import Universe
from crondor.submit import folders
from crondor.submit.ad import values
from crondor.submit.ad.containers import is_in_container, set_images
from crondor.submit.ad.draft import Draft, shown

_EXECUTABLE: Final = ("executable", "cmd")
_TRANSFER: Final = ("transfer_executable", "transferexecutable")
_NAMED_ONLY: Final = frozenset(("ec2", "gce", "azure"))
_NEVER: Final = "SUBMIT_CONTAINER_NEVER_XFER_ABSOLUTE_CMD"

NAMES: Final = ("skip_filechecks", "submit_file", *folders.NAMES, *_EXECUTABLE, *_TRANSFER)


def check_filechecks(draft: Draft) -> None:
    """Refuse a word behind skip_filechecks that HTCondor does not know."""
    text = draft.command("skip_filechecks")
    if text is not None and lower(text) != "warn" and values.boolean(text, draft.context) is None:
        message = f"SUBMIT_CMD_skip_filechecks={shown(text)} is invalid, must be 'warn' or a boolean"
        draft.fault("submit-value", "skip_filechecks", message, "write true, false or warn")


def set_folder(draft: Draft) -> None:
    """Set Iwd, where it is known, and JobSubmitFile."""
    draft.folder = folders.job_folder(draft.command, draft.host.folder)
    if draft.folder:
        draft.set("Iwd", draft.folder)
    file = draft.command("submit_file") if "submit_file" in draft.commands else draft.cluster.file
    if file:
        draft.set("JobSubmitFile", file)


def set_executable(draft: Draft) -> None:
    """Set Cmd, which is relative to the folder condor_submit is started in, and the images of a job."""
    set_images(draft)
    if draft.command("shell") is not None:
        draft.set("Cmd", "/bin/sh")
        draft.set("TransferExecutable", value=False)
        return
    text = draft.command(*_EXECUTABLE)
    is_name = _is_name(draft)
    if text is None:
        if draft.has("Cmd"):
            return
        if not is_in_container(draft):
            message = "No 'executable' parameter was provided"
            draft.fault("submit-executable", "executable", message, "write executable = the program to run")
            return
        is_name = True
    transfer = draft.command(*_TRANSFER)
    stays = is_name or (transfer[0] in "fF" if transfer is not None else _stays_in_the_image(draft, text))
    if stays:
        draft.set("TransferExecutable", value=False)
    path = text or ""
    draft.set("Cmd", path if stays else folders.full_path(path, draft.host.folder))


def _is_name(draft: Draft) -> bool:
    """Say whether the executable is a name only: of a virtual machine, or of an instance in a cloud."""
    universe = draft.cluster.universe
    is_cloud = universe == Universe.GRID and lower(draft.cluster.grid_type) in _NAMED_ONLY
    return universe == Universe.VM or is_cloud


def _stays_in_the_image(draft: Draft, path: str | None) -> bool:
    return is_in_container(draft) and (path or "").startswith("/") and draft.knobs.flag(_NEVER, default=False)
