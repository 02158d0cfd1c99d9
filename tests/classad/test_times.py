"""Times in other zones than UTC, and the directives of formatTime."""

from zoneinfo import ZoneInfo

import pytest

from crondor.classad import Context
from tests.classad.helpers import shown


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("%-d|%_d|%05d|%3d", "4| 4|00004|004"),
        ("%-3d|%--3OC", "  4| 20"),
        ("%^a|%#b|%#p|%P|%#Z|%8Z", "MON|MAR|am|am|utc|     UTC"),
        ("%12c|%012D|%^x", "Mon Mar  4 05:06:07 2024|000003/04/24|03/04/24"),
        ("%z|%_z|%7z", "+0000|+   0|      +0000000"),
        ("%5|%Ea|%OY|%#Eb|%^5q", "  %5|%Ea|%OY|%#EB| %^5Q"),
        ("%8s|%012s|%-s", "1709528767|001709528767|1709528767"),
        ("%C|%y|%5%|%En|", "20|24|    %|\\n|"),
    ],
)
def test_flags_width_and_modifiers(form: str, expected: str) -> None:
    """As glibc prints them."""
    assert shown(f'formatTime(1709528767, "{form}")') == f'"{expected}"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('absTime("2024-03-10T02:30:00")', 'absTime("2024-03-10T02:00:00+11:00")'),
        ('formatTime(1710053999, "%H:%M %s %Z")', '"17:59 1710055799 +1030"'),
    ],
)
def test_a_summer_time_of_half_an_hour(text: str, expected: str) -> None:
    """HTCondor takes a whole hour off; formatTime has the fields of summer and the name of standard time."""
    assert shown(text, context=Context(now=0, zone=ZoneInfo("Australia/Lord_Howe"))) == expected


def test_versions_of_arguments_are_cut_to_32_bits() -> None:
    """An integer argument is one of C's."""
    assert shown('argsToList("a b", 4294967297)') == '{ "a","b" }'
    assert shown('listToArgs({"a"}, 4294967298)') == '"a"'
