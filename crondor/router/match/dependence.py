"""What the value of an expression depends on: names of the ad, the clock, or more than can be told."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from crondor.classad.scope import BEYOND, Code
from crondor.classad.show import code_tree
from crondor.classad.text import lower
from crondor.classad.tree import Call, Literal, Node, Reference, children
from crondor.classad.values import LocalTime

_SCOPES = frozenset(("my", "self", "target", "other"))
_TIMED_NAMES = """
    abstime currenttime daytime formattime getdayofmonth getdayofweek getdayofyear getdays gethours getminutes
    getmonth getseconds getyear interval random reltime splittime time timezoneoffset
"""
_PURE_NAMES = """
    allcompare anycompare argstolist avg bool ceil ceiling debug envv1tov2 floor identicalmember ifthenelse int
    isabstime isboolean isclassad iserror isinteger islist isreal isreltime isstring isundefined join listtoargs max
    member mergeenvironment min pow quantize real regexp regexpmember regexps replace replaceall round size split
    splitslotname splitusername strcat strcmp stricmp string stringlist_regexpmember stringlistavg stringlistimember
    stringlistisubsetmatch stringlistmax stringlistmember stringlistmin stringlistsintersect stringlistsize
    stringlistsubsetmatch stringlistsum substr sum tolower toupper version_in_range versioncmp versioneq versionge
    versiongt versionle versionlt
"""
_TIMED, _PURE = frozenset(_TIMED_NAMES.split()), frozenset(_PURE_NAMES.split())
_MOST = 1024  # expressions whose needs are remembered


class Needs(NamedTuple):
    """What an expression asks for: names in lower case.

    ``is_timed``: the clock, the zone or the dice too. ``is_open``: nobody can tell what else, for it reads a text as
    an expression, or looks at ads as a whole.
    """

    names: tuple[str, ...]
    is_timed: bool = False
    is_open: bool = False


@lru_cache(maxsize=_MOST)
def needs_of(code: Code) -> Needs:
    """Return what an expression itself asks for; the attributes that it names may ask for more."""
    asked = _Asked()
    work: list[Node] = [code_tree(code)]
    while work:
        node = work.pop()
        if isinstance(node, Reference):
            work += asked.reference(node)
            continue
        if isinstance(node, Call):
            asked.call(node)
        elif isinstance(node, Literal) and isinstance(node.value, LocalTime):
            asked.is_timed = True
        work += children(node)
    return Needs(tuple(asked.names), asked.is_timed, asked.is_open)


class _Asked:
    """What the parts of an expression ask for that were looked at."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self.is_timed = False
        self.is_open = False

    def reference(self, node: Reference) -> tuple[Node, ...]:
        """Note a reference; return what of it is still to be looked at."""
        key, scope = lower(node.name), node.scope
        self.names[key] = None
        self.is_timed = self.is_timed or key == "currenttime"
        if node.absolute or (key in BEYOND and key != "currenttime"):
            self.is_open = True
        elif isinstance(scope, Reference) and scope.scope is None and not scope.absolute:
            key = lower(scope.name)
            self.names[key] = None  # an ad may have an attribute of that name
            self.is_open = self.is_open or (key in BEYOND and key not in _SCOPES)
        elif scope is not None:
            return (scope,)
        return ()

    def call(self, node: Call) -> None:
        name = node.name.lower()
        self.is_timed = self.is_timed or name in _TIMED
        self.is_open = self.is_open or (name not in _TIMED and name not in _PURE)
