"""All that a protocol run needs besides its inputs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field

from smc.channel.channel import Channel
from smc.ciphers.paillier import OwnPaillier, Paillier, PrivateKey, PublicKey
from smc.errors import KeyMaterialError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.engine import ObliviousEngine

Report = Callable[[str, int, int], None]
"""Called with (stage, done, of) as long work proceeds."""


def _silent(stage: str, done: int, of: int) -> None:
    del stage, done, of


@dataclass(slots=True)
class Session:
    """One party's side of one run. A session belongs to one thread.

    Attributes:
        role: the own role.
        channel: the conversation with the peer.
        pool: where heavy arithmetic runs.
        own_key: the own Paillier key, or None where no type needs one.
        peer_key: the peer's public Paillier key, or None.
        random: the source of randomness.
        report: told about progress.
    """

    role: Role
    channel: Channel
    pool: Executor
    own_key: PrivateKey | None = field(default=None, repr=False)
    peer_key: PublicKey | None = None
    random: Randomness = field(default_factory=Randomness, repr=False)
    report: Report = _silent
    _own: OwnPaillier | None = field(default=None, init=False, repr=False)
    _peer: Paillier | None = field(default=None, init=False, repr=False)
    _oblivious: ObliviousEngine | None = field(default=None, init=False, repr=False)

    @property
    def own(self) -> OwnPaillier:
        """The cipher of which this party holds the secret key.

        Raises:
            KeyMaterialError: the session has no such key.
        """
        if self._own is None:
            if self.own_key is None:
                raise KeyMaterialError("This run needs an own Paillier key.", "Give the session one.")
            self._own = OwnPaillier(self.own_key, self.random, self.pool)
        return self._own

    @property
    def peer(self) -> Paillier:
        """The cipher of which the peer holds the secret key.

        Raises:
            KeyMaterialError: the session has no such key.
        """
        if self._peer is None:
            if self.peer_key is None:
                raise KeyMaterialError("This run needs the peer's Paillier key.", "Pair the parties again.")
            self._peer = Paillier(self.peer_key, self.random, self.pool)
        return self._peer

    @property
    def oblivious(self) -> ObliviousEngine:
        """Oblivious transfer with this peer, set up when first used; both parties must use it alike."""
        if self._oblivious is None:
            self._oblivious = ObliviousEngine(self.role, self.channel, self.random)
        return self._oblivious
