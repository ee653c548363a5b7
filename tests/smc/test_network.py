"""The network of a session chooses its protocols: same results, exact costs, fewer bytes on slow links."""

from __future__ import annotations

import numpy as np
import pytest

from parties.bench.workloads import WORKLOADS
from parties.contracts.spec import COVERT_LINK
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.network import LAN, Network
from smc.oblivious import silent_circuits
from smc.pair import run_pair
from smc.protocols.transfer_costs import (
    SETUP_COST,
    cost_blocks,
    cost_comparison,
    cost_settled,
    may_take_silent,
    takes_silent,
    takes_silent_below,
    takes_silent_blocks,
)
from smc.secret.comparison import msb
from smc.secret.comparison.records import cost_nonnegative, cost_zero
from smc.secret.division import truncation
from smc.secret.orders import permutation
from smc.secret.products import common_ones
from smc.secret.sharing.bounds import Bounds
from tests.smc.analyses import clustering_runs
from tests.smc.analyses.matching.vectors import test_vectors as vector_runs
from tests.support.grids import crossed
from tests.support.seeds import seeded

SLOW = Network(20, 100)
BOTH = frozenset(Role)
RANDOM = seeded()


def clusters(rows):
    sides = [clustering_runs.table(clustering_runs.blobs(rows)) for _ in Role]
    return clustering_runs.parsed(), sides, rows, lambda *outcomes: [each.tables for each in outcomes]


def vectors(rows):
    return vector_runs.parsed(), vector_runs.pair_of_tables(rows, rows), rows, vector_runs.pairs


def workload(name, rows):
    """One of the benchmarks' jobs, whose keys are tested for equality in secret."""
    made = WORKLOADS[name]
    data = made.data(rows)
    study = ANALYSES[made.analysis].parse(made.parameters)
    return study, [data[role] for role in Role], rows, numbered


def numbered(alice, bob):
    """Both outcomes' tables; of pairs, whose numbers are drawn, the rows that belong together."""
    first, second = (outcome.tables[0].columns for outcome in (alice, bob))
    if "pair" not in first:
        return alice.tables, bob.tables
    partner = dict(zip(second["pair"], second["row"], strict=True))
    return {(row, partner[pair]) for row, pair in zip(first["row"], first["pair"], strict=True)}


def session_with(study, data):
    def side(session):
        outcome = run_study(study, session, data[session.role is Role.BOB], BOTH, NO_LIMITS.of_both)
        return outcome, session.channel.traffic

    return side


@pytest.mark.parametrize(
    ("make", "size", "part"),
    [
        (clusters, (6_500,), 0.75),
        (vectors, (200,), 0.75),
        (workload, ("exact-size", 6_000), 0.85),
        # Its transfers of 128 bits are silent where nobody names a network, too; its comparisons are few.
        pytest.param(workload, ("tolerant-ranks", 2_000), 1, marks=pytest.mark.slow),
    ],
    ids=["clusters", "vectors", "exact-size", "tolerant-ranks"],
)
def test_a_slow_network_takes_silent_comparisons_at_their_exact_cost(make, size, part):
    study, data, rows, read = make(*size)
    schemas = {name: column.schema for name, column in data[0].items()}
    sent = {}
    for network in (None, SLOW):
        (alice, first), (bob, second) = run_pair(session_with(study, data), network=network)
        estimate = estimate_cost(study, schemas, BOTH, RunSetting((rows, rows), network=network))
        assert (first.sent, second.sent) == (estimate.alice_bytes, estimate.bob_bytes)
        assert max(first.rounds, second.rounds) == estimate.rounds
        assert read(alice, bob) == read(*study.reference(*data, BOTH))
        sent[network] = first.sent + second.sent
    assert sent[SLOW] <= part * sent[None]


AHEAD = {
    "noise": clustering_runs.HORIZONTAL + 'epsilon = "3"\nlabels = false\n',
    "one iteration": clustering_runs.HORIZONTAL.replace("iterations = 3", "iterations = 1"),
    "random start": clustering_runs.BASE + clustering_runs.COLUMNS + 'start = "random"\n',
    "noise once": clustering_runs.HORIZONTAL.replace("iterations = 3", "iterations = 1")
    + 'epsilon = "3"\nlabels = false\n',
}


@pytest.mark.parametrize(("name", "room"), crossed(AHEAD, [1 << 19, 9_000]))
def test_what_clustering_makes_ahead_costs_what_it_states(monkeypatch, name, room):
    monkeypatch.setattr(silent_circuits, "SPAN_WORDS", room)
    _, data, rows, _ = clusters(5_000)
    study = clustering_runs.parsed(AHEAD[name])
    schemas = {name: column.schema for name, column in data[0].items()}
    (_, first), (_, second) = run_pair(session_with(study, data), network=SLOW)
    estimate = estimate_cost(study, schemas, BOTH, RunSetting((rows, rows), network=SLOW))
    assert (first.sent, second.sent) == (estimate.alice_bytes, estimate.bob_bytes)
    assert max(first.rounds, second.rounds) == estimate.rounds


