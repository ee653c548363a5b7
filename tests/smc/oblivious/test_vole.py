"""Silent vector OLE: the correlation, the check of it, and what it costs."""

from __future__ import annotations

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.errors import InconsistentTransfers, PeerError, ProtocolViolation, UsageError
from smc.forms import Role
from smc.oblivious import numpy_field, vole_steps
from smc.oblivious.correlated_ggm import PuncturedTrees
from smc.oblivious.correlated_transfers import TransferProof
from smc.oblivious.field_lpn import FieldCode
from smc.oblivious.lpn import LpnSet
from smc.oblivious.silent_ot import PadHash
from smc.oblivious.transfers import Transfers
from smc.oblivious.vole import VoleAnswer, VoleChallenge, VoleReceiver, VoleRows, Voles, VoleSender, VoleSums
from smc.oblivious.vole_plan import MOST_ROWS, PRODUCTION, WINDOW, VoleSizes
from smc.oblivious.workspace import Workspace
from smc.pair import run_pair
from smc.protocols.transfer_costs import SETUP_COST, cost_of
from tests.smc.oblivious.prf_runs import chi_square, spoiled
from tests.support.seeds import seeded

RANDOM = seeded()
TOY = VoleSizes(
    field=LpnSet(log_length=7, trees=128, depth=4, group=16),
    first=LpnSet(log_length=4, trees=48, depth=4, group=16),
    silent=LpnSet(log_length=8, trees=60, depth=4, group=4),
)
"""An iteration takes 256 entries, which are all that the first one makes, and gives 2,048."""


def made(counts, sizes=TOY):
    """What both sides have of calls for so many rows, checked, and Alice's traffic; she receives."""

    def alice(session):
        end = Voles(session.role, session.channel, session.random, sizes)
        transfers = Transfers(session.role, session.channel, session.random)
        found = []
        for count in counts:
            found.append(end.receive(transfers, count))
            if count:
                found[-1].verify(found[-1].challenge())
        return found, session.channel.traffic

    def bob(session):
        end = Voles(session.role, session.channel, session.random, sizes)
        transfers = Transfers(session.role, session.channel, session.random)
        found = []
        for count in counts:
            found.append(end.send(transfers, count))
            if count:
                found[-1].answer()
        return found

    return run_pair(alice, bob)


def test_what_vole_rests_on_is_checked_before_anything_is_sent_under_it(monkeypatch):
    """Rows and sums could be recognised by a receiver that knows a part of D."""
    sent = {role: [] for role in Role}
    honest = VoleSender.__init__

    def watched(self, transfers, channel, *given):
        send = type(channel).send
        monkeypatch.setattr(
            type(channel),
            "send",
            lambda end, message: (sent[Role.BOB].append(type(message)), send(end, message)),
        )
        honest(self, transfers, channel, *given)

    monkeypatch.setattr(VoleSender, "__init__", watched)
    made([10])
    kinds = sent[Role.BOB]
    assert TransferProof in kinds
    assert kinds.index(TransferProof) < min(kinds.index(VoleRows), kinds.index(VoleSums))


def holds(received, sent):
    """Whether C = A D + B in every row."""
    wanted = sent.rows.copy()
    numpy_field.NumpyField(Workspace()).add_products(received.factors, sent.offset, wanted)
    return (wanted == received.sums).all() and len(wanted) == len(received.sums)


@pytest.mark.parametrize("count", [1, 7, 255, 256, 1791, 1792, 5000])
def test_the_correlation_holds_in_every_row(count):
    (received, _), sent = made([count])
    assert len(sent[0].rows) == count
    assert holds(received[0], sent[0])


def test_calls_follow_each_other_and_share_no_row():
    (received, _), sent = made([0, 5, 2000, 1, 400])
    assert all(map(holds, received, sent))
    rows = np.concatenate([each.rows for each in sent])
    factors = np.concatenate([each.factors for each in received])
    assert len(np.unique(rows, axis=0)) == len(np.unique(factors, axis=0)) == 2406
    assert len({each.offset.tobytes() for each in sent}) == 1
    assert sent[0].offset[0] & np.uint64(1)


def test_the_production_sizes_hold():
    (received, traffic), sent = made([200_000], PRODUCTION)
    assert holds(received[0], sent[0])
    steps = (*vole_steps.setup(), *vole_steps.steps(200_000), *vole_steps.CHECK)
    declared = SETUP_COST + cost_of(steps).mirror
    assert (traffic.sent, traffic.received) == (declared.alice_bytes, declared.bob_bytes)
    assert traffic.rounds == declared.rounds


