"""Finding and expanding $(name) and $(name:default), within limits that no text can exceed.

HTCondor: expand_macro in src/condor_utils/config.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from crondor.macro.functions import MacroCall, call
from crondor.macro.lines import NOTHING, Around, Budget, MacroError

_HEAD = re.compile(r"\$(\$?)([A-Za-z0-9_]*)(\()?")
_NAME = re.compile(r"[A-Za-z0-9_./]*")
_DEFAULT = re.compile(r"[A-Za-z0-9_./$ ,\\:]*")  # what may follow the colon, besides one level of parentheses
_FILE_FUNCTION = re.compile(r"F[pnxdqabfwuPNXDQABFWU]*")
_FUNCTION_NAMES = "BASENAME CHOICE DIRNAME ENV EVAL INT RANDOM_CHOICE RANDOM_INTEGER REAL STRING SUBSTR"
_FUNCTIONS = frozenset(_FUNCTION_NAMES.split())


# HTCondor: next_config_macro.
class MacroKind(Enum):
    """What a dollar sign begins."""

    PLAIN = 0  # nothing
    NESTED = 1  # $(name with another dollar sign in the name
    CUT = 2  # the text ends too early to tell
    MACRO = 3
    FUNCTION = 4


class MacroFound(NamedTuple):
    """One result: ``at`` to ``end`` was read, the search continues at ``resume``.

    ``name`` is in lower case for a macro, as written for a function; ``default`` is where a default begins, or -1.
    """

    kind: MacroKind
    at: int
    end: int
    resume: int
    name: str = ""
    default: int = -1


class Scanner:
    """Finds what the dollar signs of one text begin; never fails.

    It remembers what it has read looking for a closing parenthesis, so that the total cost is linear in the text.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._closed, self._close = 0, -1  # no parenthesis closes between the two, except at the second
        self._ends: dict[int, int] = {}

    def scan(self, at: int) -> MacroFound:
        """Return what the dollar sign at offset ``at`` begins.

        macro = "$(" body
        function = "$" (FUNCTIONS | FILE_FUNCTION) "(" [^)]* ")" | "$ENV(" body
        """
        text = self.text
        head = _HEAD.match(text, at)
        if head is None or not head[3]:
            end = at + 1 if head is None else head.end()
            return MacroFound(
                MacroKind.CUT if end == len(text) else MacroKind.PLAIN, at, _with_next(text, head, end), end
            )
        double, function = head[1], head[2]
        if double or (function and not _is_function(function)):
            return MacroFound(MacroKind.PLAIN, at, head.end(), head.end())
        if function and function != "ENV":
            close = self._closing(head.end())
            if close == len(text):
                return MacroFound(MacroKind.CUT, at, len(text), head.end())
            return MacroFound(MacroKind.FUNCTION, at, close + 1, close, function)
        return self._body(at, head.end(), function)

    def _body(self, at: int, begin: int, function: str) -> MacroFound:
        """Read a name and its default up to the closing parenthesis.

        body = NAME (":" default)? ")"
        """
        text = self.text
        end = _end(_NAME, text, begin)
        name, default = text[begin:end], -1
        if text[end : end + 1] == ":":
            default, end = end + 1, self._default_end(end + 1)
        if end >= len(text):
            return MacroFound(MacroKind.CUT, at, len(text), begin)
        if text[end] == ")":
            if function:
                return MacroFound(MacroKind.FUNCTION, at, end + 1, end, function, default)
            return MacroFound(MacroKind.MACRO, at, end + 1, end, name.lower(), default)
        if text[end] == "$" and default < 0:
            return MacroFound(MacroKind.NESTED, at, end, end)
        return MacroFound(MacroKind.PLAIN, at, end, begin)

    def _default_end(self, at: int) -> int:
        """Return where a default ends: at its closing parenthesis, at a character it may not have, or with the text.

        default = DEFAULT ("(" [^)]* ")" DEFAULT)*
        """
        text = self.text
        end = _end(_DEFAULT, text, at)
        closes: list[int] = []
        while text[end : end + 1] == "(":
            close = self._closing(end + 1)
            if close in self._ends:
                end = self._ends[close]
                break
            closes.append(close)
            end = len(text) if close == len(text) else _end(_DEFAULT, text, close + 1)
        self._ends.update(dict.fromkeys(closes, end))
        return end

    def _closing(self, at: int) -> int:
        """Return where the next parenthesis closes, the length of the text if none does."""
        if not self._closed <= at <= self._close:
            found = self.text.find(")", at)
            self._closed, self._close = at, len(self.text) if found < 0 else found
        return self._close


def _is_function(name: str) -> bool:
    return name in _FUNCTIONS or _FILE_FUNCTION.fullmatch(name) is not None


