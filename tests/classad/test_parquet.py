"""Ads as Parquet: what is written is read back, types are those of the ads, and other files are taken or refused."""

import io
import sys
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad.ad import ClassAd
from crondor.classad.formats import ReadMode, parquet, read_ads
from crondor.classad.formats.parquet import InvalidParquet, MissingArrow, read_parquet, write_parquet
from crondor.diagnostics import Diagnostic
from crondor.job_queue import HistoryFollower, read_history
from tests.cli.running import crondor, process

MIXED = """\
ClusterId = 1
Cmd = "/bin/true"
Wall = 0
Exited = true
Requirements = TARGET.Memory > 5

ClusterId = 2
Cmd = "say \\"hi\\""
Wall = 12.5
Exited = undefined
Requirements = true
Extra = {1,2}

ClusterId = 1 + 2
clusterid = 3
Wall = 1.5E+300
Exited = false
"""


def _ads(text: str) -> list[ClassAd]:
    return list(read_ads(text, None, ReadMode.LAZY))


def _written(ads: list[ClassAd]) -> io.BytesIO:
    file = io.BytesIO()
    assert write_parquet(ads, file) == len(ads)
    return file


def _write(path: Path, ads: list[ClassAd]) -> Path:
    path.write_bytes(_written(ads).getvalue())
    return path


def test_a_column_has_the_type_of_most_ads() -> None:
    """What it cannot hold is text in the map; a column of reals shows integers too."""
    table = pq.read_table(_written(_ads(MIXED)))
    types = {field.name: (str(field.type).split()[0], field.metadata[b"classad"].decode()) for field in table.schema}
    assert types == {
        "ClusterId": ("int64", "integer"),
        "Cmd": ("string", "string"),
        "Wall": ("double", "real"),
        "Exited": ("bool", "boolean"),
        "Requirements": ("string", "expression"),
        "Extra": ("string", "expression"),
        "_odd": ("map<string,", "odd"),
    }
    assert table["Wall"].to_pylist() == [0.0, 12.5, 1.5e300]
    assert table["Cmd"].to_pylist() == ["/bin/true", 'say "hi"', None]
    assert table["_odd"].to_pylist() == [[("Wall", "0")], [("Exited", "undefined")], []]


def test_what_was_written_is_read_back() -> None:
    """Integers in a column of reals are integers again."""
    assert list(read_parquet(_written(_ads(MIXED)))) == _ads(MIXED)


NAMES = st.sampled_from(["A", "b", "Cc", "_odd", "x y", "é"])
PLAIN = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
)
TEXTS = st.sampled_from(
    ["undefined", "error", "-0.0", "1E5", "TRUE", '"a" "b"', '"caf\udce9"', '"\\351"', "{1}", "[a=1]", "1 + 1"]
)


@st.composite
def _many_ads(draw: st.DrawFn) -> list[ClassAd]:
    """Draw ads whose attributes change their type from ad to ad."""
    made = []
    for _ in range(draw(st.integers(0, 6))):
        ad = ClassAd(draw(st.dictionaries(NAMES, PLAIN, max_size=4)))
        for name, text in draw(st.dictionaries(NAMES, TEXTS, max_size=3)).items():
            ad.put(name, text)
        made.append(ad)
    return made


@given(_many_ads(), st.sampled_from([1, 5, 1 << 16]), st.sampled_from([1, 3, parquet.MOST_COLUMNS]))
def test_any_ads_are_read_back(ads: list[ClassAd], values: int, columns: int) -> None:
    """Whatever their types, in one batch or several, with few columns or many."""
    with (
        patch.object(parquet, "_VALUES", values),
        patch.object(parquet, "MOST_COLUMNS", columns),
        patch.object(parquet, "_ROWS", 2),
    ):
        found = list(read_parquet(_written(ads)))
    assert len(found) == len(ads)
    for mine, theirs in zip(ads, found, strict=True):
        assert theirs == mine or ascii(theirs.flat()) == ascii(mine.flat())


