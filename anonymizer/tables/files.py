"""Tables in files: CSV and Parquet, read whole or by chunks, written whole or not at all."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pandas as pd

from anonymizer.errors import FileError, TableError

ENDINGS: Final = (".csv", ".csv.gz", ".parquet")
"""The files that are read and written, by the ends of their names."""

_ROWS: Final = 100_000

_CSV: Final[dict[str, Any]] = {
    "keep_default_na": False,
    "na_values": [""],
    "skipinitialspace": True,
    "low_memory": False,
}


def read(path: str | Path) -> pd.DataFrame:
    """Read a table.

    In CSV only empty cells are missing: `?` and `NA` are values like others. A column in which a number has
    leading zeros holds codes, such as postcodes, and is read as texts.

    Raises:
        FileError: the file cannot be read, or is of another kind.
        TableError: it has no columns, two of one name, or rows with more cells than there are columns.
    """
    place = Path(path)
    kind = _kind(place)
    try:
        if kind == ".parquet":
            return pd.read_parquet(place)
        _headed(place)
        frame = pd.read_csv(place, **_CSV)
        codes = _codes(place, list(frame.select_dtypes("number")))
        return pd.read_csv(place, dtype=dict.fromkeys(codes, "str"), **_CSV) if codes else frame
    except pd.errors.EmptyDataError:
        raise TableError(f"{place} is empty.", "Write a line with the names of the columns.") from None
    except (OSError, UnicodeDecodeError, ValueError) as problem:
        raise FileError(f"{place} cannot be read: {_reason(problem)}.", "Check the file.") from None


def write(frame: Any, path: str | Path) -> None:
    """Write a frame of pandas or Polars; the file is whole or absent.

    Raises:
        FileError: it cannot be written.
    """
    table = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
    if _kind(Path(path)) == ".parquet":
        _whole(Path(path), lambda part: table.to_parquet(part, index=False))
    else:
        _whole(Path(path), lambda part: table.to_csv(part, index=False))


def chunks(path: str | Path, rows: int) -> Iterator[pd.DataFrame]:
    """Read a table by chunks of at most `rows` rows; a column has one dtype in all of them.

    A CSV file is read twice: the first time for the dtypes.

    Raises:
        FileError: as `read`.
        TableError: as `read`.
    """
    place = Path(path)
    kind = _kind(place)
    try:
        if kind == ".parquet":
            yield from _batches(place, rows)
        else:
            _headed(place)
            with pd.read_csv(place, dtype=_dtypes(place, rows), chunksize=rows, **_CSV) as reader:
                yield from reader
    except pd.errors.EmptyDataError:
        raise TableError(f"{place} is empty.", "Write a line with the names of the columns.") from None
    except (OSError, UnicodeDecodeError, ValueError) as problem:
        raise FileError(f"{place} cannot be read: {_reason(problem)}.", "Check the file.") from None


@contextmanager
def appended(path: str | Path) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Write a table part by part: it appears when all parts are written, and not if anything fails.

    Raises:
        FileError: it cannot be written.
    """
    kind = _kind(Path(path))
    with _replacing(Path(path)) as part, ExitStack() as opened:
        yield _parquet_parts(part, opened) if kind == ".parquet" else _csv_parts(part, kind, opened)


def write_text(text: str, path: str | Path) -> None:
    """Write a text, whole or not at all.

    Raises:
        FileError: it cannot be written.
    """
    _whole(Path(path), lambda part: part.write_text(text, encoding="utf-8"))


def _headed(path: Path) -> None:
    """Check that the first line names the columns: each once, and as many as the first row has cells.

    Raises:
        TableError: it does not.
    """
    start = pd.read_csv(path, header=None, nrows=1, dtype="str", **_CSV)
    names = start.iloc[0].dropna().tolist()
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"{path} has two columns {name!r}.", "Rename one.")
    if not isinstance(pd.read_csv(path, nrows=1, dtype="str", **_CSV).index, pd.RangeIndex):
        raise TableError(f"{path} has more cells in a row than columns in the first line.", "Name them all.")


