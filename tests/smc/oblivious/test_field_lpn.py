"""The code of vector OLE: what its coefficients are for, and that its rows are never the same."""

from __future__ import annotations

import numpy as np
import pytest

from smc.forms import Role
from smc.oblivious.field_lpn import FIRST, PRODUCTION, FieldCode
from smc.oblivious.kernels import make_kernels
from smc.oblivious.lpn import LpnSet
from smc.oblivious.workspace import Workspace
from tests.smc.oblivious.field_sums import inverse, number, numbers, rank_over_bits
from tests.support.seeds import seeded

RANDOM = seeded()
SMALL = LpnSet(log_length=6, trees=128, depth=3, group=128)
"""k = 64, n = 1,024, bins of 8."""

FIELD = make_kernels(Workspace()).field
RESIDUALS = 150


def matrix(code, sizes):
    """The rows of the code's next block, shape (n, k, 2), from what it makes of unit vectors."""
    columns = []
    for place in range(sizes.length):
        unit = np.zeros((sizes.length, 1, 2), dtype=np.uint64)
        unit[place, 0, 0] = 1
        rows = np.zeros((sizes.block_rows, 1, 2), dtype=np.uint64)
        code._blocks = 0
        code.add(unit, rows)
        columns.append(rows[:, 0])
    return np.stack(columns, axis=1)


def instance(rows, sizes):
    """y = A s + e beside A, shape (n, k + 1, 2), e with one value in each bin."""
    secret, sums = RANDOM.words(2 * sizes.length).reshape(-1, 2), np.zeros((len(rows), 2), dtype=np.uint64)
    for place in range(sizes.length):
        FIELD.add_products(np.ascontiguousarray(rows[:, place]), secret[place], sums)
    bins = len(rows) >> sizes.depth
    places = (np.arange(bins) << sizes.depth) + (RANDOM.words(bins) % (1 << sizes.depth)).astype(np.int64)
    sums[places] ^= RANDOM.words(2 * bins).reshape(-1, 2)
    return np.concatenate([rows, sums[:, None]], axis=1)


def residuals(table):
    """What elimination over the field leaves of y in the rows that have no new column."""
    order = RANDOM.permutation(len(table))
    table = table[order]
    count = table.shape[1] - 1
    for place in range(count):
        rest = table[place:]
        pivot = place + int(np.argmax((rest[:, place] != 0).any(axis=1)))
        table[[place, pivot]] = table[[pivot, place]]
        low = inverse(number(table[place, place]))
        scale = np.array([low & (1 << 64) - 1, low >> 64], dtype=np.uint64)
        row = np.zeros((count + 1, 2), dtype=np.uint64)
        FIELD.add_products(np.ascontiguousarray(table[place]), scale, row)
        table[place] = row
        factors = np.ascontiguousarray(table[place + 1 :, place])
        for column in range(place, count + 1):
            if row[column].any():
                part = np.ascontiguousarray(table[place + 1 :, column])
                FIELD.add_products(factors, row[column].copy(), part)
                table[place + 1 :, column] = part
    assert not table[count:, :count].any()
    return numbers(np.ascontiguousarray(table[count : count + RESIDUALS, count]))


def test_coefficients_keep_one_elimination_from_telling():
    """Without them all that is left lies in the space of the few noisy values that the elimination met."""
    rows = matrix(FieldCode(bytes(32), Role.ALICE, SMALL), SMALL)
    plain = np.zeros_like(rows)
    plain[:, :, 0] = (rows != 0).any(axis=2)
    assert rank_over_bits(residuals(instance(plain, SMALL))) < 60
    assert rank_over_bits(residuals(instance(rows, SMALL))) == 128


def test_rows_have_five_ones_and_five_equal_coefficients_of_16_bits():
    rows = matrix(FieldCode(bytes(32), Role.ALICE, SMALL), SMALL)
    assert not rows[:, :, 1].any()
    coefficients = []
    for row in rows[:, :, 0]:
        values, counts = np.unique(row[row != 0], return_counts=True)
        found = dict(zip(values.tolist(), counts.tolist(), strict=True))
        # Where two places of a row are the same they cancel, or add up.
        if found.get(1) == 5 and len(found) == 2 and sum(found.values()) == 10:
            coefficients.append(max(found))
    assert len(coefficients) > 400  # of 1,024; ten places among 64 are different in 48 of 100 rows
    assert max(coefficients) < 1 << 16
    assert len(set(coefficients)) > 0.95 * len(coefficients)


def test_matrices_of_blocks_directions_and_sessions_differ():
    secret = RANDOM.words(2 << SMALL.log_length).reshape(-1, 1, 2)
    seen = []
    for session, sender in ((bytes(32), Role.ALICE), (bytes(32), Role.BOB), (b"1" * 32, Role.ALICE)):
        code = FieldCode(session, sender, SMALL)
        for _ in range(2):
            rows = np.zeros((SMALL.block_rows, 1, 2), dtype=np.uint64)
            code.add(secret, rows)
            seen.append(rows.tobytes())
    assert len(set(seen)) == 6


@pytest.mark.parametrize("sizes", [PRODUCTION, FIRST])
def test_sizes_are_those_of_the_estimate(sizes):
    length, trees, rows = {PRODUCTION: (32_768, 704, 180_224), FIRST: (4_096, 1_056, 33_792)}[sizes]
    assert (sizes.length, sizes.trees, sizes.trees << sizes.depth) == (length, trees, rows)
    assert sizes.trees % sizes.group == 0
    assert sizes.block_rows % 256 == 0
