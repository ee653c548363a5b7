"""The set-up of a session: base transfers, seed trees, and the ends of both extensions in both directions.

    Alice                                   Bob
      digests, offers          -- 1st flight -->      the same        (both at once)
      answers, sums, a salt,   -- 2nd flight -->      the same        (both at once)
      masks of the first batches
      checks the peer's trees                         the same

Each party owns the trees of the transfers that it receives. It draws them before it has heard anything, under
a name of its own, and the digests of the first flight commit to them; the salt, which the sender of transfers
draws, is told when the peer's are fixed.

Both extensions share the base transfers: their 160 choices are D of the 1-of-16 transfers, and the first 128
of them D of the 1-of-2 ones, each with a hash of its own of every base key. Both D are uniform to the peer,
and rows of the two are hashed under different keys (docs/proofs/base-transfers.md).

Learns: neither party anything. A party whose trees are not what it committed to ends the session, unless it
has guessed choices, see `smc.oblivious.ggm_trees`.
Assumes: `smc.oblivious.base_ot`, `smc.oblivious.ggm_trees`.
Cost: 2 flights; `smc.oblivious.cost.SETUP`.
Reference: there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, byte_row
from smc.errors import InconsistentTransfers
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious import ot_1_of_16, softspoken
from smc.oblivious.base_ot import BaseKeys, BaseTransfers, answer_bytes, offer_bytes
from smc.oblivious.bitmatrix import Word
from smc.oblivious.correlated_transfers import ONE_OF_2, ONE_OF_16, Conversation, Receiver, Sender
from smc.oblivious.ggm_trees import DIGEST_BYTES, TAG_BYTES, Commitment, SeedTrees, leaf_seeds
from smc.oblivious.ot_1_of_16 import ChoiceReceiver, ChoiceSender
from smc.oblivious.prg import SEED_BYTES
from smc.oblivious.softspoken import BitReceiver, BitSender
from smc.oblivious.workspace import Workspace

SUM_BYTES: Final = 2 * SEED_BYTES
SALT_BYTES: Final = 16

_DOMAIN: Final = b"duetto/oblivious/level-key/1"


@dataclass(frozen=True, slots=True)
class _Forest:
    """The seed trees of one extension.

    Attributes:
        trees: how many.
        depth: levels of each.
        purpose: names the keys of its levels.
    """

    trees: int
    depth: int
    purpose: bytes

    @property
    def levels(self) -> int:
        """Of all trees: each takes a base transfer."""
        return self.trees * self.depth

    @property
    def expected(self) -> tuple[ExpectedByteRows, ExpectedByteRows]:
        """The fields of `LevelSums`."""
        return ExpectedByteRows(self.levels, SUM_BYTES), ExpectedByteRows(self.trees, TAG_BYTES)

    def level_keys(self, keys: Sequence[bytes]) -> Word:
        """Keys of the levels' sums, from as many base keys per transfer as there are; shape (t, d, m, 2)."""
        used = keys[: len(keys) // TRANSFERS * self.levels]
        hashed = (hashlib.sha256(_DOMAIN + self.purpose + key).digest()[:SEED_BYTES] for key in used)
        return np.frombuffer(b"".join(hashed), dtype=np.uint64).reshape(self.trees, self.depth, -1, 2)


_FORESTS: Final = (
    _Forest(softspoken.TREES, softspoken.DEPTH, b"one-of-2"),
    _Forest(ot_1_of_16.TREES, ot_1_of_16.DEPTH, b"one-of-16"),
)

TRANSFERS: Final = max(forest.levels for forest in _FORESTS)
"""Base transfers in each direction, of which each serves a level of a tree of every extension."""

FLIGHT_BYTES: Final = (
    offer_bytes(TRANSFERS) + len(_FORESTS) * DIGEST_BYTES,
    answer_bytes(TRANSFERS)
    + sum(field.size for forest in _FORESTS for field in forest.expected)
    + SALT_BYTES,
)
"""What either party sends in each flight."""


@dataclass(frozen=True, slots=True)
class TreeDigest(Message, kind="tree-digest", hidden=True):
    """Both ways, for each extension: the digest that commits to the local seed trees."""

    digest: ByteRows


@dataclass(frozen=True, slots=True)
class LevelSums(Message, kind="level-sums", hidden=True):
    """Both ways, for each extension: masked sums of the local trees' levels, and sums of their tags."""

    sums: ByteRows
    tags: ByteRows


@dataclass(frozen=True, slots=True)
class TransferSalt(Message, kind="transfer-salt", hidden=True):
    """Both ways: the salt of the transfers that this party sends."""

    salt: ByteRows


@dataclass(frozen=True, slots=True)
class Ends:
    """The ends of both extensions that one party has.

    Attributes:
        session: id of the session, 32 bytes.
        salt: of the transfers that this party sends, 16 bytes, drawn by it and told when the peer's trees
            were fixed.
        peer_salt: of those that it receives, drawn by the peer.
        bit_receiver: of 1-of-2 transfers from the peer.
        bit_sender: of 1-of-2 transfers to the peer.
        choice_receiver: of 1-of-16 transfers from the peer.
        choice_sender: of 1-of-16 transfers to the peer.
    """

    session: bytes
    salt: bytes
    peer_salt: bytes
    bit_receiver: Receiver
    bit_sender: Sender
    choice_receiver: Receiver
    choice_sender: Sender


def set_up(role: Role, channel: Channel, random: Randomness) -> Ends:
    """Run the set-up, the same code on both sides.

    Raises:
        ProtocolViolation: the peer sent something that is not a point or a key, or was sent before.
        InconsistentTransfers: its trees are not those that it committed to.
        UsageError: the library of this installation has no ML-KEM-768.
    """
    base = BaseTransfers(role, channel, random, TRANSFERS)
    own = [_Grown.of(forest, base.nonce, role, random) for forest in _FORESTS]
    for grown in own:
        channel.send(TreeDigest(byte_row(grown.commitment.digest)))
    base.offer()
    digests = [channel.recv(TreeDigest, ExpectedByteRows(1, DIGEST_BYTES)).tobytes() for _ in _FORESTS]
    keys = base.answer()
    for forest, grown in zip(_FORESTS, own, strict=True):
        masked = grown.sums ^ forest.level_keys([key for pair in keys.pairs for key in pair])
        tags = ByteRows(grown.commitment.tag_sums)
        channel.send(LevelSums(ByteRows(masked.view(np.uint8).reshape(-1, SUM_BYTES)), tags))
    salt = random.bytes(SALT_BYTES)
    channel.send(TransferSalt(byte_row(salt)))
    workspace = Workspace()
    shared = Conversation(keys.session, role, channel, random, workspace)
    own_bits, own_choices = (
        leaf_seeds(grown.leaves, keys.session, role, forest.depth)
        for forest, grown in zip(_FORESTS, own, strict=True)
    )
    bit_receiver = Receiver(ONE_OF_2, BitReceiver(own_bits, workspace), shared)
    choice_receiver = Receiver(ONE_OF_16, ChoiceReceiver(own_choices, workspace), shared)
    bit_receiver.send_mask()
    choice_receiver.send_mask()
    chosen = base.receive()
    shown = [channel.recv(LevelSums, *forest.expected) for forest in _FORESTS]
    peer_salt = channel.recv(TransferSalt, ExpectedByteRows(1, SALT_BYTES)).tobytes()
    bits, choices = _check(keys, role.other, chosen, digests, shown)
    bit_receiver.begin(peer_salt)
    choice_receiver.begin(peer_salt)
    bit_sender = Sender(ONE_OF_2, BitSender(*bits, workspace), shared, salt)
    choice_sender = Sender(ONE_OF_16, ChoiceSender(*choices, workspace), shared, salt)
    bit_sender.take_mask()
    choice_sender.take_mask()
    return Ends(keys.session, salt, peer_salt, bit_receiver, bit_sender, choice_receiver, choice_sender)


@dataclass(frozen=True, slots=True)
class _Grown:
    """The local trees of one extension: leaves, and sums of the levels, shape (t, d, 2, 2)."""

    commitment: Commitment
    leaves: Word = field(repr=False)
    sums: Word = field(repr=False)

    @classmethod
    def of(cls, forest: _Forest, nonce: bytes, owner: Role, random: Randomness) -> _Grown:
        trees = SeedTrees(nonce, owner, forest.depth)
        leaves, sums = trees.grow(random.words(2 * forest.trees).reshape(forest.trees, 2))
        return cls(trees.commit(leaves), leaves, sums)


def _check(
    keys: BaseKeys,
    owner: Role,
    chosen: Sequence[bytes],
    digests: Sequence[bytes],
    shown: Sequence[tuple[NDArray[np.uint8], NDArray[np.uint8]]],
) -> list[tuple[Word, NDArray[np.int64]]]:
    """The peer's seeds, and the numbers of the missing ones, of each extension."""
    found: list[tuple[Word, NDArray[np.int64]]] = []
    right: list[bool] = []
    for forest, digest, (sums, tags) in zip(_FORESTS, digests, shown, strict=True):
        trees = SeedTrees(keys.peer_nonce, owner, forest.depth)
        choices = keys.choices[: forest.levels].reshape(-1, forest.depth)
        leaves, missing = trees.regrow(sums, choices, forest.level_keys(chosen)[..., 0, :])
        right.append(trees.check(leaves, missing, tags, digest))
        found.append((leaf_seeds(leaves, keys.session, owner, forest.depth), missing))
    # Looked at when all have been: the time of the end does not tell for which trees it came.
    if not all(right):
        raise InconsistentTransfers
    return found
