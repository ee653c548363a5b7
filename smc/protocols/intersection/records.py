"""What intersections cost, and their records."""

from __future__ import annotations

from typing import Final

from smc.oblivious import oprf_steps
from smc.protocols.flights import Flight
from smc.protocols.intersection import cuckoo, exact, okvs, opprf
from smc.protocols.intersection.mask_rows import mask_bytes
from smc.protocols.public_records import TOSS_COST
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import FUNCTIONS, SETUP_COST, TRANSFERS, cost_of


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
        fresh: whether this is the first use of oblivious transfer in the session, which sets it up.
        turned: whether functions have gone only the other way in the session so far, which sets up this way.
    """
    if not (receiver_count and sender_count):
        return Cost()
    function = cost_of(oprf_steps.steps(cuckoo.bins_for(receiver_count))).mirror
    width = cuckoo.HASHES * mask_bytes(receiver_count, sender_count)
    setup = SETUP_COST if fresh else Cost()
    if fresh or turned:
        setup += cost_of(oprf_steps.SETUP).mirror
    total = TOSS_COST + setup + function + Cost((Flight.BOB,), 0, sender_count * width)
    return total + Cost((Flight.ALICE,), (sender_count + 7) // 8, 0) if tell else total


INTERSECTION: Final = Procedure(
    name="intersection",
    module=exact.__name__,
    cost=cost_intersection,
    setups=(
        TRANSFERS,
        FUNCTIONS,
    ),
    example={"receiver_count": 1000, "sender_count": 1000},
)


def cost_opprf(
    receiver_count: int, sender_count: int, words: int, *, fresh: bool = False, seeded: bool = False
) -> Cost:
    """The exact cost; the receiver is Alice.

    Args:
        receiver_count: n.
        sender_count: m.
        words: w.
        fresh: whether this is the first use of oblivious transfer in the session, which sets it up.
        seeded: whether the seed of the hash functions is given.
    """
    rows = okvs.StoreSize.of(opprf.store_entries(sender_count)).rows
    # `oprf.steps` counts its sender as the first party; here that is Bob.
    function = cost_of(oprf_steps.steps(cuckoo.bins_for(receiver_count))).mirror
    store = Cost((Flight.BOB,), 0, okvs.SEED_BYTES + opprf.WORD_BYTES * words * rows)
    setup = SETUP_COST + cost_of(oprf_steps.SETUP).mirror if fresh else Cost()
    return (Cost() if seeded else TOSS_COST) + setup + function + store


OPPRF: Final = Procedure(
    name="opprf",
    module=opprf.__name__,
    cost=cost_opprf,
    setups=(
        TRANSFERS,
        FUNCTIONS,
    ),
    example={"receiver_count": 1000, "sender_count": 1000, "words": 2},
)
