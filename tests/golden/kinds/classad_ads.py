"""The kind of whole ads: what HTCondor's readers found in a text, and how it was printed."""

from collections.abc import Mapping

from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, ReadMode, detect, read_ad, read_ads
from crondor.classad.tree import ClassAdSyntaxError, attribute_order
from tests.golden.kinds.case import (
    Case,
    Difference,
    Malformed,
    Replay,
    check_fields,
    compare,
    items,
    mapping,
    one_of,
    optional_text,
    text,
    texts,
)

_FORMS = {"old": Format.LONG, "new": Format.NEW, "new_stream": Format.NEW, "json": Format.JSON}
_SINGLE = ("new", "json")
_ERRORS = ("ClassAdException", "ValueError", "no ad")
_PRINTED = {"old": Format.LONG, "new": Format.NEW, "json": Format.JSON, "pretty": Format.PRETTY}


def _replay_ads(case: Case) -> list[Difference]:
    """Compare the ads, their attributes in the library's order and each printed form; of errors that there is one."""
    record = case.record(["form", "text", "ok"], ["ads", "error"])
    form = one_of(record, "form", [*_FORMS, "auto"])
    if record["ok"] is True:
        check_fields(record, ["ads"], [*record.keys() - {"error"}])
    elif record["ok"] is False:
        check_fields(record, ["error"], [*record.keys() - {"ads"}])
        one_of(record, "error", _ERRORS)
    else:
        raise Malformed("ok", "true or false is expected")
    try:
        found = _read(form, text(record, "text"))
    except ClassAdSyntaxError as error:
        return compare(f"ok ({error.diagnostics[0].message})", record["ok"], False)
    differences = compare("ok", record["ok"], True)
    if differences:
        return differences
    expected = [_expected({"ad": ad}) for ad in items(record, "ads")]
    differences = compare("number of ads", len(expected), len(found))
    for number, (ad, said) in enumerate(zip(expected, found, strict=False)):
        differences += _compare_ad(f"ads[{number}]", ad, said)
    return differences


def _read(form: str, content: str) -> list[ClassAd]:
    if form in _SINGLE:
        return [read_ad(content, _FORMS[form], ReadMode.DAEMON)]
    chosen = detect(content, faithful=True) if form == "auto" else _FORMS[form]
    return list(read_ads(content, chosen, ReadMode.DAEMON))


def _expected(record: Mapping[str, object]) -> Mapping[str, object]:
    ad = mapping(record, "ad")
    check_fields(ad, ["attrs", "old", "new", "json"], ["pretty"])
    return ad


def _compare_ad(field: str, expected: Mapping[str, object], ad: ClassAd) -> list[Difference]:
    attributes = mapping(expected, "attrs")
    names = sorted(ad, key=attribute_order)
    differences = compare(f"{field}.names", texts({"names": list(attributes)}, "names"), names)
    differences += compare(f"{field}.attrs", attributes, {name: ad[name].unparse(faithful=True) for name in names})
    for form in _PRINTED.keys() & expected.keys():
        recorded = optional_text(expected, form)
        differences += compare(f"{field}.{form}", recorded, _printed(ad, _PRINTED[form]))
    return differences


def _printed(ad: ClassAd, form: Format) -> str | None:
    """Return a printed form; bytes that are not UTF-8 cannot stand in a recording."""
    said = ad.print(form, faithful=True)
    try:
        said.encode()
    except UnicodeEncodeError:
        return None
    return said


KINDS: Mapping[str, Replay] = {"classad-ads": _replay_ads}
