"""Answers that are kept from one look to the next."""

from crondor._types import Memory


def test_an_answer_is_found_once() -> None:
    """As long as each look asks for it."""
    found: list[str] = []
    memory: Memory[str] = Memory()

    def find() -> str:
        found.append("x")
        return "answer"

    for _ in range(3):
        memory.turn()
        assert memory.ask("question", find) == "answer"
    assert found == ["x"]


def test_what_two_looks_did_not_ask_for_is_forgotten() -> None:
    """So that a memory does not grow with what was written and taken back."""
    memory: Memory[int] = Memory()
    memory.keep("old", 1)
    memory.turn()
    assert memory.get("old") == 1
    memory.turn()
    memory.turn()
    assert memory.get("old") is None


def test_other_surroundings_make_it_forget() -> None:
    """What was found in them holds in them alone."""
    memory: Memory[int] = Memory()
    memory.about("here")
    memory.keep("key", 1)
    memory.about("here")
    assert memory.get("key") == 1
    memory.about("there")
    assert memory.get("key") is None
