"""Compiled kernels give what numpy gives, bit for bit and at every width, and parties may differ in them."""

from __future__ import annotations

import itertools
import threading
from importlib.machinery import EXTENSION_SUFFIXES

import numpy as np
import pytest

from smc.errors import UsageError
from smc.forms import Role
from smc.oblivious import (
    correlated_ggm,
    correlation_robust_hash,
    field_lpn,
    lpn,
    ot_1_of_16,
    silent_ot,
    softspoken,
    vole,
)
from smc.oblivious import kernels as choice
from smc.oblivious import native_kernels as native
from smc.oblivious.native_kernels import CIPHERS, Native, NativeCiphers, library
from smc.oblivious.numpy_kernels import Reference
from smc.oblivious.workspace import Workspace
from smc.pair import run_pair
from tests.support.seeds import seeded

RANDOM = seeded()
USERS = (correlated_ggm, correlation_robust_hash, field_lpn, lpn, ot_1_of_16, silent_ot, softspoken, vole)
WIDTHS = [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 100, 127, 128, 129, 256, 300]
compiled = pytest.mark.skipif(library() is None, reason="no C compiler was at hand when duetto was installed")
SETS = range(1, 1 + (library().duetto_ciphers() if library() else 0))
with_ciphers = pytest.mark.skipif(not SETS, reason="no compiled kernels, or no instructions for AES")


def plain():
    """The compiled loops as they run where the processor has no instructions for AES."""
    return Native(Workspace(), library())


def ciphers(instructions=None):
    return NativeCiphers(Workspace(), library(), instructions or SETS[-1])


def skewed(*shape):
    """Words that do not begin at a multiple of 8 bytes."""
    octets = np.zeros(8 * int(np.prod(shape)) + 1, dtype=np.uint8)
    return octets[1:].view(np.uint64).reshape(shape)


def locked(array):
    array.flags.writeable = False
    return array


def words(*shape):
    return RANDOM.words(int(np.prod(shape))).reshape(shape)


def same(arrays, call, kept, others=()):
    """Demand that all leave the same in the arrays whose places are named; the last place is the result."""
    found = []
    for kernels in (Reference(Workspace()), *(others or [plain()])):
        copies = [None if array is None else array.copy() for array in arrays]
        found.append([*copies, call(kernels, *copies)])
    for place in kept:
        for other in found[1:]:
            assert np.array_equal(found[0][place], other[place]), [np.shape(array) for array in arrays]


@compiled
@pytest.mark.parametrize("width", WIDTHS)
def test_every_kernel_gives_the_same_at_every_width(width):
    code = (words(1 << 9, 2), words(5, width), words(width, 2))
    same(code, lambda k, *given: k.add_drawn(*given), [2])
    for count in (2, 4):
        for rows in (None, words(64, 2 * width)):
            picked = (words(64, 2 * width), rows, words(count, width))
            same(picked, lambda k, *given: k.diagonals(*given), [2])
    same((words(128, width), words(64, width, 2)), lambda k, *given: k.rows(*given), [1])
    for depth in range(1, 5):
        sums = (words(3, 1 << depth, width), words(3, depth, width), words(3, width))
        same(sums, lambda k, *given: k.weigh(*given), [1, 2])


@with_ciphers
@pytest.mark.parametrize("width", WIDTHS[1:])
def test_sums_of_streams_are_the_same_at_every_width(width):
    """The widths after each other begin at every place of a block and of what is made ahead."""
    for depth in range(1, 5):
        seeds, sums = words(3, 1 << depth, 2), []
        for kernels in (Reference(Workspace()), plain(), *map(ciphers, SETS)):
            streams, found = kernels.streams(seeds), []
            for size in (width, 1, 64, width, 2):
                weighed, total = np.empty((3, depth, size), np.uint64), np.empty((3, size), np.uint64)
                for part in streams.groups(size):
                    streams.weigh(part, weighed[part], total[part])
                found += [weighed.tobytes(), total.tobytes()]
            sums.append(found)
        assert all(other == sums[0] for other in sums[1:])


