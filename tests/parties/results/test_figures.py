"""Figures as people read them: no digit is lost, and no interval is written shorter than it is."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parties.results.figures import date_text, estimate_in_cells, number, number_text


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ((5461, 5452, 5470), "5461 ± 9"),
        ((52.4137123, 52.1387, 52.6887), "52.41 ± 0.28"),
        (("73.0", "71.5", "76.0"), "73.0 [71.5, 76.0]"),
        (("73.0", "73.0", "73.0"), "73"),
        ((0.95, -1.0, 1.0), "0.950 [-1.000, 1.000]"),
        ((None, 0, 20_000), "- [0, 20000]"),
        ((None, None, None), "-"),
        ((12345678.9, 12000000.0, 12691357.8), "12345679 ± 345679"),
        ((1e-9, 0.5e-9, 1.5e-9), "0.00000000100 ± 0.00000000050"),
        ((10**30, 10**30 - 7, 10**30 + 7), f"{10**30} ± 7"),
    ],
)
def test_values_with_their_intervals(cells, text):
    assert estimate_in_cells(*cells).text() == text


def test_dates_with_their_intervals():
    assert estimate_in_cells(5000.3, 4990.3, 5010.3, is_date=True).text("+-") == "1983-09-10 +- 10 days"
    assert estimate_in_cells(0, -1, 400, is_date=True).text() == "1970-01-01 [1969-12-31, 1971-02-05]"
    assert date_text(-10907) == "1940-02-21"
    assert date_text(10**9) == "1000000000"


@pytest.mark.parametrize("cells", [("a", 1, 2), (float("nan"), 1, 2), (1, True, 2), (1, "1e400", 2)])
def test_what_is_no_figure(cells):
    assert estimate_in_cells(*cells) is None


def test_numbers_of_cells():
    assert number("2/7") == Fraction(2, 7)
    assert number("-12.50") == Fraction(-25, 2)
    assert [number(cell) for cell in ("", "1/0", "a", None, True, "1e9", "١")] == [None] * 7
    assert [number_text(cell) for cell in (3.0, 1234567.8, 0.000012345678, 1e300, "2/7", 10**20)] == [
        *("3", "1234568", "1.23457e-05", "1e+300", "2/7", "1" + "0" * 20),
    ]


@given(st.integers(-(10**12), 10**12), st.integers(1, 10**9), st.integers(0, 6))
def test_what_is_written_covers_the_interval(value, half, digits):
    """Up to the rounding of the last digit that is shown."""
    unit = 10**digits
    one = estimate_in_cells(value / unit, (value - half) / unit, (value + half) / unit)
    middle, width = one.text().split(" ± ")
    grain = 10.0 ** -(len(width.split(".")[1]) if "." in width else 0)
    assert float(width) >= half / unit - grain
    assert abs(float(middle) - value / unit) <= grain
