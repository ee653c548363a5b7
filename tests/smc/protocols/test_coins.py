"""Coins that neither party can choose."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.pair import run_pair
from smc.protocols.coins import COIN_BYTES, CoinCommitment, Coins, toss
from smc.protocols.public_records import TOSS_COST


def row(data: bytes) -> ByteRows:
    return ByteRows(np.frombuffer(data, dtype=np.uint8)[None])


def read(session, kind):
    return session.channel.recv(kind, ExpectedByteRows(1, COIN_BYTES)).tobytes()


def test_coins_are_the_same_for_both_and_new_each_time():
    def side(session):
        return toss(session), toss(session), session.channel.traffic

    (first, second, traffic), (*theirs, _) = run_pair(side, side)
    assert [first, second] == theirs
    assert first != second
    assert (traffic.sent, traffic.rounds) == (2 * TOSS_COST.alice_bytes, 2 * TOSS_COST.rounds)


def in_role(role, honest, deviating):
    """Run the deviating side in a role, the honest one in the other."""
    return run_pair(*((deviating, honest) if role is Role.ALICE else (honest, deviating)))


@pytest.mark.parametrize("role", Role)
def test_a_peer_that_opens_another_half_after_it_has_heard_ours_is_refused(role):
    """It waits for our half and then looks for one of its own that makes the coins what it wants."""

    def chooses(session):
        session.channel.send(CoinCommitment(row(hashlib.sha256(b"anything").digest())))
        read(session, CoinCommitment)
        ours = read(session, Coins)
        session.channel.send(Coins(row(hashlib.sha256(ours).digest())))

    with pytest.raises(ProtocolViolation, match="not the one that it had committed to"):
        in_role(role, toss, chooses)


@pytest.mark.parametrize("role", Role)
def test_a_peer_that_repeats_our_messages_is_refused(role):
    def mirrors(session):
        for kind in (CoinCommitment, Coins):
            session.channel.send(kind(row(read(session, kind))))

    with pytest.raises(ProtocolViolation, match="not the one that it had committed to"):
        in_role(role, toss, mirrors)


def test_nothing_of_a_half_is_sent_before_the_peer_is_committed():
    def listens(session):
        return read(session, CoinCommitment)  # a second message would be an error at the end

    with pytest.raises(ProtocolViolation):
        run_pair(toss, listens)
