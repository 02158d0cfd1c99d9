"""Functions that see expressions, the environment or lists: choice, evaluation elsewhere, maps, sums.

HTCondor: FunctionCall::ifThenElse, FunctionCall::eval, evalInEachContext_func, userMap_func.
"""

from __future__ import annotations

import re
from functools import partial

from crondor.classad import operators
from crondor.classad.functions.registry import CallArguments, attempt, builtin, special, wrong_count
from crondor.classad.operators import truth
from crondor.classad.parser import UnparseForm, parse_expression, unparse
from crondor.classad.references import External
from crondor.classad.regexp import compiled, searched
from crondor.classad.scope import (
    NOWHERE,
    AdValue,
    Code,
    Compiler,
    EvaluationState,
    ListValue,
    Run,
    Value,
    code_tree,
    find,
    find_bare,
    made_list,
    root_of,
    to_string,
)
from crondor.classad.text import lower, size, to_bytes
from crondor.classad.tree import (
    ERROR,
    MAX_DEPTH,
    UNDEFINED,
    ClassAdSyntaxError,
    Failure,
    ListNode,
    Reference,
    StackExhausted,
    Ternary,
    wrap32,
)
from crondor.diagnostics import Source


@special("ifThenElse")
def _if_then_else(call: CallArguments) -> Run:
    if len(call.runs) != 3:
        return wrong_count
    test, yes, no = call.runs

    def if_then_else(state: EvaluationState) -> Value:
        value = test(state)
        chosen = value if value.__class__ is bool else truth(value)
        if chosen is None:
            return UNDEFINED if value is UNDEFINED else ERROR
        return yes(state) if chosen else no(state)

    return if_then_else


builtin("debug", 1)(lambda _state, value: value)


@special("eval")
def _eval(call: CallArguments) -> Run:
    if len(call.runs) != 1:
        return wrong_count
    (run,) = call.runs
    offset = call.offset

    def evaluated(state: EvaluationState) -> Value:
        text = to_string(state, run(state))
        if not isinstance(text, str):
            return ERROR
        if state.used + offset >= MAX_DEPTH:
            raise Failure("eval() of eval() without end")
        code = _read(state, text, call.compiler)
        if code is None:
            return ERROR
        state.used += offset + 1
        state.spend(code.cost)
        value = code.evaluate(state)
        state.used -= offset + 1
        return value

    return evaluated


def _read(state: EvaluationState, text: str, compiler: Compiler) -> Code | None:
    """Return the expression of a text; after a conditional HTCondor ignores the rest."""
    try:
        return state.read(text)
    except StackExhausted:
        raise
    except ClassAdSyntaxError:
        pass
    try:
        node = parse_expression(Source(text), partial=True)
    except ClassAdSyntaxError:
        return None
    return Code(node, compiler) if isinstance(node, Ternary) else None


@special("unparse")
def _unparse(call: CallArguments) -> Run:
    """Return the text of an attribute of the present ad; the argument's own text is its name, including MY."""
    if len(call.nodes) != 1 or not isinstance(call.nodes[0], Reference):
        return wrong_count
    name = lower(unparse(call.nodes[0], UnparseForm.PRETTY, faithful=True))

    def unparsed(state: EvaluationState) -> Value:
        code = state.cur.codes.get(name)
        return "" if code is None else unparse(code_tree(code), UnparseForm.PRETTY, faithful=True)

    return unparsed


def _dereferenced(state: EvaluationState, node: Reference, scope: Run | None) -> tuple[AdValue, Code] | None:
    """Return what a reference refers to; as in HTCondor, go on in the ad where it was found, or the last searched."""
    name = lower(node.name)
    start = state.cur
    if scope is not None:
        value = scope(state)
        if not isinstance(value, AdValue):
            return None
        start = value
    elif node.absolute:
        start = root_of(state)
    if start is NOWHERE:
        return None
    found = find_bare(state, start, name) if scope is None and not node.absolute else find(state, start, name)
    state.cur = found[0] if found is not None else _outermost(state, start)
    return found


def _outermost(state: EvaluationState, place: AdValue) -> AdValue:
    root = root_of(state)
    while place is not root and place.parent is not None:
        place = place.parent
    return place