def _with_next(text: str, head: re.Match[str] | None, end: int) -> int:
    """Return an end that includes a dollar sign after the name of a function: its macro may give the parenthesis."""
    is_open = head is not None and text.startswith("$", end) and not head[1] and _is_function(head[2])
    return end + 1 if is_open else end


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


Lookup = Callable[[str], "str | None"]
"""Returns the unexpanded text of a macro by its lower-case name, or None if it is not defined."""

_LOOK = 64  # cost of a dollar sign, besides the characters after it
_STEP = 128  # cost of a macro besides the characters it moves
_LEVEL = 32  # cost per surrounding macro: exponential growth needs depth, useful macros do not
_CALL = 256  # cost of a function, since it may evaluate an expression
_OF_NO_MACRO = frozenset(("ENV", "RANDOM_INTEGER"))
_MOST_CALLS = 30  # functions in the arguments of functions; each uses some frames of Python's stack


def expand(text: str, lookup: Lookup, budget: Budget, around: Around = NOTHING) -> str:
    """Return ``text`` with all its macros expanded, like HTCondor.

    A macro that is undefined or empty gives its default, else nothing; ``$(DOLLAR)`` gives ``$``; ``$$(name)`` and
    ``$$([expression])`` stay. Functions use ``around``. Raises MacroError.
    """
    if "$" not in text:
        return text
    return _Expansion(_Rules(lookup, budget, around)).run(text)


def expand_defined(text: str, lookup: Lookup, budget: Budget, around: Around = NOTHING) -> str:
    """Return ``text`` with the macros expanded that have a value; all others stay, $(DOLLAR) too.

    Functions stay if their first argument is no such macro, except $ENV() and $RANDOM_INTEGER(): the rest is for the
    next reader of the text (expand_defined_macros of HTCondor 25.14). Raises MacroError.
    """
    if "$" not in text:
        return text
    return _Expansion(_Rules(lookup, budget, around, only_defined=True)).run(text)


def expand_self(
    text: str, name: str, earlier: str | None, budget: Budget, lookup: Lookup | None = None, around: Around = NOTHING
) -> str:
    """Return ``text``, assigned to ``name``, with references to ``name`` itself replaced by its earlier text.

    All other macros stay: they are expanded when needed. ``name`` is in lower case. With ``lookup`` the file name
    functions of ``name`` ($Fn(name)) are replaced too, as HTCondor does it. Raises MacroError.

    HTCondor: SelfOnlyBody.
    """
    if "$" not in text:
        return text
    return _Expansion(_Rules(lookup or (lambda _: None), budget, around, name, earlier, lookup is not None)).run(text)


class _Rules(NamedTuple):
    """What stays the same in one expansion and those inside it."""

    lookup: Lookup
    budget: Budget
    around: Around
    only: str | None = None
    earlier: str | None = None
    only_files: bool = False
    only_defined: bool = False
    level: int = 0  # functions around this one


class _Chain:
    """A macro being expanded, and the one whose text contains it."""

    def __init__(self, name: str, outer: _Chain | None) -> None:
        self.name = name
        self.outer = outer
        self.depth: int = outer.depth + 1 if outer else 1

    def names(self) -> list[str]:
        """Return the macros from the outermost to this one."""
        names: list[str] = []
        link: _Chain | None = self
        while link:
            names.append(link.name)
            link = link.outer
        return names[::-1]


