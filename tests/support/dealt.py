"""Base transfers from a dealer, for tests of what stands far above them.

The keys of a session's set-up are most of what a short program costs. Here those of the transfers follow
from the id of the session, which anybody can compute, and what goes over is random bytes: kinds and sizes of
all messages, flights and choices stay as they are, and all bytes follow from the parties' randomness. The
real exchange runs in the tests of `smc.oblivious`, in those of the daemon, in every run of the wire's
baseline, and where a conformance test changes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious import setup
from smc.oblivious.base_ot import (
    BASE_KEY_BYTES,
    NONCE_BYTES,
    BaseAnswer,
    BaseKeyOffer,
    BaseKeys,
    BaseOffer,
    session_id,
)
from smc.oblivious.endemic_curve import POINT_BYTES
from smc.oblivious.endemic_lattice import SEED_BYTES
from smc.oblivious.ml_kem import CIPHERTEXT_BYTES, KEY_BYTES


class BaseTransfers:
    """As `base_ot.BaseTransfers`, without its arithmetic."""

    def __init__(self, role: Role, channel: Channel, random: Randomness, count: int) -> None:
        self._role, self._channel, self._random, self._count = role, channel, random, count
        self.nonce = random.bytes(NONCE_BYTES)

    def offer(self) -> None:
        nonce = ByteRows(np.frombuffer(self.nonce, dtype=np.uint8)[None])
        self._send(BaseOffer, nonce, (1, POINT_BYTES), (self._count, 2 * POINT_BYTES))
        self._send(BaseKeyOffer, (self._count, SEED_BYTES), (2 * self._count, KEY_BYTES))

    def answer(self) -> BaseKeys:
        sizes = (1, NONCE_BYTES), (1, POINT_BYTES), (self._count, 2 * POINT_BYTES)
        nonce, _, _ = self._channel.recv(BaseOffer, *(ExpectedByteRows(*size) for size in sizes))
        sizes = (self._count, SEED_BYTES), (2 * self._count, KEY_BYTES)
        self._channel.recv(BaseKeyOffer, *(ExpectedByteRows(*size) for size in sizes))
        self._session = session_id(self._role, self.nonce, nonce.tobytes())
        self._send(BaseAnswer, (2 * self._count, CIPHERTEXT_BYTES))
        self._choices = self._random.bits(self._count)
        return BaseKeys(self._session, self._pairs(self._role), self._choices, nonce.tobytes())

    def receive(self) -> list[bytes]:
        self._channel.recv(BaseAnswer, ExpectedByteRows(2 * self._count, CIPHERTEXT_BYTES))
        return [pair[side] for pair, side in zip(self._pairs(self._role.other), self._choices, strict=True)]

    def _send(self, kind: type[Message], *fields: ByteRows | tuple[int, int]) -> None:
        rows = (each if isinstance(each, ByteRows) else self._rows(*each) for each in fields)
        self._channel.send(kind(*rows))  # type: ignore[call-arg]

    def _rows(self, count: int, width: int) -> ByteRows:
        return ByteRows(
            np.frombuffer(self._random.bytes(count * width), dtype=np.uint8).reshape(count, width)
        )

    def _pairs(self, sender: Role) -> list[tuple[bytes, bytes]]:
        whole = hashlib.shake_256(self._session + sender.value.encode())
        keys = whole.digest(2 * self._count * BASE_KEY_BYTES)
        cut = [keys[i : i + BASE_KEY_BYTES] for i in range(0, len(keys), BASE_KEY_BYTES)]
        return list(zip(cut[::2], cut[1::2], strict=True))


def dealing() -> Iterator[None]:
    """The body of a fixture under which sessions get their base transfers from the dealer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setup, "BaseTransfers", BaseTransfers)
        yield
