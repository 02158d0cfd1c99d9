"""The files of routed jobs: sandboxes, shared proxies, token files.

``Sandbox(Spool(folder), folders)`` moves files between a spool with HTCondor's layout and the allowed folders:
``spool_in``, ``fetch_back``. ``Proxies`` copies a shared X.509 proxy for each job; ``TokenFiles`` creates the token
files of ``read_tokens(configuration)`` with the caller's issuer. ``FileDelivery`` combines them for a router. Files are
opened with the owner's rights, and links never lead out of the allowed folders. After a crash the next process
continues: the state is in the queue and in the files.
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
