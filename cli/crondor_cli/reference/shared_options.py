"""Where the pages explain an option that means the same in several commands."""

from __future__ import annotations

from collections.abc import Iterable

_FILES = "inputs.md#what-a-file-may-see"
_FIELDS = "inputs.md#lines-and-fields"
_QUEUE = "schedd.md#which-queue"
_ROUTES = "route.md#what-is-on-the-routes"
PAGES = {
    "--spec": "inputs.md#files",
    "--watch": "inputs.md#again-when-a-file-changes",
    "--crontab": _FIELDS,
    "--minute": _FIELDS,
    "--hour": _FIELDS,
    "--day-of-month": _FIELDS,
    "--month": _FIELDS,
    "--day-of-week": _FIELDS,
    "--ads": "inputs.md#jobs-of-a-queue",
    "--schedule": "inputs.md#schedules-in-any-language",
    "--zone": "inputs.md#schedules-in-any-language",
    "--allow-dir": _FILES,
    "--env": _FILES,
    "--seed": _FILES,
    "--now": "times.md#now-and-here",
    "--tz": "times.md#now-and-here",
    "--from": "times.md#intervals",
    "--until": "times.md#intervals",
    "--at": "times.md",
    "--dialect": "../dialects.md",
    "--policy": "../clock-changes.md",
    "--schedd-interval": "../deferral.md#the-gates",
    "--output": "output.md#into-a-file",
    "--force": "output.md#into-a-file",
    "--queue": _QUEUE,
    "--log": _QUEUE,
    "--live": _QUEUE,
    "--name": _QUEUE,
    "--pool": _QUEUE,
    "--constraint": "schedd.md#which-jobs",
    "--config": "../route.md#what-a-configuration-file-may-hold",
    "--legacy": "../route-convert.md",
    "--lenient": "../classad.md#modes",
    "--load": _ROUTES,
    "--throttled": _ROUTES,
    "--count-copies": _ROUTES,
    "--job-owner": _ROUTES,
}
# What has such a name and is something else, which the command's own page explains.
OWN = {
    ("simulate", "--log"),
    ("simulate", "--seed"),
    ("route plan", "--queue"),
    ("route plan", "--log"),
    ("hook daemon-cron", "--config"),
    ("hook run", "--env"),
    ("classad transform", "--config"),
    ("classad transform", "--from"),
    ("classad transform", "--seed"),
    ("classad format", "--from"),
    ("compile", "--name"),
    ("compile", "--allow-dir"),
}


def page_of(names: Iterable[str], path: tuple[str, ...]) -> str:
    """Return the page and fragment that explain an option of a command, empty where its own page does."""
    command = " ".join(path[1:])
    return next((PAGES[name] for name in names if name in PAGES and (command, name) not in OWN), "")