def _dtypes(path: Path, rows: int) -> dict[str, str]:
    """Of each column the dtype that holds all its cells: what `read` would find."""
    found: dict[str, set[str]] = {}
    with pd.read_csv(path, chunksize=rows, **_CSV) as reader:
        for chunk in reader:
            for column in chunk.columns:
                cells = chunk[column]
                kinds = found.setdefault(column, set())
                if cells.isna().any():
                    kinds.add("missing")
                if cells.notna().any():
                    kinds.add(cells.dtype.kind)
    dtypes = {column: _joined(kinds) for column, kinds in found.items()}
    numeric = [column for column, dtype in dtypes.items() if dtype in ("int64", "float64")]
    return dtypes | dict.fromkeys(_codes(path, numeric), "str")


def _codes(path: Path, numeric: list[str]) -> list[str]:
    """The columns among the numeric ones in which a number has leading zeros."""
    left, found = numeric, []
    while left:
        with pd.read_csv(path, dtype="str", usecols=left, chunksize=_ROWS, **_CSV) as reader:
            padded = next((c for chunk in reader for c in chunk if _is_padded(chunk[c])), None)
        if padded is None:
            break
        found.append(padded)
        left = [column for column in left if column != padded]
    return found


def _is_padded(cells: pd.Series[str]) -> bool:
    return bool(cells.str.match(r"-?0\d", na=False).any())


def _joined(kinds: set[str]) -> str:
    if kinds == {"i"}:
        return "int64"
    if kinds == {"b"}:
        return "bool"
    return "float64" if kinds <= {"i", "f", "missing"} else "str"


def _batches(path: Path, rows: int) -> Iterator[pd.DataFrame]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=rows):
            yield pa.Table.from_batches([batch]).to_pandas(types_mapper=pd.ArrowDtype)


def _csv_parts(part: Path, kind: str, opened: ExitStack) -> Callable[[pd.DataFrame], None]:
    opener = gzip.open if kind.endswith(".gz") else open
    file: Any = opened.enter_context(opener(part, "wt", encoding="utf-8", newline=""))
    heads = [True]

    def append(frame: pd.DataFrame) -> None:
        frame.to_csv(file, index=False, header=bool(heads))
        heads.clear()

    return append


def _parquet_parts(part: Path, opened: ExitStack) -> Callable[[pd.DataFrame], None]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writers: list[Any] = []

    def append(frame: pd.DataFrame) -> None:
        schema = writers[0].schema if writers else None
        table = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
        if not writers:
            writers.append(opened.enter_context(pq.ParquetWriter(part, table.schema)))
        writers[0].write_table(table)

    return append


def _kind(path: Path) -> str:
    for ending in ENDINGS:
        if path.name.lower().endswith(ending):
            return ending
    raise FileError(f"{path} is of an unknown kind.", f"Use a name that ends in {', '.join(ENDINGS)}.")


def _whole(path: Path, save: Callable[[Path], Any]) -> None:
    with _replacing(path) as part:
        save(part)


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A file beside the wanted one, which takes its name at the end if all went well."""
    try:
        handle, name = tempfile.mkstemp(prefix=".", suffix=path.name, dir=path.parent)
    except OSError as problem:
        raise FileError(f"{path} cannot be written: {problem.strerror}.", "Check the folder.") from None
    os.close(handle)
    part = Path(name)
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.chmod(0o666 & ~_umask())
        part.replace(path)
    except OSError as problem:
        raise FileError(f"{path} cannot be written: {problem.strerror}.", "Check folder and disk.") from None
    finally:
        part.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _reason(problem: Exception) -> str:
    if isinstance(problem, UnicodeDecodeError):
        return "it is not in UTF-8"
    return getattr(problem, "strerror", None) or str(problem).splitlines()[0][:200].rstrip(".")