@pytest.mark.parametrize("count", [1, 500, 1792 * WINDOW - 1, 1792 * WINDOW, 1800 * WINDOW])
def test_measured_bytes_and_rounds_are_the_declared_ones(count):
    (received, traffic), sent = made([count])
    assert holds(received[0], sent[0])
    check = vole_steps.CHECK
    steps = (*vole_steps.setup(TOY), *vole_steps.steps(count, TOY), *check)
    declared = SETUP_COST + cost_of(steps).mirror
    assert (traffic.sent, traffic.received) == (declared.alice_bytes, declared.bob_bytes)
    assert traffic.rounds == declared.rounds
    assert len(vole_steps.steps(count, TOY)) == (1 if count < 1792 * WINDOW else 3)


def test_factors_and_rows_look_uniform():
    (received, _), sent = made([6000])
    for words in (received[0].factors, received[0].sums, sent[0].rows):
        assert chi_square(np.ascontiguousarray(words).view(np.uint8))


def test_offsets_and_matrices_of_both_directions_differ():
    def both(session):
        end = Voles(session.role, session.channel, session.random, TOY)
        transfers = Transfers(session.role, session.channel, session.random)
        if session.role is Role.ALICE:
            return end.receive(transfers, 100), end.send(transfers, 100)
        sent = end.send(transfers, 100)
        return end.receive(transfers, 100), sent

    (first, second), (third, fourth) = run_pair(both)
    assert holds(first, fourth)
    assert holds(third, second)
    assert (second.offset != fourth.offset).any()


class Bent:
    """Lets the sender's messages of a kind leave with one bit changed, in one number of them."""

    def __init__(self, monkeypatch, kind, which, place):
        honest = Channel.send
        self.seen = 0

        def send(channel, message):
            if isinstance(message, kind):
                self.seen += 1
                if self.seen == which:
                    field = "sums"
                    value = getattr(message, field)
                    words = value.values.copy().reshape(-1)
                    words[place] ^= words.dtype.type(4)
                    message = kind(type(value)(words.reshape(value.values.shape)))
            honest(channel, message)

        monkeypatch.setattr(Channel, "send", send)


LEVELS = TOY.silent.group * TOY.silent.depth
"""Sums of a block of silent transfers, of 16 bytes each."""

LEAF_SUM = 2 * TOY.field.group * TOY.field.depth
"""Where the sums of leaves stand in the first block of an iteration."""


@pytest.mark.parametrize(
    ("kind", "which", "place"),
    [
        (VoleSums, 1, 2 * TOY.first.group * TOY.first.depth),  # a leaf sum of the first entries
        (VoleSums, 2, LEAF_SUM),
        (VoleSums, 2, LEAF_SUM + 5),
        (VoleSums, 4, LEAF_SUM),  # of the last iteration
    ],
)
def test_a_bent_sum_of_leaves_is_found(monkeypatch, kind, which, place):
    bent = Bent(monkeypatch, kind, which, place)
    with pytest.raises(InconsistentTransfers):
        made([4000])
    assert bent.seen == 4


def test_a_bent_sum_of_a_level_is_found():
    caught = 0
    for attempt in range(12):
        with pytest.MonkeyPatch.context() as patch:
            Bent(patch, VoleSums, 2, 2 * (attempt % TOY.field.group))
            try:
                made([300])
            except ProtocolViolation:
                caught += 1
    assert caught == 12


def test_a_bent_refill_of_the_first_entries_is_found(monkeypatch):
    caught = 0
    for attempt in range(8):
        with monkeypatch.context() as patch:
            Bent(patch, VoleRows, 1, 16 * (attempt + TOY.silent.reserve_blocks * LEVELS))
            try:
                made([300])
            except ProtocolViolation:
                caught += 1
    assert caught == 8


def test_an_answer_to_another_challenge_is_refused():
    def alice(session):
        end = Voles(session.role, session.channel, session.random, TOY)
        received = end.receive(Transfers(session.role, session.channel, session.random), 10)
        received.challenge()
        received.verify(received.challenge())

    def bob(session):
        end = Voles(session.role, session.channel, session.random, TOY)
        sent = end.send(Transfers(session.role, session.channel, session.random), 10)
        sent.answer()
        sent.answer()

    with pytest.raises(InconsistentTransfers):
        run_pair(alice, bob)


