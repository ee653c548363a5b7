"""Sorting what neither party knows, and what the order that opens tells of it."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import DomainError, ProtocolViolation
from smc.forms import Role
from smc.network import Network
from smc.numeric.random import Randomness
from smc.numeric.shape_arrays import shape_array
from smc.pair import run_pair
from smc.protocols.transfer_costs import SETUP_COST, cost_settled
from smc.secret.orders import permutation, sorting
from smc.secret.sharing.bounds import Bounds
from smc.tracing.session import trace
from tests.support.seeds import seeded

RANDOM = seeded()
BOUNDS = Bounds(-50, 200)


def keys(count, bounds=BOUNDS):
    width = bounds.upper - bounds.lower + 1
    return (RANDOM.words(count) % np.uint64(width)).astype(np.int64) + bounds.lower


def sort(values, bounds=BOUNDS, network=None, randomness=None):
    """Both sides' results and traffic, and the order of the rows as they were before."""
    masks = RANDOM.words(len(values))

    def side(session):
        session.oblivious.setup()
        shares = masks if session.role is Role.ALICE else values.view(np.uint64) - masks
        return sorting.sort(session, shares, bounds), session.channel.traffic

    (a, there), (b, back) = run_pair(side, network=network, randomness=randomness)
    assert (a.order == b.order).all()
    return a.shuffle[b.shuffle[a.order]], a, there, back


@pytest.mark.parametrize("network", [None, Network(20, 10)])
@pytest.mark.parametrize("count", [2, 3, 64, 130, 700])
def test_equal_keys_keep_their_order_for_the_declared_cost(count, network):
    values = keys(count)
    order, _, there, back = sort(values, network=network)
    assert (order == np.argsort(values, kind="stable")).all()
    if network is None:  # silent transfers of one step are taken by another one, and are checked together
        cost = cost_settled(SETUP_COST + sorting.cost(count, BOUNDS))
        assert (there.sent, back.sent) == (cost.alice_bytes, cost.bob_bytes)

    def shapes(session):
        session.oblivious.setup()
        sorting.sort(session, shape_array(count, np.uint64), BOUNDS)

    found = trace(shapes, network)
    assert (there.sent, back.sent) == (found.alice_bytes, found.bob_bytes)
    assert max(there.rounds, back.rounds) == found.rounds


@pytest.mark.parametrize("count", [0, 1])
def test_there_is_nothing_to_sort(count):
    order, _, there, _ = sort(np.zeros(count, dtype=np.int64), Bounds(0, 0))
    assert order.tolist() == list(range(count))
    assert there.sent == SETUP_COST.alice_bytes


@pytest.mark.parametrize("values", [[7] * 90, list(range(90)), list(range(90, 0, -1)), [200, -50] * 45])
def test_any_keys_are_sorted(values):
    held = np.array(values, dtype=np.int64)
    assert (sort(held)[0] == np.argsort(held, kind="stable")).all()


def test_wide_keys_are_sorted_and_wider_ones_refused():
    wide = Bounds(-(1 << 51), (1 << 51) - 1)
    values = keys(500, wide)
    assert (sort(values, wide)[0] == np.argsort(values, kind="stable")).all()
    channels = []

    def side(session):
        channels.append(session.channel)
        sorting.sort(session, np.zeros(2000, dtype=np.uint64), wide)

    with pytest.raises(DomainError, match="52 bits and 2000 places"):
        run_pair(side)
    assert all(channel.traffic.sent == 0 for channel in channels)


def seeded_pair():
    return tuple(Randomness.from_seed(b"sorting", role.value) for role in Role)


def test_what_opens_is_the_same_whatever_the_keys_are(monkeypatch):
    """All keys equal, and all keys apart: with the same shuffles every bit that opens is the same.

    The order of the places decides, which the shuffles hide.
    """
    opened = []
    honest = sorting._above

    def recorded(*args):
        opened[-1].append(honest(*args))
        return opened[-1][-1]

    monkeypatch.setattr(sorting, "_above", recorded)
    for values in (np.full(300, 7), np.arange(300) - 50, np.repeat([3, 4, 150], 100)):
        opened.append([])
        order, found, *_ = sort(values.astype(np.int64), Bounds(-50, 300), randomness=seeded_pair())
        assert (order == np.arange(300)).all()
        assert (found.order != np.arange(300)).any()
    sizes = [sorted(len(bits) for bits in bits_of) for bits_of in opened]
    assert sizes[0] == sizes[1] == sizes[2]
    sums = [sorted((len(bits), int(bits.sum())) for bits in bits_of) for bits_of in opened]
    assert sums[0] == sums[1] == sums[2]


