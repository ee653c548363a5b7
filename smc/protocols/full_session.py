"""A session with everything: silent transfers, lanes, pools, and the ciphers of Paillier, ElGamal and DGK."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field

from typing_extensions import override

from smc.ciphers.dgk import Dgk, OwnDgk
from smc.ciphers.dgk_keys import DgkPrivateKey, generate_dgk
from smc.ciphers.elgamal import ElGamal, OwnElGamal
from smc.ciphers.masks import MaskTables
from smc.ciphers.paillier import OwnPaillier, Paillier, PrivateKey, PublicKey
from smc.errors import KeyMaterialError, UsageError
from smc.oblivious.lane_engine import LaneEngine
from smc.oblivious.laned_engine import LanedEngine
from smc.oblivious.lanes import LaneOpener
from smc.oblivious.pool import PeerPools
from smc.oblivious.silent_engine import SilentEngine
from smc.protocols.cipher_context import KeyedCipherContext, dgk_context, elgamal_context
from smc.protocols.session import Session
from smc.protocols.transfer_costs import takes_silent, takes_silent_below


@dataclass(slots=True)
class FullSession(Session):
    """One party's side of one run, for every protocol.

    Attributes:
        own_key: the local Paillier key, or None where no type needs one.
        peer_key: the peer's public Paillier key, or None.
        dgk_key: the local DGK key; without one the session makes one when it first needs it, which takes
            about a tenth of a second. To save that, keep the key and give it to the next session.
        mask_tables: tables for fresh Paillier ciphertexts. Whoever runs many sessions with the same keys
            keeps the object and gives it to each of them: a session with new tables first computes them.
        precomputed: where pools of correlated randomness with this peer lie, or None where none are kept.
        cluster: where work under public Paillier keys is done instead; None for `executor`. It is shown
            ciphertexts, the randomness of new ones and this party's factors, and no secret key.
        open_lane: where the parts of large batches are worked on; in threads of this process unless said.
    """

    own_key: PrivateKey | None = field(default=None, repr=False)
    peer_key: PublicKey | None = None
    dgk_key: DgkPrivateKey | None = field(default=None, repr=False)
    mask_tables: MaskTables = field(default_factory=MaskTables, repr=False)
    precomputed: PeerPools | None = field(default=None, repr=False)
    cluster: Executor | None = None
    open_lane: LaneOpener = LaneEngine
    _own: OwnPaillier | None = field(default=None, init=False, repr=False)
    _peer: Paillier | None = field(default=None, init=False, repr=False)
    _silent: SilentEngine | None = field(default=None, init=False, repr=False)
    _elgamal: KeyedCipherContext[OwnElGamal, ElGamal] | None = field(default=None, init=False, repr=False)
    _dgk: KeyedCipherContext[OwnDgk, Dgk] | None = field(default=None, init=False, repr=False)

    @classmethod
    def check(cls, session: Session) -> FullSession:
        """The session, which has to be one with everything.

        Raises:
            UsageError: it is not.
        """
        if not isinstance(session, FullSession):
            raise UsageError(
                "This run needs keys, pools or lanes, which its session lacks.", "Use FullSession."
            )
        return session

    @property
    @override
    def oblivious(self) -> SilentEngine:
        """Oblivious transfer with this peer, set up when first used; both parties must use it alike."""
        if self._silent is None:
            self._silent = self._make_silent()
        return self._silent

    def _make_silent(self) -> SilentEngine:
        given = (self.role, self.channel, self.random, self.executor)
        return LanedEngine(*given, self.lanes, self.open_lane) if self.lanes > 1 else SilentEngine(*given)

    @override
    def takes_silent(self, count: int, bits: int) -> bool:
        return takes_silent(self.network, count, bits)

    @override
    def takes_silent_below(self, count: int) -> bool:
        return takes_silent_below(self.network, count)

    @override
    def close(self) -> None:
        """Free what the session holds outside itself: its lanes."""
        if isinstance(self._silent, LanedEngine):
            self._silent.close()

    @property
    def own(self) -> OwnPaillier:
        """The cipher of which this party holds the secret key.

        Raises:
            KeyMaterialError: the session has no such key.
        """
        if self._own is None:
            if self.own_key is None:
                raise KeyMaterialError(
                    "This run needs a Paillier key of this party.", "Give the session one as own_key."
                )
            self._own = OwnPaillier(self.own_key, self.random, self.executor, self.mask_tables, self.cluster)
        return self._own

    @property
    def has_own(self) -> bool:
        """Whether `own` was used."""
        return self._own is not None

    @property
    def peer(self) -> Paillier:
        """The cipher of which the peer holds the secret key.

        Raises:
            KeyMaterialError: the session has no such key.
        """
        if self._peer is None:
            if self.peer_key is None:
                raise KeyMaterialError(
                    "This run needs the peer's Paillier key.",
                    "Give the session one as peer_key, or pair the parties again.",
                )
            self._peer = Paillier(self.peer_key, self.random, self.executor, self.mask_tables, self.cluster)
        return self._peer

    @property
    def elgamal(self) -> KeyedCipherContext[OwnElGamal, ElGamal]:
        """ElGamal's cipher both ways, under keys of this session that are made and exchanged when first used.

        Both parties must use it alike.
        """
        if self._elgamal is None:
            self._elgamal = elgamal_context(self.channel, self.executor, self.random, self._tell)
        return self._elgamal

    @property
    def dgk(self) -> KeyedCipherContext[OwnDgk, Dgk]:
        """The DGK cipher both ways, its keys exchanged when first used; both parties must use it alike."""
        if self._dgk is None:
            if self.dgk_key is None:
                self.dgk_key = generate_dgk(self.random)
            self._dgk = dgk_context(self.dgk_key, self.channel, self.executor, self.random, self._tell)
        return self._dgk

    def _tell(self, stage: str, done: int, of: int) -> None:
        """Pass progress on to whoever listens at that time."""
        self.report(stage, done, of)
