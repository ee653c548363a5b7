"""Products of rows that are used many times: exact against numpy, and what they are refused for."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.secret.reals.fixed_rows import FixedRows, OwnedColumns, RowsLayout
from tests.smc.secret.reals.sharing import reals
from tests.support.seeds import seeded

RANDOM = seeded()
SCALE = 10


def entries(*shape):
    return (RANDOM.words(int(np.prod(shape))) % np.uint64(2049)).astype(np.int64).reshape(shape) - 1024


def rows_of(session, layout, alice, bob, shared):
    mask = Randomness.from_seed(b"rows", "shared").words(shared.size).reshape(shared.shape)
    alices = session.role is Role.ALICE
    words = mask if alices else shared.view(np.uint64) - mask
    return FixedRows(session, layout, alice if alices else bob, words)


def held(values):
    return np.rint(np.ldexp(values.reveal(), values.scale)).astype(np.int64)


@pytest.mark.parametrize("owned", [(3, 1, 2), (2, 0, 3), (0, 0, 2), (2, 1, 0)])
def test_products_are_exact(owned):
    count = 300
    parts = [entries(count, each) for each in owned]
    parts[0][:1] = 1024
    layout = RowsLayout(count, *owned, SCALE, 2)
    x = np.concatenate(parts, axis=1)
    values = np.ldexp(entries(count), -10)
    weights = np.abs(np.ldexp(entries(count), -10))
    b = np.ldexp(entries(layout.size), -8)

    def side(session):
        rows = rows_of(session, layout, *parts)
        r, w = (reals(session, each, -1, 1, 12) for each in (values, weights))
        angles = rows.predictor(reals(session, b, -4, 4, 16), 32)
        grams = [held(rows.gram(w)), held(rows.gram(r))]
        return held(rows.transposed(r)), grams, angles.words, angles.width

    (gradient, grams, first, width), (_, _, second, _) = run_pair(side, side, timeout=60)
    r, w = (np.rint(each * 4096).astype(np.int64) for each in (values, weights))
    assert (gradient == x.T @ r).all()
    assert (grams[0] == (x * w[:, None]).T @ x).all()
    assert (grams[1] == (x * r[:, None]).T @ x).all()
    assert width == SCALE + 16 + 5
    predicted = (x @ np.rint(b * 2**16).astype(np.int64)).view(np.uint64)
    assert ((first + second - predicted) % np.uint64(1 << width) == 0).all()


@pytest.mark.parametrize("owner", list(Role))
@pytest.mark.parametrize("owned", [(3, 1, 2), (0, 1, 3)])
def test_products_with_columns_of_one_party_are_exact(owned, owner):
    """Several times with the same columns, and over the first rows."""
    count, part = 300, 120
    parts = [entries(count, each) for each in owned]
    layout = RowsLayout(count, *owned, SCALE, 3)
    x, z = np.concatenate(parts, axis=1), entries(count, 4)
    weights = [np.ldexp(entries(count), -10) for _ in range(2)]

    def side(session):
        rows = rows_of(session, layout, *parts)
        known = z if session.role is owner else np.zeros_like(z)
        columns = OwnedColumns(session, owner, known, SCALE)
        first, second = (reals(session, each, -1, 1, 12) for each in weights)
        found = [rows.between(first, columns), rows.between(second, columns)]
        return [held(each) for each in (*found, rows.first(part).between(first[:part], columns.first(part)))]

    found, _ = run_pair(side, side, timeout=60)
    first, second = (np.rint(each * 4096).astype(np.int64) for each in weights)
    assert (found[0] == (x * first[:, None]).T @ z).all()
    assert (found[1] == (x * second[:, None]).T @ z).all()
    assert (found[2] == (x * first[:, None])[:part].T @ z[:part]).all()


def test_columns_have_to_be_those_of_the_layout():
    layout = RowsLayout(3, 1, 0, 1, SCALE, 1)
    words = np.zeros((3, 1), dtype=np.uint64)

    def side(session):
        own = np.full((3, int(session.role is Role.ALICE)), 1025)
        with pytest.raises(UsageError, match="their layout is for"):
            FixedRows(session, layout, own[:2], words)
        with pytest.raises(UsageError, match="no column"):
            FixedRows(session, RowsLayout(3, 1, 0, 0, SCALE, 1), own, words[:, :0])
        if session.role is Role.ALICE:
            with pytest.raises(DomainError, match="larger than 1"):
                FixedRows(session, layout, own, words)

    run_pair(side, side, timeout=60)