class _Expansion:
    """One run: a stack of texts still to be read, the next one on top, and the final text."""

    def __init__(self, rules: _Rules, chain: _Chain | None = None) -> None:
        self._rules = rules
        self._budget = rules.budget
        self._only = rules.only
        self._pending: list[tuple[str, int, _Chain | None]] = []
        self._done: list[str] = []
        self._size = 0
        self._chain = chain
        self._has_dollar = False
        self._replaces_dollars = rules.only is None and not rules.only_defined

    def run(self, text: str) -> str:
        self._pending.append((text, 0, self._chain))
        try:
            self._budget.spend(len(text))
            while self._pending:
                text, at, self._chain = self._pending.pop()
                self._read(text, at)
        except MacroError as error:
            if not error.chain:
                error.chain = tuple(self._names())
            raise
        return self._with_dollars("".join(self._done))

    def _with_dollars(self, text: str) -> str:
        """Replace each $(DOLLAR), after everything else; one that then follows a dollar sign no longer counts."""
        done: list[str] = []
        begin, at = 0, text.find("$") if self._has_dollar else -1
        scanner = Scanner(text)
        while at >= 0:
            found = scanner.scan(at)
            self._budget.spend(_LOOK + found.end - at)
            if not _is_dollar(found):
                at = text.find("$", found.resume)
                continue
            run = len(text[begin:at].rstrip("$"))
            done.append(text[begin : begin + run])
            sign, begin = text[begin + run : at] + "$", found.end
            if text.startswith(("(", "$"), begin):
                self._budget.spend(_STEP + len(text) - begin)
                text, begin, at = sign + text[begin:], 0, 0
                scanner = Scanner(text)
            else:
                done.append(sign)
                at = text.find("$", begin)
        return "".join(done) + text[begin:]

    def _read(self, text: str, begin: int) -> None:
        """Read the top text up to its next macro, which is replaced on the stack, or to its end.

        HTCondor reads a text from its beginning after each replacement: an inner macro may complete an outer one, in
        its name, $(a$(b)), or in a default with an illegal character.

        text = (macro | function | PLAIN)*
        """
        outer, nested = -1, 0  # where $(a$(b)) begins, and how many such heads are open
        half, half_end = -1, 0  # where a macro with a wrong default begins, and where that is seen
        scanner = Scanner(text)
        at = text.find("$", begin)
        while at >= 0:
            found = scanner.scan(at)
            self._budget.spend(_LOOK + found.end - at)
            if found.kind is MacroKind.CUT and self._pending:
                self._emit(text[begin:at] if outer < 0 else text[begin:outer])
                self._join(text[outer if outer >= 0 else at :])
                return
            if found.kind is MacroKind.NESTED:
                outer, nested = (at, 1) if outer < 0 else (outer, nested + 1)
                if nested > self._budget.depth:
                    self._too_deep()
                at = found.resume
                continue
            if self._is_mine(text, found):
                start = outer if outer >= 0 else at
                start = min(start, half) if half >= 0 and at < half_end else start
                self._emit(text[begin:start])
                self._pending.append((text, found.end, self._chain))
                self._replace(text[start:at], text, found)
                return
            outer = -1
            if found.kind is MacroKind.PLAIN and found.end > max(found.resume, half_end):
                half, half_end = at, found.end
            self._has_dollar = self._has_dollar or (self._replaces_dollars and _is_dollar(found))
            at = text.find("$", found.resume)
        self._emit(text[begin:])

    def _is_mine(self, text: str, found: MacroFound) -> bool:
        """Return whether this run replaces what was found."""
        if self._only is not None:
            if found.kind is MacroKind.FUNCTION and self._rules.only_files and found.name[0] == "F":
                return _body(text, found).lower().split(":")[0] == self._only
            return found.kind is MacroKind.MACRO and found.name == self._only
        if self._rules.only_defined and not self._is_defined(text, found):
            return False
        return found.kind is MacroKind.FUNCTION or (found.kind is MacroKind.MACRO and not _is_dollar(found))

    def _is_defined(self, text: str, found: MacroFound) -> bool:
        """Return whether the macro that was found, or the first argument of the function, has a value."""
        if found.name in _OF_NO_MACRO and found.kind is MacroKind.FUNCTION:
            return True
        name = found.name if found.kind is MacroKind.MACRO else _body(text, found).split(",")[0].lower()
        return found.kind in {MacroKind.MACRO, MacroKind.FUNCTION} and bool(self._rules.lookup(name))

    def _replace(self, head: str, text: str, found: MacroFound) -> None:
        chain = self._chain
        if found.kind is MacroKind.FUNCTION:
            self._budget.spend(_CALL)
            value = self._call(text, found)
            if "$" in value:
                chain = self._enter(text[found.at : found.end])
        else:
            value = (self._rules.earlier if self._only is not None else self._rules.lookup(found.name)) or ""
            if not value:
                value = text[found.default : found.end - 1] if found.default >= 0 else ""
            elif self._only is None:
                chain = self._enter(found.name)
        self._budget.spend(_STEP + len(head) + len(value))
        if head or value:
            # With a head the text is partly the outer one's, so a cycle through it is caught by the budget.
            self._pending.append((head + value, 0, self._chain if head else chain))

    def _call(self, text: str, found: MacroFound) -> str:
        """Return the text of a function; its arguments are expanded by runs of their own, inside this one."""
        if self._rules.level >= _MOST_CALLS:
            message = f"macro functions are nested more than {_MOST_CALLS} deep"
            raise MacroError("macro-depth", message, "write some of them out")
        inner = self._rules._replace(only=None, earlier=None, only_defined=False, level=self._rules.level + 1)

        def expanded(argument: str, name: str | None) -> str:
            return _Expansion(inner, self._enter(name) if name else self._chain).run(argument)

        default = text[found.default : found.end - 1] if found.default >= 0 else None
        body = _body(text, found) if default is None else _body(text, found)[: -len(default) - 1]
        return call(
            MacroCall(found.name, body, default, inner.lookup, expanded, self._budget, self._rules.around, self._names)
        )

    def _names(self) -> list[str]:
        return self._chain.names() if self._chain else []

    def _enter(self, name: str) -> _Chain:
        link = self._chain
        while link is not None and link.name != name:
            link = link.outer
        if link is not None:
            names = self._names()
            way = " -> ".join([*names[names.index(name) :], name][-8:])
            raise MacroError("macro-cycle", f"the macro {name} is defined by itself: {way}", "break the circle")
        inner = _Chain(name, self._chain)
        if inner.depth > self._budget.depth:
            self._too_deep()
        self._budget.spend(_LEVEL * inner.depth)
        return inner

    def _too_deep(self) -> None:
        message = f"macros are nested more than {self._budget.depth} deep"
        raise MacroError("macro-depth", message, "write some of them out")

    def _join(self, head: str) -> None:
        """Put a text that may begin a macro before the text that follows it."""
        text, at, chain = self._pending.pop()
        self._budget.spend(_STEP + len(head) + len(text) - at)
        self._pending.append((head + text[at:], 0, chain))

    def _emit(self, text: str) -> None:
        self._size += len(text)
        if self._size > self._budget.size:
            message = f"the macros expand to more than {self._budget.size} characters"
            raise MacroError("macro-size", message, "a macro probably doubles itself")
        if text:
            self._done.append(text)