def test_columns_of_other_writers_are_taken_by_their_types() -> None:
    """Integers of any width, reals, booleans, strings; NaN is no literal, and no value is no attribute."""
    table = pa.table(
        {
            "Count": pa.array([1, None], pa.uint16()),
            "Load": pa.array([0.5, float("nan")], pa.float32()),
            "Ok": [True, False],
            "Name": pa.array(["ann", 'b"\n'], pa.large_string()),
        }
    )
    file = io.BytesIO()
    pq.write_table(table, file)
    first, second = read_parquet(file)
    assert first == ClassAd({"Count": 1, "Load": 0.5, "Ok": True, "Name": "ann"})
    assert (second.python("Name"), "Count" in second, second.text("Load")) == ('b"\n', False, 'real("NaN")')


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"When": pa.array([0], pa.timestamp("ms"))}, "the column When has the type timestamp[ms]"),
        ({"_odd": pa.array(["x"])}, "the column _odd has the type string"),
        ({"List": pa.array([[1]])}, "the column List has the type list<"),
    ],
)
def test_a_column_that_is_no_attribute_is_refused(table: dict[str, pa.Array], says: str) -> None:
    """With its name, its type and what to do."""
    file = io.BytesIO()
    pq.write_table(pa.table(table), file)
    with pytest.raises(InvalidParquet) as caught:
        list(read_parquet(file))
    assert says in str(caught.value)


def test_a_text_that_is_no_expression_is_left_out() -> None:
    """A hostile file's texts are read, and never trusted."""
    schema = pa.schema([pa.field("R", pa.string(), metadata={"classad": "expression"})])
    file = io.BytesIO()
    pq.write_table(pa.table({"R": ["(", "1 + 1"]}, schema=schema), file)
    found: list[Diagnostic] = []
    assert list(map(str, read_parquet(file, report=found.append))) == ["[  ]", "[ R = 1 + 1 ]"]
    assert len(found) == 1


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    """Cut anywhere, it is an error and not a traceback."""
    data = _written(_ads(MIXED)).getvalue()
    for size in range(4, len(data), 97):
        with pytest.raises(InvalidParquet):
            list(read_parquet(io.BytesIO(data[:size])))
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(data[:-5])
    result = crondor("classad", "convert", str(cut), "--to", "json")
    assert (result.status, "cut.parquet cannot be read as Parquet" in result.err) == (1, True)


def test_the_command_writes_and_reads_it(tmp_path: Path) -> None:
    """Into a file, and through pipes; nothing is left of a file that could not be written whole."""
    (tmp_path / "q.ads").write_text(MIXED)
    path = str(tmp_path / "q.parquet")
    assert crondor("classad", "convert", str(tmp_path / "q.ads"), "--to", "parquet", "-o", path).status == 0
    as_long = crondor("classad", "convert", str(tmp_path / "q.ads"), "--to", "long").out
    assert crondor("classad", "convert", path, "--to", "long").out == as_long
    piped = process("classad", "convert", str(tmp_path / "q.ads"), "--to", "parquet").stdout
    again = process("classad", "convert", "-", "--to", "long", stdin=piped)
    assert (again.returncode, again.stdout.decode()) == (0, as_long)
    bad = tmp_path / "bad.ads"
    bad.write_text("A = 1\nB = (\n")
    result = crondor("classad", "convert", str(bad), "--to", "parquet", "-o", str(tmp_path / "b.parquet"))
    assert (result.status, "bad.ads:2" in result.err) == (1, True)
    with (tmp_path / "b.parquet").open("rb") as file:
        assert [str(ad) for ad in read_parquet(file)] == ["[ A = 1 ]"]


def test_other_commands_read_it(tmp_path: Path) -> None:
    """As text: `classad transform` changes the ads of a Parquet file."""
    path = _write(tmp_path / "q.parquet", _ads("A = 1\n\nA = 2\n"))
    (tmp_path / "rules").write_text("SET B A + 1\n")
    result = crondor("classad", "transform", "--rules", str(tmp_path / "rules"), str(path))
    assert (result.status, result.out) == (0, "A = 1\nB = A + 1\n\nA = 2\nB = A + 1\n\n")


def test_history_may_be_parquet(tmp_path: Path) -> None:
    """For those who read a history once, and for those who follow it."""
    path = _write(tmp_path / "history", _ads(MIXED))
    assert list(read_history(path)) == _ads(MIXED)
    follower = HistoryFollower(path)
    assert [list(follower.poll(lambda _: None)) for _ in range(2)] == [_ads(MIXED), []]


def test_without_pyarrow_it_is_named(tmp_path: Path) -> None:
    """With how to get it."""
    path = _write(tmp_path / "q.parquet", _ads(MIXED))
    with patch.dict(sys.modules, {"pyarrow": None}):
        with pytest.raises(MissingArrow):
            list(read_parquet(io.BytesIO()))
        result = crondor("classad", "convert", str(path), "--to", "long")
    assert (result.status, "pip install '.[arrow]'" in result.err) == (1, True)
