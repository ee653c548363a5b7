"""What oblivious transfer costs the protocols that use it, and what a session sets up for it once.

Comparisons inside protocols take extended transfers, or silent ones, which send an eighth of the bytes for
three times the work: `takes_silent` says which, by public numbers alone, for the run and for its price.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from smc.forms import Role
from smc.network import Network
from smc.oblivious import cost as oblivious
from smc.oblivious import silent_circuits, silent_transfers, vole_steps
from smc.oblivious.bitmatrix import words_for
from smc.oblivious.cost import OPENING, SETUP, FlightBytes, comparison, extended_blocks
from smc.oblivious.lanes import agreement
from smc.oblivious.silent_circuits import PrefetchedWords
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import TRANSFERS_NAME, Cost, Setup

_FLIGHTS: Final = {
    (True, False): Flight.ALICE,
    (False, True): Flight.BOB,
    (True, True): Flight.BOTH,
    (False, False): Flight.LANES,
}


def cost_of(steps: Iterable[FlightBytes]) -> Cost:
    """The cost of steps of the oblivious engine whose first party is Alice."""
    flights = []
    alice = bob = 0
    for step in steps:
        flights.append(_FLIGHTS[step.first > 0, step.second > 0])
        alice += step.first
        bob += step.second
    return Cost(tuple(flights), alice, bob)


SILENT_ROWS: Final = "ot_silent"
"""The operation that a row of silent transfers is counted as."""

_RESERVE: Final = silent_transfers.setup()
_RESERVE_BYTES: Final = sum(step.first for step in _RESERVE)
_SILENT_WORK: Final = 1.6e-7
"""Seconds of each party for a bit of a comparison that silent transfers take more, on a core of its own."""

_SILENT_BLOCK_WORK: Final = 6e-8
"""Seconds of each party for a transfer of 128 bits that silent ones take more, on a core of its own."""


_MOST_BYTES: Final = 32
"""Well above the bytes, and the bits of security, that a bit of a comparison costs by any transfers."""


def may_take_silent(network: Network | None) -> bool:
    """Whether there is a batch of comparisons inside a protocol for which `takes_silent` holds."""
    return network is not None and (network.rtt_ms > 0 or network.seconds(0, _MOST_BYTES, 0) > _SILENT_WORK)


def takes_silent(network: Network | None, count: int, bits: int) -> bool:
    """Whether a batch of comparisons inside a protocol takes silent transfers.

    So it is where they save more time on the link than they take on the processors, and more bytes than their
    reserve has, so that the first such batch already pays for it.

    Args:
        network: that of the session; None for one without limits.
        count: comparisons in the batch.
        bits: of the numbers.
    """
    return _saves(
        network,
        count * bits,
        lambda: comparison(count, bits),
        lambda: silent_circuits.comparison(count, bits),
    )


def takes_silent_below(network: Network | None, count: int) -> bool:
    """The same for a batch of comparisons of XOR-shared words with public bounds."""
    return _saves(
        network,
        count * silent_circuits.BELOW_TRANSFERS,
        lambda: oblivious.below(count),
        lambda: silent_circuits.below(count),
    )


def _saves(
    network: Network | None,
    bits: int,
    usual: Callable[[], Iterable[FlightBytes]],
    silent: Callable[[], Iterable[FlightBytes]],
) -> bool:
    if network is None or bits == 0:
        return False
    # of one lane, so that it is the same choice with any number of them
    more, less = _sum(usual()), _sum(silent())
    if max(more[1:]) - max(less[1:]) < _RESERVE_BYTES:
        return False
    return network.seconds(*less) + _SILENT_WORK * bits < network.seconds(*more)


def _sum(steps: Iterable[FlightBytes]) -> tuple[int, int, int]:
    flights = tuple(steps)
    return len(flights), sum(step.first for step in flights), sum(step.second for step in flights)


def cost_comparison(count: int, bits: int, network: Network | None = None) -> Cost:
    """The exact cost of a batch of comparisons inside a protocol, whose first party is Alice.

    Over a network, see `takes_silent`.
    """
    if not takes_silent(network, count, bits):
        return cost_of(comparison(count, bits))
    return _cost_silently(lambda stock: silent_circuits.comparison(count, bits, stock=stock))


def cost_below(count: int, network: Network | None = None, *, silent: bool | None = None) -> Cost:
    """The exact cost of a batch of comparisons of XOR-shared words with public bounds.

    Args:
        count: comparisons.
        network: that of the session.
        silent: whether they are; None to find out by `takes_silent_below`.
    """
    if silent is None:
        silent = takes_silent_below(network, count)
    if not silent:
        return cost_of(oblivious.below(count))
    return _cost_silently(lambda stock: silent_circuits.below(count, stock=stock))


def _cost_silently(steps_of: Callable[[PrefetchedWords], tuple[FlightBytes, ...]]) -> Cost:
    stock = PrefetchedWords()
    steps = steps_of(stock)
    sent = _with_work(cost_of(steps), stock.rows)
    return sent if steps[0] == OPENING else _with_reserve(sent)  # lanes have reserves of their own


def _with_work(sent: Cost, rows: int) -> Cost:
    work = {SILENT_ROWS: rows} if rows else {}
    return replace(sent, alice_operations=work, bob_operations=work)


def _with_reserve(sent: Cost) -> Cost:
    return Cost((Flight.RESERVE,)) + sent


def takes_silent_blocks(network: Network | None, count: int) -> bool:
    """Whether a batch of transfers of 128 bits inside a protocol is silent.

    As of `takes_silent`, but that they are also where nobody names a network: they take twice the work of
    extended ones, which is a small part of what these transfers are for, and send a twentieth.

    Args:
        network: that of the session; None where it is not known.
        count: transfers in the batch.
    """
    if count == 0:
        return False
    usual, silent = (_sum(steps) for steps in (extended_blocks(count), silent_transfers.blocks(count)))
    if sum(usual[1:]) - sum(silent[1:]) < 2 * _RESERVE_BYTES:
        return False
    return network is None or network.seconds(*silent) + _SILENT_BLOCK_WORK * count < network.seconds(*usual)


def cost_blocks(count: int, network: Network | None = None, *, silent: bool | None = None) -> Cost:
    """The exact cost of a batch of transfers of 128 bits inside a protocol; Alice sends them.

    Args:
        count: transfers.
        network: that of the session.
        silent: whether they are; None to find out by `takes_silent_blocks`.
    """
    if silent is None:
        silent = takes_silent_blocks(network, count)
    if not silent:
        return cost_of(extended_blocks(count))
    sent = cost_of(silent_transfers.blocks(count))
    return _with_reserve(_with_work(sent, silent_transfers.rows_of(words_for(count))))


OPENING_SECONDS: Final = 0.7
"""Seconds that opening the lanes of a session takes, where a run needs them; most of it starts Python."""


def cost_of_opening(cost: Cost) -> float:
    """Seconds that opening the lanes of a session takes, where a run needs them; most of it starts Python."""
    return OPENING_SECONDS if Flight.LANES in cost.flights else 0.0


def cost_settled(cost: Cost, lanes: int = 1) -> Cost:
    """The cost of a whole session of so many lanes, with the bytes of what it does once, see `Flight`."""
    once: list[FlightBytes] = []
    if Flight.RESERVE in cost.flights:
        once += _RESERVE
    if Flight.LANES in cost.flights:
        once += [agreement(), *(*SETUP, *_RESERVE) * lanes]
    return replace(
        cost,
        alice_bytes=cost.alice_bytes + sum(step.first for step in once),
        bob_bytes=cost.bob_bytes + sum(step.second for step in once),
    )


SETUP_COST: Final = cost_of(SETUP)
"""What the first use of oblivious transfer in a session costs, whichever protocol it is."""


def _set_up_transfers(session: Session) -> None:
    session.oblivious.setup()


def _set_up_silent(session: Session) -> None:
    session.oblivious.setup_silent()


TRANSFERS: Final = Setup(TRANSFERS_NAME, _set_up_transfers, SETUP_COST, Against.PRIVATE)
"""The base transfers and seed trees of both directions."""

SILENT_TRANSFERS: Final = Setup("silent-transfers", _set_up_silent, cost_of(_RESERVE), Against.PRIVATE)
"""The first reserve of silent transfers, which `TRANSFERS` makes: to be listed after it."""


def _set_up_vole(session: Session) -> None:
    # A call for no rows at all sends nothing but the set-up of its direction.
    if session.role is Role.ALICE:
        session.oblivious.vole_receive(0)
    else:
        session.oblivious.vole_send(0)


VOLE: Final = Setup("vole", _set_up_vole, cost_of(vole_steps.setup()).mirror, Against.PRIVATE)
"""The first entries of vector OLE from Bob to Alice; listed after `TRANSFERS`."""