@special("unresolved")
def _unresolved(call: CallArguments) -> Run:
    """Return the names an attribute's expression leaves to others, or whether one of them matches a pattern."""
    if not 1 <= len(call.nodes) <= 2 or not isinstance(call.nodes[0], Reference):
        return wrong_count
    node = call.nodes[0]
    scope = None if node.scope is None else Code(node.scope, call.compiler).evaluate

    def unresolved(state: EvaluationState) -> Value:
        found = _dereferenced(state, node, scope)
        if found is None:
            return UNDEFINED
        expression = None
        if len(call.runs) == 2:
            pattern = call.runs[1](state)
            if not isinstance(pattern, str):
                raise Failure("unresolved() with a pattern that is no string")
            expression = compiled(pattern, "i")
            if expression is None:
                return ERROR
        names = External.of(state, found[0], code_tree(found[1]), call.compiler, free=False) or []
        plain = [name[7:] if lower(name[:7]) == "target." else name for name in names]
        if expression is None:
            return ",".join(plain)
        return any(searched(state, expression, name, empty=False) for name in plain)

    return unresolved


@special("evalInEachContext", "countMatches")
def _each_context(call: CallArguments) -> Run:
    if len(call.nodes) != 2:
        return wrong_count
    node, where = call.nodes
    scope = Code(node.scope, call.compiler).evaluate if isinstance(node, Reference) and node.scope is not None else None
    whole = Code(node, call.compiler)
    literal = tuple(Code(item, call.compiler) for item in where.items) if isinstance(where, ListNode) else None
    counting = call.name == "countmatches"

    def each_context(state: EvaluationState) -> Value:
        code = whole
        if isinstance(node, Reference):
            found = _dereferenced(state, node, scope)
            code = whole if found is None else found[1]
        places = literal
        if places is None:
            ads = attempt(state, call.runs[1])
            if isinstance(ads, ListValue):
                places = ads.members
            elif ads is UNDEFINED:
                return 0 if counting else UNDEFINED
            else:
                return ERROR
        state.spend(len(places) * code.cost)
        values = [_in_context(state, code, place) for place in places]
        return sum(truth(value) is True for value in values) if counting else made_list(values)

    return each_context


def _in_context(state: EvaluationState, code: Code, place: Code) -> Value:
    """Return the value of an expression in a nested ad, which in a match sees the same other ad."""
    ad = attempt(state, place.evaluate)
    if not isinstance(ad, AdValue):
        return UNDEFINED if ad is UNDEFINED else ERROR
    inside = AdValue(ad.codes, ad.names, ad.parent)
    around = ad.parent
    if around is not None and around.matched:
        inside.other = around.other
    elif ad.matched:
        inside = ad
    cur, used = state.cur, state.used
    state.cur, state.used = inside, used + 1
    value = attempt(state, code.evaluate)
    state.cur, state.used = cur, used
    return value


@special("userMap")
def _user_map(call: CallArguments) -> Run:
    runs = call.runs
    if not 2 <= len(runs) <= 4:
        return wrong_count

    def user_map(state: EvaluationState) -> Value:
        name, user, *rest = [run(state) for run in runs]
        default = rest[1] if len(rest) == 2 else UNDEFINED
        if not isinstance(name, str) or not isinstance(user, str):
            return ERROR if name is ERROR or user is ERROR else default
        groups = state.context.maps(name, user) if state.context.maps else None
        if groups is None:
            return default
        if not rest:
            return groups
        return _one_group(groups, rest[0]) or default

    return user_map


def _one_group(groups: str, wanted: Value) -> str | None:
    """Return a group of a list by its name, or else the first."""
    found = [group.strip() for group in groups.split(",") if group.strip()]
    preferred = [group for group in found if isinstance(wanted, str) and lower(group) == lower(wanted)]
    return next(iter(preferred or found), None)


@special("userHome")
def _user_home(call: CallArguments) -> Run:
    """Return the default, as HTCondor does for an unknown user: the machine's users are not looked up."""
    runs = call.runs

    def user_home(state: EvaluationState) -> Value:
        if not 1 <= len(runs) <= 2:
            raise Failure("userHome() takes a user and a default")
        default = attempt(state, runs[1]) if len(runs) == 2 else ""
        user = attempt(state, runs[0])
        if isinstance(default, str) and default:
            return default
        return UNDEFINED if user is UNDEFINED or isinstance(user, str) else ERROR

    return user_home


