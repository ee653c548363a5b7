"""Numbers of cards and of health insurance in cells: known by their form and their check digits."""

from __future__ import annotations

import polars as pl
import pytest

from anonymizer.gate.names import names_persons
from anonymizer.gate.views import ColumnView
from anonymizer.tables.table import Table

CARDS = ["4111111111111111", "5500005555555559", "6011000990139424"]
MY_NUMBERS = ["123456789018", "111111111118", "222222222225"]


def why(cells: list, rows: int = 60) -> str | None:
    table = Table.of(pl.DataFrame({"x1": [cells[i % len(cells)] for i in range(rows)]}))
    return names_persons(ColumnView.of(table, "x1"))


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (CARDS, "numbers of cards"),
        ([int(one) for one in CARDS], "numbers of cards"),
        (["-", "-", "-", "-", "Karte 4111 1111 1111 1111"], "numbers of cards"),
        (["3782 822463 10005", "none", "none"], "numbers of cards"),
        (["80276000001234567890", "-", "-"], "numbers of health insurance"),
        (["EHIC 80 826 99999 0000012345", "-"], "numbers of health insurance"),
        (["A123456780", "B123456782", "C123456784"], "numbers of health insurance"),
        (["1 85 05 78 006 084 91", "-", "-", "-"], "numbers of health insurance"),
        (["255081416802538", "-", "-"], "numbers of health insurance"),
        ([255081416802538, 255081416802538], "numbers of health insurance"),
        (MY_NUMBERS, "numbers of persons with check digits"),
        ([int(one) for one in MY_NUMBERS], "numbers of persons with check digits"),
        (["1234 5678 9018", "1111-1111-1118", "2222 2222 2225"], "numbers of persons with check digits"),
    ],
)
def test_numbers_with_check_digits_are_found_in_cells(cells, said):
    assert said in (why(cells) or "")


@pytest.mark.parametrize(
    "cells",
    [
        ["4111111111111112", "5500005555555558", "6011000990139425"],
        ["4006381333931", "4012345678901", "9780306406157"],
        [20260101120000, 20260102130000, 20260103140000, 20260104150000],
        [1700000000000 + i * 7919 for i in range(40)],
        [100_000_000_000 + i * 7919 for i in range(40)],
        ["A123456781", "B123456780", "C123456780"],
        [1.5, 2.25, 3.125],
        [f"{i:015d}" for i in range(185_057_800_608_400, 185_057_800_608_440)][:2],
    ],
    ids=[
        "other digits",
        "articles",
        "times",
        "milliseconds",
        "twelve digits",
        "codes",
        "decimals",
        "fifteen digits",
    ],
)
def test_other_long_numbers_are_not(cells):
    assert why(cells) is None
