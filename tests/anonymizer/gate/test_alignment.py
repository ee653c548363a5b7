"""Whether the rows of a release are in the order of the original."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anonymizer.gate.alignment import in_input_order
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

ROWS = 400
ORDERS = 300


def of_two_values(order) -> Table:
    return Table.of(pd.DataFrame({"sex": np.where(np.arange(ROWS) % 20 < 11, "f", "m")[order]}))


def test_the_order_of_the_original_is_seen_by_a_column_of_two_values():
    original = of_two_values(np.arange(ROWS))
    assert in_input_order(original, of_two_values(np.arange(ROWS)))
    some = np.arange(ROWS)
    some[::3] = some[::3][::-1]  # a third of the rows elsewhere
    assert in_input_order(original, of_two_values(some))


def test_orders_by_chance_are_not_taken_for_it():
    """An alarm has a probability below 1e-6: the excess is a square with one degree of freedom, and has to be
    three times the largest of a thousand."""
    original, random = of_two_values(np.arange(ROWS)), Randomness(5)
    assert not any(in_input_order(original, of_two_values(random.permutation(ROWS))) for _ in range(ORDERS))


def test_a_release_that_lies_far_out_by_chance_is_judged_by_many_orders():
    """Four standard deviations in a column of two values come of one order in some thousands."""
    half = ROWS // 2
    first = np.repeat(["f", "m"], half)
    moved = np.roll(first, half // 2 - 19)  # 19 rows more than by chance are alike on either side
    original, released = (Table.of(pd.DataFrame({"sex": one})) for one in (first, moved))
    assert not any(in_input_order(original, released) for _ in range(20))
