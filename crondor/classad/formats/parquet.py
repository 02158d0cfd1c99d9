"""Ads as Parquet: a column for each attribute, of one type, and a column for the values of any other type.

Needs pyarrow, the extra ``arrow``. A column holds integers, reals, booleans or strings, whichever most ads have there,
or else the texts of expressions; the schema's metadata say which. Every value that its column cannot hold exactly is
kept as text in the map column ``_odd``, by attribute name, so what is read back equals what was written. A real column
shows integers too. Bytes that are not UTF-8 become octal escapes of ClassAd strings.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from enum import Enum
from importlib import import_module
from math import isfinite
from operator import itemgetter
from shutil import copyfileobj
from types import ModuleType
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from crondor.classad import shapes
from crondor.classad.ad import ClassAd, checked_name
from crondor.classad.compile import read
from crondor.classad.formats.pieces import Report, tell
from crondor.classad.parser import print_constant, unparse
from crondor.classad.printing import Spelling
from crondor.classad.scope import Attributes, Code, code_tree
from crondor.classad.text import lower
from crondor.classad.tree import ClassAdSyntaxError, Constant, Literal
from crondor.diagnostics import CrondorError, Diagnostic, printable

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC: Final = b"PAR1"
"""The first bytes of a Parquet file."""

MOST_COLUMNS: Final = 2000
"""Attributes that get a column of their own; those met later are kept in the column ``_odd``."""

_VALUES: Final = 1 << 17  # of a batch of ads
_ROWS: Final = 1 << 13  # of a row group
_BYTES: Final = 1 << 24  # of a row group, in memory
_FEW: Final = 1 << 10  # rows that are read at once
_SAMPLE: Final = 64  # rows of a batch
_META: Final = b"classad"
_ODD: Final = "_odd"


class ColumnKind(Enum):
    """The ClassAd type of a column's values."""

    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    STRING = "string"
    EXPRESSION = "expression"
    ODD = "odd"


_PATTERNS: Final = {
    ColumnKind.INTEGER: "^(0|-?[1-9][0-9]{0,17})$",
    ColumnKind.REAL: r"^-?(0|[1-9][0-9]{0,17})\.[0-9]{1,15}(E[+-][0-9]{2,3})?$",
    ColumnKind.BOOLEAN: "^(true|false)$",
    ColumnKind.STRING: r'^"[^"\\]*"$',
    ColumnKind.EXPRESSION: r'^([^"0-9.+\-tTfF]|[tT][^rR]|[fF][^aA])',
}
"""Patterns (RE2) of texts that are surely of a kind; all others are looked at one by one."""

_LITERAL: Final = re.compile(r'["\d.+-]|(?:true|false)\Z', re.IGNORECASE)
_NO_UTF8: Final = re.compile("[\udc80-\udcff]")
_KINDS: Final[dict[type, ColumnKind]] = {
    int: ColumnKind.INTEGER,
    float: ColumnKind.REAL,
    bool: ColumnKind.BOOLEAN,
    str: ColumnKind.STRING,
}
_NUMBERED: Final = tuple(_PATTERNS)


class MissingArrow(CrondorError, ImportError):
    """pyarrow is not installed."""


class InvalidParquet(CrondorError):
    """A file is not Parquet, or has columns that are no attributes."""


def _arrow() -> ModuleType:
    """Return pyarrow with the parts used here. Raises MissingArrow."""
    try:
        for name in ("pyarrow.compute", "pyarrow.parquet"):
            import_module(name)
        return import_module("pyarrow")
    except ImportError as error:
        help_ = "pip install '.[arrow]' in a clone of crondor"
        raise MissingArrow(Diagnostic("parquet-package", "Parquet needs pyarrow", help=help_)) from error


# Writing


def write_parquet(ads: Iterable[Attributes], file: IO[bytes]) -> int:
    """Write ads to a file opened for bytes, and return how many there are.

    They are read once, and held in a temporary file until the types are known: memory does not grow with their number.
    Raises MissingArrow, and what ``ads`` raises.
    """
    held = _Held(_arrow())
    with tempfile.TemporaryFile() as spool:
        for batch in _batches(ads):
            held.add(batch, spool)
        spool.seek(0)
        held.write(spool, file)
    return held.count


