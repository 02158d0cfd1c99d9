"""The page of each rule about routes: an example that triggers it, why, the source of that, and what to write."""

from __future__ import annotations

from crondor.check import pages

page = pages.pages_of(__name__, pages.__name__)  # the rules about comments are those of submit descriptions
