"""CSV as texts: every cell is read as it stands, and written as it stands.

Rows must have as many cells as the first line has names, quoted cells must end, and only what is stated as
missing is missing. Arrow reads, since it counts cells; Polars holds them.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import polars as pl
import pyarrow as pa
import pyarrow.csv as pc

from anonymizer.errors import FileError, TableError
from anonymizer.tables.headers import name_columns
from anonymizer.tables.parquet import plain, texts
from commons.tabular.csvs import CsvFile
from commons.tabular.dialect import PLAIN, Dialect

_BLOCK: Final = 1 << 24
"""Bytes that are looked at together; a row must fit."""
_ROWS: Final = 1 << 16


def read(path: Path, dialect: Dialect) -> pl.DataFrame:
    """A whole file, all columns as texts.

    Raises:
        FileError: it cannot be read, or not in this dialect; says which entry of `[csv]` to write.
        TableError: its first line does not name the columns, or a row has too few or too many cells.
    """
    file = source_of(path, dialect)
    with _explain_errors(file):
        names, filled, above = _header(file)
        if not filled:
            return pl.DataFrame(schema=dict.fromkeys(names, pl.String))
        with _stream(file) as source, _locate_errors(file, names, above):
            found = pc.read_csv(source, *_options(names, dialect, above))
        _check_closed(file, found)
        return _to_frame(file, found)


def batches(path: Path, rows: int, dialect: Dialect) -> Iterator[pl.DataFrame]:
    """The same by at most `rows` rows at a time."""
    file = source_of(path, dialect)
    with _explain_errors(file):
        names, filled, above = _header(file)
        if not filled:
            return
        held: list[pa.RecordBatch] = []
        with _stream(file) as source, _locate_errors(file, names, above):
            for batch in pc.open_csv(source, *_options(names, dialect, above)):
                held.append(batch)
                if sum(map(len, held)) < rows:
                    continue
                table = pa.Table.from_batches(held)
                whole = len(table) // rows * rows
                for start in range(0, whole, rows):
                    yield _to_frame(file, table.slice(start, rows))
                held = table.slice(whole).to_batches()
        if held:
            table = pa.Table.from_batches(held)
            _check_closed(file, table)
            yield _to_frame(file, table)


def source_of(path: Path, dialect: Dialect = PLAIN) -> CsvFile:
    """A file of a specification, as it is opened."""
    return CsvFile(path, FileError, dialect, str(path), "the specification", "csv")


def _header(file: CsvFile) -> tuple[list[str], bool, int]:
    """The names of the columns, whether a row follows them, and how many lines stand above them."""
    found = file.header()
    if found.blank:
        raise TableError(f"{file.path}: the first line is blank.", "Let it name the columns.")
    return name_columns(file.path, found.names, "line"), found.second is not None, found.above


class CsvParts:
    """A file that is written part by part, the names of the columns once.

    Args:
        path: where.
        dialect: of the file.
        compressed: by gzip, without the time and the name of the file.
    """

    def __init__(self, path: Path, dialect: Dialect, *, compressed: bool) -> None:
        self._path = path
        self._dialect = dialect
        self._plain = path.open("wb")
        self._file: Any = (
            gzip.GzipFile(filename="", mode="wb", fileobj=self._plain, mtime=0) if compressed else self._plain
        )
        self._begun = False

    def append(self, frame: pl.DataFrame) -> None:
        """Write some more rows."""
        plain = _writable(frame, self._dialect)
        for start in range(0, max(1, len(plain)), _ROWS):
            text = plain[start : start + _ROWS].write_csv(
                include_header=not self._begun, separator=self._dialect.separator
            )
            self._file.write(self._encode(text))
            self._begun = True

    def close(self) -> None:
        """Finish the file."""
        self._file.close()
        self._plain.close()

    def _encode(self, text: str) -> bytes:
        encoding = "utf-8" if self._dialect.is_utf8 else self._dialect.encoding
        try:
            found = text.encode(encoding)
        except UnicodeEncodeError as problem:
            lacking = problem.object[problem.start : problem.start + 1]
            raise FileError(
                f"The encoding {self._dialect.encoding} lacks the character {lacking!r} of the release.",
                "Write the release as .parquet, or write the hierarchies without it.",
            ) from None
        return found.removeprefix("".encode(encoding)) if self._begun else found  # one byte order mark


def formulas(frame: pl.DataFrame) -> tuple[str, ...]:
    """The columns with a text that a spreadsheet would take for a formula (OWASP, CSV injection).

    Numbers are none, also those that are texts, such as `-1.5` and `-1/2`.
    """
    number = r"^[+-]?[0-9]+([.,][0-9]+)?([eE][+-]?[0-9]+)?(/[0-9]+)?$"
    return tuple(
        name
        for name, kind in texts(frame).schema.items()
        if kind == pl.String
        and (
            frame[name].cast(pl.String).str.contains(r"^[=+\-@\t\r\n＝＋－＠]")
            & ~frame[name].cast(pl.String).str.contains(number)
        ).any()
    )


def _writable(frame: pl.DataFrame, dialect: Dialect) -> pl.DataFrame:
    """Texts, whole numbers and what else has one form in CSV; NaN is a missing cell, and -0.0 is zero."""
    frame = plain(texts(frame))
    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    if dialect.writing.decimal != ".":
        named = [*floats, *(name for name, kind in frame.schema.items() if kind.is_decimal())]
        frame = frame.with_columns(
            pl.col(named).cast(pl.String).str.replace(".", dialect.writing.decimal, literal=True)
        )
    for name, kind in frame.schema.items():
        if kind.is_nested() or kind in (pl.Binary, pl.Duration, pl.Object) or str(kind).startswith("Map"):
            raise TableError(
                f"Column {name!r} holds {str(kind).partition('(')[0].lower()} cells, which CSV cannot hold.",
                "Write the release as .parquet.",
            )
    if frame.width == 1:  # a blank line would not be read as a row
        frame = frame.with_columns(pl.all().cast(pl.String).fill_null(""))
    return frame


def _options(
    names: list[str], dialect: Dialect, above: int, *, careful: bool = False
) -> tuple[pc.ReadOptions, pc.ParseOptions, pc.ConvertOptions]:
    return (
        pc.ReadOptions(
            column_names=names,
            skip_rows=above,
            skip_rows_after_names=1,
            encoding="utf8" if dialect.is_utf8 else dialect.encoding,
            block_size=_BLOCK,
            use_threads=not careful,
        ),
        pc.ParseOptions(
            delimiter=dialect.separator, newlines_in_values=True, ignore_empty_lines=len(names) > 1
        ),
        pc.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
            null_values=["", *dialect.writing.missing_tokens],
        ),
    )


@contextmanager
def _locate_errors(file: CsvFile, names: list[str], above: int) -> Iterator[None]:
    """Say of a row that does not fit where it stands; Arrow counts rows only if it reads one by one."""
    try:
        yield
    except pa.ArrowInvalid as problem:
        if "columns, got" not in str(problem):
            raise
        wrong: list[Any] = []

        def note(row: Any) -> str:
            wrong.append(row)
            return "error"

        reading, parsing, converting = _options(names, file.dialect, above, careful=True)
        parsing.invalid_row_handler = note
        try:
            with _stream(file) as source:
                pc.read_csv(source, reading, parsing, converting)
        except pa.ArrowInvalid:
            if not wrong:
                raise problem from None
        row = wrong[0]
        raise TableError(
            f"{file.path}, row {int(row.number) - 1}: {row.actual_columns} cells, the first line names "
            f"{row.expected_columns} columns.",
            "Correct separators and quotation marks of this row; a missing cell stands empty between two.",
        ) from None


@contextmanager
def _explain_errors(file: CsvFile) -> Iterator[None]:
    """What Arrow raises, and other readers, as an error with a hint."""
    try:
        with file.explain():
            yield
    except pa.ArrowInvalid as problem:
        text = str(problem)
        if "UTF8" in text or "UTF-8" in text:
            file.refuse_encoding()
        if "straddling" in text:
            raise FileError(
                f"{file.path} has a row of more than {_BLOCK >> 20} million characters.",
                "A quotation mark may lack its partner: correct it.",
            ) from None
        raise FileError(f"{file.path} cannot be read: {_first_line(text)}.", "Check the file.") from None


def _stream(file: CsvFile) -> Any:
    """The bytes of a file, for Arrow."""
    return pa.input_stream(str(file.path), compression="gzip" if file.is_gzip else None)


def _check_closed(file: CsvFile, table: pa.Table) -> None:
    """Check that the last cell of the table does not lack its quotation mark."""
    last = table.column(table.num_columns - 1)[-1].as_py() if len(table) else None
    if last is None or ("\n" not in last and "\r" not in last):
        return
    with file.text() as text:
        tail = ""
        while piece := text.read(_ROWS):
            tail = (tail + piece)[-_ROWS:]
    if not tail.rstrip("\r\n").endswith('"'):
        raise FileError(
            f"{file.path}: a cell that begins with a quotation mark does not end.",
            f"It begins with {last[:20]!r}: write its second quotation mark.",
        )


def _to_frame(file: CsvFile, table: pa.Table) -> pl.DataFrame:
    """The rows as a frame.

    Raises:
        TableError: a cell has the character NUL, which a catalog does not take either: programs that read
            the release may end the cell there.
    """
    found = pl.from_arrow(table)
    frame = found if isinstance(found, pl.DataFrame) else found.to_frame()
    for name in frame.columns:
        if frame[name].str.contains("\0", literal=True).any():
            raise TableError(
                f"{file.path}: a cell of column {name!r} has the character NUL.",
                "Remove it, or export the file again.",
            )
    return frame


def _first_line(text: str) -> str:
    return (text.splitlines() or ["unknown"])[0][:160].rstrip(".")