_WHITE = " \t\n\r"
_BLANK = re.compile(f"[{_WHITE}]")


# HTCondor: EnvironmentV1ToV2, MergeEnvironment, ListToArgs, ArgsToList.
def split_arguments(text: str) -> list[str] | None:
    """Return the arguments of a V2 string: single quotes group, a doubled one in them is one. None: no end quote."""
    found: list[str] = []
    piece: list[str] | None = None
    at = 0
    while at < len(text):
        character = text[at]
        at += 1
        if character in _WHITE:
            if piece is not None:
                found.append("".join(piece))
                piece = None
            continue
        piece = [] if piece is None else piece
        if character != "'":
            piece.append(character)
            continue
        while True:
            end = text.find("'", at)
            if end < 0:
                return None
            piece.append(text[at:end])
            at = end + 1
            if text[at : at + 1] != "'":
                break
            piece.append("'")
            at += 1
    if piece is not None:
        found.append("".join(piece))
    return found


def join_arguments(arguments: list[str]) -> str:
    """Return arguments as a V2 string; sections that need quotes are quoted one character at a time and merged."""
    return " ".join(_quoted(argument) for argument in arguments)


def _quoted(argument: str) -> str:
    if not argument:
        return "''"
    text = ""
    for character in argument:
        if character not in " \t\n\r'":
            text += character
            continue
        text = text[:-1] if text.endswith("'") else text + "'"
        text += character * (2 if character == "'" else 1) + "'"
    return text


def _version(value: Value) -> int | None:
    """Return the version of the syntax, 1 or 2, of an integer that HTCondor cuts to 32 bits."""
    version = wrap32(value) if type(value) is int else 0
    return version if version in (1, 2) else None


@builtin("argsToList", 1, 2)
def _args_to_list(_state: EvaluationState, text: Value, version: Value = 2) -> Value:
    number = _version(version)
    if number is None or not isinstance(text, str):
        return ERROR
    found = split_arguments(text) if number == 2 else [piece for piece in _BLANK.split(text) if piece]
    return ERROR if found is None else made_list(list(found))


@builtin("listToArgs", 1, 2)
def _list_to_args(state: EvaluationState, whole: Value, version: Value = 2) -> Value:
    number = _version(version)
    if number is None or not isinstance(whole, ListValue):
        return ERROR
    state.spend(len(whole.members))
    found: list[str] = []
    for code in whole.members:
        value = code.evaluate(state)
        if not isinstance(value, str):
            return ERROR
        found.append(value)
    if number == 2:
        return join_arguments(found)
    if any(blank in argument for argument in found for blank in _WHITE):
        return ERROR
    return " ".join(found)


def _merge(variables: dict[str, str | None], entry: str) -> bool:
    name, equals, value = entry.partition("=")
    if not equals and "$$" in entry:  # a macro the schedd has not expanded yet; kept unchanged
        variables[entry] = None
        return True
    if not name or not equals:
        return False
    variables[name] = value
    return True


def _printed(variables: dict[str, str | None]) -> str:
    ordered = sorted(variables.items(), key=lambda item: to_bytes(item[0]))
    return join_arguments([name if value is None else f"{name}={value}" for name, value in ordered])


@builtin("envV1ToV2", 1)
def _env_v1_to_v2(_state: EvaluationState, text: Value) -> Value:
    if text is UNDEFINED:
        return UNDEFINED
    if not isinstance(text, str):
        return ERROR
    variables: dict[str, str | None] = {}
    separator = ";"
    if text[:1] in _DELIMITERS:
        separator, text = text[:1] or separator, text[1:]
    for entry in text.replace("\n", separator).split(separator):
        body = entry.lstrip(_WHITE)
        if body and not _merge(variables, body):
            return ERROR
    return _printed(variables)


_DELIMITERS = frozenset("!#$%&*+,-/:;<>?@^`|~\x1f")


@special("mergeEnvironment")
def _merge_environment(call: CallArguments) -> Run:
    runs = call.runs

    def merge_environment(state: EvaluationState) -> Value:
        variables: dict[str, str | None] = {}
        for run in runs:  # the first unusable one ends it: those after it are not evaluated
            text = run(state)
            if text is UNDEFINED:
                continue
            entries = split_arguments(text) if isinstance(text, str) else None
            if entries is None or not all(_merge(variables, entry) for entry in entries):
                return ERROR
        return _printed(variables)

    return merge_environment


