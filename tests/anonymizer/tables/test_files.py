"""Tables in files: what is read is what was written, and an output is whole or absent."""

from __future__ import annotations

import pandas as pd
import pytest

from anonymizer.errors import FileError, TableError
from anonymizer.tables import files

FRAME = pd.DataFrame(
    {
        "zip": ["01234", "80331", None],
        "age": [30, 0, -4],
        "part": [0.5, 0.25, None],
        "city": ["é;", "?", "NA"],
    }
)


def whole(tables) -> pd.DataFrame:
    return pd.concat(one.converted(one.names).frame.to_pandas() for one in tables)


@pytest.mark.parametrize("ending", files.ENDINGS)
@pytest.mark.parametrize("rows", [0, 2])
def test_what_is_read_is_what_was_written(tmp_path, ending, rows):
    path = tmp_path / f"table{ending}"
    files.write(FRAME, path)
    again = whole(files.tables(path, rows)) if rows else files.read(path)
    assert again["zip"].tolist()[:2] == ["01234", "80331"]
    assert again["zip"].isna().tolist() == [False, False, True]
    assert again["age"].tolist() == [30, 0, -4]
    assert again["part"].tolist()[:2] == [0.5, 0.25]
    assert again["city"].tolist() == ["é;", "?", "NA"]
    assert [str(again[name].dtype.kind) for name in ("age", "part")] == ["i", "f"]


def test_an_output_that_fails_is_absent_and_leaves_the_old_one(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    broken = iter([FRAME, None])

    def write():
        with files.append_to(path) as append:
            for frame in broken:
                append(frame)

    with pytest.raises(TableError):
        write()
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]
    assert path.read_text() == "old"


def test_what_cannot_be_read_is_named(tmp_path):
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(FileError, match="is empty"):
        files.read(tmp_path / "empty.csv")
    (tmp_path / "no.parquet").write_text("no")
    with pytest.raises(FileError, match="cannot be read"):
        files.read(tmp_path / "no.parquet")
    with pytest.raises(FileError, match="unknown kind"):
        files.read(tmp_path / "table.doc")
    with pytest.raises(FileError, match="cannot be written"):
        files.write(FRAME, tmp_path / "nowhere" / "out.csv")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("age,zip,age\n1,2,3\n", "two columns 'age'"),
        ("*,zip\n1,2\n", r"a column '\*', which stands for several"),
        ("age,^a.*$\n1,2\n", "stands for several"),
        ("age,zip\n1,2,3\n4,5,6\n", "row 1: 3 cells, the first line names 2"),
    ],
)
def test_a_first_line_that_does_not_name_the_columns_is_refused(tmp_path, text, word):
    path = tmp_path / "table.csv"
    path.write_text(text)
    for read in (files.read, lambda place: list(files.tables(place, 1))):
        with pytest.raises(TableError, match=word):
            read(path)


def test_other_encodings_are_named(tmp_path):
    (tmp_path / "table.csv").write_bytes("city\nKöln\n".encode("latin-1"))
    with pytest.raises(FileError, match="not in UTF-8"):
        files.read(tmp_path / "table.csv")