@pytest.mark.parametrize("count", [1, 1791, 1792])
def test_a_row_that_is_not_used_hides_what_a_receiver_tells_of_its_factors(count):
    (received, _), _ = made([count])
    spare = received[0].made[count : len(received[0].made) - TOY.kept, 1]
    assert len(spare)
    assert (spare != 0).any(axis=1).all()


@pytest.mark.parametrize("kind", [VoleSums, VoleChallenge, VoleAnswer, VoleRows])
def test_truncated_messages_are_refused(monkeypatch, kind):
    spoiled(monkeypatch, kind.__name__)
    with pytest.raises(ProtocolViolation):
        made([10])


def test_a_failed_iteration_leaves_no_base(monkeypatch):
    def alice(session):
        transfers = Transfers(session.role, session.channel, session.random)
        end = VoleReceiver(transfers, session.channel, session.random, Role.BOB, TOY)
        end.extend(1)
        with monkeypatch.context() as patch:
            patch.setattr(end._iterations, "iterate", None)
            with pytest.raises(TypeError):
                end.extend(1)
        with pytest.raises(UsageError, match="failed"):
            end.extend(1)

    def bob(session):
        transfers = Transfers(session.role, session.channel, session.random)
        end = VoleSender(transfers, session.channel, session.random, Role.BOB, TOY)
        for _ in range(3):
            end.extend(1)

    run_pair(alice, bob)


def test_rows_are_not_made_by_the_billion():
    for call in (Voles.send, Voles.receive):
        with pytest.raises(UsageError, match="keys are more than"):
            run_pair(
                lambda s, call=call: call(
                    Voles(s.role, s.channel, s.random, TOY),
                    Transfers(s.role, s.channel, s.random),
                    MOST_ROWS + 1,
                ),
                lambda s: None,
            )


def test_a_number_that_the_peer_only_announces_takes_no_memory():
    """A sender waits for the receiver after some iterations."""
    seeds = []

    def bob(session):
        drawn = session.random.words
        session.random.words = lambda count: seeds.append(count) or drawn(count)
        end = Voles(session.role, session.channel, session.random, TOY)
        end.send(Transfers(session.role, session.channel, session.random), 1 << 20)

    def alice(session):
        end = Voles(session.role, session.channel, session.random, TOY)
        end.receive(Transfers(session.role, session.channel, session.random), 0)

    with pytest.raises((PeerError, ProtocolViolation)):
        run_pair(alice, bob)
    assert 0 < sum(seeds) < 1 << 15


@pytest.mark.parametrize("hashed", [True, False], ids=["as it is", "without the hash"])
def test_no_missing_leaf_tells_the_offset(monkeypatch, hashed):
    """Sums of trees tell a receiver C = B + A D of each missing leaf, and its node is B's own node plus D.

    If B were that node itself, and not a hash of it, C plus the node would be (A + 1) D, which gives D away.
    """
    nodes, leaves = [], []
    regrow, add = PuncturedTrees.regrow, FieldCode.add
    monkeypatch.setattr(
        PuncturedTrees,
        "regrow",
        lambda self, *given: (made := regrow(self, *given), nodes.append(made.reshape(-1, 2).copy()))[0],
    )

    def watched(self, secret, part):
        if part.shape[1] == 2:  # the receiver's, before the code is added
            leaves.append((nodes[-1], part.copy()))
        return add(self, secret, part)

    monkeypatch.setattr(FieldCode, "add", watched)
    if not hashed:
        monkeypatch.setattr(
            PadHash, "blocks", lambda self, given, out: np.copyto(out, given.reshape(out.shape))
        )
    ((_,), _), (sent,) = made([10])
    assert leaves
    told, field = [], numpy_field.NumpyField(Workspace())
    for grown, part in leaves:
        missing = (grown[:, 0] & np.uint64(1)).astype(bool)
        assert missing.any()
        one = np.array([1, 0], dtype=np.uint64)
        for node, (total, factor) in zip(grown[missing], part[missing], strict=True):
            product = np.zeros((1, 2), dtype=np.uint64)
            field.add_products((factor ^ one)[None], sent.offset, product)
            told.append(np.array_equal(total ^ node, product[0]))
    assert (any if hashed else all)(told) is not hashed