@with_ciphers
@pytest.mark.parametrize("span", [1, 9, 64, 256])
def test_hashes_of_columns_are_the_same_at_every_width(span):
    others = [plain(), *map(ciphers, SETS)]
    for width, count in itertools.product(WIDTHS, (1, 2, 4, 16)):
        keys, offsets = words(-(-width // span), 2), np.zeros((count, 2), dtype=np.uint64)
        for bit in (1, 2, 4, 8):
            if bit < count:
                offsets[bit : 2 * bit] = offsets[:bit] ^ words(2)
        given = (words(128, width), keys, offsets, words(count, 2, width))
        same(given, lambda k, c, keys, *rest: k.hash_columns(c, keys, span, *rest), [3], others)


@with_ciphers
@pytest.mark.parametrize("width", WIDTHS)
def test_hashes_of_rows_are_the_same_at_every_width(width):
    others = [plain(), *map(ciphers, SETS)]
    for count in (1, 2):
        offsets = words(count, 2)
        offsets[0] = 0
        for choices in (None, words(width)):
            wide = (words(64 * width, 2), words(2), offsets, words(count, 4, width + 3), choices)
            same(
                wide,
                lambda k, r, key, o, p, c: k.hash_rows(r, key, o, p[:, :, 1:-2], c),
                [3, 4][: 1 + (choices is not None)],
                others,
            )


@with_ciphers
@pytest.mark.parametrize(("piece", "pieces"), [(64, 0), (64, 1), (64, 5), (128, 3), (192, 2), (1024, 3)])
def test_the_code_is_the_same_for_every_size(piece, pieces):
    others = [plain(), *map(ciphers, SETS)]
    for length, number in itertools.product((1, 2, 1 << 9), (0, 3, (1 << 64) - 1)):
        given = (words(length, 2), words(2), words(piece * pieces, 2))
        same(given, lambda k, s, key, rows, n=number: k.add_code(s, key, n, piece, rows), [2], others)


@with_ciphers
@pytest.mark.parametrize("depth", [1, 2, 3, 6, 8])
def test_trees_are_the_same_for_every_size(depth):
    others = [plain(), *map(ciphers, SETS)]
    for trees in (1, 2, 3, 4, 5, 8, 16, 31, 32):
        nodes = words(1 << depth, trees, 2)
        same((words(trees, 2), words(2), words(2), nodes), lambda k, *given: k.grow(*given), [3, 4], others)
        for choices in (0, 1, RANDOM.bits(depth * trees).reshape(depth, trees)):
            sides = np.zeros((depth, trees), dtype=np.uint8) + choices
            given = (words(depth, trees, 2), sides.astype(np.uint8), words(2), nodes)
            same(given, lambda k, *given: k.regrow(*given), [3], others)


@with_ciphers
def test_streams_of_trees_that_are_out_of_step_are_not_summed():
    for kernels in (Reference(Workspace()), ciphers()):
        streams, sums = kernels.streams(words(3, 4, 2)), (words(1, 2, 7), words(1, 7))
        streams.weigh(slice(1, 2), *sums)
        with pytest.raises(UsageError, match="different numbers of words"):
            streams.weigh(slice(0, 3), words(3, 2, 7), words(3, 7))


@compiled
def test_instructions_that_the_processor_lacks_are_refused():
    assert library().duetto_ciphers() in range(len(CIPHERS))
    for instructions in (0, library().duetto_ciphers() + 1):
        with pytest.raises(UsageError, match="instructions"):
            NativeCiphers(Workspace(), library(), instructions)


@compiled
def test_lines_that_lie_apart_are_taken_as_they_are():
    wide, planes = words(128, 500), words(4, 500)
    for part in (slice(0, 100), slice(100, 101), slice(250, 500)):
        size = part.stop - part.start
        found = []
        for kernels in (Reference(Workspace()), plain()):
            rows, written = np.empty((64, size, 2), dtype=np.uint64), planes.copy()
            kernels.rows(wide[:, part], rows)
            kernels.diagonals(rows.reshape(64, -1).copy(), None, written[:, part])
            found.append((rows, written))
        assert np.array_equal(found[0][0], found[1][0])
        assert np.array_equal(found[0][1], found[1][1])


@compiled
@pytest.mark.parametrize(
    "call",
    [
        lambda k: k.add_drawn(words(31, 2), words(5, 9), words(9, 2)),
        lambda k: k.add_drawn(words(0, 2), words(5, 9), words(9, 2)),
        lambda k: k.add_drawn(words(32, 2), words(4, 9), words(9, 2)),
        lambda k: k.add_drawn(words(32, 2), words(5, 9), words(18, 2)[::2]),
        lambda k: k.diagonals(words(64, 18), words(64, 16), words(4, 9)),
        lambda k: k.diagonals(words(64, 18), None, words(3, 9)),
        lambda k: k.diagonals(words(64, 18).astype(np.float64), None, words(2, 9)),
        lambda k: k.rows(words(127, 9), words(64, 9, 2)),
        lambda k: k.rows(words(128, 18)[:, ::2], words(64, 9, 2)),
        lambda k: k.weigh(words(2, 8, 9), words(2, 4, 9), words(2, 9)),
        lambda k: k.weigh(words(2, 32, 9), words(2, 5, 9), words(2, 9)),
        lambda k: k.weigh(words(2, 16, 9), locked(words(2, 4, 9)), words(2, 9)),
        lambda k: k.weigh(words(2, 16, 9), words(2, 4, 9), words(2, 8)),
        lambda k: k.diagonals(words(64, 18), None, locked(words(2, 9))),
        lambda k: k.rows(words(128, 9), locked(words(64, 9, 2))),
        lambda k: k.rows(words(128, 9), skewed(64, 9, 2)),
        lambda k: k.rows(skewed(128, 9), words(64, 9, 2)),
        lambda k: k.rows(np.broadcast_to(words(9), (128, 9)), words(64, 9, 2)),
        lambda k: k.weigh(skewed(2, 16, 9), words(2, 4, 9), words(2, 9)),
    ],
)
def test_arrays_that_do_not_fit_never_reach_the_library(call):
    with pytest.raises(UsageError, match="kernel"):
        call(plain())


def columns(*shape):
    return words(*shape), words(1, 2), 64, words(1, 2)


@with_ciphers
@pytest.mark.parametrize(
    "call",
    [
        lambda k: k.streams(words(2, 3, 2)),
        lambda k: k.streams(words(2, 32, 2)),
        lambda k: k.streams(words(2, 1, 2)),
        lambda k: k.streams(words(2, 4, 2)).weigh(slice(0, 2), words(2, 3, 9), words(2, 9)),
        lambda k: k.streams(words(2, 4, 2)).weigh(slice(0, 3), words(3, 2, 9), words(3, 9)),
        lambda k: k.streams(words(2, 4, 2)).weigh(slice(0, 2), words(2, 2, 9), words(2, 8)),
        lambda k: k.streams(words(2, 4, 2)).weigh(slice(0, 2), words(2, 2, 9), locked(words(2, 9))),
        lambda k: k.hash_columns(*columns(127, 9), words(1, 2, 9)),
        lambda k: k.hash_columns(*columns(128, 65), words(1, 2, 65)),
        lambda k: k.hash_columns(*columns(128, 9), words(2, 2, 9)),
        lambda k: k.hash_columns(*columns(128, 9), words(1, 2, 8)),
        lambda k: k.hash_columns(*columns(128, 9), locked(words(1, 2, 9))),
        lambda k: k.hash_columns(words(128, 9), words(1, 2), 0, words(1, 2), words(1, 2, 9)),
        lambda k: k.hash_columns(words(128, 9), words(1, 2), 64, words(1, 3), words(1, 2, 9)),
        lambda k: k.hash_columns(words(128, 9), words(1, 2), 64, words(3, 2), words(3, 2, 9)),
        lambda k: k.hash_columns(words(128, 9), words(1, 2), 64, words(32, 2), words(32, 2, 9)),
        lambda k: k.hash_rows(words(64, 2), words(2), words(4, 2), words(4, 4, 1)),
        lambda k: k.hash_rows(skewed(64, 2), words(2), words(1, 2), words(1, 4, 1)),
        lambda k: k.hash_rows(words(64, 2), words(2), words(1, 2), skewed(1, 4, 1)),
        lambda k: k.grow(words(3, 2), words(2), words(2), skewed(4, 3, 2)),
        lambda k: k.hash_rows(words(63, 2), words(2), words(1, 2), words(1, 4, 1)),
        lambda k: k.hash_rows(words(64, 2), words(1), words(1, 2), words(1, 4, 1)),
        lambda k: k.hash_rows(words(64, 2), words(2), words(2, 2), words(1, 4, 1)),
        lambda k: k.hash_rows(words(64, 2), words(2), words(1, 2), words(1, 2, 1)),
        lambda k: k.hash_rows(words(64, 2), words(2), words(2, 2), words(2, 5, 1)[:, :4]),
        lambda k: k.hash_rows(words(64, 2), words(2), words(1, 2), locked(words(1, 4, 1))),
        lambda k: k.hash_rows(words(64, 2), words(2), words(1, 2), words(1, 4, 1), words(2)),
        lambda k: k.add_code(words(33, 2), words(2), 0, 64, words(64, 2)),
        lambda k: k.add_code(words(32, 2), words(1), 0, 64, words(64, 2)),
        lambda k: k.add_code(words(32, 2), words(2), 1 << 64, 64, words(64, 2)),
        lambda k: k.add_code(words(32, 2), words(2), 0, 32, words(64, 2)),
        lambda k: k.add_code(words(32, 2), words(2), 0, 96, words(192, 2)),
        lambda k: k.add_code(words(32, 2), words(2), 0, 128, words(192, 2)),
        lambda k: k.add_code(words(32, 2), words(2), 0, 64, locked(words(64, 2))),
        lambda k: k.grow(words(3, 2), words(2), words(2), words(6, 3, 2)),
        lambda k: k.grow(words(3, 2), words(2), words(2), words(1, 3, 2)),
        lambda k: k.grow(words(33, 2), words(2), words(2), words(4, 33, 2)),
        lambda k: k.grow(words(2, 2), words(2), words(2), words(4, 3, 2)),
        lambda k: k.grow(words(3, 2), words(1), words(2), words(4, 3, 2)),
        lambda k: k.regrow(words(3, 3, 2), np.zeros((2, 3), np.uint8), words(2), words(4, 3, 2)),
        lambda k: k.regrow(words(2, 3, 2), np.zeros((2, 2), np.uint8), words(2), words(4, 3, 2)),
        lambda k: k.regrow(words(2, 3, 2), np.zeros((2, 3), np.int64), words(2), words(4, 3, 2)),
        lambda k: k.regrow(words(2, 3, 2), np.zeros((2, 3), np.uint8), words(2), locked(words(4, 3, 2))),
    ],
)
def test_arrays_that_do_not_fit_never_reach_the_ciphers(call):
    with pytest.raises(UsageError, match="kernel"):
        call(ciphers())


@compiled
@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize(
    ("alice", "bob"),
    [("native", "numpy"), ("numpy", "native"), ("native", "native"), ("plain", "native"), ("numpy", "plain")],
)
def test_parties_with_other_kernels_understand_each_other(alice, bob, silent, monkeypatch):
    x, y = words(700) >> np.uint64(40), words(700) >> np.uint64(40)
    y[:50] = x[:50]
    wanted, side = {Role.ALICE: alice, Role.BOB: bob}, threading.local()

    def by_side(workspace):
        if side.kernels == "plain":
            return Native(workspace, library())
        return Reference(workspace) if side.kernels == "numpy" else choice._native(library(), workspace)

    for module in USERS:
        monkeypatch.setattr(module, "make_kernels", by_side)

    def run(session):
        side.kernels = wanted[session.role]
        if session.role is Role.ALICE:
            return session.oblivious.greater_equal_x(x, 24, silent=silent)
        return session.oblivious.greater_equal_y(y, 24, silent=silent)

    first, second = run_pair(run)
    assert ((first ^ second) == (x >= y)).all()


def test_the_variable_chooses_and_what_is_missing_is_named(monkeypatch):
    monkeypatch.setenv(choice.VARIABLE, "numpy")
    assert choice.make_kernels(Workspace()).name == "numpy"
    monkeypatch.setenv(choice.VARIABLE, "fast")
    with pytest.raises(UsageError, match="'fast'") as caught:
        choice.make_kernels(Workspace())
    assert "numpy or native" in caught.value.hint
    monkeypatch.setattr(choice, "library", lambda: None)
    monkeypatch.setenv(choice.VARIABLE, "native")
    with pytest.raises(UsageError, match="are not built") as caught:
        choice.make_kernels(Workspace())
    assert "leave the variable out" in caught.value.hint
    monkeypatch.delenv(choice.VARIABLE)
    assert choice.make_kernels(Workspace()).name == "numpy"


@compiled
def test_without_the_variable_the_compiled_kernels_run_unless_they_differ(monkeypatch):
    monkeypatch.delenv(choice.VARIABLE, raising=False)
    assert choice.make_kernels(Workspace()).name == "native"
    choice.agrees.cache_clear()
    with monkeypatch.context() as changed:
        changed.setattr(Native, "rows", lambda self, columns, rows: None)
        assert choice.make_kernels(Workspace()).name == "numpy"
        assert choice.differ()
        changed.setenv(choice.VARIABLE, "native")
        with pytest.raises(UsageError, match="differ"):
            choice.make_kernels(Workspace())
    choice.agrees.cache_clear()
    assert choice.agrees()


def spoilt(name, where):
    """The reference, but that one kernel gives one wrong bit at some sizes."""

    def call(self, *given):
        result = getattr(Reference, name)(self, *given)
        if where(*given):
            (given[-1] if result is None else result).reshape(-1)[-1] ^= np.uint64(1)
        return result

    return type("Spoilt", (Reference,), {name: call})(Workspace())


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("grow", lambda seeds, offset, key, nodes: len(nodes) == 1 << 10),
        ("regrow", lambda sums, choices, key, nodes: nodes.shape[1] == 16),
        ("hash_columns", lambda columns, keys, span, offsets, found: len(offsets) == 16),
        ("hash_columns", lambda columns, keys, span, offsets, found: len(keys) > 1 and span == 256),
        ("add_code", lambda secret, key, number, piece, rows: piece == 1024),
    ],
)
def test_a_fault_at_the_sizes_of_runs_alone_is_found(name, where):
    assert choice.trial_digest(spoilt(name, lambda *given: False)) == choice.TRIAL_DIGEST
    assert choice.trial_digest(spoilt(name, where)) != choice.TRIAL_DIGEST


