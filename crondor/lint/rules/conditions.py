"""CRN55. and CRN56.: expressions that condor_submit accepts and that never, or always, hold; numbers with units."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import Final, NamedTuple

from crondor.classad import CircularReference, ClassAd, EvaluationFailed
from crondor.classad.tree import (
    CHANGING,
    Binary,
    Call,
    Constant,
    Literal,
    Node,
    Reference,
    Unary,
    bare,
    functions,
    nodes,
)
from crondor.codes import USER_REQUEST
from crondor.diagnostics import Severity, Span
from crondor.job.attributes import JobStatus, fires
from crondor.job.policy import expressions
from crondor.knowledge import (
    Attribute,
    AttributeTable,
    AttributeType,
    classad_functions,
    gpu_properties,
    job_attributes,
    machine_attributes,
)
from crondor.knowledge.words import hold_codes, one_slip
from crondor.lint.made import universes_of
from crondor.lint.rule import MANY, Fix, RuleHit, rule
from crondor.lint.subject import CheckedFile
from crondor.lint.values import (
    ALWAYS_RELEASED,
    AMOUNT,
    AMOUNTS,
    CONDITIONS,
    LONGEST,
    OF_GPUS,
    POLICIES,
    POLICY_NAMES,
    RELEASE,
    RELEASE_FOR,
    REMOVE,
    GivenValue,
)
from crondor.lint.written import (
    COMPARED,
    EQUAL,
    ORDERED,
    UNEQUAL,
    Comparison,
    WrittenExpression,
    attribute_of,
    comparison,
    comparisons,
    joined_by,
    parsed,
    references,
    scope_of,
)
from crondor.submit.edits import TextEdit

# Values of Arch and OpSys (sysapi_translate_arch and init_arch of HTCondor 25.14); the keys are what people write.
_ARCH: Final = {
    **dict.fromkeys(("x86-64", "x64", "amd64", "em64t", "intel64", "x8664", "x86_64bit", "64bit"), "X86_64"),
    **dict.fromkeys(("x86", "i386", "i486", "i586", "i686"), "INTEL"),
    **dict.fromkeys(("arm64", "armv8"), "aarch64"),
}
_SYSTEMS: Final = {
    **dict.fromkeys(("linux64", "linux_64", "linux-64", "gnu/linux", "unix"), "LINUX"),
    **dict.fromkeys(("darwin", "mac", "macosx"), "macOS"),
    **dict.fromkeys(("windows10", "windows11", "win10", "win11", "win"), "WINDOWS"),
}
_DISTRIBUTIONS: Final = ("almalinux", "centos", "debian", "fedora", "redhat", "rhel", "rocky", "scientificsl", "ubuntu")
_EXACT: Final = {"arch": ("X86_64", "INTEL", "aarch64"), "opsys": ("LINUX", "WINDOWS", "macOS", "FREEBSD")}

_NUMBERS: Final = frozenset((AttributeType.INTEGER, AttributeType.REAL, AttributeType.TIME, AttributeType.SECONDS))
_TYPED: Final = EQUAL | ORDERED | frozenset(("!=",))  # values of other types make an error, or false


class _Why(NamedTuple):
    message: str
    help: str


def _never_true(each: WrittenExpression, own: Container[str]) -> Iterator[RuleHit]:
    """Yield the comparisons of an expression that never hold; as part of requirements they are errors.

    ``own`` are the lower-case names of the attributes that the description sets itself.
    """
    if each.tree is None:
        return
    is_requirement = each.value.key in {"requirements", "my.requirements"}
    parts = joined_by(each.tree, "&&")
    deadly = {(part.start, part.end) for part in parts} if is_requirement else set()
    if is_requirement and any(isinstance(part, Literal) and isinstance(part.value, str) for part in parts):
        message = "a string is not a condition: the job matches no machine"
        yield RuleHit(message, each.value.span, "write the condition without the quotes", severity=Severity.ERROR)
    for found in comparisons(each.tree):
        why = None if attribute_of(found.attribute) in own else _never_met(found)
        if why is not None:
            grave = Severity.ERROR if (found.node.start, found.node.end) in deadly else None
            yield RuleHit(why.message, each.place(found.node), why.help, severity=grave)
    yield from _at_odds(each, parts, Severity.ERROR if is_requirement else None)


def _always_true(each: WrittenExpression) -> Iterator[RuleHit]:
    """Yield the parts of an OR of which one always holds, whatever the attribute is."""
    tree = each.tree
    ors = [node for node in nodes(tree) if isinstance(node, Binary) and node.op == "||"] if tree is not None else []
    told: set[int] = set()
    for node in ors:
        seen: dict[tuple[str, str], Constant] = {}
        for found in _comparisons_of(joined_by(node, "||")):
            key, value = _compared(found), _folded(found)
            if found.op in UNEQUAL and seen.setdefault(key, value) != value and found.node.start not in told:
                told.add(found.node.start)
                message = f"whatever {found.attribute.name} is, it differs from one of the two: this excludes nothing"
                yield RuleHit(message, each.place(found.node), "join them with &&")


def _never_met(found: Comparison) -> _Why | None:
    """Return why a comparison never holds, and what to write; None if it may hold."""
    value, op = found.constant.value, found.op
    reason = _of_types(found) if op in _TYPED else None
    return _of_values(found, value) if reason is None and isinstance(value, str) and op in EQUAL else reason


def _of_types(found: Comparison) -> _Why | None:
    """Return why an attribute and a constant of different types never compare."""
    value, op, shown, name = found.constant.value, found.op, found.attribute.name, attribute_of(found.attribute)
    known = (table.get(name) for table in (job_attributes(), machine_attributes()))
    kinds = {attribute.type for attribute in known if attribute is not None}
    small = value.strip().lower() if isinstance(value, str) else ""
    if kinds and isinstance(value, str) and kinds <= _NUMBERS:
        return _Why(f"{shown} is a number, and is never equal to a string", f"write {shown} {op} {value.strip()}")
    if kinds == {AttributeType.BOOLEAN} and isinstance(value, str):
        return _Why(f"{shown} is true or false, and is never equal to a string", f"write {shown} {op} {small}")
    if kinds == {AttributeType.STRING} and isinstance(value, (int, float)) and not isinstance(value, bool):
        return _Why(f"{shown} is a string, and is never equal to a number", f'write {shown} {op} "{value}"')
    return None


def _of_values(found: Comparison, value: str) -> _Why | None:
    """Return why no machine has a value; for Arch and OpSys all values are known."""
    op, shown, name, small = found.op, found.attribute.name, attribute_of(found.attribute), value.lower()
    exact = next((each for each in _EXACT.get(name, ()) if each.lower() == small), value)
    if op != "==" and exact != value:
        message = f'{op} is case-sensitive, and {shown} is "{exact}"'
        return _Why(message, f'write {shown} == "{exact}"')
    right = {"arch": _ARCH, "opsys": _SYSTEMS}.get(name, {}).get(small, "")
    if right:
        return _Why(f'no machine has {shown} "{value}"', f'write {shown} == "{right}"')
    if name == "opsys" and small.startswith(_DISTRIBUTIONS):
        return _Why(f'no machine has {shown} "{value}": it is "LINUX" for all distributions', "use OpSysAndVer")
    return None


def _at_odds(each: WrittenExpression, parts: Sequence[Node], grave: Severity | None) -> Iterator[RuleHit]:
    """Yield the comparisons joined by && that cannot both hold: two values of one attribute, or an empty range."""
    equal: dict[tuple[str, str], Constant] = {}
    least: dict[tuple[str, str], float] = {}
    most: dict[tuple[str, str], float] = {}
    for found in _comparisons_of(parts):
        key, value, name = _compared(found), _folded(found), found.attribute.name
        if found.op in EQUAL and isinstance(value, (str, int, float)):
            first = equal.setdefault(key, value)
            if type(first) is type(value) and first != value:
                message = f"&& requires two values of {name}, which has only one"
                yield RuleHit(message, each.place(found.node), "join them with ||", severity=grave)
        elif found.op in ORDERED and isinstance(value, (int, float)) and not isinstance(value, bool):
            if found.op in {">", ">="}:
                least[key] = max(least.get(key, value), value)
            else:
                most[key] = min(most.get(key, value), value)
            if key in least and key in most and least[key] > most[key]:
                message = f"{name} cannot be above {least.pop(key)} and below {most.pop(key)} at once"
                yield RuleHit(message, each.place(found.node), "join them with ||, or reverse one", severity=grave)


def _comparisons_of(parts: Sequence[Node]) -> Iterator[Comparison]:
    yield from (found for found in map(comparison, parts) if found is not None)


def _compared(found: Comparison) -> tuple[str, str]:
    return scope_of(found.attribute), attribute_of(found.attribute)


def _folded(found: Comparison) -> Constant:
    value = found.constant.value
    return value.lower() if isinstance(value, str) else value


_WORD: Final = re.compile(r"[A-Za-z_][\w.+-]*|'[^']*'")
_SHORTEST: Final = 5  # letters of a name that may be a misspelling; shorter names are similar by chance
_OTHERS: Final = frozenset(("my", "target", "parent", "self", "root", "toplevel", "currenttime"))


def _unquoted(each: WrittenExpression, file: CheckedFile) -> Iterator[RuleHit]:
    """Yield words without quotes: as the whole value of an attribute, or compared with a string attribute."""
    if each.tree is None:
        return
    own = file.own_attributes
    if each.value.key.startswith("my.") and _WORD.fullmatch(each.value.text) and _is_word(each.tree, own):
        name = each.value.key.removeprefix("my.")
        shown = _spelt(file, each.value.key) or name
        text = each.value.text.strip("'")
        message = f"{each.value.text} is an attribute, not a string, and no ad has it: {shown} is undefined"
        yield _quoting(file, each, each.value.span, text, message)
        return
    for node in nodes(each.tree):
        if not isinstance(node, Binary) or node.op.lower() not in COMPARED:
            continue
        for one, other in ((node.left, node.right), (node.right, node.left)):
            word, beside = bare(one), bare(other)
            if not isinstance(word, Reference) or word.scope is not None or is_known(word.name, own):
                continue
            is_single = each.value.text[word.start : word.start + 1] == "'"
            if is_single or _is_string(beside):
                why = "single quotes name an attribute" if is_single else "a word without quotes names an attribute"
                message = f"{why}, and no ad has {word.name}: the comparison is undefined"
                yield _quoting(file, each, each.place(word), word.name, message)


def _misspelt(each: WrittenExpression, file: CheckedFile) -> Iterator[RuleHit]:
    """Yield the unknown attributes whose names are one slip from a known one."""
    for node in references(each.tree) if each.tree is not None else ():
        if len(node.name) < _SHORTEST or is_known(node.name, file.own_attributes):
            continue
        near = meant(node.name)
        if near is not None:
            message = f"neither jobs nor machines have an attribute {node.name}: it is undefined"
            yield _slip(file, each, node, near.name, message)


def _misspelt_property(each: WrittenExpression, file: CheckedFile) -> Iterator[RuleHit]:
    """Yield the unknown GPU properties whose names are one slip from a known one."""
    for node in references(each.tree) if each.tree is not None else ():
        near = gpu_properties().near(node.name) if len(node.name) >= _SHORTEST else []
        if len(near) == 1 and node.name not in gpu_properties() and not is_known(node.name, file.own_attributes):
            yield _slip(file, each, node, near[0].name, f"GPUs have no property {node.name}: it is undefined")


def _slip(file: CheckedFile, each: WrittenExpression, node: Reference, name: str, message: str) -> RuleHit:
    place = each.place(node)
    if each.value.is_literal:
        place = place.part(len(place.text) - len(node.name))
    return RuleHit(message, place, f"did you mean {name}?", _renaming(file, place, node.name, name))


def _functions(each: WrittenExpression, file: CheckedFile) -> Iterator[RuleHit]:
    """Yield calls of functions that HTCondor does not have, and functions without the parentheses of a call."""
    known = classad_functions()
    for node in nodes(each.tree) if each.tree is not None else ():
        name = node.name if isinstance(node, (Call, Reference)) else ""
        small = name.lower()
        if isinstance(node, Call) and small not in known:
            close = next((known[other].name for other in known if one_slip(small, other)), None)
            place = each.value.place(node.start, node.start + len(name))
            message = f"HTCondor has no function {name}: its value is an error, and a condition with it never holds"
            if close is None:
                help_text = "check that the pool provides it (CLASSAD_USER_LIBS)"
                yield RuleHit(message, place, help_text, severity=Severity.NOTE)
            else:
                fix = _renaming(file, place, name, close)
                yield RuleHit(message, place, f"did you mean {close}?", fix)
        elif isinstance(node, Reference) and _is_uncalled(node, file.own_attributes):
            place = each.place(node)
            message = f"{name} is a function: without parentheses it is an attribute, and no ad has it"
            yield RuleHit(message, place, f"write {name}()", _renaming(file, place, name, f"{name}()"))


def _is_uncalled(node: Reference, own: Container[str]) -> bool:
    """Return whether a name is that of a function without arguments, and not of an attribute."""
    function = classad_functions().get(node.name.lower()) if node.scope is None else None
    return function is not None and not function.arguments and not is_known(node.name, own)


def _renaming(file: CheckedFile, place: Span, name: str, new: str) -> Fix | None:
    is_here = place.source is file.source and place.text == name
    return Fix(f"write {new}", (TextEdit(place, new),), safe=False) if is_here else None


def meant(name: str) -> Attribute | None:
    """Return the known attribute that a name is one slip from, None if there is none or several."""
    near = {found.name: found for table in (machine_attributes(), job_attributes()) for found in table.near(name)}
    return next(iter(near.values())) if len(near) == 1 else None


def _quoting(file: CheckedFile, each: WrittenExpression, place: Span, text: str, message: str) -> RuleHit:
    is_here = each.value.is_literal and place.source is file.source
    fix = Fix(f'write "{text}"', (TextEdit(place, f'"{text}"'),), safe=False) if is_here else None
    return RuleHit(message, place, f'write "{text}"', fix)


def _is_word(tree: Node, own: Container[str]) -> bool:
    """Return whether no part of a word with dashes and dots is a known attribute."""
    for node in nodes(tree):
        if isinstance(node, Reference):
            is_scope = node.name.lower() in _OTHERS
            if (is_known(node.name, own) and not is_scope) or (
                len(node.name) >= _SHORTEST and meant(node.name) is not None
            ):
                return False
        elif not (isinstance(node, Binary) and node.op in {"-", "+"}) and not isinstance(node, Unary):
            return False
    return True


def _is_string(node: Node) -> bool:
    """Return whether a node refers to an attribute that is a string in every ad that has it."""
    if not isinstance(node, Reference):
        return False
    found = [table.get(node.name) for table in (job_attributes(), machine_attributes())]
    return any(found) and all(each is None or each.type is AttributeType.STRING for each in found)


def is_known(name: str, own: Container[str]) -> bool:
    """Return whether jobs or machines have an attribute of a name, or the description sets it (lower-case ``own``)."""
    small = name.lower()
    return (
        small in own or small in _OTHERS or any(_has(table, name) for table in (job_attributes(), machine_attributes()))
    )


def _has(table: AttributeTable, name: str) -> bool:
    """Return whether a table has a name; Request<X> does not match a name that is a slip of another."""
    found = table.get(name)
    return found is not None and ("<" not in found.name or len(table.near(name)) != 1)


def _spelt(file: CheckedFile, key: str) -> str:
    """Return the name of an attribute as the description spells it."""
    name = file.submit.name(key) if file.submit is not None else None
    return re.sub(r"^(\+|MY\.)", "", name.text, flags=re.IGNORECASE) if name is not None else ""


@rule("CRN550", "operator", Severity.ERROR, "an operator that ClassAds do not have", most=MANY)
def operator(file: CheckedFile) -> Iterator[RuleHit]:
    """A condition is written with ==, &&, || and !; a single = is not a comparison, and condor_submit refuses it."""
    yield from (each.hit for each in file.unread if each.code == "CRN550" and each.value.key not in POLICIES)


@rule("CRN551", "unquoted", Severity.WARNING, "a word without quotes: an attribute that no ad has", most=MANY)
def unquoted(file: CheckedFile) -> Iterator[RuleHit]:
    """A word is the name of an attribute, undefined if it is missing; a string is written in double quotes."""
    for each in file.written:
        yield from _unquoted(each, file)


@rule(
    "CRN552",
    "misspelt-attribute",
    Severity.WARNING,
    "an attribute whose name is one letter from a known one",
    most=MANY,
)
def misspelt_attribute(file: CheckedFile) -> Iterator[RuleHit]:
    """An attribute that neither the job nor the machine has is undefined, and so are most expressions with it."""
    for each in file.written:
        yield from _misspelt(each, file)
    for value in file.given.of(OF_GPUS):
        if value.text and len(value.text) <= LONGEST:
            yield from _misspelt_property(WrittenExpression(value, parsed(value.text)), file)


@rule("CRN553", "never-true", Severity.WARNING, "a comparison that no machine and no job can meet", most=MANY)
def never_true(file: CheckedFile) -> Iterator[RuleHit]:
    """A value that no machine has, or a number compared with a string, is never true; nor is an && with it."""
    for each in file.written:
        yield from _never_true(each, file.own_attributes)


@rule("CRN554", "always-true", Severity.WARNING, "two != joined by ||: a condition that excludes nothing", most=MANY)
def always_true(file: CheckedFile) -> Iterator[RuleHit]:
    """`A != x || A != y` holds for every A: if A is x, it is not y."""
    for each in file.written:
        yield from _always_true(each)


@rule("CRN555", "no-function", Severity.WARNING, "a function that HTCondor does not have", most=MANY)
def no_function(file: CheckedFile) -> Iterator[RuleHit]:
    """condor_submit accepts any name before a parenthesis; the function is looked up when the job is matched."""
    for each in file.written:
        yield from _functions(each, file)


_PERIODIC: Final = frozenset(
    name for key, names in POLICY_NAMES.items() if key.startswith("Periodic") for name in names
)
_STAYS: Final = ("leave_in_queue", "leavejobinqueue", "my.leavejobinqueue")
_MEANT: Final = {"never": "false", "no": "false", "off": "false", "always": "true", "yes": "true", "on": "true"}
_ATTRIBUTES: Final = {name: attribute for attribute, names in POLICY_NAMES.items() for name in names}
_STATE: Final = frozenset(("jobstatus", "holdreasoncode"))
_MOST_READ: Final = 200  # conditions joined by && and ||


def _no_condition(each: WrittenExpression, file: CheckedFile) -> Iterator[RuleHit]:
    """Yield a policy that is one word, if no ad has an attribute of that name."""
    word = bare(each.tree) if each.tree is not None else None
    if each.value.key not in CONDITIONS or each.value.key.startswith("my."):  # CRN551 reports MY.
        return
    if not isinstance(word, Reference) or word.scope is not None or is_known(word.name, file.own_attributes):
        return
    small = word.name.lower()
    new = _MEANT.get(small) or next((truth for truth in ("true", "false") if one_slip(small, truth)), None)
    if new is None and meant(word.name) is not None:
        return  # CRN552 reports it
    message = f"no ad has an attribute {word.name}: the condition is undefined"
    fix = _rewording(each.value, file, each.value.text, new) if new is not None else None
    yield RuleHit(message, each.value.span, f"write {new or 'true, false or a condition'}", fix)


def _out_of_reach(each: WrittenExpression, file: CheckedFile) -> Iterator[RuleHit]:
    """Yield references of a policy to an ad that it does not see, or to a value of a job that is gone."""
    if each.tree is None or each.value.key not in POLICIES:
        return
    for node in references(each.tree):
        if scope_of(node) == "target":
            message = f"TARGET.{node.name} is undefined here: a policy sees only the job's ad, not a machine's"
            yield RuleHit(
                message,
                each.place(node),
                "use the job's attributes: MY.RequestMemory, MY.MemoryProvisioned and the like",
            )
        elif node.name.lower() == "exitstatus" and "scheduler" not in (
            universes_of(file.submit) if file.submit else ()
        ):
            message = "ExitStatus is not the exit code of the program: it stays 0; the code is in ExitCode"
            place = each.place(node)
            fix = _rewording(each.value._replace(span=place), file, node.name, "ExitCode")
            yield RuleHit(message, place, "write ExitCode", fix)
    completed = []
    if each.value.key in _PERIODIC and file.submit is not None and not any(key in file.submit.keys for key in _STAYS):
        completed = list(_completed(each))
    yield from completed or _never_asked(each)


def _always_met(each: WrittenExpression) -> Iterator[RuleHit]:
    """Yield a condition that holds at every evaluation, of a policy that is not meant to."""
    if each.value.key in REMOVE or _settled(each) is not True:
        return
    attribute = _ATTRIBUTES[each.value.key]
    help_text = "add a condition, such as NumJobStarts > 5"
    if each.value.key in RELEASE:
        yield RuleHit(ALWAYS_RELEASED, each.value.span, RELEASE_FOR)
    elif attribute == "OnExitHold":
        yield RuleHit("this is true of every job when its program ends: it is held", each.value.span, help_text)
    else:
        act = "removed" if attribute == "PeriodicRemove" else "held"
        yield RuleHit(f"this is always true: every job is {act} at once", each.value.span, help_text)


def _never_asked(each: WrittenExpression) -> Iterator[RuleHit]:
    """Yield a condition that requires a state in which the policy is never evaluated."""
    if _settled(each) is not False:
        return
    attribute = _ATTRIBUTES[each.value.key]
    statuses = _statuses(attribute)
    if len(statuses) == 1:
        states = f"when it is evaluated, JobStatus is {statuses[0]:d} ({statuses[0].name.lower()})"
    else:
        others = [f"{status:d} ({status.name.lower()})" for status in JobStatus if status not in statuses]
        states = f"it is not evaluated while JobStatus is {' or '.join(others)}"
    if attribute == "PeriodicRelease" and _asks(each) >= {"holdreasoncode"}:
        states += f" and HoldReasonCode is not {USER_REQUEST} (by a user)"
    what = "the job stays in the queue" if attribute == "OnExitRemove" else "this never holds"
    yield RuleHit(f"{states}: {what}", each.value.span, "remove the state, or use the policy of that state")


def _asks(each: WrittenExpression) -> set[str]:
    return set() if each.tree is None else {node.name.lower() for node in references(each.tree)}


def _settled(each: WrittenExpression) -> bool | None:
    """Return the value of a policy in every state in which it is evaluated; None if it depends on more."""
    if each.tree is None or each.value.key not in POLICIES:
        return None
    attribute, asked = _ATTRIBUTES[each.value.key], _asks(each)
    if (asked and not asked & _STATE) or functions(each.tree) & CHANGING:
        return None
    literals = {node.value for node in nodes(each.tree) if isinstance(node, Literal) and type(node.value) is int}
    codes = sorted({*hold_codes(), *literals} - {USER_REQUEST})  # a user holds a job, and releases it
    found: set[bool] = set()
    for status in _statuses(attribute):
        is_held = status is JobStatus.HELD
        for code in codes if is_held and "holdreasoncode" in asked else (None,):
            ad = ClassAd({"JobStatus": int(status)} if code is None else {"JobStatus": 5, "HoldReasonCode": code})
            ad.set_text(attribute, each.value.text)
            try:
                if ad[attribute].flatten(ad).references().external:
                    return None
                found.add(fires(ad, attribute))
            except (CircularReference, EvaluationFailed):
                return None
        if len(found) > 1:
            return None
    return found.pop()


def _statuses(attribute: str) -> list[JobStatus]:
    """Return the states of a job in which one of its policies is evaluated."""
    return [status for status in JobStatus if attribute in expressions(status)] or [JobStatus.RUNNING]


def _completed(each: WrittenExpression) -> Iterator[RuleHit]:
    """Yield the condition that the job is completed, if no policy keeps a completed job in the queue."""
    parts = [part for either in joined_by(each.tree, "||") for part in joined_by(either, "&&")] if each.tree else []
    for part in parts[:_MOST_READ]:
        found = comparison(part)
        if (
            found is not None
            and found.op in EQUAL
            and found.attribute.name.lower() == "jobstatus"
            and found.constant.value == JobStatus.COMPLETED
        ):
            message = (
                "a completed job leaves the queue: no policy is evaluated for it, unless it is submitted with -spool"
            )
            yield RuleHit(message, each.place(found.node), "write on_exit_remove or leave_in_queue for such jobs")


def _rewording(value: GivenValue, file: CheckedFile, old: str, new: str) -> Fix | None:
    is_here = value.span.source is file.source and value.span.text == old
    return Fix(f"write {new}", (TextEdit(value.span, new),), safe=False) if is_here else None


_STRING: Final = re.compile(r'"[^"\\]*"')
_TRUE: Final = re.compile(r"[( ]*(?:true|0*[1-9][0-9]*)[) ]*", re.IGNORECASE)
_RANKS: Final = ("rank", "my.rank", "preferences")


@rule(
    "CRN556", "no-condition", Severity.WARNING, "a policy or a rank whose value is a string, or a bare word", most=MANY
)
def no_condition(file: CheckedFile) -> Iterator[RuleHit]:
    """condor_submit accepts any expression; this one gives neither true nor false, nor a number."""
    for value in file.given.of(CONDITIONS):
        if _STRING.fullmatch(value.text):
            message = f"{value.text} is a string, which is neither true nor false: the condition is an error"
            yield RuleHit(message, value.span, "write a condition, such as ExitCode == 2")
    for value in file.given.of(_RANKS):
        if _STRING.fullmatch(value.text):
            message = f"{value.text} is a string, and a rank is a number: all machines rank the same"
            yield RuleHit(message, value.span, "write the expression without quotes")
    for each in file.written:
        yield from _no_condition(each, file)


@rule(
    "CRN557", "out-of-reach", Severity.WARNING, "a policy that uses what does not exist when it is evaluated", most=MANY
)
def out_of_reach(file: CheckedFile) -> Iterator[RuleHit]:
    """A policy is evaluated in the job's own ad, without a machine's, while the job is in the queue."""
    for each in file.written:
        yield from _out_of_reach(each, file)


@rule("CRN558", "always-released", Severity.WARNING, "a policy that is true at every evaluation", most=MANY)
def always_released(file: CheckedFile) -> Iterator[RuleHit]:
    """The fault remains after the release: the job is held and released again, endlessly."""
    for value in file.given.of(RELEASE):
        if _TRUE.fullmatch(value.text):
            yield RuleHit(ALWAYS_RELEASED, value.span, RELEASE_FOR)
    for each in file.written:
        yield from _always_met(each)


_KIB, _MIB, _GIB, _TIB = (1024**power for power in (1, 2, 3, 4))
_MUCH_MEMORY: Final = 2 * _TIB  # bytes from which a number of megabytes was probably meant as kilobytes or bytes
_MOST_MEMORY: Final = 32 * _TIB  # more than any machine has
_LEAST_MEMORY: Final = 16 * _MIB  # up to here gigabytes are meant: few jobs run in so little
_MUCH_DISK: Final = 64 * _TIB
_LEAST_DISK: Final = _MIB
_COUNTED: Final = {  # unit, and how many a machine may have today
    **dict.fromkeys(("request_cpus", "requestcpus"), ("processor", 1024)),
    **dict.fromkeys(("request_gpus", "requestgpus"), ("GPU", 64)),
}


@rule("CRN560", "unit", Severity.ERROR, "a number with a unit that HTCondor does not know", most=MANY)
def unit(file: CheckedFile) -> Iterator[RuleHit]:
    """Memory and disk accept K, M, G or T; other numbers have no unit, and times are in seconds."""
    yield from (each.hit for each in file.unread if each.code == "CRN560" and each.value.key not in POLICIES)


@rule(
    "CRN561",
    "amount",
    Severity.WARNING,
    "an amount of memory, disk or processors that is probably a mistake",
    most=MANY,
)
def amount(file: CheckedFile) -> Iterator[RuleHit]:
    """Without a unit, request_memory is in megabytes and request_disk in kilobytes."""
    for value in file.given.all:
        if value.key in _COUNTED and re.fullmatch(r"\d{1,9}", value.text):
            yield from _suspect_count(value, int(value.text))
        found = AMOUNT.fullmatch(value.text) if value.key in AMOUNTS else None
        if found is not None:
            yield from _suspect(value, float(found["number"]), (found["unit"] or "")[:1].lower())


def _suspect_count(value: GivenValue, number: int) -> Iterator[RuleHit]:
    what, most = _COUNTED[value.key]
    if number == 0 and what == "processor":
        yield RuleHit("the job requests no processors", value.span, "write request_cpus = 1, or more")
    elif number > most:
        message = f"the job requests {number} {what}s on one machine: it stays idle if no machine has that many"
        yield RuleHit(message, value.span, "request memory and disk with request_memory and request_disk")


def _suspect(value: GivenValue, number: float, letter: str) -> Iterator[RuleHit]:
    base = AMOUNTS[value.key]
    bytes_ = number * {"": base, "k": _KIB, "m": _MIB, "g": _GIB, "t": _TIB}[letter]
    is_memory = base == _MIB
    what = "memory" if is_memory else "disk"
    plain = f"a number without a unit is in {'megabytes' if is_memory else 'kilobytes'}"
    counted = plain if not letter else f"{value.text} is that much"
    if is_memory:
        too_much = bytes_ >= (_MOST_MEMORY if letter in {"g", "t"} else _MUCH_MEMORY)
    else:
        too_much = not letter and bytes_ >= _MUCH_DISK
    is_least = bytes_ < _LEAST_DISK if not is_memory else bytes_ <= _LEAST_MEMORY
    too_little = bytes_ > 0 and is_least and (is_memory or not letter)
    if too_much:
        message = f"this requests {_shown(bytes_)} of {what}: {counted}"
        yield RuleHit(message, value.span, "write the number with its unit, such as 4GB")
    elif too_little:
        least = Severity.NOTE if number == 1 else None  # 1 may mean: as little as possible
        message = f"this requests only {_shown(bytes_)} of {what}: {counted}"
        yield RuleHit(
            message, value.span, f"write {value.text.rstrip('kKmMbB ')}GB if gigabytes are meant", severity=least
        )


def _shown(bytes_: float) -> str:
    for size, name in ((_TIB, "TiB"), (_GIB, "GiB"), (_MIB, "MiB"), (_KIB, "KiB")):
        if bytes_ >= size:
            return f"{round(bytes_ / size, 1):g} {name}"
    return f"{bytes_:g} bytes"
