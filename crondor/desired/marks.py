"""The marks of a job that a folder of submit files wants in a queue: its place in the folder, and what was set.

The digests cover the expressions that the file sets, as HTCondor prints them. So a job alone shows whether somebody has
edited, held or released it by hand: `hand_changes` needs no folder, and no more of the job than its reader has.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from crondor.access_point.access_point import SECURE
from crondor.classad import lower, print_string
from crondor.classad.ad import ClassAd
from crondor.codes import SUBMITTED_ON_HOLD, USER_REQUEST
from crondor.job.attributes import JobStatus, exact_integer, int32, printed, string
from crondor.schedd.protocol import FIXED, Selection, read_constraint
from crondor.spec import FIELDS

PLAN: Final = "CrondorPlan"
"""The attribute with the name of the plan."""
FOLDER: Final = "CrondorFolder"
"""The attribute with the path of the folder, by which another folder of the same name is noticed."""
FILE: Final = "CrondorFile"
"""The attribute with the path of the submit file within the folder."""
JOB: Final = "CrondorJob"
"""The attribute with the number of the job in its file, from 0."""
DIGEST: Final = "CrondorDigest"
"""The attribute with the digest of the job's content."""
NAMES: Final = "CrondorNames"
"""The attribute with what the file sets: ``Name=digest``, or ``Name~digest`` if the schedd has changed the value."""

SUBMITTING: Final = "crondor apply has not finished submitting this job"
"""HoldReason of a new job until it is certain that it is the only one; it never ran."""
EDITING: Final = "crondor apply has not finished editing this job"
"""HoldReason of a held job whose content is edited, until it is released."""

_SCHEDULE: Final = tuple(field.attribute for field in FIELDS)
CRON: Final = frozenset(map(lower, _SCHEDULE))
HELD: Final = "(hold)"
"""The word in NAMES of ``hold = true``; no attribute has this name."""
UNFINISHED: Final = "unfinished "
"""The begin of DIGEST while a live schedd's job is edited, one attribute after the other."""

# What a job is given by its queue, and what schedd, shadow and starter write as it runs.
_UNTRACKED: Final = frozenset(
    (
        *FIXED,
        *map(lower, SECURE.split()),
        *map(lower, (PLAN, FOLDER, FILE, JOB, DIGEST, NAMES)),
        *("owner", "user", "qdate", "jobsubmitfile", "jobstatus", "enteredcurrentstatus", "scheddinterval"),
        *("holdreason", "holdreasoncode", "holdreasonsubcode", "imagesize", "executablesize", "diskusage"),
    )
)
_BY_HAND: Final = (USER_REQUEST, SUBMITTED_ON_HOLD)
_SHORT: Final = 8  # characters of the digest of one attribute


class Key(NamedTuple):
    """The place of a job in the folder: its file, and its number there, from 0."""

    file: str
    job: int

    def __str__(self) -> str:
        """Return ``nightly.sub``, ``nightly.sub, job 2`` for a later job of the file; damaged marks have no file."""
        file = self.file or "(no file)"
        return f"{file}, job {self.job}" if self.job > 0 else file


def digest(content: Mapping[str, str]) -> str:
    """Return the digest of expressions by name."""
    lines = (f"{lower(name)} = {text}" for name, text in content.items())
    return sha256("\n".join(sorted(lines)).encode("utf-8", "surrogateescape")).hexdigest()


def content_of(ad: ClassAd) -> dict[str, str]:
    """Return what a job's file sets: its expressions by name; ``(hold)`` for a job that is to be on hold."""
    is_crontab = any(name in ad for name in CRON)
    found = {
        name: text
        for low, name in ad.names.items()
        if low not in _UNTRACKED and not (is_crontab and low == "deferraltime") and (text := text_of(ad, name))
    }
    return {**found, HELD: "true"} if int32(ad, "JobStatus") == JobStatus.HELD else found


def text_of(ad: ClassAd, name: str) -> str | None:
    """Return an attribute's expression as HTCondor prints it; None if it is missing, or undefined."""
    text = printed(ad, name) if name in ad else "undefined"
    return None if text == "undefined" else text


def marked(ad: ClassAd, plan: str, key: Key, folder: str = "") -> ClassAd:
    """Return a copy of the ad of a file's job, with its marks."""
    made, content = ad.copy(), content_of(ad)
    values = {PLAN: plan, FOLDER: folder, FILE: key.file, JOB: key.job, DIGEST: digest(content)}
    for name, value in {**values, NAMES: names_text(content, content)}.items():
        made.set(name, value)
    return made


