"""Seed trees and both extensions, without a channel."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from smc.forms import Role
from smc.oblivious import correlated_transfers, ot_1_of_16, softspoken
from smc.oblivious.correlated_transfers import ONE_OF_2, ONE_OF_16, WORDS
from smc.oblivious.correlation_robust_hash import HASH_WORDS, NO_OFFSET, RowHash
from smc.oblivious.ggm_trees import SeedTrees
from smc.oblivious.kernels import make_kernels
from smc.oblivious.workspace import Workspace
from tests.support.seeds import seeded

RANDOM = seeded()
SESSION = bytes(32)
Z = 4.9  # standard deviations: a false alarm once in a million

BITS = SimpleNamespace(
    module=softspoken, kind=ONE_OF_2, receiver=softspoken.BitReceiver, sender=softspoken.BitSender
)
DIGITS = SimpleNamespace(
    module=ot_1_of_16, kind=ONE_OF_16, receiver=ot_1_of_16.ChoiceReceiver, sender=ot_1_of_16.ChoiceSender
)


class Receiving:
    """A receiving end and its hash."""

    def __init__(self, kind, leaves, session):
        self.end = kind.receiver(leaves, Workspace())
        self.hash = RowHash(session, Role.BOB, kind.kind.purpose, Workspace(), bytes(16))

    def make(self, choices, form):
        """The matrix, shape (rows, w), and the pads."""
        columns = np.empty((128, choices.shape[1]), dtype=np.uint64)
        matrix = self.end.extend(choices, columns).copy()
        return matrix, form.hash(self.hash, columns, NO_OFFSET)[0]


class Sending:
    """A sending end and its hash."""

    def __init__(self, kind, found, missing, session):
        self.end = kind.sender(found, missing, Workspace())
        self.hash = RowHash(session, Role.BOB, kind.kind.purpose, Workspace(), bytes(16))

    def make(self, matrix, form):
        """The pads of every choice."""
        return form.hash(self.hash, self.end.extend(matrix), self.end.offsets)


def grown(trees, depth, session=SESSION):
    """Trees of both sides: all leaves, all but one, the numbers of the missing ones."""
    keys = RANDOM.words(4 * trees * depth).reshape(trees, depth, 2, 2)
    choices = RANDOM.bits(trees * depth).reshape(trees, depth)
    chosen = np.take_along_axis(keys, choices[:, :, None, None].astype(np.int64), axis=2)[:, :, 0]
    leaves, sums = SeedTrees(session, Role.ALICE, depth).grow(RANDOM.words(2 * trees).reshape(trees, 2))
    shown = (sums ^ keys).view(np.uint8).reshape(-1, 32)
    found, missing = SeedTrees(session, Role.ALICE, depth).regrow(shown, choices, chosen)
    return leaves, found, missing, choices


def ends(kind, session=SESSION):
    """The receiving and the sending end of one direction."""
    leaves, found, missing, _ = grown(kind.module.TREES, kind.module.DEPTH, session)
    return (
        Receiving(kind, leaves, session),
        Sending(kind, found, missing, session),
    )


def slots(planes):
    """Words to bits, shape (..., w) to (..., 64, w)."""
    return planes[..., None, :] >> np.arange(64, dtype=np.uint64)[:, None] & np.uint64(1)


@pytest.mark.parametrize(("trees", "depth"), [(1, 1), (3, 2), (32, 4), (2, 6)])
def test_the_guest_knows_all_leaves_but_the_one_its_choices_avoid(trees, depth):
    leaves, found, missing, choices = grown(trees, depth)
    assert leaves.shape == (trees, 1 << depth, 2)
    assert missing.tolist() == [sum(int(1 - c) << depth - 1 - i for i, c in enumerate(r)) for r in choices]
    known = np.arange(1 << depth) != missing[:, None]
    assert (found[known] == leaves[known]).all()
    assert not found[~known].any()
    assert len({bytes(leaf) for leaf in leaves.reshape(-1, 2)}) == leaves[..., 0].size


def test_trees_depend_on_session_owner_and_depth():
    root = RANDOM.words(2).reshape(1, 2)
    made = [SeedTrees(s, o, 2).grow(root)[0] for s in (b"1", b"2") for o in Role]
    made.append(SeedTrees(b"1", Role.ALICE, 3).grow(root)[0])
    assert len({bytes(leaf) for leaves in made for leaf in leaves.reshape(-1, 2)}) == 4 * 4 + 8


@pytest.mark.parametrize("width", [1, 7, HASH_WORDS, HASH_WORDS + 1, softspoken.PIECE_WORDS])
def test_one_of_two_gives_the_chosen_pad(width):
    receiver, sender = ends(BITS)
    for _ in range(2):
        choices = RANDOM.words(width)
        matrix, pads = receiver.make(choices[None], correlated_transfers.BITS)
        assert matrix.shape == (32, width)
        zero, one = sender.make(matrix, correlated_transfers.BITS)
        assert (pads == zero & ~choices | one & choices).all()


@pytest.mark.parametrize("width", [1, HASH_WORDS + 1])
def test_one_of_two_words_gives_the_chosen_pad_and_hides_the_other(width):
    receiver, sender = ends(BITS)
    choices = RANDOM.words(width)
    matrix, pads = receiver.make(choices[None], WORDS)
    zero, one = sender.make(matrix, WORDS)
    chosen = slots(choices).astype(bool)
    assert (pads == np.where(chosen, one, zero)).all()
    assert len(np.unique(np.concatenate([zero, one]))) == 2 * 64 * width


@pytest.mark.parametrize("width", [1, 5, HASH_WORDS + 1, ot_1_of_16.PIECE_WORDS])
def test_one_of_sixteen_gives_the_chosen_pad(width):
    receiver, sender = ends(DIGITS)
    for _ in range(2):
        choices = RANDOM.words(4 * width).reshape(4, width)
        matrix, pads = receiver.make(choices, correlated_transfers.BITS)
        assert matrix.shape == (160, width)
        offered = slots(sender.make(matrix, correlated_transfers.BITS))
        value = (slots(choices) << np.arange(4, dtype=np.uint64)[:, None, None]).sum(axis=0).astype(int)
        assert (np.take_along_axis(offered, value[None, None], axis=0)[0] == slots(pads)).all()


def test_the_other_pads_agree_with_the_chosen_one_by_chance_only():
    receiver, sender = ends(DIGITS)
    choices = RANDOM.words(4 * 300).reshape(4, 300)
    matrix, pads = receiver.make(choices, correlated_transfers.BITS)
    offered = slots(sender.make(matrix, correlated_transfers.BITS))
    value = (slots(choices) << np.arange(4, dtype=np.uint64)[:, None, None]).sum(axis=0).astype(int)
    for other in range(1, 16):
        picked = np.take_along_axis(offered, (value ^ other)[None, None], axis=0)[0]
        size = picked.size
        assert abs(int((picked == slots(pads)).sum()) - size / 2) < Z * (size / 4) ** 0.5


def test_code_words_differ_in_four_of_five_classes():
    words = [ot_1_of_16._symbols(choice) for choice in range(16)]
    for one in range(16):
        for other in range(one):
            assert sum(a != b for a, b in zip(words[one], words[other], strict=True)) == 4


def test_compression_is_injective_where_a_class_vanishes():
    for absent in range(5):
        places = [(s, p) for s in range(80) if s // 16 != absent for p in range(2)]
        basis = np.zeros((80, 2, len(places)), dtype=np.uint64)
        for column, (symbol, plane) in enumerate(places):
            basis[symbol, plane, column] = 1
        columns = np.empty((128, len(places)), dtype=np.uint64)
        ot_1_of_16._compress(basis, columns)
        images = columns.T
        assert rank([sum(int(bit) << i for i, bit in enumerate(image)) for image in images]) == 128


def test_an_error_costs_a_receiver_two_bits_a_symbol_and_eight_where_all_five_are_bent():
    """The rank of D -> L(e D), errors at one of 16 repeats: what the check makes a receiver guess."""
    for error in product(range(4), repeat=5):
        images = []
        for symbol, offset in product(range(5), (1, 2)):
            moved = np.zeros((80, 2, 1), dtype=np.uint64)
            value = ot_1_of_16._times(offset, error[symbol])
            moved[16 * symbol, :, 0] = value & 1, value >> 1
            columns = np.empty((128, 1), dtype=np.uint64)
            ot_1_of_16._compress(moved, columns)
            images.append(sum(int(bit) << i for i, bit in enumerate(columns[:, 0])))
        assert rank(images) == 2 * min(4, sum(map(bool, error)))


def rank(rows):
    """Over the field of two elements."""
    found = 0
    while rows:
        pivot = rows.pop()
        if pivot:
            found += 1
            low = pivot & -pivot
            rows = [row ^ pivot if row & low else row for row in rows]
    return found


@pytest.mark.parametrize("left", range(4))
@pytest.mark.parametrize("right", range(4))
def test_the_field_of_four_elements(left, right):
    found = ot_1_of_16._times(left, right)
    assert found == ot_1_of_16._times(right, left)
    assert (found == 0) == (left == 0 or right == 0)
    assert ot_1_of_16._times(2, 2) == 3
    assert ot_1_of_16._times(left, 1) == left
    assert ot_1_of_16._times(left, right ^ 2) == found ^ ot_1_of_16._times(left, 2)


@pytest.mark.parametrize("kind", [BITS, DIGITS])
def test_calls_never_repeat_a_pad_or_a_mask(kind):
    receiver, sender = ends(kind)
    matrices, pads = [], []
    for _ in range(5):
        choices = np.zeros((kind.kind.planes, 20), dtype=np.uint64)
        matrix, _ = receiver.make(choices, correlated_transfers.BITS)
        pads += [plane.tobytes() for side in sender.make(matrix, correlated_transfers.BITS) for plane in side]
        matrices += [row.tobytes() for row in matrix]
    assert len(set(matrices)) == len(matrices)
    assert len(set(pads)) == len(pads)


@pytest.mark.parametrize(
    "widths", [(3, 1, 5), (60, 4, 1), (1, 63, 64, 2), (1, 200, 1), (64, 128, 1), (300, 1)], ids=str
)
def test_streams_run_on(widths):
    """However they are asked for: few words, which are made ahead, or many."""
    seeds = RANDOM.words(8).reshape(4, 2)
    whole, cut = (np.empty((4, sum(widths)), dtype=np.uint64) for _ in range(2))
    for row, seed in zip(whole, seeds, strict=True):
        stream = Cipher(algorithms.AES(seed.tobytes()), modes.CTR(bytes(16))).encryptor()
        row[:] = np.frombuffer(stream.update(bytes(row.nbytes)), dtype=np.uint64)
    streams, place = make_kernels(Workspace()).streams(seeds.reshape(2, 2, 2)), 0
    for width in widths:
        for tree in range(2):
            weighed, total = (np.empty((1, *shape, width), dtype=np.uint64) for shape in ((1,), ()))
            streams.weigh(slice(tree, tree + 1), weighed, total)
            # Of two leaves the sums are that of both, and the second alone.
            cut[2 * tree, place : place + width] = total[0] ^ weighed[0, 0]
            cut[2 * tree + 1, place : place + width] = weighed[0, 0]
        place += width
    assert (whole == cut).all()


def test_a_tampered_matrix_spoils_pads_only_where_the_secret_offset_says_so():
    receiver, sender = ends(BITS)
    choices = RANDOM.words(1)
    matrix, pads = receiver.make(choices[None], WORDS)
    zero, one = sender.make(matrix ^ np.uint64(1), WORDS)  # slot 0 in every row
    right = pads == np.where(slots(choices).astype(bool), one, zero)
    assert right[1:].all()
    assert not right[0]


def test_the_hash_depends_on_session_direction_purpose_and_position():
    columns = np.tile(RANDOM.words(128)[:, None], (1, HASH_WORDS + 1))

    def first_words(session, sender, purpose):
        hashing = RowHash(session, sender, purpose, Workspace(), bytes(16))
        return [int(hashing.words(columns, NO_OFFSET)[0, 0, place]) for place in (0, HASH_WORDS)]

    made = [
        first_words(*name)
        for name in (
            (b"a", Role.ALICE, b"p"),
            (b"b", Role.ALICE, b"p"),
            (b"a", Role.BOB, b"p"),
            (b"a", Role.ALICE, b"q"),
        )
    ]
    assert len({word for words in made for word in words}) == 8


@pytest.mark.parametrize("kind", [BITS, DIGITS])
@pytest.mark.parametrize("fill", [0, (1 << 64) - 1])
def test_the_matrix_looks_uniform_whatever_the_choices(kind, fill):
    receiver, _ = ends(kind)
    choices = np.full((kind.kind.planes, 700), fill, dtype=np.uint64)
    matrix = receiver.make(choices, correlated_transfers.BITS)[0].view(np.uint8)
    ones, total = int(np.unpackbits(matrix).sum()), matrix.size * 8
    assert abs(ones - total / 2) < Z * (total / 4) ** 0.5
    counts = np.bincount(matrix.reshape(-1), minlength=256)
    statistic = float(((counts - matrix.size / 256) ** 2 / (matrix.size / 256)).sum())
    assert statistic < 255 + Z * (2 * 255) ** 0.5 + 20  # chi-square, 255 degrees, about 1e-6
