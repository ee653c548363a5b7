"""The prices on the page of secret numbers are those of runs over shapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from smc.numeric.shape_arrays import shape_array
from smc.secret.orders.order import Order
from smc.secret.reals.definite import Definite
from smc.secret.reals.fixed_rows import FixedRows, RowsLayout
from smc.secret.reals.functions import SIGMOID
from tests.smc.secret.reals.sharing import cost_of_trace, reals

PAGE = Path(__file__).parents[4] / "docs" / "secret-numbers.md"


def price(program, *secrets):
    """Bytes of both directions and rounds, without the set-up of transfers."""
    found, setup = cost_of_trace(program, *secrets), cost_of_trace(lambda *own: None, *secrets)
    return sum(found[:2]) - sum(setup[:2]), found[2] - setup[2]


def numbers(count, lower, upper, scale):
    return lambda session: reals(session, np.ones(count), lower, upper, scale)


def stated(count):
    """What stating and testing a range adds to an opening."""
    secret = numbers(count, -8, 8, 20)
    tested = price(lambda x: x.within(-1, 1).reveal(), secret)
    plain = price(lambda x: x.reveal(), secret)
    return tested[0] - plain[0], tested[1] - plain[1]


ROWS = 16_384
ORDERED = 10_000


def ordered(columns):
    """What an order of secret keys takes, and bringing so many columns into it."""

    def program(keys):
        found = Order.of(keys.ints)
        if columns:
            found.apply(*[keys.ints] * columns)

    return price(program, numbers(ORDERED, 0, 4095, 0))


def brought(columns):
    """The columns alone."""
    whole, order = ordered(columns), ordered(0)
    return whole[0] - order[0], whole[1] - order[1]


def rows(session):
    """As many rows, of four columns of Alice, one of Bob and four shared ones."""
    layout = RowsLayout(ROWS, 4, 1, 4, 10, 9)
    own = shape_array((ROWS, layout.count_owned(session.role)), np.int64)
    return FixedRows(session, layout, own, shape_array((ROWS, 4), np.uint64))


def grams(weights, times):
    held = rows(weights.session)
    for _ in range(times):
        held.gram(weights)


def test_the_fixed_part_of_a_gram_is_paid_once():
    first, both = (price(lambda w, n=n: grams(w, n), numbers(ROWS, -1, 1, 12)) for n in (1, 2))
    assert both[0] - first[0] == pytest.approx(8_220_000, rel=0.015)
    assert both[1] - first[1] == 4
    assert "each further time 8.22 MB" in PAGE.read_text(encoding="utf-8")


MATRIX = lambda session: reals(session, np.eye(9), -1, 1, 20)  # noqa: E731
FEW, MANY = 100, 8_000
MEASURED = {
    "product of few": lambda: price(lambda x: x * x[::-1], numbers(FEW, 0, 1, 24)),
    "product of many": lambda: price(lambda x: x * x[::-1], numbers(MANY, 0, 1, 24)),
    "quotient of few": lambda: price(lambda n: n.over(n, 24), numbers(FEW, 1, 200_000, 0)),
    "quotient of many": lambda: price(lambda n: n.over(n, 24), numbers(MANY, 1, 200_000, 0)),
    "reciprocal": lambda: price(lambda n: n.reciprocal(44), numbers(10_000, 1, (1 << 20) - 1, 0)),
    "equations": lambda: price(lambda h, v: Definite.of(h).solve(v, 1), MATRIX, numbers(9, -1, 1, 20)),
    "statements": lambda: stated(1_000),
    "order": lambda: ordered(0),
    "columns": lambda: brought(4),
    "sigmoid": lambda: price(SIGMOID.at, numbers(ROWS, -4, 4, 20)),
    "predictor": lambda: price(lambda b: rows(b.session).predictor(b, 32), numbers(9, -4, 4, 16)),
    "transposed": lambda: price(lambda r: rows(r.session).transposed(r), numbers(ROWS, -1, 1, 20)),
    "gram": lambda: price(lambda w: grams(w, 1), numbers(ROWS, -1, 1, 12)),
}
SHOWN = {
    "product of few": ("a product, 24 bits", "1,880", FEW, 1_880, 9),
    "product of many": ("a product, 24 bits", "from 8,000 on 440", MANY, 440, 9),
    "quotient of few": ("a quotient that is at most 1", "12,900", FEW, 12_900, 35),
    "quotient of many": ("a quotient that is at most 1", "from 8,000 on 4,500", MANY, 4_500, 35),
    "reciprocal": ("a reciprocal of counts below a million", "2,840", 10_000, 2_840, 34),
    "equations": ("9 equations", "0.93 MB", 1, 930_000, 183),
    "statements": ("statements, all together", "450 a number", 1_000, 450, 14),
    "order": ("the order of 10,000 secret numbers", "5,560", ORDERED, 5_560, 135),
    "columns": ("4 columns of these rows", "1,590 a row", ORDERED, 1_590, 2),
    "sigmoid": ("the sigmoid, 16,384 numbers", "329", ROWS, 329, 4),
    "predictor": ("X b of 16,384 rows", "1.62 MB", 1, 1_620_000, 2),
    "transposed": ("X' r of these rows", "2.54 MB", 1, 2_540_000, 2),
    "gram": ("X' diag(w) X of these rows", "15.4 MB", 1, 15_400_000, 6),
}


@pytest.mark.parametrize("name", MEASURED)
def test_a_price_of_the_page_is_measured(name):
    row, text, count, size, rounds = SHOWN[name]
    (line,) = [each for each in PAGE.read_text(encoding="utf-8").splitlines() if row in each]
    assert text in line
    assert line.endswith((f"| {rounds} |", f"| {rounds}, then 4 |"))
    found = MEASURED[name]()
    assert found[0] / count == pytest.approx(size, rel=0.015)
    assert rounds - 1 <= found[1] <= rounds  # many at once take a round less than few
