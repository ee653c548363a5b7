"""Compiled loops of key-value stores give what numpy gives, bit for bit, and refuse what does not fit."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import UsageError
from smc.oblivious import kernels as choice
from smc.oblivious.native_kernels import library
from smc.oblivious.native_store import NativeCipherStore, NativeStore
from smc.oblivious.numpy_store import DENSE, ROW, SEED_BYTES, NumpyStore
from smc.protocols.intersection import okvs
from tests.support.seeds import seeded

RANDOM = seeded()
SETS = range(1, 1 + (library().duetto_ciphers() if library() else 0))
compiled = pytest.mark.skipif(library() is None, reason="no C compiler was at hand when duetto was installed")


def loops():
    """All that there are on this machine, the reference first."""
    return [NumpyStore(), NativeStore(library()), *(NativeCipherStore(library(), each) for each in SETS)]


def words(*shape):
    return RANDOM.words(int(np.prod(shape))).reshape(shape)


def rows_of(count, columns, parts, each=None):
    rows = np.empty(count, dtype=ROW)
    (each or NumpyStore()).rows(words(count, 2), bytes(SEED_BYTES), columns, parts, rows)
    return rows


@compiled
@pytest.mark.parametrize("count", [0, 1, 2, 15, 16, 17, 63, 64, 65, 1000])
@pytest.mark.parametrize(
    ("columns", "parts"), [(0, 1), (1, 1), (9, 1), (1300, 1), (77, 13), ((1 << 31) - 1, 1 << 16)]
)
def test_rows_and_their_order_are_the_same_and_within_their_sizes(count, columns, parts):
    keys, seed = words(count, 2), RANDOM.bytes(SEED_BYTES)
    found = []
    for each in loops():
        rows = np.empty(count, dtype=ROW)
        each.rows(keys, seed, columns, parts, rows)
        found.append((rows, *each.order(rows, parts)))
    first = found[0]
    assert (first[0]["places"] < max(1, columns)).all()
    assert (first[0]["part"] < parts).all()
    assert (first[0]["pattern"] >> np.uint64(DENSE) == 0).all()
    for other in found[1:]:
        for a, b in zip(first, other, strict=True):
            assert a.dtype == b.dtype
            assert (a == b).all()


@compiled
@pytest.mark.parametrize("width", [1, 2, 3, 4, 7, 8])
@pytest.mark.parametrize(
    ("count", "columns"), [(0, 8), (1, 9), (5, 3), (200, 150), (200, 268), (3000, 4000), (9000, 12_000)]
)
def test_stores_and_sums_are_the_same(count, columns, width):
    """With too few columns most rows are left, with enough none, and with some in between some."""
    rows, values = rows_of(count, columns, 1), words(count, width)
    members = RANDOM.permutation(count).astype(np.uint32)[: max(1, count - 10)]
    fill, found = words(columns + DENSE, width), []
    for each in loops():
        store, result = fill.copy(), np.zeros_like(values)
        peeled = each.peel(rows, members, columns)
        peeled.fill(store, values)
        each.sums(store, rows, members, result)
        found.append((peeled.left, store, result))
    left, store, result = found[0]
    kept = np.delete(members, left)
    assert (result[kept] == values[kept]).all()
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert (a == b).all()


@compiled
@pytest.mark.parametrize(("count", "width"), [(30, 1), (500, 2), (70_000, 3)])
def test_a_whole_store_is_the_same_whoever_makes_it(count, width, monkeypatch):
    keys, values, seed = words(count, 2), words(count, width), RANDOM.bytes(SEED_BYTES)
    fill = RANDOM.words(okvs.StoreSize.of(count).rows * width)

    class Same:
        def words(self, count):
            assert count == len(fill)
            return fill.copy()

    stores = []
    for name in ("numpy", "native"):
        monkeypatch.setenv(choice.VARIABLE, name)
        stores.append(okvs.encode(keys, values, seed, Same()))
        assert (okvs.decode(stores[0], keys, seed, count) == values).all()
    assert (stores[0] == stores[1]).all()


@compiled
def test_keys_that_are_looked_up_in_pieces_are_all_found(monkeypatch):
    monkeypatch.setattr(okvs, "_LOOKED_UP", 64)
    keys, values, seed = words(300, 2), words(300, 2), RANDOM.bytes(SEED_BYTES)
    assert (okvs.decode(okvs.encode(keys, values, seed, RANDOM), keys, seed, 300) == values).all()


def past(place, value):
    rows = rows_of(20, 30, 2)
    rows[7][place] = value
    return rows


SOME = np.arange(20, dtype=np.uint32)


@compiled
@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.order(past("part", 2), 2),
        lambda s: s.order(rows_of(20, 30, 2), 0),
        lambda s: s.order(rows_of(20, 30, 2)[::2], 2),
        lambda s: s.order(words(20, 3), 2),
        lambda s: s.peel(past("places", 30), SOME, 30),
        lambda s: s.peel(rows_of(20, 30, 1), SOME, -1),
        lambda s: s.peel(rows_of(20, 30, 1), SOME + np.uint32(1), 30),
        lambda s: s.peel(rows_of(20, 30, 1), SOME.astype(np.int64), 30),
        lambda s: s.peel(rows_of(20, 30, 1), SOME, 30).fill(words(69, 1), words(20, 1)),
        lambda s: s.peel(rows_of(20, 30, 1), SOME, 30).fill(words(70, 1), words(19, 1)),
        lambda s: s.peel(rows_of(20, 30, 1), SOME, 30).fill(words(70, 1), words(20, 2)),
        lambda s: s.sums(words(70, 1), past("places", (1, 2, 30)), SOME, words(20, 1)),
        lambda s: s.sums(words(70, 1), past("places", (1, 1 << 31, 2)), SOME, words(20, 1)),
        lambda s: s.sums(words(39, 1), rows_of(20, 30, 1), SOME, words(20, 1)),
        lambda s: s.sums(words(70, 1), rows_of(20, 30, 1), SOME, words(19, 1)),
        lambda s: s.sums(words(70, 1), rows_of(20, 30, 1), SOME + np.uint32(1), words(20, 1)),
        lambda s: s.sums(words(70, 2), rows_of(20, 30, 1), SOME, words(20, 1)),
    ],
)
def test_what_does_not_fit_is_refused(call):
    with pytest.raises(UsageError, match="kernel"):
        call(NativeStore(library()))


@pytest.mark.skipif(not SETS, reason="no compiled kernels, or no instructions for AES")
@pytest.mark.parametrize(
    "call",
    [
        lambda s, rows: s.rows(words(20, 3), bytes(32), 30, 1, rows),
        lambda s, rows: s.rows(words(19, 2), bytes(32), 30, 1, rows),
        lambda s, rows: s.rows(words(20, 2), bytes(31), 30, 1, rows),
        lambda s, rows: s.rows(words(20, 2), bytes(32), 1 << 32, 1, rows),
        lambda s, rows: s.rows(words(20, 2), bytes(32), -1, 1, rows),
        lambda s, rows: s.rows(words(20, 2), bytes(32), 30, 0, rows),
    ],
)
def test_keys_that_do_not_fit_are_refused(call):
    with pytest.raises(UsageError, match="kernel"):
        call(NativeCipherStore(library(), SETS[-1]), np.empty(20, dtype=ROW))
