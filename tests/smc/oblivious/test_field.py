"""Loops over the field of 2**128 elements: what they compute, and that all of them compute the same."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from smc.errors import UsageError
from smc.oblivious.native_field import NativeCipherField, NativeField
from smc.oblivious.native_kernels import library
from smc.oblivious.numpy_field import NumpyField
from smc.oblivious.workspace import Workspace
from tests.smc.oblivious.field_sums import inverse, number, numbers, product
from tests.support.seeds import seeded

RANDOM = seeded()
SETS = range(1, 1 + (library().duetto_ciphers() if library() else 0))
LOOPS = {"numpy": NumpyField(Workspace())}
if library():
    LOOPS["native"] = NativeField(Workspace(), library())
LOOPS.update({f"set {each}": NativeCipherField(Workspace(), library(), each) for each in SETS})
every = pytest.mark.parametrize("loops", LOOPS.values(), ids=LOOPS)


def words(*shape):
    return RANDOM.words(int(np.prod(shape))).reshape(shape)


def test_the_field_is_one():
    """Its polynomial is irreducible: elements have inverses, and x is of no small order."""
    for element in (2, 0x87, number(words(2))):
        assert product(element, inverse(element)) == 1


@every
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 31])
def test_products_are_those_of_the_field(loops, count):
    elements, factor, sums = words(count, 2), words(2), words(count, 2)
    wanted = [
        total ^ product(number(factor), element)
        for total, element in zip(numbers(sums), numbers(elements), strict=True)
    ]
    loops.add_products(elements, factor, sums)
    assert numbers(sums) == wanted


@every
@pytest.mark.parametrize("count", [0, 1, 2, 15, 16, 17, 33, 100])
@pytest.mark.parametrize("apart", [False, True])
def test_tags_are_the_values_of_a_polynomial(loops, count, apart):
    elements = words(count, 2, 2)[:, 1] if apart else words(count, 2)
    key, wanted = words(2), 0
    for element in numbers(np.ascontiguousarray(elements)):
        wanted = product(wanted, number(key)) ^ element
    assert number(loops.tag(elements, key)) == wanted


def test_tags_of_many_elements_are_the_same():
    elements, key = words(10_000, 2), words(2)
    assert len({loops.tag(elements, key).tobytes() for loops in LOOPS.values()}) == 1


@every
def test_packing_weighs_rows_by_powers_of_x(loops):
    rows = words(3 * 128, 2)
    wanted = [0] * 3
    for place, row in enumerate(numbers(rows)):
        wanted[place // 128] ^= product(1 << place % 128, row)
    assert numbers(loops.pack(rows)) == wanted


@every
@pytest.mark.parametrize(("depth", "trees"), [(1, 1), (3, 5), (5, 32)])
def test_leaves_are_placed_where_the_nodes_are_marked(loops, depth, trees):
    nodes, leaves = words(1 << depth, trees, 2), words(1 << depth, trees, 2)
    nodes[:, :, 0] &= ~np.uint64(1)
    places = [int(word) % (1 << depth) for word in words(trees)]
    for tree, place in enumerate(places):
        nodes[place, tree, 0] |= np.uint64(1)
    known = leaves.copy()
    known[places, range(trees)] = 0
    assert (loops.known_sums(nodes, leaves) == np.bitwise_xor.reduce(known, axis=0)).all()
    missing, factors, pairs = words(trees, 2), words(trees, 2), words(trees << depth, 2, 2)
    loops.place_leaves(nodes, leaves, missing, factors, pairs)
    known[places, range(trees)] = missing
    beside = np.zeros_like(known)
    beside[places, range(trees)] = factors
    assert (pairs.reshape(*nodes.shape[:2], 2, 2) == np.stack([known, beside], axis=2)).all()


@every
@pytest.mark.parametrize(("piece", "pieces"), [(256, 0), (256, 1), (512, 2), (1024, 2)])
@pytest.mark.parametrize("across", [1, 2])
def test_rows_of_the_code_are_those_of_the_stream(loops, piece, pieces, across):
    for length, place in itertools.product((1, 1 << 9), (0, (1 << 64) - 1)):
        secret, key, rows = words(length, across, 2), words(2), words(piece * pieces, across, 2)
        stream = Cipher(
            algorithms.AES(key.tobytes()), modes.CTR(place.to_bytes(8, "big") + bytes(8))
        ).encryptor()
        wanted = numbers(rows)
        for row in range(0, piece * pieces, piece):
            drawn = np.frombuffer(stream.update(bytes(8 * 5 * piece)), dtype=np.uint64).reshape(5, piece)
            factors = np.frombuffer(stream.update(bytes(2 * piece)), dtype="<u2")
            for i in (0, 1, piece - 1):  # some rows of each piece
                for a in range(across):
                    total = 0
                    for word in drawn[:, i].tolist():
                        total ^= number(secret[word % length, a])
                        total ^= product(number(secret[(word >> 32) % length, a]), int(factors[i]))
                    wanted[across * (row + i) + a] ^= total
        loops.add_code(secret, key, place, piece, rows)
        found = numbers(rows)
        for row in range(0, piece * pieces, piece):
            for i in (0, 1, piece - 1):
                part = slice(across * (row + i), across * (row + i + 1))
                assert found[part] == wanted[part]


def test_codes_are_the_same_in_every_row():
    for across in (1, 2):
        secret, key, given = words(1 << 12, across, 2), words(2), words(2048, across, 2)
        found = set()
        for loops in LOOPS.values():
            rows = given.copy()
            loops.add_code(secret, key, 5, 1024, rows)
            found.add(rows.tobytes())
        assert len(found) == 1


@pytest.mark.skipif(not SETS, reason="no compiled kernels, or no instructions for AES")
def test_arrays_that_do_not_fit_are_refused():
    loops = LOOPS[f"set {SETS[-1]}"]
    even = words(8, 2)
    for call in (
        lambda: loops.add_products(even, words(2), words(7, 2)),
        lambda: loops.add_products(even[::2], words(2), words(4, 2)),
        lambda: loops.add_products(even, words(3), words(8, 2)),
        lambda: loops.tag(even[:, :1], words(2)),
        lambda: loops.tag(even.astype(np.int64), words(2)),
        lambda: loops.tag(even[::-1], words(2)),
        lambda: loops.pack(even),
        lambda: loops.known_sums(words(2, 3, 2), words(2, 2, 2)),
        lambda: loops.place_leaves(*[words(2, 3, 2)] * 2, *[words(3, 2)] * 2, words(5, 2, 2)),
        lambda: loops.add_code(words(3, 1, 2), words(2), 0, 256, words(256, 1, 2)),
        lambda: loops.add_code(words(4, 3, 2), words(2), 0, 256, words(256, 3, 2)),
        lambda: loops.add_code(words(4, 1, 2), words(2), 0, 64, words(256, 1, 2)),
        lambda: loops.add_code(words(4, 1, 2), words(2), 0, 256, words(300, 1, 2)),
        lambda: loops.add_code(words(4, 1, 2), words(2), 1 << 64, 256, words(256, 1, 2)),
    ):
        with pytest.raises(UsageError, match="type, shape or layout"):
            call()
