"""The files of routed jobs: sandboxes spooled and fetched back, shared proxies, token files.

``Sandbox(Spool(folder), folders)`` moves files between a spool laid out as HTCondor's and the folders that are
allowed: ``spool_in``, ``fetch_back``. ``Proxies`` copies a shared X.509 proxy for each job, ``TokenFiles`` makes the
token files of ``read_tokens(configuration)`` with an issuer that the caller has. ``FileDelivery`` puts them together
for a router. Files are opened as the owner might, links lead nowhere else; whatever ends the process, the next one
goes on: the state is in the queue and in the files.
"""

from crondor.rights.trust import Account, Accounts, account_of
from crondor.router.sandbox.delivery import (
    Carried,
    FileDelivery,
    Issuer,
    PlannedDelivery,
    Proxies,
    TokenFiles,
    TokenPlan,
    TokenRequest,
    TokenSpec,
    read_tokens,
)
from crondor.router.sandbox.reach import FilesRefused, Report, Spool
from crondor.router.sandbox.transfer import Moved, Sandbox, SandboxLimits

__all__ = [
    "Account",
    "Accounts",
    "Carried",
    "FileDelivery",
    "FilesRefused",
    "Issuer",
    "Moved",
    "PlannedDelivery",
    "Proxies",
    "Report",
    "Sandbox",
    "SandboxLimits",
    "Spool",
    "TokenFiles",
    "TokenPlan",
    "TokenRequest",
    "TokenSpec",
    "account_of",
    "read_tokens",
]
