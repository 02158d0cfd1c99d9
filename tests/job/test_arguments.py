"""The values of arguments and environment: written and read by the manual's rules."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crondor.diagnostics import Source
from crondor.job.attributes import (
    InvalidArguments,
    as_text,
    join_arguments,
    join_environment,
    split_arguments,
    split_environment,
)
from crondor.submit import read_submit

# Texts made of what means something to a shell, to condor_submit or to the schedd.
PIECES = ("'", '"', "''", '""', "$", "$$", "(", ")", "$(", "$$(", "$(DOLLAR)", "$ENV(", "$INT(", " ", "\t", "\\", "x",
          "=", "#", ";", ":", "[", "%", "DOLLAR", "\r", "é", "queue", ",")  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def value_of(command: str, value: str) -> str:
    """Return the value as a submit file has it once its macros are expanded."""
    file = read_submit(Source(f"{command} = {value}\nqueue\n"))
    return next(file.groups([command])).values[command]


@given(st.lists(TEXTS, min_size=1, max_size=4))
@example(["$$$a($$("])
@example(["$$($;$$($(DOLLAR)"])
@example(["'$$('"])
@example([""])
def test_arguments_come_back_from_a_submit_file(arguments: list[str]) -> None:
    """Whatever an argument says, it is one argument, with the same text, and nothing in it is expanded."""
    value = value_of("arguments", join_arguments(arguments))
    assert split_arguments(value) == arguments
    assert "$$(" not in value


@given(st.dictionaries(st.from_regex(r"[A-Z_a-z][\w.]*", fullmatch=True), TEXTS, min_size=1, max_size=4))
def test_variables_come_back_from_a_submit_file(variables: dict[str, str]) -> None:
    """The same for the environment."""
    assert split_environment(value_of("environment", join_environment(variables))) == variables


@given(TEXTS)
def test_a_plain_value_stays_itself_or_is_refused(text: str) -> None:
    """There is no quoting for other commands: what cannot be written raises."""
    try:
        written = as_text(text)
    except InvalidArguments:
        return
    if text:
        assert value_of("executable", written) == text


@pytest.mark.parametrize("text", ["a\nb", "a\0b"])
def test_a_line_end_has_no_spelling(text: str) -> None:
    """Each way to write says so."""
    for write in (as_text, lambda text: join_arguments([text]), lambda text: join_environment({"A": text})):
        with pytest.raises(InvalidArguments):
            write(text)


@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        ("one two", ["one", "two"]),
        (r"one \"two\" 'three'", ["one", '"two"', "'three'"]),
        ('"3 simple arguments"', ["3", "simple", "arguments"]),
        ("\"one 'two with spaces' 3\"", ["one", "two with spaces", "3"]),
        ("\"one \"\"two\"\" 'spacey ''quoted'' argument'\"", ["one", '"two"', "spacey 'quoted' argument"]),
        ('""', []),
        ("\"''\"", [""]),
        ("", []),
    ],
)
def test_the_manuals_examples(value: str, arguments: list[str]) -> None:
    """Old syntax and new; those of the manual's page of condor_submit, and the borders."""
    assert split_arguments(value) == arguments


@pytest.mark.parametrize(
    ("value", "variables"),
    [
        ('"one=1 two=""2"" three=\'spacey \'\'quoted\'\' value\'"',
         {"one": "1", "two": '"2"', "three": "spacey 'quoted' value"}),
        ("one=1;two=2;three=\"quotes have no 'special' meaning\"",
         {"one": "1", "two": "2", "three": "\"quotes have no 'special' meaning\""}),
        ("a=b=c", {"a": "b=c"}),
        ("|a=1;2|b=3", {"a": "1;2", "b": "3"}),
    ],
)  # fmt: skip
def test_the_manuals_environments(value: str, variables: dict[str, str]) -> None:
    """The same for variables."""
    assert split_environment(value) == variables


@pytest.mark.parametrize("value", ['"a', '"a"b"', '"a \'b"', 'a "b', '"'])
def test_open_quotes_are_refused(value: str) -> None:
    """A quote that is not closed is an error, in either syntax."""
    with pytest.raises(InvalidArguments):
        split_arguments(value)


@pytest.mark.parametrize("value", ["a", '"a"', "=b", '"=b"'])
def test_a_variable_needs_a_name_and_a_sign(value: str) -> None:
    """An entry that is no assignment is an error."""
    with pytest.raises(InvalidArguments, match="name=value"):
        split_environment(value)