def test_the_trial_has_the_sizes_of_runs(monkeypatch):
    """All that a session with every kind of transfer asks of its kernels, but for the length of lines."""

    def sizes():
        seen = set()

        def watch(name, size):
            honest = getattr(Reference, name)

            def call(self, *given):
                seen.add((name, *size(*given)))
                return honest(self, *given)

            patch.setattr(Reference, name, call)

        with monkeypatch.context() as patch:
            patch.setenv(choice.VARIABLE, "numpy")
            watch("grow", lambda seeds, offset, key, nodes: nodes.shape[:2])
            watch("regrow", lambda sums, choices, key, nodes: nodes.shape[:2])
            watch("hash_columns", lambda columns, keys, span, offsets, found: (span, len(offsets)))
            watch("hash_rows", lambda rows, key, offsets, planes, choices=None: (len(offsets),))
            watch("add_code", lambda secret, key, number, piece, rows: (piece,))
            watch("streams", lambda seeds: (seeds.shape[1],))
            yield seen

    def run(session):
        engine, bits = session.oblivious, RANDOM.bits(300)
        compare = engine.greater_equal_x if session.role is Role.ALICE else engine.greater_equal_y
        numbers = RANDOM.words(3000)
        for silent in (False, True):
            compare(numbers, 64, silent=silent)
        engine.bits_to_arithmetic(bits)
        engine.and_bits(bits, bits)

    (ran,) = [run_pair(run) and found for found in sizes()]
    (tried,) = [choice._trial(Reference(Workspace())) and found for found in sizes()]
    assert len(ran) > 6
    assert ran <= tried


@pytest.mark.parametrize("content", [b"", b"no library"])
def test_a_damaged_library_is_as_none(tmp_path, monkeypatch, content):
    monkeypatch.setattr(native, "__file__", str(tmp_path / "native.py"))
    library.cache_clear()
    try:
        assert library() is None
        (tmp_path / f"_kernels{EXTENSION_SUFFIXES[0]}").write_bytes(content)
        library.cache_clear()
        assert library() is None
    finally:
        monkeypatch.undo()
        library.cache_clear()
