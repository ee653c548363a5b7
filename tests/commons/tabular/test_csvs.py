"""CSV files whose first lines are not the names of their columns."""

from __future__ import annotations

import pytest

from commons.tabular.csvs import CsvFile
from commons.tabular.dialect import Dialect


def file(path, text, delimiter=""):
    path.write_text(text, encoding="utf-8")
    return CsvFile(path, lambda what, _: ValueError(what), Dialect(delimiter))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Export;;\nof 1 November;;\n\nnumber;age;weight\n1;2;3\n", 4),
        ("Export;;\nnumber;age;weight\n1;2;3\n", 2),
        ("Export\n\n\nnumber;age\n1;2\n", 4),
    ],
)
def test_a_title_above_the_names_is_told_and_where_they_stand(tmp_path, text, line):
    with pytest.raises(ValueError, match=f"seem to stand in line {line}"):
        file(tmp_path / "x.csv", text, ";").header()


@pytest.mark.parametrize(
    "text", ["age\n1\n2\n", ";x\n1;5\n", "age;\n1;2\n", "name;\nAnna;5\n", "number;age\n1;2\n", "x;y\nb;c\n"]
)
def test_names_of_columns_are_no_title(tmp_path, text):
    assert file(tmp_path / "x.csv", text, ";").header().names