def _batches(ads: Iterable[Attributes]) -> Iterator[list[Attributes]]:
    """Yield the ads in lists of about equally many values."""
    batch: list[Attributes] = []
    size = 0
    for ad in ads:
        batch.append(ad)
        size += len(ad.codes)
        if size >= _VALUES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Column:
    """An attribute that has a column: its name as first spelled, and how many values of each kind it has."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: Counter[ColumnKind] = Counter()
        self.is_varied = False  # few values are equal, and a dictionary of them costs more than it saves

    def kind(self) -> ColumnKind:
        """Return the kind of most values; a column of numbers with any real is one of reals."""
        counts = self.counts.copy()
        if counts[ColumnKind.REAL]:
            counts[ColumnKind.REAL] += counts.pop(ColumnKind.INTEGER, 0)
        return max(counts, key=counts.__getitem__, default=ColumnKind.EXPRESSION)


class _Held:
    """Ads in a temporary file, as texts, and the columns that they need."""

    def __init__(self, pa: ModuleType) -> None:
        self._pa = pa
        self._columns: dict[str, _Column] = {}
        self._map = pa.map_(pa.string(), pa.string())
        self._batches = 0
        self.count = 0

    def add(self, ads: list[Attributes], spool: IO[bytes]) -> None:
        """Append ads to the temporary file, a stream of Arrow's for each call, and count the kinds of their values."""
        pa, columns = self._pa, self._columns
        self.count += len(ads)
        self._batches += 1
        codes = [ad.codes for ad in ads]
        rest: list[list[tuple[str, str]]] = [[] for _ in ads]
        names: dict[str, None] = {}
        for ad, own, left in zip(ads, codes, rest, strict=True):
            for low in () if own.keys() <= names.keys() else own:
                if low not in columns and low != _ODD and len(columns) < MOST_COLUMNS:
                    columns[low] = _Column(ad.names.get(low, low))
                if low in columns:
                    names[low] = None
                else:
                    left.append((ad.names.get(low, low), _clean(_text(own[low]))))
        if len(names) > 1 and all(own.keys() >= names.keys() for own in codes):
            values: Iterable[Sequence[Code | str | None]] = zip(*map(itemgetter(*names), codes), strict=True)
        else:
            values = ([own.get(low) for own in codes] for low in names)
        arrays = [self._texts(columns[low], column) for low, column in zip(names, values, strict=True)]
        batch = pa.record_batch([*arrays, pa.array(rest, self._map)], names=[*names, _ODD])
        with pa.ipc.new_stream(spool, batch.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            writer.write_batch(batch)

    def _texts(self, column: _Column, codes: Sequence[Code | str | None]) -> pa.Array:
        """Return the texts of values as an array, and count their kinds."""
        pa = self._pa
        try:
            texts = pa.array(codes, pa.string())
        except (TypeError, pa.ArrowException, UnicodeEncodeError):  # not all of them are plain texts
            texts = pa.array([None if code is None else _clean(_text(code)) for code in codes], pa.string())
        if column.is_varied:
            is_text = column.kind() in {ColumnKind.STRING, ColumnKind.EXPRESSION}  # and stays so, unless most change
            self._count(column, self._kinds(texts.slice(0, _SAMPLE) if is_text else texts, column))
            return texts
        array = texts.dictionary_encode()
        column.is_varied = 2 * len(array.dictionary) > len(array)
        self._count(column, pa.compute.take(self._kinds(array.dictionary, column), array.indices))
        return array

    def _count(self, column: _Column, kinds: pa.Array) -> None:
        for each in self._pa.compute.value_counts(kinds).to_pylist():
            if each["values"] is not None:
                column.counts[_NUMBERED[each["values"]]] += each["counts"]

    def _kinds(self, texts: pa.Array, column: _Column) -> pa.Array:
        """Return the numbers of the kinds of texts; the kind that the column has is tried first."""
        pa, pc = self._pa, self._pa.compute
        kinds = pa.nulls(len(texts), pa.int8())
        first = column.kind()
        for kind in (first, *(each for each in _NUMBERED if each is not first)):
            found = pc.match_substring_regex(texts, _PATTERNS[kind])
            kinds = pc.if_else(found, pa.scalar(_NUMBERED.index(kind), pa.int8()), kinds)
            if kinds.null_count == texts.null_count:
                return kinds
        numbers = [
            number if number is not None or text is None else _NUMBERED.index(_kind_of(text))
            for number, text in zip(kinds.to_pylist(), texts.to_pylist(), strict=True)
        ]
        return pa.array(numbers, pa.int8())

    def write(self, spool: IO[bytes], file: IO[bytes]) -> None:
        """Write what the temporary file holds from here on."""
        pa = self._pa
        kinds = {low: column.kind() for low, column in self._columns.items()}
        types = {
            ColumnKind.INTEGER: pa.int64(),
            ColumnKind.REAL: pa.float64(),
            ColumnKind.BOOLEAN: pa.bool_(),
            ColumnKind.STRING: pa.string(),
            ColumnKind.EXPRESSION: pa.string(),
        }
        fields = [
            pa.field(self._columns[low].name, types[kind], metadata={_META: kind.value}) for low, kind in kinds.items()
        ]
        schema = pa.schema([*fields, pa.field(_ODD, self._map, metadata={_META: ColumnKind.ODD.value})])
        with pa.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            group, rows, size = [], 0, 0
            for _ in range(self._batches):
                with pa.ipc.open_stream(spool) as stream:
                    [batch] = stream  # to its end, where the next one begins
                typed = self._typed(batch, kinds, schema)
                group.append(typed)
                rows, size = rows + typed.num_rows, size + typed.nbytes
                if rows >= _ROWS or size >= _BYTES:
                    writer.write_table(pa.Table.from_batches(group, schema))
                    group, rows, size = [], 0, 0
            if group:
                writer.write_table(pa.Table.from_batches(group, schema))

    def _typed(self, batch: pa.RecordBatch, kinds: dict[str, ColumnKind], schema: pa.Schema) -> pa.RecordBatch:
        """Return a batch of texts as columns of their kinds."""
        pa, pc = self._pa, self._pa.compute
        odd: list[list[tuple[str, str]]] = [list(each) for each in batch.column(_ODD).to_pylist()]
        place = {name: at for at, name in enumerate(batch.schema.names)}
        arrays = []
        for (low, kind), field in zip(kinds.items(), schema, strict=False):
            at = place.get(low)
            if at is None:
                arrays.append(pa.nulls(batch.num_rows, field.type))
                continue
            held = batch.column(at)
            is_encoded = pa.types.is_dictionary(held.type)
            texts = held.dictionary if is_encoded else held
            values, others = self._values(texts, kind, field.type)
            arrays.append(pc.take(values, held.indices) if is_encoded else values)
            if others:
                is_other = pa.array([each in others for each in range(len(texts))], pa.bool_())
                if is_encoded:
                    is_other = pc.fill_null(pc.take(is_other, held.indices), fill_value=False)
                for row in pc.indices_nonzero(is_other).to_pylist():
                    odd[row].append((field.name, held[row].as_py()))
        arrays.append(pa.array(odd, self._map))
        return pa.record_batch(arrays, schema=schema)

    def _values(self, texts: pa.Array, kind: ColumnKind, type_: pa.DataType) -> tuple[pa.Array, set[int]]:
        """Return the values of texts in a column of a kind, and the places of those that it does not hold exactly."""
        pa, pc = self._pa, self._pa.compute
        if kind is ColumnKind.EXPRESSION:
            return texts, set()
        plain = pc.match_substring_regex(texts, _PATTERNS[kind])
        sure = pc.if_else(plain, texts, pa.scalar(None, pa.string()))
        if kind is ColumnKind.STRING:
            values = pc.utf8_slice_codeunits(sure, 1, -1)
        else:
            values = pc.equal(sure, "true") if kind is ColumnKind.BOOLEAN else pc.cast(sure, type_)
        if values.null_count == texts.null_count:
            return values, set()
        found, others = values.to_pylist(), set()
        for at, (text, value) in enumerate(zip(texts.to_pylist(), found, strict=True)):
            if value is None and text is not None:
                constant = _constant(text)
                is_exact = _KINDS.get(type(constant)) is kind
                if is_exact:
                    found[at] = constant
                elif kind is ColumnKind.REAL and type(constant) is int:
                    found[at] = float(constant)
                if not is_exact:
                    others.add(at)
        return pa.array(found, type_), others


def _text(code: Code | str) -> str:
    """Return an expression's text; a real has all its digits."""
    if isinstance(code, str):
        return code
    tree = code_tree(code)
    value = tree.value if isinstance(tree, Literal) else None
    return repr(value) if isinstance(value, float) and isfinite(value) else unparse(tree)


def _clean(text: str) -> str:
    """Return a text with octal escapes for bytes that are not UTF-8."""
    return text if text.isascii() else _NO_UTF8.sub(lambda byte: f"\\{ord(byte[0]) - 0xDC00:03o}", text)


def _kind_of(text: str) -> ColumnKind:
    return _KINDS.get(type(_constant(text)), ColumnKind.EXPRESSION)


def _constant(text: str) -> object:
    """Return the value of a text that is a literal which Parquet can hold, else None."""
    if not _LITERAL.match(text):
        return None
    try:
        tree = code_tree(text)
    except ClassAdSyntaxError:
        return None
    value = tree.value if isinstance(tree, Literal) else None
    if isinstance(value, str):
        return None if _NO_UTF8.search(value) else value
    if isinstance(value, int):
        return value if -(1 << 63) <= value < 1 << 63 else None
    return value if isinstance(value, float) and isfinite(value) else None


# Reading


class _ReadColumn(NamedTuple):
    """A column of a file: the attribute's name, as spelled and in lower case, and the kind of its values."""

    name: str
    low: str
    kind: ColumnKind


def read_parquet(file: IO[bytes], *, name: str = "<parquet>", report: Report | None = None) -> Iterator[ClassAd]:
    """Yield the ads of a Parquet file opened for bytes, with about a thousand of them in memory.

    A file that cannot seek is copied to a temporary one first. Columns of other writers are taken by their types. A
    text that is no expression raises ClassAdSyntaxError; if ``report`` is given it is called instead, and the
    attribute is left out. Raises MissingArrow, and InvalidParquet for a file that is not Parquet or has a column that
    cannot be an attribute.
    """
    pa = _arrow()
    with ExitStack() as stack:
        if not file.seekable():
            copy = stack.enter_context(tempfile.TemporaryFile())
            copyfileobj(file, copy)
            file = copy
        try:
            whole = pa.parquet.ParquetFile(file, pre_buffer=False)
            columns = [_read_column(pa, field, name) for field in whole.schema_arrow]
            for batch in whole.iter_batches(_FEW, use_threads=False):  # each thread would hold a column more
                yield from _ads(pa, batch, columns, report)
        except (pa.ArrowException, OSError) as error:
            raise InvalidParquet(Diagnostic("parquet-file", f"{name} cannot be read as Parquet: {error}")) from error


def _read_column(pa: ModuleType, field: pa.Field, file: str) -> _ReadColumn:
    """Return a column as an attribute. Raises InvalidParquet."""
    is_ = pa.types
    by_type = (
        (is_.is_map, ColumnKind.ODD),
        (is_.is_integer, ColumnKind.INTEGER),
        (is_.is_floating, ColumnKind.REAL),
        (is_.is_boolean, ColumnKind.BOOLEAN),
        (is_.is_string, ColumnKind.STRING),
        (is_.is_large_string, ColumnKind.STRING),
    )
    kind = next((kind for test, kind in by_type if test(field.type)), None)
    if kind is ColumnKind.STRING and (field.metadata or {}).get(_META) == ColumnKind.EXPRESSION.value.encode():
        kind = ColumnKind.EXPRESSION
    if kind is None or (kind is ColumnKind.ODD) is not (field.name == _ODD):
        message = f"{file}: the column {printable(field.name)} has the type {field.type}, which no attribute has"
        help_ = "cast it to an integer, a real, a boolean or a string, or leave it out"
        raise InvalidParquet(Diagnostic("parquet-column", message, help=help_))
    if kind is not ColumnKind.ODD:
        checked_name(field.name)
    return _ReadColumn(field.name, lower(field.name), kind)


def _ads(pa: ModuleType, batch: pa.RecordBatch, columns: list[_ReadColumn], report: Report | None) -> Iterator[ClassAd]:
    """Yield the ads of a batch."""
    rows: list[dict[str, Code | str]] = [{} for _ in range(batch.num_rows)]
    spelled = {column.low: column.name for column in columns}
    for column, array in zip(columns, batch.columns, strict=True):
        if column.kind is ColumnKind.ODD:
            for row, pairs in zip(rows, array.to_pylist(), strict=True):
                for key, text in pairs or ():
                    if _is_expression(key, text, report):
                        spelled.setdefault(lower(key), key)
                        row[lower(key)] = text
        elif array.null_count < len(array):
            is_checked = column.kind is ColumnKind.EXPRESSION
            for row, text in zip(rows, _printed(pa, array, column.kind), strict=True):
                if text is not None and (not is_checked or _is_expression(column.name, text, report)):
                    row[column.low] = text
    names: dict[tuple[str, ...], Spelling] = {}
    for row in rows:
        keys = tuple(row)
        names[keys] = names.get(keys) or Spelling({low: spelled[low] for low in keys})
        yield ClassAd.of(row, names[keys])


def _is_expression(name: str, text: str, report: Report | None) -> bool:
    """Return whether an ad can have an attribute; reports why not. Raises ClassAdSyntaxError without a report."""
    if shapes.is_expression(text) and name.isidentifier():
        return True
    try:
        checked_name(name)
        read(text)
    except ClassAdSyntaxError as problem:
        if report is None:
            raise
        tell(problem, report)
        return False
    return True


def _printed(pa: ModuleType, array: pa.Array, kind: ColumnKind) -> list[str | None]:
    """Return the values of a column as texts in new syntax."""
    pc = pa.compute
    if kind is ColumnKind.INTEGER:
        return list(pc.cast(array, pa.string()).to_pylist())
    if kind is ColumnKind.STRING and pc.all(pc.match_substring_regex(array, r"^[ !#-\[\]-~]*$")).as_py():
        quote = pa.scalar('"', array.type)
        return list(pc.binary_join_element_wise(quote, array, quote, "").to_pylist())
    values = array.to_pylist()
    if kind is ColumnKind.EXPRESSION:
        return list(values)
    if kind is ColumnKind.REAL:  # all digits: those that HTCondor prints may give another real
        return [repr(each) if each is not None and isfinite(each) else _print(each) for each in values]
    return list(map(_print, values))


def _print(value: Constant | None) -> str | None:
    return None if value is None else print_constant(value)
