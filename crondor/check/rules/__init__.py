"""All rules, in the order of their codes: those about a description, and those about each group of equal jobs."""

from __future__ import annotations

from crondor.check.rule import Rule
from crondor.check.rules import (
    commands,
    comments,
    dates,
    deferral,
    fields,
    own_attributes,
    policy,
    reading,
    refused,
    releases,
    unused,
)
from crondor.check.subject import CheckedFile, CheckedJob
from crondor.check.suppress import Silence

FILE_RULES: tuple[Rule[CheckedFile], ...] = (
    *reading.READING_RULES,
    refused.refused,
    unused.unused,
    unused.no_effect,
    releases.not_in_release,
    unused.odd_resource,
    releases.several_queues,
    releases.unquoted_remaps,
    own_attributes.own_attribute,
)

JOB_RULES: tuple[Rule[CheckedJob], ...] = (
    fields.out_of_range,
    fields.step_phase,
    fields.reversed_range,
    fields.name,
    fields.nickname,
    fields.foreign_syntax,
    fields.quoted,
    fields.blank_inside,
    fields.empty,
    fields.single_step,
    fields.step_zero,
    fields.starred_weekday,
    fields.full_month,
    fields.no_string,
    fields.syntax,
    fields.held,
    fields.set_twice,
    dates.never_fires,
    dates.fires_rarely,
    dates.short_months,
    dates.day_zero,
    dates.clock_change,
    dates.too_frequent,
    dates.either_day,
    dates.field_left_out,
    deferral.bad_number,
    deferral.overflow,
    deferral.window_zero,
    deferral.window_long,
    deferral.prep_long,
    deferral.prep_short,
    deferral.time_past,
    deferral.stays_idle,
    deferral.time_and_cron,
    deferral.without_time,
    deferral.bad_value,
    deferral.bad_expression,
    deferral.asks_machine,
    deferral.asks_clock,
    deferral.asks_number,
    policy.runs_once,
    policy.never_ends,
    policy.held_for_ever,
    policy.other_clock,
    commands.bypass,
    commands.scheduler_refused,
    commands.scheduler_never,
    commands.grid_ignores,
    commands.no_universe,
)

COMMENT_RULES: tuple[Rule[Silence], ...] = (comments.unused, comments.malformed)

AnyRule = Rule[CheckedFile] | Rule[CheckedJob] | Rule[Silence]

RULES: dict[str, AnyRule] = {
    **{rule.code: rule for rule in FILE_RULES},
    **{rule.code: rule for rule in JOB_RULES},
    **{rule.code: rule for rule in COMMENT_RULES},
}
