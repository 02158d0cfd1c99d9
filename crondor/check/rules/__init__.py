"""All rules, in the order of their codes: those about a description, and those about each group of equal jobs."""

from __future__ import annotations

from crondor.check.rule import Rule
from crondor.check.rules import comments, fields, reading
from crondor.check.subject import CheckedFile, CheckedJob
from crondor.diagnostics import CrondorError

FILE_RULES: tuple[Rule[CheckedFile], ...] = (
    reading.unreadable,
)  # fmt: skip

JOB_RULES: tuple[Rule[CheckedJob], ...] = (
    fields.out_of_range,
)  # fmt: skip

COMMENT_RULES: tuple[Rule[comments.Silence], ...] = (comments.unused, comments.malformed)

AnyRule = Rule[CheckedFile] | Rule[CheckedJob] | Rule[comments.Silence] | Rule[CrondorError]

RULES: dict[str, AnyRule] = {
    **{rule.code: rule for rule in FILE_RULES},
    reading.unreadable_file.code: reading.unreadable_file,
    **{rule.code: rule for rule in JOB_RULES},
    **{rule.code: rule for rule in COMMENT_RULES},
}
