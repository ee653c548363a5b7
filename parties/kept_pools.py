"""What a party wants to have ready for later comparisons: the sections `[[pools]]` of its configuration.

The daemons of two parties whose stewards state the same keep so many pools with each other, and fill them in
idle time, see `parties.session.filling`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from parties.errors import ConfigError
from parties.toml import StrictTable

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
        comparisons: of each pool, a multiple of 64.
        ready: how many pools are kept.
    """

    peer: str
    x_at: str
    bits: int
    comparisons: int
    ready: int

    @property
    def holds_x(self) -> bool:
        """Whether the local numbers will be x."""
        return self.x_at != self.peer

    def counts(self, pool: PoolInfo) -> bool:
        """Whether a pool with the peer is of this kind."""
        return (pool.bits, pool.comparisons, pool.holds_x) == (self.bits, self.comparisons, self.holds_x)


def parse_pools(top: StrictTable, party: str, peers: Collection[str]) -> tuple[KeptPools, ...]:
    """Read the sections `[[pools]]` of a configuration.

    Args:
        top: the configuration.
        party: the name of this party.
        peers: those of the paired parties.

    Raises:
        ConfigError: a key is unknown, missing or has an impossible value, or too much is asked for.
    """
    entries = top.raw("pools") if top.has("pools") else []
    if not isinstance(entries, list):
        raise top.fail(
            "pools", "has to be a list of tables", "Write each kind of pools below its own [[pools]]."
        )
    found = tuple(_kept(entry, f"{top.place}, pools {n}", party, peers) for n, entry in enumerate(entries, 1))
    kinds = [(kept.peer, kept.x_at, kept.bits, kept.comparisons) for kept in found]
    for kind in kinds:
        if kinds.count(kind) > 1:
            raise top.fail("pools", f"names one kind twice, with {kind[0]!r}", "Remove one of the two.")
    for peer in peers:
        if (total := sum(kept.ready for kept in found if kept.peer == peer)) > MAX_POOLS:
            raise top.fail(
                "pools",
                f"asks for {total} pools with {peer!r}",
                f"Ask for {MAX_POOLS} with one peer at most.",
            )
    return found


def _kept(entry: Any, place: str, party: str, peers: Collection[str]) -> KeptPools:
    table = StrictTable(entry, place, ConfigError)
    peer = table.text("peer")
    if peer not in peers:
        known = ", ".join(sorted(peers)) or "none"
        raise table.fail(
            "peer",
            f"{peer!r} is not paired; there are: {known}",
            "Correct the name, pair it with `duetto pair FILE`, or remove the section.",
        )
    kept = KeptPools(
        peer=peer,
        x_at=table.choice("x_at", (party, peer)),
        bits=_between(table, "bits", _MAX_BITS),
        comparisons=-(-_between(table, "comparisons", _MAX_COMPARISONS) // _LANES) * _LANES,
        ready=_between(table, "ready", MAX_POOLS),
    )
    table.close()
    return kept


def _between(table: StrictTable, key: str, maximum: int) -> int:
    value = table.integer(key, minimum=1)
    if value > maximum:
        raise table.fail(key, f"is above {maximum}", f"Write {maximum} or less.")
    return value
