"""Bits as words: results, cost, and what is sent."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.oblivious.transfers import TransferCorrections
from smc.pair import run_pair
from smc.secret.products import bit_words
from tests.smc.secret.secret_runs import RANDOM
from tests.support.transcript import BYTES_BOUND, byte_statistic, shapes, transcripts, truncated


def program(bits, masks, width):
    def side(session):
        session.oblivious.setup()
        before = session.channel.traffic
        own = masks if session.role is Role.ALICE else bits ^ masks
        return bit_words.to_words(session, own, width), session.channel.traffic.since(before)

    return side


@pytest.mark.parametrize("count", [1, 2, 63, 1000])
@pytest.mark.parametrize("width", [1, 8, 13, 32, 64])
def test_words_are_the_bits(count, width):
    bits, masks = RANDOM.bits(count), RANDOM.bits(count)
    side = program(bits, masks, width)
    (alice, there), (bob, back) = run_pair(side, side)
    mask = np.uint64((1 << width) - 1)
    assert (alice <= mask).all()
    assert (bob <= mask).all()
    assert (alice + bob & mask == bits).all()
    declared = bit_words.cost(count, width)
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert max(there.rounds, back.rounds) == declared.rounds


def test_narrow_words_send_less():
    narrow, wide = (bit_words.cost(100_000, width) for width in (32, 64))
    assert narrow.alice_bytes == narrow.bob_bytes
    assert wide.alice_bytes - narrow.alice_bytes == 4 * 50_000


def test_messages_say_nothing(monkeypatch):
    """Sizes follow from the count, and bytes are uniform for bits and shares that are all alike."""
    ones, zeros = np.ones(2000, dtype=np.uint8), np.zeros(2000, dtype=np.uint8)
    results, seen = transcripts(monkeypatch, program(ones, ones, 32))
    assert shapes(seen) == shapes(transcripts(monkeypatch, program(zeros, zeros, 32))[1])
    data = b"".join(body for name, body in seen[Role.BOB] if name == TransferCorrections.__name__)
    assert len(data) == 4_000
    assert byte_statistic(data) < BYTES_BOUND
    for shares, _ in results:
        # The lowest bit of a share is the XOR share that it was made of.
        assert byte_statistic((shares >> np.uint64(8)).astype("<u2").tobytes()) < BYTES_BOUND


def test_a_message_of_another_size_is_a_violation(monkeypatch):
    channels = truncated(monkeypatch, TransferCorrections.__name__)
    run = program(RANDOM.bits(50), RANDOM.bits(50), 32)

    def alice(session):
        channels.append(session.channel)
        return run(session)

    with pytest.raises(ProtocolViolation):
        run_pair(alice, run)