def test_the_order_that_opens_is_uniform():
    """Of three rows with given keys each of the six orders is as likely; chi-square, once in a million."""
    counts = {}
    values = np.array([5, 5, -3], dtype=np.int64)
    masks = RANDOM.words(3)

    def side(session):
        shares = masks if session.role is Role.ALICE else values.view(np.uint64) - masks
        return [tuple(sorting.sort(session, shares, BOUNDS).order.tolist()) for _ in range(240)]

    found, _ = run_pair(side)
    for order in found:
        counts[order] = counts.get(order, 0) + 1
    statistic = sum((counts.get(order, 0) - 40) ** 2 / 40 for order in permutations_of_three())
    assert sum(counts.values()) == 240
    assert statistic < 35.9  # 5 degrees of freedom


def permutations_of_three():
    return [(a, b, c) for a in range(3) for b in range(3) for c in range(3) if {a, b, c} == {0, 1, 2}]


@pytest.mark.parametrize(("count", "sample"), [(100, 0), (300, 63), (1000, 127), (4000, 2047)])
def test_no_more_pairs_fall_together_than_a_step_takes(count, sample):
    """By 500 draws of a sample; the mean is the one that is stated."""
    found = []
    for _ in range(500):
        chosen = np.sort(RANDOM.permutation(count)[:sample])
        gaps = np.diff(np.concatenate([[-1], chosen, [count]])) - 1
        found.append(int((gaps * (gaps - 1) // 2).sum()))
    rest = count - sample
    assert np.mean(found) == pytest.approx(rest * (rest - 1) / (sample + 2), rel=0.1)
    assert max(found) <= sorting.pairs(count, sample) <= rest * (rest - 1) // 2


def test_more_pairs_take_more_steps(monkeypatch):
    """The chance that `pairs` leaves: nothing goes wrong but the price."""
    sorting.plan(700)
    monkeypatch.setattr(sorting, "pairs", lambda count, sample: 900)
    values = keys(700)
    assert (sort(values)[0] == np.argsort(values, kind="stable")).all()


@pytest.mark.parametrize("count", [2, 64, 1000, 100_000, 1_000_000])
def test_plans_end_with_all_rows_and_search_by_halves(count):
    sizes = sorting.plan(count)
    assert sizes[-1] == count
    assert list(sizes) == sorted(set(sizes))
    assert all(size & (size + 1) == 0 for size in sizes[:-1])


def test_an_order_that_is_none_ends_the_run(monkeypatch):
    """Of three keys each is said to be above the next: the peer lied in what it opened."""
    monkeypatch.setattr(sorting, "_above", lambda *args: np.array([1, 0, 1], dtype=np.uint8))
    with pytest.raises(ProtocolViolation, match="not how keys compare"):
        sort(keys(3))


def test_who_bends_its_shares_after_the_shuffle_reads_distances(monkeypatch):
    """Nothing is promised against it: the record says semi-honest, and so does what uses it."""
    assert sorting.SPEC.level.value == "semi-honest"
    honest = permutation.permute
    ranks = {}

    def bent(session, words, owner, order, bits):
        moved = honest(session, words, owner, order, bits=bits)
        if owner is Role.BOB and session.role is Role.BOB:
            moved[0] += np.uint64(100 << 5)  # the key of one row that he cannot name, and five bits of places
        return moved

    monkeypatch.setattr(sorting.permutation, "permute", bent)
    for name, values in (("near", np.arange(20)), ("far", np.arange(20) * 10)):
        _, found, *_ = sort(values.astype(np.int64), Bounds(0, 500), randomness=seeded_pair())
        ranks[name] = int(np.flatnonzero(found.order == 0)[0])
    assert ranks["near"] == 19  # above all others: they lie within 100
    assert ranks["far"] < 19
