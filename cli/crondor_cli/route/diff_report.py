"""A comparison of two tables as the views take it, with the words that they share."""

from __future__ import annotations

from typing import NamedTuple

from crondor.router.compare import TablesComparison, Witness
from crondor_cli.common.columns import plural
from crondor_cli.route.two_tables import Side

_WORDS = {"made": "made job", "queue": "job of the queue", "submitted": "job of the submit files"}
_MANY = {"made": "made jobs", "queue": "jobs of the queue", "submitted": "jobs of the submit files"}
_MOST_CHOSEN = 6


class DiffReport(NamedTuple):
    """Both sides, what was found, where the jobs come from, and what was chosen of those that were made."""

    old: Side
    new: Side
    found: TablesComparison
    kind: str
    chosen: dict[str, dict[str, str | None]]

    @property
    def compared(self) -> str:
        """How many jobs were compared."""
        count = self.found.candidates
        said = f"{count:,} {_WORDS[self.kind] if count == 1 else _MANY[self.kind]}"
        others = self.found.jobs - count
        return f"{said} ({others:,} more are no candidates)" if others and self.kind != "made" else said

    def example(self, witness: Witness) -> str:
        """Return a job in words: its id, or what is chosen of one that was made."""
        chosen = self.chosen.get(witness.job)
        if chosen is None:
            return f"job {witness.job}"
        if not chosen:
            return "the plainest job"
        shown = [f"no {name}" if text is None else f"{name} = {text}" for name, text in chosen.items()]
        more = f" and {plural(len(shown) - _MOST_CHOSEN, 'attribute')} more" if len(shown) > _MOST_CHOSEN else ""
        return f"a job with {', '.join(shown[:_MOST_CHOSEN])}{more}"

    def example_data(self, witness: Witness) -> dict[str, object]:
        """Return a job for programs."""
        return {"job": witness.job, "attributes": self.chosen.get(witness.job)}


def route_words(name: str | None) -> str:
    """Return a route, or that there is none."""
    return "no route" if name is None else name


def text_words(text: str | None) -> str:
    """Return an attribute's text, or that it is not there."""
    return "nothing" if text is None else text
