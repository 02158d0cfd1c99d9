"""The kind of transforms: runs of condor_transform_ads, with what they printed and what they said was wrong."""

import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, Order, ReadMode, read_ads
from crondor.config import read_config
from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.macro.files import Files
from crondor.transform import InvalidTransform, TransformFacts, transform_ads
from crondor.transform.loading import JOB_ROUTE, JOB_TRANSFORM, Rules
from tests.golden.kinds.case import Case, Difference, Malformed, Replay, compare, integer, mapping, text, texts

_FIELDS = ("rules", "config", "args", "ads_in", "rc", "ads_out", "stderr")
_ENVIRON = {"GOLD": "gold value", "HOME": "/home/alice", "USER": "alice", "TZ": "UTC"}
_KNOBS = {"-jobtransforms": JOB_TRANSFORM, "-jobroute": JOB_ROUTE}
_SUCCESS, _FAILURE = 1, 255  # the tool has them so; what it does not begin with is 1 too
_LEFT_OUT = r"\S+ invalid transform text, ignoring\. \(err=[-0-9]+\) "
_HEADS = rf"ERROR|WARNING|Invalid rules file|Transform of ad|Error at|{_LEFT_OUT}"


def _replay(case: Case) -> list[Difference]:
    """Compare success or failure, the ads with names, order and values, and the core of each message."""
    record = case.record(_FIELDS, ["files"])
    code = integer(record["rc"], "rc")
    expected = [_lines(ad) for ad in texts(record, "ads_out")]
    files = {name: text({name: held}, name) for name, held in mapping({"files": {}, **record}, "files").items()}
    with tempfile.TemporaryDirectory() as folder:
        for name, held in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(held, encoding="utf-8")
        config = read_config(Source(text(record, "config"), "config"), environ=_ENVIRON, subsystem="XFORM")
        knobs = config.texts()
        facts = TransformFacts(knobs, environ=_ENVIRON, files=Files([folder], base=folder))
        run = _Run(record, facts)
    stderr = text(record, "stderr")
    code = _FAILURE if code == _SUCCESS and re.search("^Error at", stderr, re.MULTILINE) else code
    differences = compare("rc", code, _FAILURE if run.failed else _SUCCESS)
    differences += compare("ads_out", expected, [_printed(ad) for ad in run.ads if ad])  # nothing is printed of none
    said = [found.message for found in run.found]
    is_wrong = any(each.severity is Severity.ERROR for each in run.found)
    differences += compare("stderr has a message", bool(stderr.strip()) or not is_wrong, True)
    for core in _cores(stderr):
        if not any(core in message for message in said):
            differences.append(Difference("stderr", f"nothing says {core!r}, but {said[:5]}"))
    return differences


class _Run:
    """What crondor makes of a recorded run."""

    def __init__(self, record: Mapping[str, object], facts: TransformFacts) -> None:
        self.ads: list[ClassAd] = []
        self.found: list[Diagnostic] = []
        self.failed = False
        rules = Rules(facts)
        try:
            self._load(rules, record)
            rules.finish()
            self.found += rules.diagnostics
            self._apply(rules, texts(record, "ads_in"))
        except InvalidTransform as error:
            self.found += (*rules.diagnostics, *error.diagnostics)
            self.failed = True

    def _load(self, rules: Rules, record: Mapping[str, object]) -> None:
        held = {f"rules{number}.xf": each for number, each in enumerate(texts(record, "rules"), start=1)}
        given = iter(texts(record, "args"))
        for argument in given:
            if argument == "-rules":
                name = next(given)
                rules.add_file(Source(held[name], name))
            elif argument in _KNOBS:
                rules.add_knobs(_KNOBS[argument], next(given))
            elif argument in {"-in:long", "-out:long"}:
                next(given)
            elif "=" in argument:
                name, _, value = argument.partition("=")
                rules.define(name.strip(), value.strip())
            else:
                raise Malformed("args", f"{argument} is not known here")

    def _apply(self, rules: Rules, ads: list[str]) -> None:
        read = read_ads("\n".join(ads), Format.LONG, ReadMode.DAEMON)
        for outcome in transform_ads(rules.transforms, read, rules.facts, macros=rules.macros):
            self.found += outcome.diagnostics
            if outcome.ad is None:
                self.failed = True
            else:
                self.ads.append(outcome.ad)


def _cores(stderr: str) -> Iterator[str]:
    """Yield what each message is about, without what only condor_transform_ads has: files of its source, numbers."""
    for message in re.split(rf"\n+(?={_HEADS}|\Z)", "\n" + stderr):
        shown = message.strip("\n")
        if not shown or shown.startswith("Transform of ad"):
            continue
        if shown.startswith("ERROR reading transform rules"):
            yield "invalid REQUIREMENTS"
            continue
        if re.match("Error at .* Previous transform was", shown):
            yield "Previous transform was an iterating transform"
            continue
        found = re.match(r'ERROR "(.*)" at line [0-9]+ in file', shown, re.DOTALL)
        core = (
            found[1] if found else re.sub(rf"^(?:ERROR: |WARNING: |Invalid rules file .*? : ?|{_LEFT_OUT})", "", shown)
        )
        yield re.sub(r"(Error compiling regex '.*')\. [0-9]+\..*", r"\1", core, flags=re.DOTALL)


def _lines(ad: str) -> list[str]:
    """Return the lines of a printed ad; a value may go over several."""
    return ad.removesuffix("\n").split("\n")


def _printed(ad: ClassAd) -> list[str]:
    said = ad.print(Format.LONG, Order.NAME, faithful=True)
    # HTCondor prints an odd name as it is.
    return _lines(re.sub(r"(?m)^'((?:[^'\n]|\\')*)' = ", lambda found: found[1].replace("\\'", "'") + " = ", said))


KINDS: Mapping[str, Replay] = {"transforms": _replay}
