"""Silent transfers of 128 bits: pads of chosen bits."""

from __future__ import annotations

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.errors import ProtocolViolation, UsageError
from smc.forms import Role
from smc.oblivious import silent_transfers
from smc.oblivious.cost import FlightBytes, matrix_bytes
from smc.oblivious.silent_transfers import Refill, SilentChoices, SilentTransfers
from smc.oblivious.transfers import Transfers
from smc.pair import run_pair
from tests.smc.oblivious.engine_runs import both
from tests.smc.oblivious.test_silent_ot import MIDDLE, TOY, Z, agree, correlated, ends
from tests.support.seeds import seeded
from tests.support.transcript import BYTES_BOUND, byte_statistic, truncated

RANDOM = seeded()


def chosen(zero, one, choices):
    return np.where(choices[:, None] == 1, one, zero)


@pytest.mark.parametrize("sizes", [TOY, MIDDLE])
def test_blocks_and_pads_of_four_bits_take_turns(sizes):
    sender, receiver = ends(sizes)
    for blocks in (1, sizes.most_blocks):
        message, zero, one = sender.extend_blocks(blocks)
        choices, pads = receiver.extend_blocks(blocks, message)
        assert pads.shape == zero.shape == one.shape == (blocks * sizes.block_rows, 2)
        assert (pads == chosen(zero, one, choices)).all()
        assert (zero != one).any(axis=1).all()
        assert correlated(sender, receiver)
        message, *pair = sender.extend(blocks)
        assert agree(*pair, *receiver.extend(blocks, message))


def test_an_iteration_of_another_size_is_refused():
    for blocks in (0, -1, TOY.most_blocks + 1):
        sender, receiver = ends(TOY)
        with pytest.raises(UsageError, match="cannot give out"):
            sender.extend_blocks(blocks)
        with pytest.raises(UsageError, match="cannot give out"):
            receiver.extend_blocks(blocks, np.empty((1, 0), dtype=np.uint8))


def over_toy(session):
    """Silent transfers of small sizes on top of a session's base transfers."""
    transfers = Transfers(session.role, session.channel, session.random)
    return SilentTransfers(session.role, session.channel, session.random, transfers, TOY)


def one_way(counts, choices=None):
    """Batches from Alice to Bob, all of them begun before the first ends."""
    wanted = [RANDOM.bits(count) for count in counts] if choices is None else choices

    def run(session):
        silent = over_toy(session)
        before = session.channel.traffic
        if session.role is Role.ALICE:
            results = [end() for end in [silent.begin_blocks(count) for count in counts]]
        else:
            results = [silent.receive_blocks(bits) for bits in wanted]
        return results, session.channel.traffic.since(before)

    return wanted, run


@pytest.mark.parametrize("counts", [(1,), (63, 64, 65), (1000, 7), (0, 5, 0)])
def test_the_receiver_gets_the_pad_that_it_chose(counts):
    wanted, run = one_way(counts)
    (sent, there), (received, back) = run_pair(run, run)
    for (zero, one), pads, bits in zip(sent, received, wanted, strict=True):
        assert pads.shape == zero.shape == one.shape == (len(bits), 2)
        assert (pads == chosen(zero, one, bits)).all()
        assert (zero != one).any(axis=1).all()
    steps = [step for count in counts for step in silent_transfers.blocks(count, TOY)]
    assert there.sent == sum(step.first for step in steps)
    assert back.sent == sum(step.second for step in steps)


def test_the_engine_makes_them_beside_extended_ones():
    count = 5_000
    bits = RANDOM.bits(count)

    def receive(engine):
        engine.setup_silent()
        return engine.receive_blocks(bits, silent=True), engine.receive_blocks(bits)

    def send(engine):
        engine.setup_silent()
        return engine.send_blocks(count, silent=True), engine.send_blocks(count)

    (received, there), (sent, back) = both(receive, send)
    for pads, (zero, one) in zip(received, sent, strict=True):
        assert (pads == chosen(zero, one, bits)).all()
    (_, before), (_, behind) = both(lambda e: e.setup_silent(), lambda e: e.setup_silent())
    first, second = silent_transfers.blocks(count)
    assert (first.second, second.first) == (0, 0)
    assert back.sent - behind.sent == first.first
    assert there.sent - before.sent == second.second + matrix_bytes(count)


def test_none_cost_nothing():
    assert silent_transfers.blocks(0) == ()
    assert silent_transfers.blocks(1, TOY) == (
        FlightBytes(silent_transfers.refills(1, TOY), 0, refills=True),
        FlightBytes(0, 8),
    )


@pytest.mark.parametrize("value", [0, 1])
def test_what_is_said_of_choices_and_the_pads_are_noise(monkeypatch, value):
    said = []
    honest = Channel.send

    def send(self, message):
        if isinstance(message, SilentChoices):
            said.append(message.encode())
        honest(self, message)

    monkeypatch.setattr(Channel, "send", send)
    count = 20_000
    wanted, run = one_way((count,), [np.full(count, value, dtype=np.uint8)])
    ((sent, _), (received, _)) = run_pair(run, run)
    bits = np.unpackbits(np.frombuffer(b"".join(said), dtype=np.uint8))
    assert abs(int(bits.sum()) - bits.size / 2) < Z * (bits.size / 4) ** 0.5
    zero, one = sent[0]
    for data in (received[0], zero, one, zero ^ one):
        assert byte_statistic(data.tobytes()) < BYTES_BOUND
    assert (received[0] == chosen(zero, one, wanted[0])).all()


@pytest.mark.parametrize(("kind", "cheat"), [(Refill, Role.ALICE), (SilentChoices, Role.BOB)])
def test_messages_of_another_size_are_refused(monkeypatch, kind, cheat):
    channels = truncated(monkeypatch, kind.__name__)
    wanted, run = one_way((100,))

    def cheating(session):
        if session.role is cheat:
            channels.append(session.channel)
        return run(session)

    with pytest.raises(ProtocolViolation):
        run_pair(cheating, cheating)
    assert len(wanted) == 1
