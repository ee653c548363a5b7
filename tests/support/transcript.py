"""What a party receives in a run, and whether it looks like noise."""

from __future__ import annotations

import numpy as np

from smc.channel.channel import Channel
from smc.channel.message import KINDS
from smc.ciphers.lattice import LatticeParameters
from smc.ciphers.lattice_ring import LIMB_BITS, pack_words, packed_size, unpack_words
from smc.forms import Role
from smc.pair import run_pair

BYTES_BOUND = 415
"""Chi-square with 255 degrees of freedom exceeds it once in a billion: hundreds of messages are looked at."""


def transcripts(monkeypatch, side, **given):
    """Run both sides; their results, and per role the kinds and bodies of the messages that it received.

    Args:
        monkeypatch: the fixture.
        side: takes the session.
        given: to `run_pair`.
    """
    seen: dict[Role, list[tuple[str, bytes]]] = {role: [] for role in Role}
    owners: dict[int, Role] = {}
    honest = Channel._message

    def message(self, kind, size):
        data = honest(self, kind, size)
        seen[owners[id(self)]].append((KINDS[kind].rpartition(".")[2], data))
        return data

    def watched(session):
        owners[id(session.channel)] = session.role
        return side(session)

    with monkeypatch.context() as patch:
        patch.setattr(Channel, "_message", message)
        results = run_pair(watched, watched, **given)
    return results, seen


def shapes(seen):
    """Kinds and sizes of all messages, in their order."""
    return {role: [(kind, len(data)) for kind, data in rows] for role, rows in seen.items()}


def byte_statistic(data: bytes) -> float:
    """Chi-square of the bytes' frequencies against uniform ones."""
    counts = np.bincount(np.frombuffer(data, dtype=np.uint8), minlength=256)
    expected = len(data) / 256
    return float(((counts - expected) ** 2 / expected).sum())


def used_bits(parameters: LatticeParameters, body: bytes) -> bytes:
    """What a message of ciphertexts has beside idle bits, all of which are zero in every coefficient.

    Args:
        parameters: of the ciphertexts.
        body: their limbs as they were packed, from the lowest, without padding.
    """
    count = len(body) * 8 // LIMB_BITS
    assert len(body) == packed_size(count, LIMB_BITS)
    limbs = unpack_words(np.frombuffer(body, dtype=np.uint8), count, LIMB_BITS).reshape(parameters.limbs, -1)
    idle = parameters.idle_bits
    assert not (limbs[0] & np.uint64((1 << idle) - 1)).any()
    lowest = pack_words(limbs[0] >> np.uint64(idle), LIMB_BITS - idle)
    return lowest.tobytes() + pack_words(limbs[1:].reshape(-1), LIMB_BITS).tobytes()


class Shortened:
    """A message that is encoded one byte short."""

    def __init__(self, message):
        self._message = message

    def kind(self):
        """As of the honest message."""
        return type(self._message).kind()

    def is_hidden(self):
        """As of the honest message."""
        return type(self._message).is_hidden()

    def encode(self):
        """One byte less."""
        return self._message.encode()[:-1]


def truncated(monkeypatch, kind):
    """Let Alice send one byte less in every message of this kind; call the result with her session first."""
    channels: list[Channel] = []
    honest = Channel.send

    def send(self, message):
        cheats = self in channels and type(message).__name__ == kind
        honest(self, Shortened(message) if cheats else message)

    monkeypatch.setattr(Channel, "send", send)
    return channels
