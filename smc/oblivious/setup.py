"""The set-up of a session: base transfers, seed trees, and the ends of both extensions in both directions.

    Alice                                   Bob
                  -- offers, points --          base transfers, both directions at once (2 flights)
                  -- sums, masks --             seed trees, and the masks of the first check (1 flight)

Learns: neither party anything.
Assumes: `smc.oblivious.base_ot`, `smc.oblivious.ggm_trees`.
Reference: there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious import ot_1_of_16, softspoken
from smc.oblivious.base_ot import TRANSFERS, BaseKeys, exchange
from smc.oblivious.bitmatrix import Bit, Word
from smc.oblivious.correlated_transfers import ONE_OF_2, ONE_OF_16, Conversation, Receiver, Sender
from smc.oblivious.ggm_trees import SeedTrees
from smc.oblivious.ot_1_of_16 import ChoiceReceiver, ChoiceSender
from smc.oblivious.prg import SEED_BYTES
from smc.oblivious.softspoken import BitReceiver, BitSender
from smc.oblivious.workspace import Workspace

SUM_BYTES: Final = 2 * SEED_BYTES

_BIT_KEYS: Final = slice(0, softspoken.TREES * softspoken.DEPTH)
_CHOICE_KEYS: Final = slice(_BIT_KEYS.stop, TRANSFERS)


@dataclass(frozen=True, slots=True)
class LevelSums(Message, kind="level-sums"):
    """Both ways: the masked sums of every level of the local seed trees."""

    sums: ByteRows


@dataclass(frozen=True, slots=True)
class Ends:
    """The ends of both extensions that one party has.

    Attributes:
        session: id of the session, 32 bytes.
        bit_receiver: of 1-of-2 transfers from the peer.
        bit_sender: of 1-of-2 transfers to the peer.
        choice_receiver: of 1-of-16 transfers from the peer.
        choice_sender: of 1-of-16 transfers to the peer.
    """

    session: bytes
    bit_receiver: Receiver
    bit_sender: Sender
    choice_receiver: Receiver
    choice_sender: Sender

    @property
    def receivers(self) -> tuple[Receiver, ...]:
        """In the order in which they prove."""
        return self.bit_receiver, self.choice_receiver

    @property
    def senders(self) -> tuple[Sender, ...]:
        """In that order."""
        return self.bit_sender, self.choice_sender


def set_up(role: Role, channel: Channel, random: Randomness) -> Ends:
    """Run the set-up, the same code on both sides.

    Raises:
        ProtocolViolation: the peer sent something that is not a point, or a reflected nonce.
    """
    keys = exchange(role, channel, random)
    own = _Owner(keys, role, random)
    bits, bit_sums = own.leaves(_BIT_KEYS, softspoken.TREES, softspoken.DEPTH)
    choices, choice_sums = own.leaves(_CHOICE_KEYS, ot_1_of_16.TREES, ot_1_of_16.DEPTH)
    channel.send(LevelSums(ByteRows(np.concatenate([bit_sums, choice_sums]))))
    workspace = Workspace()
    shared = Conversation(keys.session, role, channel, random, workspace)
    bit_receiver = Receiver(ONE_OF_2, BitReceiver(bits, workspace), shared)
    choice_receiver = Receiver(ONE_OF_16, ChoiceReceiver(choices, workspace), shared)
    bit_receiver.renew()
    choice_receiver.renew()
    sums = channel.recv(LevelSums, ExpectedByteRows(TRANSFERS, SUM_BYTES))
    peer_bits = _regrown(keys, role.other, _BIT_KEYS, sums, softspoken.DEPTH)
    peer_choices = _regrown(keys, role.other, _CHOICE_KEYS, sums, ot_1_of_16.DEPTH)
    bit_sender = Sender(ONE_OF_2, BitSender(*peer_bits, workspace), shared)
    choice_sender = Sender(ONE_OF_16, ChoiceSender(*peer_choices, workspace), shared)
    bit_sender.renew()
    choice_sender.renew()
    return Ends(keys.session, bit_receiver, bit_sender, choice_receiver, choice_sender)


@dataclass(frozen=True, slots=True)
class _Owner:
    keys: BaseKeys
    role: Role
    random: Randomness

    def leaves(self, part: slice, trees: int, depth: int) -> tuple[Word, NDArray[np.uint8]]:
        pairs = b"".join(zero + one for zero, one in self.keys.pairs[part])
        masks = np.frombuffer(pairs, dtype=np.uint64).reshape(trees, depth, 2, 2)
        roots = self.random.words(2 * trees).reshape(trees, 2)
        return SeedTrees(self.keys.session, self.role, depth).grow(roots, masks)


def _regrown(
    keys: BaseKeys, owner: Role, part: slice, sums: NDArray[np.uint8], depth: int
) -> tuple[Word, NDArray[np.int64]]:
    choices: Bit = keys.choices[part].reshape(-1, depth)
    chosen = np.frombuffer(b"".join(keys.chosen[part]), dtype=np.uint64).reshape(-1, depth, 2)
    return SeedTrees(keys.session, owner, depth).regrow(sums[part], choices, chosen)
