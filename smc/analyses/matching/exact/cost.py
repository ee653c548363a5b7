"""What an exact matching that shows keys costs."""

from __future__ import annotations

from typing import Final

from smc.analyses.disclosure.costs import cost_test
from smc.analyses.disclosure.limits import Limits
from smc.analyses.matching.exact.outcome import ROUTE
from smc.analyses.records.joint_keys import ALIGNED_MEMORY, KEYING_COST, KEYING_SECONDS
from smc.analyses.studies.estimates import estimated, sides
from smc.analyses.studies.memory import MEBI, Memory
from smc.analyses.studies.study import Estimate
from smc.forms import Role
from smc.protocols.intersection import cuckoo, exact
from smc.protocols.spec import Cost
from smc.secret import circuit_psi, mux
from smc.secret.bounds import Bounds

_SECONDS_PER_KEY: Final = 1.3e-6
_MEMORY: Final = Memory(10 * MEBI, 400)


def estimate(recipients: frozenset[Role], rows: int, limits: Limits) -> Estimate:
    """Exact rounds and bytes of a run in a fresh session.

    Args:
        recipients: who gets the keys.
        rows: of each side.
        limits: of both policies, none of which stands against the result.
    """
    counts = sides(rows)
    total = KEYING_COST + keys_cost(recipients, *counts, limits)
    memory = ALIGNED_MEMORY if limits.counts_matches else _MEMORY
    return estimated(
        total,
        KEYING_SECONDS + _SECONDS_PER_KEY * max(counts),
        ROUTE,
        memory.at(max(counts)),
    )


def receiver_of(recipients: frozenset[Role], alice_count: int, bob_count: int) -> Role:
    """Who receives in the protocol: the recipient; of two the one with fewer keys, which costs less."""
    if len(recipients) == 1:
        return next(iter(recipients))
    return Role.ALICE if alice_count <= bob_count else Role.BOB


def keys_cost(recipients: frozenset[Role], alice_count: int, bob_count: int, limits: Limits) -> Cost:
    """The exact cost of finding the common keys in a fresh session.

    Args:
        recipients: who gets them.
        alice_count: keys of Alice.
        bob_count: keys of Bob.
        limits: of both policies, none of which stands against the result.
    """
    receiver = receiver_of(recipients, alice_count, bob_count)
    total, fresh, turned = Cost(), True, False
    if limits.counts_matches:
        total, fresh = _size_cost(alice_count, bob_count, limits), False
        turned = receiver is not circuit_psi.table_owner(alice_count, bob_count)
    tell = len(recipients) == len(Role)
    if receiver is Role.ALICE:
        return total + exact.cost(alice_count, bob_count, tell=tell, fresh=fresh, turned=turned)
    return total + exact.cost(bob_count, alice_count, tell=tell, fresh=fresh, turned=turned).mirror


def _size_cost(alice_count: int, bob_count: int, limits: Limits) -> Cost:
    """The exact cost of the secret size in a fresh session, and of its test."""
    fewer = min(alice_count, bob_count)
    total = circuit_psi.cost(alice_count, bob_count, 0, 0, fresh=True)
    total += mux.cost_to_words(cuckoo.bins_for(fewer))
    return total + cost_test([(Bounds(0, fewer), limits.minimum_intersection)])
