"""Options with one dash or two: the users of HTCondor's tools type -constraint, -idle and -af:j."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import click

from crondor_cli.common.command import Command

_AUTOFORMAT = re.compile(r"--?(?:af|autoformat)(?::(.*))?", re.DOTALL).fullmatch


class OneDashCommand(Command):
    """A command whose long options may be written with one dash; -af[:OPTIONS] takes all words up to the next dash."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments as if they had two dashes."""
        takes_value = {
            name: not option.is_flag and not option.count
            for option in self.get_params(ctx)
            if isinstance(option, click.Option)
            for name in option.opts
        }
        return super().parse_args(ctx, list(two_dashes(args, takes_value)))


def two_dashes(args: Sequence[str], takes_value: Mapping[str, bool]) -> Iterator[str]:
    """Yield arguments with two dashes before long names; ``takes_value`` says of an option whether a value follows.

    A value is left as it is, whatever it looks like.
    """
    words = list(args)
    while words:
        word = words.pop(0)
        autoformat = _AUTOFORMAT(word) if "--af" in takes_value else None
        if autoformat is not None:
            yield "--af"
            yield autoformat[1] or ""
            while words and not words[0].startswith("-"):
                yield "--attribute"
                yield words.pop(0)
            continue
        if f"-{word.partition('=')[0]}" in takes_value and len(word) > 2:
            word = f"-{word}"
        yield word
        if word == "--":
            yield from words
            return
        if takes_value.get(word) and words:
            yield words.pop(0)