@pytest.mark.parametrize("count", [1, 10_000, 130_000])
def test_signs_and_shifts_are_the_same_over_every_network(count):
    values = RANDOM.words(count) >> np.uint64(34)
    masks = RANDOM.words(count)
    bounds = Bounds(-(1 << 29), (1 << 30) - 1 - (1 << 29))
    values[: count // 3] = 1 << 29
    signed = values - np.uint64(1 << 29)

    def run(session):
        words = signed - masks if session.role is Role.ALICE else masks.copy()
        return (
            msb.nonnegative(session, words, bounds),
            msb.zero(session, words, bounds),
            truncation.shift(session, words, bounds, 12),
            session.channel.traffic,
        )

    for network in (None, LAN, SLOW):
        (sign, null, shifted, alice), (other, none, rest, bob) = run_pair(run, network=network)
        assert ((sign ^ other) == (signed.view(np.int64) >= 0)).all()
        assert ((null ^ none) == (signed == 0)).all()
        assert ((shifted + rest).view(np.int64) == signed.view(np.int64) >> 12).all()
        cost = SETUP_COST + cost_nonnegative(count, bounds, network)
        cost += cost_zero(count, bounds, network) + truncation.cost_shift(count, 12, network)
        whole = cost_settled(cost)
        assert (alice.sent, bob.sent) == (whole.alice_bytes, whole.bob_bytes)
        assert max(alice.rounds, bob.rounds) == whole.rounds


def test_the_first_silent_batch_already_pays_for_the_reserve():
    for count in (1, 100, 5_000, 20_000, 1_000_000):
        for bits in (1, 8, 31, 62):
            for network in (SLOW, Network(200, 10), Network(0.1, 10_000)):
                taken = cost_settled(SETUP_COST + cost_comparison(count, bits, network))
                usual = SETUP_COST + cost_comparison(count, bits)
                assert taken.alice_bytes <= usual.alice_bytes
                if takes_silent(network, count, bits):
                    assert taken.bob_bytes < usual.bob_bytes
                    assert taken.alice_operations["ot_silent"] > count
    assert takes_silent(SLOW, 100_000, 32)
    assert not takes_silent(SLOW, 100, 32)
    assert not takes_silent(Network(0.1, 10_000), 1_000_000, 32)
    assert not takes_silent(None, 1_000_000, 32)


def test_a_link_on_which_nothing_can_be_silent_makes_nothing_silent():
    counts = [2**power for power in range(31)]
    for mbit in (1, 10, 100, 1_000, 1_600, 10_000, 1_000_000):
        network = Network(0, mbit)
        taken = any(takes_silent(network, count, bits) for count in counts for bits in (1, 2, 8, 32, 63, 64))
        taken |= any(takes_silent_below(network, count) for count in counts)
        assert may_take_silent(network) >= taken
        assert may_take_silent(Network(1, mbit))
    assert taken is may_take_silent(network) is may_take_silent(None) is False
    assert takes_silent(COVERT_LINK, 100_000, 32)


@pytest.mark.parametrize("network", [None, LAN, SLOW])
@pytest.mark.parametrize("count", [3, 24_000])
def test_permutations_are_the_same_over_every_network(network, count):
    values, masks = RANDOM.words(2 * count).reshape(2, -1)
    order = np.argsort(RANDOM.words(count))

    def run(session):
        alice = session.role is Role.ALICE
        words = values - masks if alice else masks.copy()
        shares = permutation.permute(session, words, Role.BOB, None if alice else order)
        return shares, session.channel.traffic

    (left, alice), (right, bob) = run_pair(run, network=network)
    assert (left + right == values[order]).all()
    whole = cost_settled(SETUP_COST + permutation.cost(count, Role.BOB, network))
    assert (alice.sent, bob.sent) == (whole.alice_bytes, whole.bob_bytes)
    assert max(alice.rounds, bob.rounds) == whole.rounds


@pytest.mark.parametrize("batch", [1 << 16, 1 << 20])
@pytest.mark.parametrize("chooser", Role)
def test_silent_overlaps_are_right_and_cost_what_is_declared(monkeypatch, batch, chooser):
    monkeypatch.setattr(common_ones, "SILENT_BATCH_TRANSFERS", batch)
    shape = (1_400, 1, 250)
    rows = {role: RANDOM.bits(1_400 * 250).reshape(shape) for role in Role}
    assert takes_silent_blocks(None, rows[chooser].size)

    def run(session):
        shares = common_ones.overlaps(session, rows[session.role], chooser)
        return shares, session.channel.traffic

    (left, alice), (right, bob) = run_pair(run)
    common = (rows[Role.ALICE] & rows[Role.BOB]).sum(axis=2, dtype=np.uint8)
    assert ((left + right)[:, 0, 0] == common[:, 0]).all()
    whole = cost_settled(SETUP_COST + common_ones.cost(*shape, chooser))
    assert (alice.sent, bob.sent) == (whole.alice_bytes, whole.bob_bytes)
    assert max(alice.rounds, bob.rounds) == whole.rounds
    assert whole.alice_operations["ot_silent"] > rows[chooser].size


def test_the_first_silent_blocks_already_pay_for_the_reserve():
    for network in (None, SLOW, Network(200, 10), LAN):
        for count in (0, 1, 10_000, 100_000, 400_000, 10_000_000):
            taken = cost_settled(SETUP_COST + cost_blocks(count, network))
            usual = SETUP_COST + cost_blocks(count, silent=False)
            saved = usual.alice_bytes + usual.bob_bytes - taken.alice_bytes - taken.bob_bytes
            assert saved > 0 if takes_silent_blocks(network, count) else taken == usual
    assert takes_silent_blocks(None, 400_000)
    assert takes_silent_blocks(SLOW, 400_000)
    assert not takes_silent_blocks(LAN, 10_000_000)


def test_parties_that_plan_for_other_networks_do_not_go_on():
    """A daemon refuses such a job before, since the network is part of the contract."""
    words = np.zeros(100_000, dtype=np.uint64)

    def run(session):
        session.network = SLOW if session.role is Role.ALICE else None
        return msb.nonnegative(session, words, Bounds(-1000, 1000))

    with pytest.raises(ProtocolViolation):
        run_pair(run)
