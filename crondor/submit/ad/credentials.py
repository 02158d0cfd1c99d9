"""The credentials that travel with a job (HTCondor 25.14: SubmitHash::SetGSICredentials, SetOAuth).

No credential is opened: whether a proxy is there and still valid is for condor_submit to see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from crondor.classad import lower
from crondor.macro.numbers import leading_int
from crondor.submit.ad import values
from crondor.submit.ad.draft import Draft, shown

_LIFETIME: Final = ("delegate_job_gsi_credentials_lifetime", "delegatejobgsicredentialslifetime")
_USE_TOKEN: Final = ("use_scitokens", "use_scitoken")
_TOKEN: Final = ("scitokens_file", "scitokensfile")
_SERVICES: Final = ("use_oauth_services", "useoauthservices")
_OF_SERVICE: Final = re.compile(r"_oauth_(?:permissions|resource|options)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[ \t\n\v\f\r]*[+-]?[0-9]+\Z")

NAMES: Final = ("x509userproxy", "use_x509userproxy", *_LIFETIME, *_USE_TOKEN, *_TOKEN, *_SERVICES)


def is_of_service(name: str) -> bool:
    """Say whether a lower-case command may describe a token of use_oauth_services."""
    return _OF_SERVICE.search(name) is not None


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
        draft.fault("submit-value", draft.written(*_LIFETIME) or "", message, "write a number of seconds")
    elif lifetime is not None:
        draft.set("DelegateJobGSICredentialsLifetime", leading_int(lifetime))
    _set_token(draft)


def _set_token(draft: Draft) -> None:
    """Set ScitokensFile where a token is named, or wanted and named by the environment."""
    given, token = draft.command(*_USE_TOKEN), draft.command(*_TOKEN)
    environ = draft.cluster.environ
    of_environment = (environ or {}).get("BEARER_TOKEN_FILE")
    wanted: bool | None = token is not None
    if given is not None:
        is_auto = lower(given) == "auto"
        wanted = bool(token or of_environment) if is_auto else values.boolean(given, draft.context)
    name = draft.written(*_USE_TOKEN) or ""
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
    """Set OAuthServicesNeeded: the services of use_oauth_services, with the handles that other commands give them."""
    text = draft.command(*_SERVICES)
    if text is None:
        return
    enabled = {lower(name): name for name in values.words(text)}
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
    """Yield the service of each command that describes a token, and what follows, a handle: in order of their names."""
    for name in draft.named(""):
        found = _OF_SERVICE.search(name)
        if found is not None and not name.startswith("my."):
            draft.use(name)
            written = draft.spelled(name)
            yield written[: found.start()], written[found.end() :]
