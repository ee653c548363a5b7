"""Base transfers from a dealer, for tests of what stands far above them.

The points of a session's set-up are most of what a short program costs. Here the keys follow from the id of
the session, which anybody can compute, and the points on the way are random bytes: kinds and sizes of all
messages, flights and choices stay as they are. The real exchange runs in the tests of `smc.oblivious` and
`smc.protocols`, in those of the daemon, and in every run of the wire's baseline.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest

from smc.channel.channel import Channel
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious import base_ot, setup
from smc.oblivious.base_ot import (
    KEY_BYTES,
    NONCE_BYTES,
    POINT_BYTES,
    TRANSFERS,
    BaseChoices,
    BaseKeys,
    BaseOffer,
)


def exchange(role: Role, channel: Channel, random: Randomness) -> BaseKeys:
    """As `base_ot.exchange`, without its arithmetic."""
    nonce = _rows(random, 1, NONCE_BYTES)
    channel.send(BaseOffer(nonce, _rows(random, 2, POINT_BYTES)))
    peer_nonce, _ = channel.recv(
        BaseOffer, ExpectedByteRows(1, NONCE_BYTES), ExpectedByteRows(2, POINT_BYTES)
    )
    session = base_ot._session_id(role, nonce.encode(), peer_nonce.tobytes())
    channel.send(BaseChoices(_rows(random, TRANSFERS, POINT_BYTES)))
    channel.recv(BaseChoices, ExpectedByteRows(TRANSFERS, POINT_BYTES))
    choices = random.bits(TRANSFERS)
    chosen = [pair[choice] for pair, choice in zip(_pairs(session, role.other), choices, strict=True)]
    return BaseKeys(session, _pairs(session, role), choices, chosen)


def dealing() -> Iterator[None]:
    """The body of a fixture under which sessions get their base transfers from the dealer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setup, "exchange", exchange)
        yield


def _rows(random: Randomness, count: int, width: int) -> ByteRows:
    return ByteRows(random.words(count * width).astype("u1").reshape(count, width))


def _pairs(session: bytes, sender: Role) -> list[tuple[bytes, bytes]]:
    keys = hashlib.shake_256(session + sender.value.encode()).digest(2 * TRANSFERS * KEY_BYTES)
    cut = [keys[i : i + KEY_BYTES] for i in range(0, len(keys), KEY_BYTES)]
    return list(zip(cut[::2], cut[1::2], strict=True))
