"""Who sends when, in a form that stays small however often a step is repeated.

What a sequence of messages does to the longest chains that Alice and Bob have received, (a, b), is linear
in the algebra of maximum and sum: a message of Alice's makes b the larger of b and a + 1, one of both makes
a the larger of a and b + 1 at the same time. So a sequence is a matrix of two by two, one after another is a
product, and the same n times is a power, found in log n products. What a session does only once, `ONCE`, is
a matrix where it has not been done and nothing where it has: a sequence has a matrix for each set of what
was done before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from itertools import chain, combinations
from typing import Final

_NEVER: Final = -(1 << 62)
"""Minus infinity, as far as rounds go."""

Chains = tuple[int, int, int, int]
"""A matrix: what a adds to a, b to a, a to b and b to b."""

_UNCHANGED: Final[Chains] = (0, _NEVER, _NEVER, 0)


class Flight(Enum):
    """Who sends a message: one party, or both without waiting for each other.

    `RESERVE` is a flight of both that takes place before the first use of silent transfers in a session, and
    not before the others; `LANES` are the flights of both before the first batch that is cut into lanes.
    `smc.protocols.transfer_costs.cost_settled` knows their bytes.
    """

    ALICE = "A"
    BOB = "B"
    BOTH = "AB"
    RESERVE = "R"
    LANES = "L"

    @property
    def mirror(self) -> Flight:
        """The flight with Alice and Bob exchanged."""
        return {Flight.ALICE: Flight.BOB, Flight.BOB: Flight.ALICE}.get(self, self)


ONCE: Final = {Flight.RESERVE: 1, Flight.LANES: 4}
"""Rounds of what a session does once: for lanes they agree on the number, and set each of them up."""

_DONE: Final = tuple(
    frozenset(done) for done in chain.from_iterable(combinations(ONCE, size) for size in range(len(ONCE) + 1))
)
"""All sets of what was done before."""


@dataclass(frozen=True, slots=True)
class Flights:
    """Messages in their order, as far as rounds depend on them.

    Flights in the same direction with none between them need not wait for each other. `Channel` measures
    rounds in the same way, with a logical clock.

    Attributes:
        once: which of `ONCE` are among them.
        chains: the matrix for each set of what was done before.
    """

    once: frozenset[Flight] = frozenset()
    chains: tuple[Chains, ...] = (_UNCHANGED,) * len(_DONE)

    @classmethod
    def of(cls, flights: Iterable[Flight]) -> Flights:
        """Flights in their order."""
        return _of(tuple(flights))

    def __bool__(self) -> bool:
        return self != Flights()

    def __contains__(self, flight: Flight) -> bool:
        return flight in self.once

    def __add__(self, later: Flights) -> Flights:
        return _join(self, later)

    def __mul__(self, times: int) -> Flights:
        result, square = Flights(), self
        while times:
            if times & 1:
                result += square
            square, times = square + square, times >> 1
        return result

    @property
    def rounds(self) -> int:
        """The longest chain of dependent messages in a new session."""
        return max(0, *self.chains[0])

    def after(self, alice: int, bob: int) -> tuple[int, int]:
        """The longest chains that Alice and Bob have received in the end, from those at the beginning.

        In a session that has done none of `ONCE` before.
        """
        kept, to_alice, to_bob, left = self.chains[0]
        return max(kept + alice, to_alice + bob), max(to_bob + alice, left + bob)

    @property
    def mirror(self) -> Flights:
        """With Alice and Bob exchanged."""
        return Flights(self.once, tuple(found[::-1] for found in self.chains))

    def without(self, flight: Flight) -> Flights:
        """In a session that has done one of `ONCE` before."""
        return Flights(
            self.once - {flight}, tuple(self.chains[_DONE.index(done | {flight})] for done in _DONE)
        )


@lru_cache(4096)
def _of(flights: tuple[Flight, ...]) -> Flights:
    return sum(map(_single, flights), Flights())


@cache
def _single(flight: Flight) -> Flights:
    sent: Chains = (
        0,
        _NEVER if flight is Flight.ALICE else 1,
        _NEVER if flight is Flight.BOB else 1,
        0,
    )
    if flight not in ONCE:
        return Flights(chains=(sent,) * len(_DONE))
    found = _UNCHANGED
    for _ in range(ONCE[flight]):
        found = _after(found, sent)
    return Flights(frozenset({flight}), tuple(_UNCHANGED if flight in done else found for done in _DONE))


@lru_cache(4096)
def _join(first: Flights, later: Flights) -> Flights:
    return Flights(
        first.once | later.once,
        tuple(
            _after(found, later.chains[_DONE.index(done | first.once)])
            for done, found in zip(_DONE, first.chains, strict=True)
        ),
    )


def _after(first: Chains, later: Chains) -> Chains:
    a, b, c, d = first
    e, f, g, h = later
    whole = max(e + a, f + c), max(e + b, f + d), max(g + a, h + c), max(g + b, h + d)
    # Sums with what never is stay what never is.
    return tuple(max(_NEVER, each) if each > _NEVER >> 1 else _NEVER for each in whole)  # type: ignore[return-value]
