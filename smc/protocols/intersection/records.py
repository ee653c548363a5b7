"""What intersections cost, and their records."""

from __future__ import annotations

from typing import Final

from smc.oblivious import vole_steps
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.intersection import cuckoo, exact, okvs, opprf, oprf, single_oprf
from smc.protocols.intersection.sorted_masks import MaskLayout
from smc.protocols.public_records import TOSS_COST
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import SETUP_COST, TRANSFERS, VOLE, cost_of

_ELEMENT_BYTES: Final = 16


def cost_oprf(count: int, *, fresh: bool = False, turned: bool = False) -> Cost:
    """The exact cost of a function at so many points; the receiver is Alice.

    Args:
        count: n.
        fresh: whether this is the first use of oblivious transfer in the session, which sets it up.
        turned: whether vector OLE has gone only the other way in the session so far, which sets up this way.
    """
    seed = Cost((Flight.ALICE,), okvs.SEED_BYTES, 0)
    return _cost_asked(okvs.StoreSize.of(count).rows, seed, fresh=fresh, turned=turned)


def cost_single_oprf(count: int, *, fresh: bool = False) -> Cost:
    """The exact cost of so many functions at one point each.

    Args:
        count: functions.
        fresh: as of `cost_oprf`.
    """
    return _cost_asked(count, Cost(), fresh=fresh, turned=False)


def _cost_asked(rows: int, public: Cost, *, fresh: bool, turned: bool) -> Cost:
    setup = SETUP_COST if fresh else Cost()
    if fresh or turned:
        setup += cost_of(vole_steps.setup()).mirror
    vole = setup + cost_of(vole_steps.steps(rows)).mirror + Cost((Flight.BOB,), 0, oprf.HASH_BYTES)
    asked = Cost((Flight.ALICE,), oprf.NONCE_BYTES + _ELEMENT_BYTES * rows, 0) + public
    challenge, answer = (cost_of([step]).mirror for step in vole_steps.CHECK)
    return vole + challenge + asked + answer + Cost((Flight.BOB,), 0, oprf.NONCE_BYTES)


OPRF: Final = Procedure(
    name="oprf",
    module=oprf.__name__,
    cost=cost_oprf,
    setups=(TRANSFERS, VOLE),
    against=Against.PRIVATE,
    example={"count": 1000},
)

SINGLE_OPRF: Final = Procedure(
    name="single-oprf",
    module=single_oprf.__name__,
    cost=cost_single_oprf,
    setups=(TRANSFERS, VOLE),
    against=Against.PRIVATE,
    example={"count": 1000},
)


def cost_intersection(
    receiver_count: int,
    sender_count: int,
    *,
    tell: bool = False,
    fresh: bool = False,
    turned: bool = False,
) -> Cost:
    """The exact cost; the receiver is Alice.

    Args:
        receiver_count: n.
        sender_count: m.
        tell: whether both learn.
        fresh: as of `cost_oprf`.
        turned: as there.
    """
    if not (receiver_count and sender_count):
        return Cost()
    function = cost_oprf(receiver_count, fresh=fresh, turned=turned)
    total = function + Cost((Flight.BOB,), 0, MaskLayout.of(sender_count, receiver_count).size)
    return total + Cost((Flight.ALICE,), (sender_count + 7) // 8, 0) if tell else total


INTERSECTION: Final = Procedure(
    name="intersection",
    module=exact.__name__,
    cost=cost_intersection,
    setups=(TRANSFERS, VOLE),
    against=Against.PRIVATE,
    example={"receiver_count": 1000, "sender_count": 1000},
)


def cost_opprf(
    receiver_count: int,
    sender_count: int,
    words: int,
    *,
    fresh: bool = False,
    seeded: bool = False,
) -> Cost:
    """The exact cost; the receiver is Alice.

    Args:
        receiver_count: n.
        sender_count: m.
        words: w.
        fresh: as of `cost_oprf`.
        seeded: whether the seed of the hash functions is given.
    """
    rows = okvs.StoreSize.of(opprf.store_entries(sender_count)).rows
    bins = cuckoo.bins_for(receiver_count)
    functions = cost_single_oprf(bins, fresh=fresh)
    store = Cost((Flight.BOB,), 0, okvs.SEED_BYTES + opprf.WORD_BYTES * words * rows)
    return (Cost() if seeded else TOSS_COST) + functions + store


OPPRF: Final = Procedure(
    name="opprf",
    module=opprf.__name__,
    cost=cost_opprf,
    setups=(TRANSFERS, VOLE),
    against=Against.PRIVATE,
    example={"receiver_count": 1000, "sender_count": 1000, "words": 2},
)