# HTCondor: FunctionCall::testMember, FunctionCall::sumAvg, FunctionCall::minMax.
@builtin("member", 2)
def _member(state: EvaluationState, value: Value, whole: Value) -> Value:
    if value is UNDEFINED:
        return UNDEFINED
    if value is ERROR and whole is not UNDEFINED:
        return ERROR
    return _among(state, "==", value, whole)


def _among(state: EvaluationState, op: str, value: Value, whole: Value) -> Value:
    if whole is UNDEFINED:
        return UNDEFINED
    if not isinstance(whole, ListValue) or isinstance(value, (ListValue, AdValue)):
        return ERROR
    state.spend(len(whole.members))
    return any(operators.binary(op, code.evaluate(state), value) is True for code in whole.members)


builtin("identicalMember", 2)(lambda state, value, whole: _among(state, "=?=", value, whole))


@builtin("size", 1)
def _size(_state: EvaluationState, value: Value) -> Value:
    if isinstance(value, str):
        return size(value)
    if isinstance(value, (ListValue, AdValue)):
        return len(value)
    return UNDEFINED if value is UNDEFINED else ERROR


def _numbers(state: EvaluationState, whole: Value) -> list[bool | int | float] | Value:
    """Return the members that are numbers, without undefined ones; another value is the result of the call."""
    if not isinstance(whole, ListValue):
        return UNDEFINED if whole is UNDEFINED else ERROR
    found: list[bool | int | float] = []
    state.spend(len(whole.members))
    for code in whole.members:
        value = code.evaluate(state)
        if value is UNDEFINED:
            continue
        if not isinstance(value, (bool, int, float)):
            return ERROR
        found.append(value)
    return found


def _total(numbers: list[bool | int | float]) -> Value:
    total: Value = numbers[0] if numbers else 0
    for number in numbers[1:]:
        total = operators.binary("+", total, number)
    return total


@builtin("sum", 1)
def _sum(state: EvaluationState, whole: Value) -> Value:
    numbers = _numbers(state, whole)
    return _total(numbers) if isinstance(numbers, list) else numbers


@builtin("avg", 1)
def _avg(state: EvaluationState, whole: Value) -> Value:
    numbers = _numbers(state, whole)
    if not isinstance(numbers, list):
        return numbers
    return operators.binary("/", _total(numbers), float(len(numbers))) if numbers else 0


def _extreme(state: EvaluationState, whole: Value, op: str) -> Value:
    """Return the least or greatest member; each comparison promotes what it compares, the best so far too."""
    numbers = _numbers(state, whole)
    if not isinstance(numbers, list):
        return numbers
    if not numbers:
        return UNDEFINED
    best = numbers[0]
    for number in numbers[1:]:
        real = isinstance(number, float) or isinstance(best, float)
        one: int | float = float(number) if real else int(number)
        best = float(best) if real else int(best)
        if operators.compare(op, one, best) is True:
            best = one
    return best


builtin("min", 1)(partial(_extreme, op="<"))
builtin("max", 1)(partial(_extreme, op=">"))


_COMPARISONS = {"<": "<", "<=": "<=", "!=": "!=", "==": "==", ">": ">", ">=": ">=", "is": "=?=", "isnt": "=!="}


def _compare_all(state: EvaluationState, op: Value, whole: Value, value: Value, *, every: bool) -> Value:
    """Compare each member with a value; the first undefined comparison ends the walk, with false."""
    if op is UNDEFINED:
        return UNDEFINED
    comparison = _COMPARISONS.get(op) if isinstance(op, str) else None
    if comparison is None:
        return ERROR
    if not isinstance(whole, ListValue):
        return UNDEFINED if whole is UNDEFINED else ERROR
    state.spend(len(whole.members))
    for code in whole.members:
        result = operators.binary(comparison, code.evaluate(state), value)
        if result is UNDEFINED:
            return False
        if type(result) is not bool:
            return ERROR
        if result is not every:
            return result
    return every


builtin("anyCompare", 3)(partial(_compare_all, every=False))
builtin("allCompare", 3)(partial(_compare_all, every=True))
