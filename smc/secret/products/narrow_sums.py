"""Sums of products of small integers, one factor of each party, row by row, by additive lattice encryption.

    Alice (integers x_k, k < T, several times)            Bob (integers y_k)
                             <-- seed, an encryption of zero --
                             <-- encrypted y_k --
                             -- responses -->
      shares modulo a prime p of sum_k x_k y_k
                              == one transfer a sum ==
      shares modulo 2**64

Numbers v with |v| <= 2**28 are raised by 2**28, so that they lie below p / 4. Shares e and f modulo p of such
a number add up to it if both are below p / 2, and to p more if one of both is not: so the wrap is the OR of
two bits that the parties know, one each, and their product takes one transfer.

Inputs: T integers for each row at Bob; at Alice T for each sum that is wanted of the row.
Outputs: shares modulo 2**64 of the sums.
Learns: neither party anything; see `smc.secret.products.lattice_multiply`. Of 2**24 sums any is wrong with
probability 2**-30 at most.
Assumes: `smc.ciphers.lattice_slots`, `smc.oblivious`. If Bob deviates, he learns nothing; if Alice does, she
learns nothing before shares are opened.
Cost: `cost`; in full blocks of 16,384 rows 12.4 bytes for each term, 7.6 and 12 for each sum.
Reference: `smc.ciphers.lattice_slots`; wraps of numbers that are small: duetto.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.ciphers.lattice_slots import MOST_NARROW_TERMS, SlotParameters, block_primes
from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.shapes import of_shape, shape_array
from smc.oblivious import cost as oblivious
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS, cost_of
from smc.secret.products import lattice_multiply

Word = NDArray[np.uint64]

MOST: Final = 1 << 28
"""No sum is larger."""


def sums(
    session: Session,
    count: int,
    terms: int,
    answers: int,
    integers: Callable[[slice], Sequence[NDArray[np.int64]]],
) -> Word:
    """Sums of products of own integers and the peer's; both call it.

    Args:
        session: this side of the run.
        count: rows, at least 1.
        terms: T, at most `MOST_NARROW_TERMS`.
        answers: sums that are wanted of each row.
        integers: gives of some rows, at Bob an array of shape (T, rows), at Alice `answers` of them; so that
            no sum is larger than `MOST`.

    Returns:
        Local shares modulo 2**64, shape (answers, count).

    Raises:
        UsageError: too many terms.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    _check(terms)
    parameters = SlotParameters.narrow(count, terms)
    if session.role is Role.ALICE:
        found = lattice_multiply.evaluate(
            session,
            parameters,
            count,
            lambda part: [list(each.view(np.uint64)) for each in integers(part)],
            answers,
        )
    else:
        found = lattice_multiply.hold(
            session, parameters, count, lambda part: list(integers(part)[0].view(np.uint64)), answers
        )
    primes = np.tile(block_primes(), parameters.blocks)[:count]
    return _lift(session, found.reshape(-1), np.tile(primes, answers)).reshape(answers, count)


def _lift(session: Session, rests: Word, primes: Word) -> Word:
    """Shares modulo primes, one for each number, as shares modulo 2**64."""
    alice = session.role is Role.ALICE
    raised = _raise(rests, primes) if alice else rests
    large = _large(raised, primes)
    if alice:
        both = session.oblivious.correlate(large.astype(np.uint64))
        raised = raised - np.uint64(MOST)
    else:
        both = session.oblivious.receive(large)
    result: Word = raised - (large.astype(np.uint64) - both) * primes
    return result


@of_shape(lambda rests, primes: shape_array(rests.shape, np.uint64))
def _raise(rests: Word, primes: Word) -> Word:
    return (rests + np.uint64(MOST)) % primes


@of_shape(lambda rests, primes: shape_array(rests.shape, np.uint8))
def _large(rests: Word, primes: Word) -> NDArray[np.uint8]:
    return (rests > primes // np.uint64(2)).astype(np.uint8)


def _check(terms: int) -> None:
    """Check the number of terms.

    Raises:
        UsageError: there are too many.
    """
    if not 1 <= terms <= MOST_NARROW_TERMS:
        raise UsageError(
            f"Sums of {terms} products row by row are not exact.", f"Add up at most {MOST_NARROW_TERMS}."
        )


def cost(count: int, terms: int, answers: int) -> Cost:
    """The exact cost of `sums`, without the set-up of oblivious transfer.

    Raises:
        UsageError: too many terms.
    """
    _check(terms)
    encrypted = lattice_multiply.cost_sums(SlotParameters.narrow(count, terms), answers)
    return encrypted + cost_of(oblivious.bits_to_arithmetic(answers * count))


SPEC: Final = Procedure(
    name="lattice-narrow-sums",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"count": 20_000, "terms": 5, "answers": 2},
)
