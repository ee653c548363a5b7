"""Reading a data set ends between two batches when nobody wants it any more."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomli_w

from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.loading.loading import load
from parties.catalog.sources.batch import ROWS
from smc.errors import Cancelled
from smc.pieces import asking

COUNT = 5 * ROWS
PEOPLE = {
    "person": "name",
    "columns": {"name": {"type": "text"}, "age": {"type": "integer", "lower": 0, "upper": 99}},
}


class Question:
    """Counts how often it is asked, and says no from a given time on."""

    def __init__(self, last: int = 1 << 62) -> None:
        self.times = 0
        self._last = last

    def __call__(self) -> None:
        self.times += 1
        if self.times >= self._last:
            raise Cancelled("Nobody wants it any more.")


def csv_file(folder: Path) -> str:
    rows = "".join(f"P{row},{row % 100}\n" for row in range(COUNT))
    (folder / "people.csv").write_text(f"name,age\n{rows}")
    return "people.csv"


def parquet_file(folder: Path) -> str:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    cells = {"name": [f"P{row}" for row in range(COUNT)], "age": [row % 100 for row in range(COUNT)]}
    parquet.write_table(pa.table(cells), folder / "people.parquet")
    return "people.parquet"


@pytest.mark.parametrize("source", [csv_file, parquet_file])
def test_it_is_asked_before_each_batch_and_while_persons_are_hashed(tmp_path, source):
    catalog = {"datasets": {"people": {"source": source(tmp_path), **PEOPLE}}}
    path = tmp_path / "catalog.toml"
    path.write_text(tomli_w.dumps(catalog))
    people = load_catalog(path).dataset("people")
    every = Question()
    with asking(every):
        assert load(people, ["age"], secret=bytes(16)).rows == COUNT
    assert every.times >= 2 * COUNT // ROWS
    for last in (1, 3, every.times):
        question = Question(last)
        with asking(question), pytest.raises(Cancelled):
            load(people, ["age"], secret=bytes(16))
        assert question.times == last