def _is_dollar(found: MacroFound) -> bool:
    return found.name == "dollar" and found.default < 0 and found.kind is MacroKind.MACRO


def _body(text: str, found: MacroFound) -> str:
    """Return the text between the parentheses of a function, including its default."""
    return text[text.index("(", found.at) + 1 : found.end - 1]


_NAMES = {
    "EXPERIMENTAL": "CollectorNode HAD HADFixedPort HADReplication HADSharedPort",
    "FEATURE": (
        "ADSTASH AssignAccountingGroup AssignProjectName ChildCollector CommonCloudAttributesAWS"
        " CommonCloudAttributesGoogle ContinuousCronHook DefaultCheckpointDestination GANGLIA GPUs GPUsMonitor"
        " HPC_ANNEX JobsHaveInstanceIDs KRB LIBRARIAN Monitor OAUTH OneShotCronHook PartitionableSlot PelicanCache"
        " PelicanRetryPolicy PeriodicCronHook POLICY_EXPR_FRAGMENTS POLICY_HOURS_TO_START REMOTE_CONFIG"
        " REMOTE_RUNTIME_CONFIG ScheddCronContinuous ScheddCronOneShot ScheddCronPeriodic ScheddUsermapFile"
        " SetJobAttrFromUsermap StartdCronContinuous StartdCronOneShot StartdCronPeriodic StaticSlots"
        " TESTINGMODE_POLICY_VALUES UWCS_DESKTOP_POLICY_VALUES"
    ),
    "POLICY": (
        "ALWAYS_RUN_JOBS DESKTOP DESKTOP_HOURS DESKTOP_IDLE HOLD_IF_CPUS_EXCEEDED HOLD_IF_DISK_EXCEEDED"
        " HOLD_IF_MEMORY_EXCEEDED HOLD_IF_RUNTIME_EXCEEDS LIMIT_JOB_RUNTIMES OnlyRegisteredCheckpointDestinations"
        " PREEMPT_IF PREEMPT_IF_CPUS_EXCEEDED PREEMPT_IF_DISK_EXCEEDED PREEMPT_IF_MEMORY_EXCEEDED"
        " PREEMPT_IF_RUNTIME_EXCEEDS STARTD_PUBLISH_CpusUsage UWCS_DESKTOP WANT_HOLD_IF"
    ),
    "ROLE": (
        "CentralManager Execute Personal Submit get_htcondor_central_manager get_htcondor_execute get_htcondor_submit"
    ),
    "SECURITY": (
        "FIPS HOST_BASED STRONG USER_BASED WITH_AUTHENTICATION get_htcondor_idtokens recommended recommended_v24_0"
        " recommended_v9_0"
    ),
    "UPGRADE": "DISCARD DISCARDIF DISCARDIFX DISCARDX DISCARD_VMWARE",
}
TEMPLATES = {category: tuple(names.split()) for category, names in _NAMES.items()}
"""The names of each category."""

KNOWN = frozenset(f"{category}.{name}".lower() for category, names in TEMPLATES.items() for name in names)
"""``category.name`` in lower case."""


# HTCondor: read_meta_config.
def is_template(use: str) -> bool:
    """Return whether ``if defined use`` holds: for a category, and for a name of it in ``CATEGORY:NAME``."""
    category, _, name = use.partition(":")
    key = f"{category.strip().lower()}.{name.strip().lower()}"
    return key in KNOWN or (not name and category.strip().upper() in TEMPLATES)
