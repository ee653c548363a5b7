"""An export as hospitals in Japan write it is drafted and loaded, row for row."""

from __future__ import annotations

import csv
import io
from datetime import date, timedelta

import pytest

from parties.catalog.drafting.adding import Asked, draft_addition
from parties.catalog.drafting.sniffing import infer
from parties.catalog.loading.loading import load
from tests.support.exports import COUNT, japanese

WIDE = str.maketrans("０１２３４５６７８９．", "0123456789.")


@pytest.fixture
def table():
    return japanese(1)


@pytest.fixture
def added(tmp_path, table):
    path = tmp_path / "kanja.csv"
    path.write_bytes(table)
    return draft_addition(tmp_path / "catalog.toml", Asked(source=str(path)))


def test_every_column_is_what_it_holds(added):
    found = {name: one.column.type for name, one in added.draft.columns.items() if one.is_chosen}
    dates = dict.fromkeys(("生年月日", "入院日", "退院日時"), "date")
    numbers = {"年齢（歳）": "integer", "体重（ｋｇ）": "decimal", "クレアチニン(mg/dL)": "decimal"}
    assert found == dates | numbers | {"性別": "category", "医療費（円）": "integer"}
    assert 'date_format = "%EC%Ey.%m.%d %H:%M"' in added.entry
    assert added.draft.rows == COUNT


def test_every_cell_is_read(added, table):
    rows = [*csv.reader(io.StringIO(table.decode("cp932")))][1 : COUNT + 1]
    kept = [row for row in rows if row[7] != "未測定"]
    held = load(added.dataset, ["年齢（歳）", "体重（ｋｇ）", "入院日", "退院日時"]).columns
    assert held["年齢（歳）"].values.tolist() == [int(row[5].translate(WIDE)) for row in kept]
    assert held["体重（ｋｇ）"].values.tolist() == [round(10 * float(row[7].translate(WIDE))) for row in kept]
    assert held["入院日"].values.tolist() == held["退院日時"].values.tolist()
    first = date(1970, 1, 1) + timedelta(int(held["入院日"].values[0]))
    assert kept[0][4].startswith(f"{'RH'[first < date(2019, 5, 1)]}")
    assert (first.month, first.day) == tuple(int(part) for part in kept[0][4][4:9].split("."))


def test_codes_that_look_like_years_of_eras_are_dates_in_no_other_column():
    cells = {f"S{n}.{1 + n % 9}.{1 + n % 20}": 1 for n in range(10, 60)}
    assert infer("Kode", cells).column.type == "text"
    assert infer("入院日", cells).column.type == "date"
    assert infer("Kode", cells, wanted="date").column.type == "date"
