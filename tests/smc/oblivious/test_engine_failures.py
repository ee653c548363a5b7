"""Peers that break the protocol, and engines that failed."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.channel.memory import MemoryTransport
from smc.channel.message import Frame
from smc.errors import DomainError, PeerError, ProtocolViolation, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.base_ot import BaseAnswer, BaseKeyOffer, BaseOffer
from smc.oblivious.circuits import DigitOffers, Openings
from smc.oblivious.correlated_transfers import TransferChoiceColumns, TransferColumns
from smc.oblivious.setup import LevelSums, TransferSalt, TreeDigest
from smc.oblivious.silent_engine import SilentEngine
from smc.pair import run_pair
from tests.support.seeds import seeded
from tests.support.transcript import Shortened

RANDOM = seeded()


def spoil(monkeypatch, kind, change):
    """Let Alice send `change(message)` in the place of every message of this kind."""
    honest = Channel.send

    def send(self, message):
        if type(message).__name__ == kind and self is channels[0]:
            message = change(message)
        honest(self, message)

    channels: list[Channel] = []
    monkeypatch.setattr(Channel, "send", send)
    return channels


@pytest.mark.parametrize(
    "kind",
    [
        TreeDigest.__name__,
        BaseOffer.__name__,
        BaseKeyOffer.__name__,
        BaseAnswer.__name__,
        LevelSums.__name__,
        TransferSalt.__name__,
        TransferChoiceColumns.__name__,
        TransferColumns.__name__,
        DigitOffers.__name__,
        Openings.__name__,
    ],
)
def test_truncated_messages_are_refused(monkeypatch, kind):
    channels = spoil(monkeypatch, kind, Shortened)

    def cheat(session):
        channels.append(session.channel)
        return session.oblivious.greater_equal_y([1, 2, 3], 8)

    with pytest.raises(ProtocolViolation):
        run_pair(cheat, lambda s: s.oblivious.greater_equal_x([1, 2, 3], 8))


def test_a_replayed_frame_is_refused(monkeypatch):
    honest = MemoryTransport.send
    sent: list[Frame] = []

    def send(self, frame):
        honest(self, sent[-1] if frame.kind == Openings.kind() and cheating(self) else frame)
        if cheating(self):
            sent.append(frame)

    monkeypatch.setattr(MemoryTransport, "send", send)
    transports = []

    def cheating(transport):
        return transport in transports

    def cheat(session):
        transports.append(session.channel._transport)
        return session.oblivious.greater_equal_y([1, 2, 3], 8)

    with pytest.raises(ProtocolViolation, match="frame"):
        run_pair(cheat, lambda s: s.oblivious.greater_equal_x([1, 2, 3], 8))


def test_messages_of_an_earlier_session_give_no_right_result_in_a_later_one(monkeypatch):
    """A peer with the same randomness again meets another session id: nothing of the old run fits."""
    honest = Channel._message
    seen: list[bytes] = []

    def message(self, kind, size):
        data = honest(self, kind, size)
        if kind == TransferColumns.kind():
            seen.append(data)
        return data

    monkeypatch.setattr(Channel, "_message", message)
    for _ in range(2):
        run_pair(
            lambda s: s.oblivious.and_bits(np.ones(64, np.uint8), np.ones(64, np.uint8)),
            lambda s: s.oblivious.and_bits(np.ones(64, np.uint8), np.ones(64, np.uint8)),
            randomness=(repeating(), seeded()),
        )
    assert len(seen) == len(set(seen)) == 4


def repeating() -> Randomness:
    """A source that starts the same every time, as after a machine was set back."""
    calls = iter(range(1 << 30))
    return Randomness(lambda count: hashlib.shake_256(next(calls).to_bytes(8, "big")).digest(count))


def test_a_message_out_of_order_is_refused():
    with pytest.raises(ProtocolViolation):
        run_pair(
            lambda s: s.oblivious.and_bits(np.ones(9, np.uint8), np.ones(9, np.uint8)),
            lambda s: (s.oblivious.setup(), s.channel.send(Openings(LeafBits))) and s.oblivious.setup(),
        )


class LeafBits:
    @staticmethod
    def encode():
        return b"\x00"


def test_sides_of_different_size_do_not_run():
    with pytest.raises(PeerError):
        run_pair(
            lambda s: s.oblivious.greater_equal_x([1] * 100, 8),
            lambda s: s.oblivious.greater_equal_y([1] * 200, 8),
        )


@pytest.mark.parametrize("step", ["compare", "words", "setup"])
def test_an_engine_that_failed_is_not_used_again(step):
    def failing(session):
        engine = session.oblivious
        engine.setup()
        with pytest.raises(DomainError):
            engine.greater_equal_x([16], 4)
        with pytest.raises(UsageError, match="cannot be used again"):
            {
                "compare": lambda: engine.greater_equal_x([1], 4),
                "words": lambda: engine.bits_to_arithmetic(np.ones(1, np.uint8)),
                "setup": engine.setup,
            }[step]()

    with pytest.raises(UsageError, match="cannot be used again"):  # nor does it end as if whole
        run_pair(failing, lambda s: s.oblivious.setup())


def test_an_engine_is_not_used_again_after_the_peer_broke_the_protocol():
    def victim(session):
        engine = session.oblivious
        with pytest.raises(ProtocolViolation):
            engine.and_bits(np.ones(9, np.uint8), np.ones(9, np.uint8))
        sent = session.channel.traffic.sent
        with pytest.raises(UsageError, match="cannot be used again"):
            engine.and_bits(np.ones(9, np.uint8), np.ones(9, np.uint8))
        assert session.channel.traffic.sent == sent

    def attacker(session):
        session.oblivious.setup()
        session.channel.send(Openings(LeafBits))

    with pytest.raises(UsageError, match="cannot be used again"):  # where it ends as if whole
        run_pair(victim, attacker)


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.greater_equal_x([1], 0),
        lambda e: e.greater_equal_x([-1], 4),
        lambda e: e.and_bits(np.ones(2, np.uint8), np.ones(3, np.uint8)),
        lambda e: e.and_bits(np.full(2, 2, np.uint8), np.ones(2, np.uint8)),
        lambda e: e.bits_to_arithmetic(np.ones(2, np.int64)),
        lambda e: e.below(np.ones(2, np.uint64), np.ones(3, np.uint64)),
    ],
)
def test_wrong_arguments_are_named(call):
    engine = SilentEngine(Role.ALICE, None, RANDOM)  # fails before it needs a channel
    with pytest.raises(UsageError):
        call(engine)