class Marks(NamedTuple):
    """The marks of a job: ``names`` are set by its file, with the digests of their values.

    ``altered`` are set too, but the schedd has changed them as it received the job, so that their values are not
    compared: they have the digests of their first values, by lower-case name.
    """

    key: Key
    digest: str
    names: Mapping[str, str]
    altered: Mapping[str, str]

    @classmethod
    def of(cls, ad: ClassAd) -> Marks:
        """Return the marks of a job of a plan; damaged ones are like those of no file."""
        words, number = (string(ad, NAMES) or "").split(), exact_integer(ad, JOB)
        equal, other = ([word.partition(sign) for word in words if sign in word] for sign in "=~")
        return cls(
            Key(string(ad, FILE) or "", -1 if number is None else number),
            string(ad, DIGEST) or "",
            {name: text for name, _, text in equal},
            {lower(name): text for name, _, text in other},
        )

    @property
    def is_held(self) -> bool:
        """Whether the file holds the job."""
        return HELD in self.names

    def present(self, ad: ClassAd) -> dict[str, str]:
        """Return the present content of the job: of the names that were set, and of its schedule."""
        names = {lower(name): name for name in (*_SCHEDULE, *self.names)}.values()
        texts = ((name, "true" if name == HELD else text_of(ad, name)) for name in names)
        return {name: text for name, text in texts if text is not None}

    def edited(self, ad: ClassAd, seen: Container[str] | None = None) -> list[str]:
        """Return the attributes whose present values are not those that were set; ``seen``: only of these, if any."""
        present, known = self.present(ad), {lower(name): text for name, text in self.names.items()}
        now = {lower(name): text for name, text in digests(present).items()}
        names = {lower(name): name for name in (*self.names, *present)}
        return [name for low, name in names.items() if now.get(low) != known.get(low) and (seen is None or low in seen)]

    def compared(self, content: Mapping[str, str]) -> dict[str, str]:
        """Return the content without what the schedd has altered, and still would alter in the same way."""
        return {name: text for name, text in content.items() if self.altered.get(lower(name)) != _short(text)}


def digests(content: Mapping[str, str]) -> dict[str, str]:
    """Return the digest of each expression."""
    return {name: _short(text) for name, text in content.items()}


def names_text(content: Mapping[str, str], compared: Mapping[str, str]) -> str:
    """Return the text of NAMES for a content, of which the schedd has altered what is not compared."""
    return " ".join(f"{name}{'=' if name in compared else '~'}{text}" for name, text in digests(content).items())


def _short(text: str) -> str:
    return digest({"": text})[:_SHORT]


def hand_changes(ad: ClassAd, seen: Container[str] | None = None) -> Iterator[str]:
    """Yield what was done by hand to a job with marks: ``edited``, ``held``, ``released``.

    ``seen`` are the attributes that the ad has if the job has them, in lower case; None: all.
    """
    marks, status = Marks.of(ad), int32(ad, "JobStatus")
    is_unfinished = status == JobStatus.HELD and string(ad, "HoldReason") in (SUBMITTING, EDITING)
    if is_unfinished or marks.digest.startswith(UNFINISHED):  # the cluster's ad keeps the reason after the release
        return
    if marks.edited(ad, seen) or (seen is None and marks.digest != digest(marks.present(ad))):
        yield "edited"
    if status == JobStatus.HELD and not marks.is_held and held_by_hand(ad):
        yield "held"
    if status == JobStatus.IDLE and marks.is_held:
        yield "released"


def held_by_hand(ad: ClassAd) -> bool:
    """Return whether a held job was held by a user, and not by a daemon."""
    return int32(ad, "HoldReasonCode") in _BY_HAND


def jobs_of_plan(plan: str, owner: str, key: Key | None = None) -> Selection:
    """Return the selection of a user's jobs of a plan, or of the one place in its folder."""
    terms = [f"{PLAN} =?= {print_string(plan)}"]
    if key is not None:
        terms += [f"{FILE} =?= {print_string(key.file)}", f"{JOB} =?= {key.job}"]
    return Selection(owners=(owner,), constraint=read_constraint(" && ".join(terms)))
