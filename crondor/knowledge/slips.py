"""Whether two words differ by one slip of the hand."""

from __future__ import annotations


def one_slip(word: str, other: str) -> bool:
    """Say whether one letter is wrong, missing or too many, or two neighbours have changed places.

    Equal words differ by none. Case counts.
    """
    if abs(len(word) - len(other)) > 1 or word == other:
        return False
    at = next((at for at, (ours, theirs) in enumerate(zip(word, other, strict=False)) if ours != theirs), None)
    if at is None:
        return True
    rest, others = word[at:], other[at:]
    if len(word) != len(other):
        return rest[1:] == others or rest == others[1:]
    return rest[1:] == others[1:] or (rest[:2] == others[1::-1] and rest[2:] == others[2:])
