"""Replays the lines of a recording and sorts them: passed, failed, accepted by name, not applicable."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tests.golden.kinds.case import Case, Difference, Malformed, NotApplicable, Replay
from tests.golden.recording import Accepted


@dataclass
class Result:
    """What became of the lines; ``not_applicable`` counts by reason, ``idle`` lists accepted ids without use."""

    passed: int = 0
    failed: list[tuple[Case, list[Difference]]] = field(default_factory=list)
    accepted: list[tuple[Case, str]] = field(default_factory=list)
    not_applicable: Counter[str] = field(default_factory=Counter)
    idle: dict[str, str] = field(default_factory=dict)


def judge(replay: Replay, cases: Iterable[Case], accepted: Mapping[str, Accepted]) -> Result:
    """Replay every line; a difference is accepted only where the line's id is in the list."""
    result = Result()
    fates: dict[str, str] = {}
    for case in cases:
        fates.setdefault(case.id, "it does not differ any more")
        try:
            found = differences(replay, case)
        except NotApplicable as reason:
            result.not_applicable[str(reason)] += 1
            fates[case.id] = "this kind does not compare it"
            continue
        if not found:
            result.passed += 1
        elif case.id in accepted:
            fates[case.id] = ""
            result.accepted.append((case, accepted[case.id].reason))
        else:
            result.failed.append((case, found))
    for case_id in accepted:
        fate = fates.get(case_id, "no line of this recording has this name")
        if fate:
            result.idle[case_id] = fate
    return result


def differences(replay: Replay, case: Case) -> list[Difference]:
    """Return where a line and crondor part; a malformed line and a crash of crondor are differences too.

    Raises NotApplicable.
    """
    try:
        return replay(case)
    except NotApplicable:
        raise
    except Malformed as error:
        return [error.difference]
    except Exception as error:  # noqa: BLE001 - whatever crondor does wrong is a difference, not the replay's end
        return [Difference("error", f"crondor raises {type(error).__name__}: {error}")]
