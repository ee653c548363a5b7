"""What a party wants to have ready for later comparisons: the sections `[[pools]]` of its configuration.

The daemons of two parties whose stewards state the same keep so many pools with each other, and fill them in
idle time, see `parties.session.filling`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from commons.errors import near
from commons.settings.bounds import Between
from commons.settings.marks import UnfitError

if TYPE_CHECKING:
    from smc.oblivious.pool import PoolInfo

MAX_POOLS: Final = 64
"""Pools that are kept with one peer at once."""

_LANES: Final = 64
_MAX_COMPARISONS: Final = 1 << 17
"""Of one pool, so that it is filled within a second or two; larger ones are made by a job `preparation`."""

_MAX_BITS: Final = 130
"""As in a job `preparation`."""


@dataclass(frozen=True, slots=True)
class KeptPools:
    """Pools of one kind that are kept with one peer; the peer has to want the same.

    Attributes:
        peer: the peer.
        x_at: the party that will hold x, by name: this one or the peer.
        bits: of the numbers to compare.
        comparisons: of each pool, rounded up to a multiple of 64.
        ready: how many pools are kept.
    """

    peer: str
    x_at: str
    bits: Annotated[int, Between(1, _MAX_BITS)]
    comparisons: Annotated[int, Between(1, _MAX_COMPARISONS)]
    ready: Annotated[int, Between(1, MAX_POOLS)]

    def __post_init__(self) -> None:
        object.__setattr__(self, "comparisons", -(-self.comparisons // _LANES) * _LANES)

    @property
    def holds_x(self) -> bool:
        """Whether the local numbers will be x."""
        return self.x_at != self.peer

    def counts(self, pool: PoolInfo) -> bool:
        """Whether a pool with the peer is of this kind."""
        return (pool.bits, pool.comparisons, pool.holds_x) == (self.bits, self.comparisons, self.holds_x)


def check_pools(pools: Sequence[KeptPools], party: str, peers: Collection[str]) -> None:
    """Check the sections `[[pools]]` of a configuration.

    Args:
        pools: the sections.
        party: the name of this party.
        peers: those of the paired parties.

    Raises:
        UnfitError: a pool names somebody else, too much is asked for, or one kind twice.
    """
    for number, kept in enumerate(pools, 1):
        if kept.peer not in peers:
            known = ", ".join(sorted(peers)) or "none"
            raise UnfitError(
                "peer",
                f"{kept.peer!r} is not paired; there are: {known}",
                "Correct the name, pair it with `duetto pair FILE`, or remove the section.",
                f"pools {number}",
            )
        if kept.x_at not in (party, kept.peer):
            hint = near(kept.x_at, (party, kept.peer))
            raise UnfitError("x_at", f"is {kept.x_at!r}", hint, f"pools {number}")
    kinds = [(kept.peer, kept.x_at, kept.bits, kept.comparisons) for kept in pools]
    for kind in kinds:
        if kinds.count(kind) > 1:
            raise UnfitError("pools", f"names one kind twice, with {kind[0]!r}", "Remove one of the two.")
    for peer in peers:
        if (total := sum(kept.ready for kept in pools if kept.peer == peer)) > MAX_POOLS:
            raise UnfitError(
                "pools",
                f"asks for {total} pools with {peer!r}",
                f"Ask for {MAX_POOLS} with one peer at most.",
            )
