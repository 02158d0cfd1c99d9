"""The kind of submissions: whether an access point takes the jobs, in which words not, and the ads that it stores."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from crondor.access_point import AccessPoint, Admission, Submitter, Verdict, read_access_point, sent_jobs
from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.config import read_config
from crondor.diagnostics import CrondorError, Source
from crondor.job.attributes import printed
from crondor.submit import SubmitHost, job_ads, read_submit
from crondor.submit.ad import JobAd
from crondor.transform import TransformFacts
from tests.golden.kinds.case import Case, Difference, Malformed, Replay, compare, items, mapping, text, texts

_FIELDS = ("release", "config", "submit", "refused", "warned", "ads", "left_out")
_NOW = 1_795_600_000
_MACHINE = frozenset(
    (
        *("executablesize", "executablesize_raw", "imagesize", "imagesize_raw", "diskusage", "diskusage_raw"),
        *("enteredcurrentstatus", "iwd", "jobsubmitfile", "userlog", "infile", "clusterid"),
    )
)


def _replay(case: Case) -> list[Difference]:
    """Compare the words of a refusal, the warnings, and every attribute of every stored job."""
    record = case.record(_FIELDS)
    ads = [mapping({"ads": each}, "ads") for each in items(record, "ads")]
    left_out = {name.lower() for name in texts(record, "left_out")}
    now = int(text(ads[0], "QDate")) if ads else _NOW
    config = tuple(texts(record, "config"))
    refused, warned, stored = _submitted(case.folder, text(record, "release"), config, text(record, "submit"), now)
    found = compare("refused", record["refused"], refused)
    found += compare("warned", texts(record, "warned"), [] if refused is not None else warned)
    ours = [] if refused is not None else [_attributes(ad, left_out) for ad in stored]
    theirs = [{name.lower(): value for name, value in ad.items()} for ad in ads]
    return found + compare("ads", theirs, ours)


@lru_cache(maxsize=8)
def _access_point(folder: Path, release: str, config: tuple[str, ...]) -> AccessPoint:
    numbers = [int(part) for part in release.split(".") if part.isdecimal()]
    if len(numbers) != 3:
        raise Malformed("release", f"{release!r} is no release")
    made = None
    for name in config:
        path = folder / name
        if not path.is_file():
            raise Malformed("config", f"there is no file {name!r}")
        source = Source(path.read_text(), name)
        made = read_config(source, base=made, subsystem="SCHEDD", version=(numbers[0], numbers[1], numbers[2]))
    if made is None:
        raise Malformed("config", "names no file")
    return read_access_point(made, TransformFacts(environ={}, context=Context(now=_NOW)))


@lru_cache(maxsize=8)
def _submitted(
    folder: Path, release: str, config: tuple[str, ...], submit: str, now: int
) -> tuple[str | None, list[str], list[ClassAd]]:
    """Return why the jobs are refused, the warnings, and the stored ads."""
    access_point = _access_point(folder, release, config)
    host = access_point.host(SubmitHost(user="alice", folder="/home/alice"))
    warned: list[str] = []
    stored: list[ClassAd] = []
    try:
        file = read_submit(Source(submit, "job.sub"), host=host, now=now)
        limit = access_point.too_many(file)
        if limit is not None:
            return limit.reason, [], []
        for admission in _admissions(
            file.job_count, job_ads(file, config=access_point.submit_knobs), access_point, now
        ):
            if admission.refusal is not None:
                return _words(admission.refusal), [], []
            warned += map(_words, admission.warnings)
            stored.append(admission.after)
    except CrondorError as error:
        return error.diagnostics[0].message, [], []
    return None, warned, stored


def _admissions(count: int, made: Iterable[JobAd], access_point: AccessPoint, now: int) -> Iterator[Admission]:
    for sent in sent_jobs(made, Submitter("alice", "example.org", now), count):
        yield from map(access_point.admit, sent.each())


def _words(verdict: Verdict) -> str:
    return verdict.reason


def _attributes(ad: ClassAd, left_out: set[str]) -> dict[str, str]:
    hidden = _MACHINE | left_out
    return {key: printed(ad, name) for key, name in ad.names.items() if key not in hidden}


KINDS: Mapping[str, Replay] = {"access-point": _replay}
